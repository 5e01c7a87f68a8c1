"""Boxes for tests, and a look at what runs on this machine."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from pathlib import Path

from skill_eval_nb.grading.sandbox import Box, BoxLimits, Ran, lent, run_in_box, wrap_command

MIB = 1024 * 1024


def python(code: str) -> list[str]:
    """The command that runs code."""
    return ["python3", "-c", code]


def boxed(folder: Path, command: str | list[str], *, kind="bubblewrap", **limits) -> Ran:
    """Run a command in a box; a text is the shell's."""
    box = Box(folder, kind=kind, limits=BoxLimits(**limits))
    return run_in_box(box, ["sh", "-c", command] if isinstance(command, str) else command)


def wrapped_run(box: Box, command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in a box as those do who start it themselves."""
    with lent(box), wrap_command(box, ["sh", "-c", command]) as (argv, files):
        return subprocess.run(
            argv, check=False, capture_output=True, pass_fds=files, timeout=60, cwd=box.folder
        )


def marker() -> str:
    """Seconds to sleep that nobody else sleeps, by which a process is found."""
    return f"98765.{secrets.randbelow(10**9):09d}"


def running(mark: str) -> list[int]:
    """The processes whose command line holds the mark, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in command:
            found.append(int(entry.name))
    return found


def until(true, seconds: float = 20.0) -> bool:
    """Whether something comes true before a generous deadline."""
    deadline = time.monotonic() + seconds
    while not (come := true()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return come
