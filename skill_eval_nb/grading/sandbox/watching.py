"""What is watched while a command runs: its processes, their memory, and the disk."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .box import Box, Ended
from .folder import used

EVERY = 0.05
"""Seconds between two looks at the processes; at the disk less often, so that looking takes
a tenth of the time at most."""

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass
class Watch:
    """Looks at a running box, and says when it passes a limit."""

    box: Box
    used_before: int = field(init=False)
    disk: int = field(init=False)
    disk_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.disk = self.box.folder.stat().st_dev
        self.used_before = self._used()

    def passed(self, first: int | None) -> tuple[Ended, str] | None:
        """The limit that is passed now, with words for it; None where none is.

        Args:
            first: the process whose descendants, with itself, are counted; None where
                processes are not known.
        """
        limits = self.box.limits
        tree = [] if first is None else list(descendants(first))
        if len(tree) > limits.processes:
            return "killed", many(limits.processes)
        if sum(map(_resident, tree)) > limits.memory_bytes < sum(map(_share, tree)):
            return "killed", f"it took more than {size(limits.memory_bytes)} of memory"
        now = time.monotonic()
        if now < self.disk_at:
            return None
        grown = self._used() - self.used_before
        grown += sum(_unlinked(pid, self.disk) for pid in tree)
        after = time.monotonic()
        self.disk_at = after + max(EVERY, 10 * (after - now))
        if grown > limits.disk_bytes:
            return "disk", f"its folder grew by more than {size(limits.disk_bytes)}"
        return None

    def _used(self) -> int:
        temporary = self.box.temporary
        return used(self.box.folder) + (used(temporary) if temporary is not None else 0)


def descendants(first: int) -> Iterator[int]:
    """A process and all that come from it, as far as they still run; Linux only."""
    pending = [first]
    while pending:
        pid = pending.pop()
        yield pid
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                    pending.extend(map(int, file.read().split()))


def ended(pid: int) -> bool:
    """Whether a process has ended, collected by its parent or not; Linux only."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def in_group(group: int) -> Iterator[int]:
    """The processes of a group that still run; none where there is no /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            state, _, its = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:3]
            if int(its) == group and state not in (b"Z", b"X"):
                yield int(folder.name)


def many(processes: int) -> str:
    """The words for a passed limit of processes."""
    return f"it had more than {processes} processes at one time"


def size(count: int) -> str:
    """A number of bytes in words.

    >>> size(512 * 1024 * 1024), size(2000)
    ('512 MiB', '2,000 bytes')
    """
    return f"{count // 1024**2:,} MiB" if count >= 1024**2 else f"{count:,} bytes"


def _resident(pid: int) -> int:
    """Bytes of memory of a process, with all that it shares with others."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):  # it has ended
        return 0


def _share(pid: int) -> int:
    """The same with shared memory divided among its users: exact, but slow to ask for."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
            lines = file.read().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))


def _unlinked(pid: int, disk: int) -> int:
    """Bytes on a disk of files that a process keeps open after removing them: none shows them."""
    total = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
                if found.st_nlink == 0 and found.st_dev == disk:
                    total += found.st_blocks * 512
    return total
