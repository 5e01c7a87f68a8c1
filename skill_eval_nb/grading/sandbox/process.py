"""The process of a box: started with a clean environment, and ended with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .box import Box
from .command import TELLING, above, environment, limited, wrapped
from .watching import descendants, ended, in_group

_TELL = f'if [ -w "$0" ]; then exec {TELLING}>"$0"; else exec {TELLING}>/dev/null; fi; exec "$@"'
"""Opens what is told through under a number that a shell knows."""


LONGEST_END = 10.0
"""Seconds that bubblewrap may take to end once what is inside was killed."""


@dataclass
class Process:
    """A running box: the program that was started, and the first process inside.

    Attributes:
        popen: what was started; its group is its own.
        told: a pipe that tells the first process inside; None where the box has none of its
            own, and once it has been read.
        command: what the command line of the first process inside ends with.
        counted: a pipe that tells how many processes were left behind, both ends; None where
            the box has no first process of its own.
        inside: the first process inside, as this machine counts; None while it is not known.
    """

    popen: subprocess.Popen[bytes]
    told: int | None = None
    command: bytes = b""
    counted: tuple[int, int] | None = None
    inside: int | None = field(init=False, default=None)
    _first: int | None = field(init=False, default=None)
    _text: bytes = field(init=False, default=b"")
    _others: list[int] = field(init=False, default_factory=list)
    _closed: bool = field(init=False, default=False)

    def look(self) -> int:
        """The process to count from; learns the first one inside as soon as it is told."""
        while self.told is not None and _readable(self.told, 0):
            part = os.read(self.told, 4096)
            self._text += part
            if b"}" in part:  # it comes in pieces
                self._learn(int(json.loads(self._text)["child-pid"]))
            if b"}" in part or not part:  # nothing more where it failed before there was a box
                os.close(self.told)
                self.told = None
        return self.popen.pid if self.inside is None else self.inside

    def _learn(self, inside: int) -> None:
        with contextlib.suppress(OSError):  # it is over already
            first = os.pidfd_open(inside)
            # a number that was free again may be another's by now
            if Path(f"/proc/{inside}/cmdline").read_bytes().endswith(self.command):
                self.inside, self._first = inside, first
            else:
                os.close(first)

    def left(self) -> int:
        """How many processes are there that a command left behind when it ended by itself."""
        if self.counted is None:
            return sum(1 for _ in in_group(self.popen.pid))
        if not _readable(self.counted[0], 0):  # there never was a box
            return 0
        said = os.read(self.counted[0], 4096).split()[-1:]
        return int(said[0]) if said and said[0].isdigit() and len(said[0]) < len("10000") else 0

    def kill(self) -> None:
        """End everything in the box: with its first process the kernel ends all others."""
        self.look()
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
        # once the first has ended, the numbers of the others may be those of strangers
        others = [] if self._first or self.popen.returncode is not None else self._below()
        with contextlib.suppress(ProcessLookupError, PermissionError):  # none is left
            os.killpg(self.popen.pid, signal.SIGKILL)
        for pid in others:  # those that left the group
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _end_inside(self) -> None:
        """End the first process inside, and let bubblewrap end after it.

        Killed at once, bubblewrap would leave it to a process 1 of the machine that, in a
        container, may never ask after it.
        """
        self.look()
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(LONGEST_END)

    def _below(self) -> list[int]:
        self._others = [*descendants(self.popen.pid)][1:]
        return self._others

    def close(self) -> None:
        """End what is left, and wait until nothing is."""
        if self._closed:
            return
        self._closed = True
        self._end_inside()
        self.kill()
        self.popen.wait()
        self.kill()  # whom it may have told of after the first
        if self.told is not None:
            os.close(self.told)
        for end in self.counted or ():
            os.close(end)
        if self._first is not None:
            _readable(self._first, None)  # it is once the process, and all below it, have ended
            os.close(self._first)
        until = time.monotonic() + 2
        while not all(map(ended, self._others)) and time.monotonic() < until:
            time.sleep(0.002)  # killed, but not gone yet


@contextlib.contextmanager
def started(box: Box, argv: Sequence[str]) -> Iterator[Process]:
    """Start a command in a box; at the end of the block none of its processes is left."""
    process = _plain(box, argv) if box.kind == "none" else _boxed(box, argv)
    try:
        yield process
    finally:
        process.close()
        for stream in (process.popen.stdin, process.popen.stdout, process.popen.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _plain(box: Box, argv: Sequence[str]) -> Process:
    command = limited(box, argv)
    return Process(_popen(command, environment(box), cwd=os.fspath(box.folder)))


def _boxed(box: Box, argv: Sequence[str]) -> Process:
    told, tell = os.pipe()
    counted = os.pipe()
    # opened by its name in /proc, so that no copy of it reaches the command
    through = ["/bin/sh", "-c", _TELL, f"/proc/{os.getpid()}/fd/{counted[1]}"]
    try:
        with (
            above(tell) as info,
            wrapped(box, argv, "--info-fd", str(info)) as (command, files),
        ):
            popen = _popen([*through, *command], {}, keep=(*files, info))
    except BaseException:
        for end in (told, *counted):
            os.close(end)
        raise
    first = b"".join(os.fsencode(part) + b"\0" for part in limited(box, argv))
    return Process(popen, told, first, counted)


def _readable(fd: int, seconds: float | None) -> bool:
    poll = select.poll()  # not select, which knows no fd above 1,023
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
