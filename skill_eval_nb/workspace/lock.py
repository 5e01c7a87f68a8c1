"""A lock that one process at a time holds, and that is free again however its holder ended."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_OPENED = 1
"""Where the holder's line begins: Windows lets nobody read the byte that is locked."""


class Locked(Exception):
    """Somebody else holds the lock; `holder` says who, as far as it can be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is held")
        self.holder = _holder(path)


@contextmanager
def locked(path: Path, patience: float = 0.0, **about: Any) -> Iterator[None]:
    """Hold a lock; its file, in a folder that must be there, goes when the lock is let go.

    Args:
        path: the lock's file.
        patience: seconds that are waited for somebody else.
        about: what is written into it, beside which process holds it, and since when.

    Raises:
        Locked: somebody else holds it, in this process or in another.
        OSError: its file cannot be written, or the file system knows no locks.
    """
    from filelock import FileLock, Timeout

    line = json.dumps({**about, **who(), "at": now()}).encode()

    def note(descriptor: int) -> None:
        try:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, _OPENED, os.SEEK_SET)
            os.write(descriptor, line)
        except OSError:
            path.unlink(missing_ok=True)
            raise

    # Not of a thread: a job is begun in one, and ends in another.
    lock = FileLock(path, timeout=patience, thread_local=False, on_acquired=note)
    try:
        lock.acquire()
    except Timeout:
        raise Locked(path) from None
    try:
        yield
    finally:
        # While it is held: whoever has opened it meanwhile sees that it is gone, and looks again.
        with suppress(OSError):
            path.unlink()
        lock.release()


def who() -> dict[str, Any]:
    """This process, for those who meet what it holds."""
    return {"pid": os.getpid(), "host": socket.gethostname()}


def now() -> str:
    """This instant, in ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _holder(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(_OPENED)
            found = json.loads(file.read())
    except (OSError, ValueError):  # it has just been let go, or is being written
        return {}
    return found if isinstance(found, dict) else {}
