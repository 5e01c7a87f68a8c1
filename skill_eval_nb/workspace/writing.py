"""Writing into a JSON file that others write, too: one at a time, and as it was written."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from difflib import unified_diff
from itertools import count
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import write_atomic

from .layout import OWN

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


NO_END = "\\ No newline at end of file"
"""What a diff says of a last line without an end."""
PATIENCE = 2.0
"""Seconds that are waited for somebody else who is just writing."""

_WRITING = threading.Lock()


def keep_beside(path: Path, data: bytes) -> Path:
    """Keep an old file as the first NAME.N.bak that is free, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    for number in count(1):
        kept = path.with_name(f"{path.name}.{number}.bak")
        try:
            file = kept.open("xb")
        except FileExistsError:
            continue
        try:
            with file:
                file.write(data)
            shutil.copymode(path, kept)
        except OSError:
            kept.unlink()
            raise
        return kept
    raise AssertionError


def replace_kept(path: Path, before: bytes, after: bytes) -> Path:
    """Write a file anew in one step, what it held kept beside it; gives where that is.

    Raises:
        OSError: it cannot be written.
    """
    kept = keep_beside(path, before)
    write_atomic(path, after)
    return kept


def diff_of(path: Path, before: bytes, after: bytes) -> str:
    """A change of a file as a unified diff, which `patch` takes; empty where there is none."""
    old, new = (
        [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        for lines in (data.decode("utf-8-sig").split("\n") for data in (before, after))
    )
    found = unified_diff(old, new, str(path), f"{path.name} (new)")
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_END}\n" for line in found)


@contextmanager
def alone(path: str | os.PathLike[str]) -> Iterator[None]:
    """Read and write with nobody else between, neither in this process nor in another.

    Somebody who does not come to an end is not waited for for ever.
    """
    file = Path(os.path.realpath(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    with _WRITING, ExitStack() as held:
        with suppress(Locked, OSError):  # a file system without locks, say: the chance is small
            held.enter_context(locked(file.with_name(f"{OWN}.{file.name}.writing"), PATIENCE))
        yield
