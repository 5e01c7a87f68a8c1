"""Run untrusted commands: with one folder, no network, no keys, and limits.

A `Box` says what a command may see and use; `run_in_box` runs a command in it, to its end or to a
limit, and says how it ended. The commands come from an agent, or from a `custom_script` check:
whatever they try, nothing outside their folder is read or changed, and none of their processes
stays behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import platform
import select
import selectors
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from .box import (
    DEEPEST,
    TEMPORARY_BYTES,
    Box,
    BoxKind,
    BoxLimits,
    Ended,
    Ran,
    Used,
    environment,
    lend_folders,
    limit_command,
    measure_used,
    wrap_command,
)

LONGEST_END = 10.0
"""Seconds that bubblewrap may take to end after its first process was killed."""


@dataclass
class Process:
    """A running box: the program that was started, and the first process inside.

    Attributes:
        popen: the started program; it has its own process group.
        info: a pipe that reports the first process inside; None if the box has no first process
            of its own, and after it has been read.
        command: the end of the command line of the first process inside.
        inside: the first process inside, by its id outside; None while it is not known.
    """

    popen: subprocess.Popen[bytes]
    info: int | None = None
    command: bytes = b""
    inside: int | None = field(init=False, default=None)
    _first: int | None = field(init=False, default=None)
    _text: bytes = field(init=False, default=b"")
    _closed: bool = field(init=False, default=False)

    def find_first(self) -> int:
        """The process to count from: the first one inside, as soon as it is known."""
        while self.info is not None and _is_readable(self.info, 0):
            part = os.read(self.info, 4096)
            self._text += part
            if b"}" in part:  # it comes in pieces
                self._learn_first(int(json.loads(self._text)["child-pid"]))
            if b"}" in part or not part:  # empty if it failed before there was a box
                os.close(self.info)
                self.info = None
        return self.popen.pid if self.inside is None else self.inside

    def _learn_first(self, inside: int) -> None:
        with contextlib.suppress(OSError):  # it is over already
            first = os.pidfd_open(inside)
            # the id may already belong to another process
            if Path(f"/proc/{inside}/cmdline").read_bytes().endswith(self.command):
                self.inside, self._first = inside, first
            else:
                os.close(first)

    def _end_first(self) -> None:
        """End the first process inside, if it is known: then the kernel ends all others."""
        self.find_first()
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)

    def _end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is empty
            os.killpg(self.popen.pid, signal.SIGKILL)

    def close(self) -> None:
        """End what is left, and wait until nothing is."""
        if self._closed:
            return
        self._closed = True
        self._end_first()
        others: list[int] = []
        if self._first is not None:
            # If bubblewrap were killed before the first process has ended, the machine's process 1
            # would have to collect that, which may never happen in a container.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(LONGEST_END)
        elif self.popen.returncode is None:  # else their ids may belong to strangers
            others = [*descendants(self.popen.pid)][1:]
        self._end_group()
        for pid in others:  # those that left the group
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self.popen.wait()
        self._end_first()  # it may have become known only now
        self._end_group()
        if self.info is not None:
            os.close(self.info)
        if self._first is not None:
            _is_readable(self._first, None)  # until it and everything below it has ended
            os.close(self._first)
        until = time.monotonic() + 2
        while not all(map(has_ended, others)) and time.monotonic() < until:
            time.sleep(0.002)  # killed, but not ended yet


@contextlib.contextmanager
def start_command(box: Box, argv: Sequence[str]) -> Iterator[Process]:
    """Start a command in a box; at the end of the block none of its processes is left."""
    if box.kind == "none":
        command, folder = limit_command(box, argv), os.fspath(box.folder)
        process = Process(_popen(command, environment(box), cwd=folder))
    else:
        process = _start_boxed(box, argv)
    try:
        yield process
    finally:
        process.close()
        for stream in (process.popen.stdin, process.popen.stdout, process.popen.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _start_boxed(box: Box, argv: Sequence[str]) -> Process:
    info_read, info = os.pipe()
    try:
        with wrap_command(box, argv, "--info-fd", str(info)) as (command, files):
            popen = _popen(command, {}, keep=(*files, info))
    except BaseException:
        os.close(info_read)
        raise
    finally:
        os.close(info)
    first = b"".join(os.fsencode(part) + b"\0" for part in limit_command(box, argv))
    return Process(popen, info_read, first)


def _is_readable(fd: int, seconds: float | None) -> bool:
    poll = select.poll()  # `select` does not support file descriptors above 1,023
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else 1000 * seconds))


def _popen(
    command: list[str],
    environment: dict[str, str],
    *,
    cwd: str = "/",
    keep: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (that is what a box is for)
        command,
        env=environment,
        cwd=cwd,
        pass_fds=keep,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


# ── what a running command takes ─────────────────────────────────────────────────────────────────

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
        self._before = measure_used(box)
        self._free = os.statvfs(box.folder)
        self._look_at = 0.0

    def find_limit(self, first: int | None) -> tuple[Ended, str] | None:
        """The limit that is exceeded now, in words; None if none is.

        Args:
            first: the process that is counted with all its descendants; None if processes are
                not known.
        """
        limits = self.box.limits
        tree = [] if first is None else list(descendants(first))
        if len(tree) > limits.processes:
            return "killed", f"it had more than {limits.processes} processes at one time"
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
        grown = measure_used(self.box, Used(*most))
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


CHUNK = 65536


@dataclass
class Kept:
    """The beginning of a stream, and its total size.

    >>> kept = Kept(most=4)
    >>> kept.add(b"abc")
    >>> kept.add(b"def")
    >>> bytes(kept.data), kept.seen
    (b'abcd', 6)
    """

    most: int
    data: bytearray = field(default_factory=bytearray)
    seen: int = 0

    def add(self, part: bytes) -> None:
        """Keep as much as still fits."""
        self.seen += len(part)
        self.data += part[: max(self.most - len(self.data), 0)]


class Streams:
    """The input and output of a command."""

    def __init__(self, popen: subprocess.Popen[bytes], stdin: bytes, most: int) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self.stdout, self.stderr = Kept(most), Kept(most)
        self._rest = memoryview(stdin)
        self._stdin = popen.stdin
        self._selector = selectors.DefaultSelector()
        for stream, kept in ((popen.stdout, self.stdout), (popen.stderr, self.stderr)):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, kept)
        if stdin:
            os.set_blocking(self._stdin.fileno(), False)
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        else:
            self._stdin.close()
        # its end wakes us, even if the command closed its streams long before
        self._end = os.pidfd_open(popen.pid) if hasattr(os, "pidfd_open") else None
        if self._end is not None:
            self._selector.register(self._end, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._end is not None:
            os.close(self._end)

    @property
    def seen(self) -> int:
        """Bytes that were printed."""
        return self.stdout.seen + self.stderr.seen

    @property
    def cut(self) -> bool:
        """Whether more was printed than is kept."""
        return any(kept.seen > kept.most for kept in (self.stdout, self.stderr))

    def move(self, seconds: float) -> bool:
        """Move what is ready, after waiting at most this long; returns whether anything was."""
        moved = False
        for key, _ in self._selector.select(seconds):
            if isinstance(key.data, Kept):
                moved |= self._read_stream(key.fd, key.data)
            elif key.fileobj is self._stdin:
                self._write_stdin()
        return moved

    def _read_stream(self, stream: int, kept: Kept) -> bool:
        try:
            part = os.read(stream, CHUNK)
        except BlockingIOError:
            return False
        if part:
            kept.add(part)
        else:
            self._selector.unregister(stream)
        return True

    def _write_stdin(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._rest[:CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has stopped reading
            written = len(self._rest)
        self._rest = self._rest[written:]
        if not self._rest:
            self._selector.unregister(self._stdin)
            self._stdin.close()


MUCH = 100
"""How many times the kept output may be printed; more counts as endless output."""


def attend_command(process: Process, watch: Watch, stdin: bytes, stop: threading.Event) -> Ran:
    """Attend a running command until it has ended, by itself or at a limit."""
    limits = watch.box.limits
    deadline = time.monotonic() + limits.seconds
    with Streams(process.popen, stdin, limits.output_bytes) as streams:
        passed: tuple[Ended, str] | None = None
        look_at = 0.0
        while passed is None and process.popen.poll() is None:
            streams.move(EVERY)
            if stop.is_set():
                passed = "killed", "it was cancelled"
            elif time.monotonic() > deadline:
                passed = "time", f"it took longer than {limits.seconds:g} s"
            elif streams.seen > MUCH * limits.output_bytes:
                passed = "killed", f"it printed more than {size(MUCH * limits.output_bytes)}"
            elif (begun := time.monotonic()) >= look_at:
                passed = watch.find_limit(process.find_first())
                look_at = max(begun + EVERY, 2 * time.monotonic() - begun)
        process.close()
        while streams.move(0):  # what is left in the pipes, without waiting for one kept open
            pass
    ended, why = passed or ("exit", None)
    code = process.popen.returncode
    code = 128 - code if code < 0 else code
    return Ran(
        exit_code=code,
        stdout=bytes(streams.stdout.data),
        stderr=bytes(streams.stderr.data),
        cut=streams.cut,
        ended=ended,
        message=_end_words(ended, why, code, limits),
    )


def _end_words(ended: Ended, why: str | None, code: int, limits: BoxLimits) -> str:
    if ended != "exit":
        return f"The command was ended, with all processes that it had started: {why}."
    if code == 128 + signal.SIGXFSZ:
        return f"The command was ended: a file would have passed {size(limits.file_bytes)}."
    if code == 128 + signal.SIGXCPU:
        return "The command was ended: it used more processor time than its time limit allows."
    if code > 128:
        with contextlib.suppress(ValueError):
            return f"The command was ended by {signal.Signals(code - 128).name}."
    return f"The command ended with exit code {code}."


_OTHERWISE = (
    'Without one, you can set sandbox="none": commands then run with your rights, and can read '
    "your files and keys and reach your network."
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
    """Why no command can be run in a box of this kind; None if one can.

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
    """Why no sandbox works here, in words for the user; None if one does.

    It really runs a command in one, once per process.
    """
    if platform.system() != "Linux":
        return (
            f"The sandbox is bubblewrap, which runs on Linux only, and this is "
            f"{platform.system()}. Run on Linux, for example in a virtual machine. {_OTHERWISE}"
        )
    if shutil.which("bwrap") is None:
        return f"The sandbox is bubblewrap, and no `bwrap` was found: {_INSTALL}. {_OTHERWISE}"
    with tempfile.TemporaryDirectory(prefix="skill-eval-nb-") as folder:
        box = Box(Path(folder), limits=BoxLimits(seconds=30))
        try:
            ran = _run(box, ["true"], b"", threading.Event())
        except OSError as error:
            fault = f"{error}."
        else:
            if ran.exit_code == 0:
                return None
            errors = ran.stderr.decode(errors="replace").strip()
            fault = f"{errors}." if errors else ran.message
    return f"bubblewrap is installed, but cannot make a sandbox here: {fault} {_HINTS} {_OTHERWISE}"


