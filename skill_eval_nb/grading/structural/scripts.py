"""`custom_script`: a command of the suite's author, run on a copy of the outputs in a sandbox."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

from .outputs import Outputs
from .verdict import Verdict, failed, passed, shown, unscored

SECONDS = 60.0
"""A script may take so long."""

LARGEST_COPY = 2**30
"""Bytes of outputs beyond which they are not copied for a script."""

_UNKNOWN_COMMAND = re.compile(r"(?<![\w.+-])([\w.+-]++): command not found")


def custom_script(
    script: str | None,
    outputs: Outputs,
    *,
    allowed: bool,
    kind: Literal["bubblewrap", "none"],
) -> Verdict:
    """The verdict on `custom_script`: the command ends with exit code 0.

    It runs under bash in a copy of the outputs, which it may change, with no network and no
    other file to read, under limits of time, memory, processes and size of files.
    """
    if not script or not script.strip():
        return unscored("there is no `script` to run")
    if not allowed:
        return unscored("scripts run only where they are allowed: allow_scripts=True")
    from skill_eval_nb.grading import sandbox

    if kind != "none" and (why := sandbox.available()) is not None:
        return unscored(f"there is no sandbox to run the script in: {why}")
    with tempfile.TemporaryDirectory(prefix="skill-eval-nb-") as folder:
        box_folder = Path(folder, "outputs")
        try:
            _copy(outputs, box_folder)
        except OSError as error:
            return unscored(
                f"the outputs cannot be copied for the script: {error.strerror or error}"
            )
        box = sandbox.Box(folder=box_folder, limits=sandbox.BoxLimits(seconds=SECONDS), kind=kind)
        try:
            ran = sandbox.run(box, ["bash", "-c", script])
        except (OSError, ValueError) as error:  # ValueError: a null byte in the script
            return unscored(f"the script cannot be started: {error}")
    found = _verdict(script, ran.exit_code, ran.ended, ran.message, ran.stdout, ran.stderr)
    if not ran.left:
        return found
    return replace(found, evidence=f"{found.evidence}; {ran.left_words.removesuffix('.')}")


def _copy(outputs: Outputs, to: Path) -> None:
    """Copy the files; of links that lead elsewhere there is nothing to copy.

    Raises:
        OSError: where one cannot be copied, or where they are too large together.
    """
    sources = {name: outputs.links.get(name, f"{outputs.root}/{name}") for name in outputs.names}
    size = sum(Path(source).stat().st_size for source in sources.values())
    if size > LARGEST_COPY:
        raise OSError(0, f"they have {size >> 20} MiB, and {LARGEST_COPY >> 20} are copied at most")
    to.mkdir()
    for name in outputs.folders:
        Path(to, name).mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        shutil.copyfile(source, to / name, follow_symlinks=False)
        executable = Path(source).stat().st_mode & 0o100
        (to / name).chmod(0o600 | executable)


def _verdict(
    script: str, exit_code: int | None, ended: str, message: str, stdout: bytes, stderr: bytes
) -> Verdict:
    if ended != "exit":
        told = message.replace("The command", "The script", 1).removesuffix(".")
        return failed(f"{told}{_said(stdout, stderr)}")
    if exit_code == 0:
        return passed(f"{_named(script)} ended with exit code 0{_said(stdout, stderr)}")
    missing = _UNKNOWN_COMMAND.search(stderr.decode("utf-8", "replace"))
    if exit_code == 127 and missing is not None:
        return unscored(f"the sandbox has no program {missing[1]}, which the script wants")
    return failed(f"{_named(script)} ended with exit code {exit_code}{_said(stdout, stderr)}")


def _named(script: str) -> str:
    return f"`{shown(' '.join(script.split()), 80)}`"


def _said(stdout: bytes, stderr: bytes) -> str:
    """The last line that the script wrote, errors first."""
    for stream in (stderr, stdout):
        lines = [line for line in stream.decode("utf-8", "replace").split("\n") if line.strip()]
        if lines:
            return f"; it said: {shown(lines[-1])}"
    return ""
