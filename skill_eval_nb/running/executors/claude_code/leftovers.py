"""Ending what a run left behind where no sandbox held it."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_PROC = Path("/proc")
_LOOKS = 5


def end_marked(mark: str) -> None:
    """End the processes that were started with this in their environment.

    The harness starts commands in process groups of their own, which ending its group does
    not reach. A process that was given another environment is not found, and none is where
    there is no /proc (macOS): only the sandbox lets nothing out.

    Args:
        mark: `NAME=value`.
    """
    for _ in range(_LOOKS):  # one that starts another as it is looked at makes a second look needed
        found = marked(mark)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def marked(mark: str) -> list[int]:
    """The processes that have this in their environment, by their numbers."""
    sought, found = mark.encode(), []
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if sought in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