def run_in_box(
    box: Box, argv: Sequence[str], stdin: bytes = b"", *, stop: threading.Event | None = None
) -> Ran:
    """Run a command in a box; it returns when no process of the command is left.

    With kind "none", a process that leaves its parents' group may stay.

    Args:
        box: what the command may see and use.
        argv: the command and its arguments; no shell interprets them.
        stdin: its input.
        stop: once set, the command is ended with all its processes.

    Raises:
        SandboxMissing: the box asks for a sandbox, and none works here.
        OSError: the box's folder does not exist, or cannot be used.
    """
    if (reason := why_not(box.kind)) is not None:
        raise SandboxMissing(reason)
    return _run(box, argv, stdin, stop or threading.Event())


def _run(box: Box, argv: Sequence[str], stdin: bytes, stop: threading.Event) -> Ran:
    with lend_folders(box):
        watch = Watch(box)
        with start_command(box, argv) as process:
            return attend_command(process, watch, stdin, stop)


async def arun(box: Box, argv: Sequence[str], stdin: bytes = b"") -> Ran:
    """`run_in_box` without blocking the event loop; if cancelled, it first ends the command.

    Raises:
        SandboxMissing, OSError: as for `run_in_box`.
    """
    stop, ended = threading.Event(), Future[Ran]()

    def work() -> None:
        try:
            ended.set_result(run_in_box(box, argv, stdin, stop=stop))
        except BaseException as error:  # noqa: BLE001 (raised where it is awaited)
            ended.set_exception(error)

    # A new thread: asyncio has few, and a box may take minutes. And a box ends with the thread
    # that started it, so that thread must stay.
    threading.Thread(target=work, name=f"box-{os.getpid()}", daemon=True).start()
    done = asyncio.wrap_future(ended)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([done])
        done.exception()  # marks it as seen, so that asyncio does not complain
        raise
