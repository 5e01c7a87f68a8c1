"""Writing into a JSON file that others write, too: one at a time, and as it was written."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skill_eval_nb.documents.encoding import to_json

PATIENCE = 2.0
"""Seconds that are waited for somebody else who is just writing."""

_WRITING = threading.Lock()


def written_like(value: Any, data: bytes | None) -> bytes:
    r"""JSON, written as a file was: its indentation, escapes and line ends.

    >>> written_like({"a": ["é"]}, b'{"a":["\\u00e8"]}'), written_like({"a": 1}, b'{\r\n\t"a": 2}')
    (b'{"a":["\\u00e9"]}', b'{\r\n\t"a": 1\r\n}')
    """
    if data is None:
        return to_json(value)
    text = data.decode("utf-8-sig")
    indent = re.search(r"\n([ \t]+)", text)
    tight = indent is None and re.search(r'":\S', text) is not None
    told = json.dumps(
        value,
        ensure_ascii=text.isascii() and "\\u" in text,
        indent=indent[1] if indent else None,
        separators=(",", ":") if tight else None,
    )
    told += "\n" if text.endswith("\n") else ""
    told = told.replace("\n", "\r\n") if "\r\n" in text else told
    return told.encode("utf-8", "backslashreplace")


@contextmanager
def alone(path: str | os.PathLike[str]) -> Iterator[None]:
    """Read and write with nobody else between, neither in this process nor in another."""
    folder = Path(os.path.realpath(path)).parent
    folder.mkdir(parents=True, exist_ok=True)
    with _WRITING, _locked(folder):
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # no such locks on this platform: the chance is small
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # a file system without locks
                break
        yield
    finally:
        os.close(handle)
