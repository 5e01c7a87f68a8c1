"""Whether a sandbox works on this machine, found out by making one."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from .box import Box, BoxKind
from .command import wrapped
from .folder import lent

_OTHERWISE = (
    'Without one, sandbox="none" may be spelled out: commands then run with your rights, and '
    "can read your files and keys and reach your network."
)
_INSTALL = (
    "install it (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`; "
    "Arch: `pacman -S bubblewrap`)"
)
_HINTS = (
    "Containers often forbid new namespaces: start yours with `--privileged`, or with "
    "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined` and as a user other than root. Ubuntu 24.04 and later "
    "forbid them to users: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`."
)


class SandboxMissing(RuntimeError):
    """No sandbox works here, and the box asked for one; the message says why."""


def why_not(kind: BoxKind) -> str | None:
    """Why no command can be run in a box of this kind; None where one can.

    >>> why_not("none") is None
    True
    """
    if kind != "none":
        return available()
    if os.name != "posix":
        return "Commands are run on Linux and macOS only, with a sandbox or without one."
    return None


@functools.cache
def available() -> str | None:
    """Why no sandbox works here, in words for the user; None where one does.

    A command is really run in one, once a process.
    """
    if platform.system() != "Linux":
        return (
            f"The sandbox is bubblewrap, which runs on Linux only, and this is "
            f"{platform.system()}. Run on Linux, in a virtual machine say. {_OTHERWISE}"
        )
    if shutil.which("bwrap") is None:
        return f"The sandbox is bubblewrap, and no `bwrap` was found: {_INSTALL}. {_OTHERWISE}"
    with tempfile.TemporaryDirectory(prefix="skill-eval-nb-") as folder:
        box = Box(Path(folder))
        with lent(box), wrapped(box, ["true"]) as started:
            said = _said(started)
    if said is None:
        return None
    return f"bubblewrap is installed, but makes no sandbox here: {said} {_HINTS} {_OTHERWISE}"


def _said(started: tuple[list[str], tuple[int, ...]]) -> str | None:
    """What went wrong with a command, which is passed files; None where nothing did."""
    command, files = started
    try:
        ran = subprocess.run(  # noqa: S603 (our own command line)
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
            pass_fds=files,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error}."
    if ran.returncode == 0:
        return None
    errors = ran.stderr.decode(errors="replace").strip()
    return f"{errors or f'`true` ended with {ran.returncode}'}."
