"""What is watched while a command runs: its processes, their memory, and the disk."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .box import Box, Ended
from .command import TEMPORARY_BYTES
from .folder import DEEPEST, Used, used
from .memory import Opened, inside_of

EVERY = 0.05
"""Seconds between two looks, which take half of the time at most. At the disk less often, so that
it takes a tenth, unless the disk fills fast."""


@dataclass
class Watch:
    """Looks at a running box, and says when it passes a limit."""

    box: Box
    used_before: Used = field(init=False)
    disk: int = field(init=False)
    disk_at: float = field(init=False, default=0.0)
    _hidden: int = field(init=False, default=0)
    _free: os.statvfs_result = field(init=False)

    def __post_init__(self) -> None:
        self.disk = self.box.folder.stat().st_dev
        self.used_before = used(self.box)
        self._free = os.statvfs(self.box.folder)

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
        opened = Opened.by(tree)
        hidden, self._hidden = self._hidden, opened.hidden
        hidden = min(hidden, self._hidden)  # else some are only about to be closed
        if opened.memory(tree, hidden, limits.memory_bytes) > limits.memory_bytes:
            return "killed", f"it took more than {size(limits.memory_bytes)} of memory"
        inside = inside_of(tree)
        if inside is not None and _in_memory(inside, self.box) > limits.entries:
            return "disk", f"it had more than {limits.entries:,} files in memory"
        unlinked = opened.unlinked(self.disk)
        now, free = time.monotonic(), os.statvfs(self.box.folder)
        if now < self.disk_at and not self._filling(free):
            return None
        grown = used(self.box, self._most(unlinked))
        after = time.monotonic()
        self.disk_at, self._free = after + max(EVERY, 10 * (after - now)), free
        return self._too_much(grown, unlinked)

    def _most(self, unlinked: int) -> Used:
        limits, before = self.box.limits, self.used_before
        return Used(before.bytes + limits.disk_bytes - unlinked, before.entries + limits.entries)

    def _too_much(self, grown: Used, unlinked: int) -> tuple[Ended, str] | None:
        limits, most = self.box.limits, self._most(unlinked)
        if grown.deep:
            return "disk", f"its folders are more than {DEEPEST} deep, or their paths too long"
        if grown.entries > most.entries:
            return "disk", f"its folder grew by more than {limits.entries:,} files and folders"
        if grown.bytes > most.bytes:
            return "disk", f"its folder grew by more than {size(limits.disk_bytes)}"
        return None

    def _filling(self, free: os.statvfs_result) -> bool:
        """Whether the disk, which others use too, has lost a tenth of what the box may take."""
        limits = self.box.limits
        return (
            10 * (self._free.f_ffree - free.f_ffree) > limits.entries
            or 10 * (self._free.f_bfree - free.f_bfree) * free.f_frsize > limits.disk_bytes
        )


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


def _in_memory(inside: int, box: Box) -> int:
    """Files and folders in the box's own folders in memory, whose size alone is limited."""
    count = 0
    for folder in ("/dev/shm", *(["/tmp"] if box.temporary is None else [])):  # noqa: S108
        with contextlib.suppress(OSError):  # it has ended
            found = os.statvfs(f"/proc/{inside}/root{folder}")
            if found.f_blocks * found.f_frsize == TEMPORARY_BYTES:  # no more the machine's own
                count += found.f_files - found.f_ffree
    return count
