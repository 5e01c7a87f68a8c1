"""Places that cannot be written: read-only ones, and disks without room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

Shut = Callable[[], None]
KINDS = ("read-only", "full")
SAID = {"read-only": "Read-only file system", "full": "No space left on device"}
ROOM = "64m"


@contextmanager
def disk(folder: Path) -> Iterator[dict[str, Shut]]:
    """A small disk of its own in a folder, and what makes it read-only or full."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", folder)
    try:
        yield {
            "read-only": lambda: _mount("-o", "remount,ro", folder),
            "full": lambda: _fill(folder / "filled"),
        }
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def _mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"left out: nothing can be mounted here ({done.stderr.strip()})")


def _fill(file: Path) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 20, 1 << 12, 1):
            with_room = True
            while with_room:
                try:
                    os.write(handle, bytes(size))
                except OSError:
                    with_room = False
    finally:
        os.close(handle)
