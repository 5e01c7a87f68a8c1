"""The three pipes of a command: all are moved at once, so that none stops the others."""

from __future__ import annotations

import os
import selectors
import subprocess
from dataclasses import dataclass, field
from typing import Self

CHUNK = 65536


@dataclass
class Kept:
    """One stream: its beginning, and how much it was.

    >>> kept = Kept(most=4)
    >>> kept.take(b"abc")
    >>> kept.take(b"def")
    >>> kept.data, kept.seen
    (b'abcd', 6)
    """

    most: int
    parts: list[bytes] = field(default_factory=list)
    length: int = 0
    seen: int = 0

    def take(self, part: bytes) -> None:
        """Keep what still fits."""
        self.seen += len(part)
        if self.length < self.most:
            self.parts.append(part[: self.most - self.length])
            self.length += len(self.parts[-1])

    @property
    def data(self) -> bytes:
        """What was kept."""
        return b"".join(self.parts)


class Streams:
    """What a command is fed and what it prints."""

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
        # its end wakes us, even where the command closed its streams long before
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
        return any(kept.seen > kept.length for kept in (self.stdout, self.stderr))

    def move(self, seconds: float) -> bool:
        """Move what is ready, waiting for it at most so long; whether anything was moved."""
        moved = False
        for key, _ in self._selector.select(seconds):
            if isinstance(key.data, Kept):
                moved |= self._read(key.fd, key.data)
            elif key.fileobj is self._stdin:
                self._write()
        return moved

    def move_rest(self) -> None:
        """Read what the pipes still hold; one that somebody keeps open is not waited for."""
        while self.move(0):
            pass

    def _read(self, stream: int, kept: Kept) -> bool:
        try:
            part = os.read(stream, CHUNK)
        except BlockingIOError:
            return False
        if part:
            kept.take(part)
        else:
            self._selector.unregister(stream)
        return True

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._rest[:CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it reads no more
            written = len(self._rest)
        self._rest = self._rest[written:]
        if not self._rest:
            self._selector.unregister(self._stdin)
            self._stdin.close()
