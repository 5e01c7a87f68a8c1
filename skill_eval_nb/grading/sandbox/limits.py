"""Watch a running command: its processes, their memory, and the disk."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .box import DEEPEST, TEMPORARY_BYTES, Box, Ended, Used, used

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def measure_unlinked(tree: Iterable[int]) -> dict[int, int]:
    """The bytes of deleted files that processes still have open, by the device."""
    files: dict[tuple[int, int], int] = {}
    for pid in tree:
        with contextlib.suppress(OSError):  # it has ended
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    found = entry.stat()
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                        files[found.st_dev, found.st_ino] = found.st_blocks * 512
    taken: dict[int, int] = {}
    for (device, _), size in files.items():
        taken[device] = taken.get(device, 0) + size
    return taken


def measure_memory(tree: Sequence[int], enough: int) -> int:
    """Memory of processes in bytes; exact only if a rough count exceeds `enough`.

    The rough count takes shared memory as often as there are processes that share it.
    """
    rough = sum(map(_resident_bytes, tree))
    return rough if rough <= enough else sum(map(_memory_share, tree))


def _resident_bytes(pid: int) -> int:
    """Memory of a process in bytes, including everything that it shares with others."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):  # it has ended
        return 0


def _memory_share(pid: int) -> int:
    """Memory of a process in bytes, with shared memory divided among its users."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:"))
    return 0


def inside_of(tree: Iterable[int]) -> int | None:
    """A process that is already inside the box; None if there is none, or no box."""
    with contextlib.suppress(OSError):
        own = os.readlink("/proc/self/ns/net")  # noqa: PTH115
        for pid in tree:
            with contextlib.suppress(OSError):  # it has ended
                if os.readlink(f"/proc/{pid}/ns/net") != own:  # noqa: PTH115
                    return pid
    return None


EVERY = 0.05
"""Seconds between two looks, which take at most half of the time. The disk is checked less often,
in at most a tenth of the time, unless it fills fast."""


class Watch:
    """Watches a running box, and says when it exceeds a limit."""

    def __init__(self, box: Box) -> None:
        """See what the folders of the box take before it runs."""
        self.box = box
        self._disk = box.folder.stat().st_dev
        self._before = used(box)
        self._free = os.statvfs(box.folder)
        self._look_at = 0.0

    def passed(self, first: int | None) -> tuple[Ended, str] | None:
        """The limit that is exceeded now, in words; None if none is.

        Args:
            first: the process that is counted with all its descendants; None if processes are
                not known.
        """
        limits = self.box.limits
        tree = [] if first is None else list(descendants(first))
        if len(tree) > limits.processes:
            return "killed", many(limits.processes)
        taken = measure_unlinked(tree)
        unlinked = taken.pop(self._disk, 0)
        most = limits.memory_bytes - sum(taken.values())  # what is on no disk is in memory
        if measure_memory(tree, most) > most:
            return "killed", f"it took more than {size(limits.memory_bytes)} of memory"
        inside = inside_of(tree)
        if inside is not None and _in_memory(inside, self.box) > limits.entries:
            return "disk", f"it had more than {limits.entries:,} files in memory"
        return self._passed_on_disk(unlinked)

    def _passed_on_disk(self, unlinked: int) -> tuple[Ended, str] | None:
        now, free = time.monotonic(), os.statvfs(self.box.folder)
        if now < self._look_at and not self._is_filling(free):
            return None
        limits, before = self.box.limits, self._before
        most = before.bytes + limits.disk_bytes - unlinked, before.entries + limits.entries
        grown = used(self.box, Used(*most))
        after = time.monotonic()
        self._look_at, self._free = after + max(EVERY, 10 * (after - now)), free
        if grown.deep:
            return "disk", f"its folders are more than {DEEPEST} deep, or their paths too long"
        if grown.entries > most[1]:
            return "disk", f"its folder grew by more than {limits.entries:,} files and folders"
        if grown.bytes > most[0]:
            return "disk", f"its folder grew by more than {size(limits.disk_bytes)}"
        return None

    def _is_filling(self, free: os.statvfs_result) -> bool:
        """Whether the disk, which others use, too, has lost a tenth of what the box may take."""
        limits = self.box.limits
        return (
            10 * (self._free.f_ffree - free.f_ffree) > limits.entries
            or 10 * (self._free.f_bfree - free.f_bfree) * free.f_frsize > limits.disk_bytes
        )


def descendants(first: int) -> Iterator[int]:
    """A process and all its descendants that are still running; Linux only."""
    pending = [first]
    while pending:
        pid = pending.pop()
        yield pid
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                    pending.extend(map(int, file.read().split()))


def has_ended(pid: int) -> bool:
    """Whether a process has ended, even if its parent has not collected it; Linux only."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def in_group(group: int) -> Iterator[int]:
    """The processes of a group that are still running; none if there is no /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            state, _, its = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:3]
            if int(its) == group and state not in (b"Z", b"X"):
                yield int(folder.name)


def many(processes: int) -> str:
    """The message about an exceeded limit of processes."""
    return f"it had more than {processes} processes at one time"


def size(count: int) -> str:
    """A number of bytes in words.

    >>> size(512 * 1024 * 1024), size(2000)
    ('512 MiB', '2,000 bytes')
    """
    return f"{count // 1024**2:,} MiB" if count >= 1024**2 else f"{count:,} bytes"


def _in_memory(inside: int, box: Box) -> int:
    """Files and folders in the box's own folders in memory, which only have a size limit."""
    count = 0
    for folder in ("/dev/shm", *(["/tmp"] if box.temporary is None else [])):  # noqa: S108
        with contextlib.suppress(OSError):  # it has ended
            found = os.statvfs(f"/proc/{inside}/root{folder}")
            if found.f_blocks * found.f_frsize == TEMPORARY_BYTES:  # not the machine's own
                count += found.f_files - found.f_ffree
    return count
