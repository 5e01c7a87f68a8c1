"""Watch a running command: its processes, their memory, and the disk."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
import stat
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self

from .box import DEEPEST, TEMPORARY_BYTES, Box, Ended, Used, used

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_KERNEL = 8192
"""Bytes that an empty socket takes; also the most that can wait in a pipe."""
_PIDFD_GETFD, _SO_MEMINFO, _FIGURES = 438, 55, struct.Struct("9I")
_UNKNOWN = 1024 * 1024
"""Bytes assumed to wait in a socket if the kernel does not allow a look."""


@dataclass
class Opened:
    """What processes have open, each thing once, however many have it.

    Attributes:
        files: regular files, by device and inode.
        sockets: a process and its descriptor for each socket, by inode.
        others: inodes of pipes and the like.
    """

    files: dict[tuple[int, int], os.stat_result] = field(default_factory=dict)
    sockets: dict[int, tuple[int, int]] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)

    @classmethod
    def by(cls, tree: list[int]) -> Self:
        """What these processes have open now."""
        opened = cls()
        for pid in tree:
            with contextlib.suppress(OSError):  # it has ended
                for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
                    with contextlib.suppress(OSError):
                        found = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
                        if stat.S_ISREG(found.st_mode):
                            opened.files[found.st_dev, found.st_ino] = found
                        elif stat.S_ISSOCK(found.st_mode):
                            opened.sockets[found.st_ino] = pid, int(name)
                        elif stat.S_ISFIFO(found.st_mode):
                            opened.others.add(found.st_ino)
        return opened

    def unlinked(self, disk: int) -> int:
        """Bytes on a disk of deleted files that are still open."""
        return sum(
            found.st_blocks * 512
            for (device, _), found in self.files.items()
            if device == disk and found.st_nlink == 0
        )

    def memory(self, tree: list[int], enough: int) -> int:
        """Memory of processes in bytes; exact only if a rough count exceeds `enough`.

        Data in a socket counts while the sending socket is open.

        Args:
            tree: the processes.
            enough: up to this many bytes, a rough count is good enough.
        """
        held = self.unlinked(_shared_device()) + _KERNEL * (len(self.sockets) + len(self.others))
        held += sum(_queued_bytes(*where) for where in self.sockets.values())
        rough = held + sum(map(_resident_bytes, tree))
        return rough if rough <= enough else held + sum(self._memory_share(pid) for pid in tree)

    def _memory_share(self, pid: int) -> int:
        """Memory of a process in bytes, with shared memory divided among its users.

        Files in memory that already count as open files are left out.
        """
        total, counted = 0, False
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps", "rb") as file:  # noqa: PTH123
            for line in file:
                key, *rest = line.split(maxsplit=5)
                if not key.endswith(b":"):
                    counted = (_shared_device(), int(rest[3])) in self.files
                elif key == b"Pss:" and not counted:
                    total += int(rest[0]) * 1024
        return total


def _resident_bytes(pid: int) -> int:
    """Memory of a process in bytes, including everything that it shares with others."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):  # it has ended
        return 0


@cache
def _shared_device() -> int:
    """The device of files in memory that are in no folder."""
    if not hasattr(os, "memfd_create"):
        return -1
    file = os.memfd_create("device")
    try:
        return os.fstat(file).st_dev
    finally:
        os.close(file)


def _queued_bytes(pid: int, file: int) -> int:
    """Bytes that wait in a socket of a process."""
    with contextlib.ExitStack() as stack:
        try:
            process = os.pidfd_open(pid)
            stack.callback(os.close, process)
            copy = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, process, file, 0)
            if copy < 0:
                closed = ctypes.get_errno() in (errno.EBADF, errno.ESRCH)
                return 0 if closed else _UNKNOWN  # this kernel forbids it
            seen = stack.enter_context(
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=copy)
            )
            figures = seen.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _FIGURES.size)
        except OSError:  # it has ended, or it is no longer a socket
            return 0
        received, _, sent, _, _, waiting, *_ = _FIGURES.unpack(figures)
        return received + max(sent, waiting)


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


@dataclass
class Watch:
    """Watches a running box, and says when it exceeds a limit."""

    box: Box
    used_before: Used = field(init=False)
    disk: int = field(init=False)
    disk_at: float = field(init=False, default=0.0)
    _free: os.statvfs_result = field(init=False)

    def __post_init__(self) -> None:
        self.disk = self.box.folder.stat().st_dev
        self.used_before = used(self.box)
        self._free = os.statvfs(self.box.folder)

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
        opened = Opened.by(tree)
        if opened.memory(tree, limits.memory_bytes) > limits.memory_bytes:
            return "killed", f"it took more than {size(limits.memory_bytes)} of memory"
        inside = inside_of(tree)
        if inside is not None and _in_memory(inside, self.box) > limits.entries:
            return "disk", f"it had more than {limits.entries:,} files in memory"
        unlinked = opened.unlinked(self.disk)
        now, free = time.monotonic(), os.statvfs(self.box.folder)
        if now < self.disk_at and not self._is_filling(free):
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
