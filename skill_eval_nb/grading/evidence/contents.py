"""The files of a folder, and what each can be shown as: a text, a picture, or its name alone."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from skill_eval_nb.disk import open_file

from ..decoding import decoded
from . import extracting, images
from .room import (
    EXTRACTED,
    EXTRACTING_SECONDS,
    IMAGE_BYTES,
    READ_ENDS,
    READ_TOGETHER,
    READ_WHOLE,
    UNPACKED,
)

TOOLS_OWN = frozenset(
    ".git .hg .svn node_modules __pycache__ .venv venv .tox .mypy_cache .pytest_cache "
    ".ruff_cache .ipynb_checkpoints .cache".split()
)
"""Folders that tools fill: they are named with their size, and not looked into."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the outputs; `reason` says why it cannot be looked into, where it cannot."""

    name: str
    path: str
    size: int
    reason: str | None = None


def entries(outputs: Path, ignored: Collection[str] = ()) -> list[Entry]:
    """The files below a folder in the natural order of their names.

    `ignored` are names of files directly in the folder that are not listed at all.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    root = os.fspath(outputs)
    return sorted(_below(root, "", set(ignored)), key=lambda entry: natural(entry.name))


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key that puts `a-2` before `a-10`, and a folder's files together.

    >>> sorted(["a-10", "B", "a-2"], key=natural)
    ['a-2', 'a-10', 'B']
    """
    pieces = re.split(r"(\d{1,18})", name.lower())
    ranked = ((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in pieces if piece)
    return (*ranked, (2, name))


def safe(name: str) -> str:
    r"""A file's name as it can be shown: on one line, with no quotes and no half characters.

    >>> print(safe('a"b<c>\n.txt'))
    a&quot;b&lt;c&gt;\x0a.txt
    """
    quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    quoted = quoted.replace('"', "&quot;")
    return "".join(char if char.isprintable() else _escaped(char) for char in quoted)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _below(folder: str, prefix: str, ignored: set[str]) -> Iterator[Entry]:
    waiting = [(folder, prefix)]
    while waiting:
        path, above = waiting.pop()
        try:
            with os.scandir(path) as listed:
                there = list(listed)
        except OSError as error:
            if not above:
                raise
            yield Entry(above, path, 0, f"a folder that cannot be listed ({error.strerror})")
            continue
        for found in there:
            name = f"{above}{found.name}"
            if not above and found.name in ignored:
                continue
            try:
                mode = found.stat(follow_symlinks=False)
            except OSError as error:
                yield Entry(name, found.path, 0, f"it cannot be read ({error.strerror})")
                continue
            if not stat.S_ISDIR(mode.st_mode):
                yield _entry(name, found.path, mode)
            elif found.name in TOOLS_OWN:
                yield _tools_own(name, found.path)
            else:
                waiting.append((found.path, f"{name}/"))


def _entry(name: str, path: str, mode: os.stat_result) -> Entry:
    if stat.S_ISLNK(mode.st_mode):
        return Entry(name, path, 0, "a link; links are not followed")
    if not stat.S_ISREG(mode.st_mode):
        return Entry(name, path, 0, "no regular file (a pipe, a socket or a device)")
    return Entry(name, path, mode.st_size)


def _tools_own(name: str, path: str) -> Entry:
    count = size = 0
    for folder, _, names in os.walk(path):
        for file in names:
            count += 1
            try:
                size += os.lstat(f"{folder}/{file}").st_size
            except OSError:  # it has gone meanwhile: there is nothing to count
                continue
    return Entry(f"{name}/", path, size, f"a folder that tools fill, with {count:,} files")


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook_text(source: str) -> str | None:
    r"""The cells of a notebook, each with its source and its text outputs; None if it is none.

    >>> cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [
    ...     {"output_type": "execute_result", "data": {"text/plain": "2"}}]}
    >>> print(notebook_text(json.dumps({"cells": [cell]})))
    [cell 1: code]
    1 + 1
    [output of cell 1]
    2
    """
    try:
        raw = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    cells = raw.get("cells")
    if not isinstance(cells, list):
        return None
    return "\n".join(line for n, cell in enumerate(cells, 1) for line in _cell(n, cell))


def _cell(number: int, cell: Any) -> Iterator[str]:
    if not isinstance(cell, dict):
        yield f"[cell {number}: damaged]"
        return
    yield f"[cell {number}: {cell.get('cell_type', 'unknown')}]"
    yield _joined(cell.get("source"))
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict):
            yield f"[output of cell {number}]"
            yield output_text(output)


def output_text(output: dict[str, Any]) -> str:
    """What a cell gave, as text."""
    if output.get("output_type") == "error":
        trace = "\n".join(map(str, _list(output.get("traceback"))))
        message = f"{output.get('ename')}: {output.get('evalue')}"
        return _COLOURS.sub("", trace) or message
    if "text" in output:
        return _COLOURS.sub("", _joined(output["text"]))
    data = output.get("data")
    if not isinstance(data, dict):
        return "(nothing)"
    if "text/plain" in data:
        others = [kind for kind in data if kind != "text/plain"]
        rest = f"\n(also as {', '.join(map(str, others))})" if others else ""
        return _joined(data["text/plain"]) + rest
    return f"({', '.join(map(str, data))})"


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_START = 65_536


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text or picture, or the reason why there is neither.

    `unread` are bytes in the middle of a very large file that were not read; a line in `text`
    says so where they are missing. `unpacked` are bytes that a picture was unpacked to.
    """

    kind: str
    text: str | None = None
    picture: dict[str, Any] | None = None
    picture_bytes: int = 0
    reason: str | None = None
    unread: int = 0
    unpacked: int = 0


def contents(found: Iterable[Entry]) -> Iterator[tuple[Entry, Content]]:
    """What can be shown of each file, within bounds on all that is read."""
    read = extracted = unpacked = 0
    seconds = EXTRACTING_SECONDS
    for entry in found:
        whole = READ_WHOLE if read < READ_TOGETHER else 2 * READ_ENDS
        left = seconds if extracted < EXTRACTED else None
        began = time.monotonic()
        content = content_of(entry, whole=whole, seconds=left, unpack=UNPACKED - unpacked)
        read += min(entry.size, whole) if content.text is not None else 0
        unpacked += content.unpacked
        if content.kind in extracting.KINDS:
            extracted += 1
            seconds -= time.monotonic() - began
        yield entry, content


def content_of(
    entry: Entry,
    *,
    whole: int = READ_WHOLE,
    seconds: float | None = EXTRACTING_SECONDS,
    unpack: int = UNPACKED,
) -> Content:
    """What can be shown of a file. Never raises for what is in it.

    Args:
        entry: the file.
        whole: bytes; a larger text is read at its head and tail only.
        seconds: that taking the text out of a PDF or office file may take; None: none are.
        unpack: bytes that a picture may unpack to.
    """
    if entry.reason is not None:
        return Content("other", reason=entry.reason)
    try:
        with open_file(entry.path, Path(entry.path).parent) as file:
            start = file.read(_START)
            picture = images.kind_of(start)
            if picture is not None:
                data = start + file.read(max(IMAGE_BYTES + 1 - len(start), 0))
                return _picture(picture, data, entry.path, unpack)
            return _look(entry, start, file, whole, seconds)
    except OSError as error:
        return Content("other", reason=f"it cannot be read ({error.strerror or error})")


def _look(entry: Entry, start: bytes, file: BinaryIO, whole: int, seconds: float | None) -> Content:
    ending = entry.name.rsplit(".", 1)[-1].lower() if "." in entry.name else ""
    if ending in images.ENDINGS:
        return Content("image", reason=f"a damaged picture (it does not begin as a {ending} file)")
    kind = "pdf" if start.startswith(b"%PDF") else ending
    if kind in extracting.KINDS:
        if seconds is None:
            return Content(kind, reason=f"{EXTRACTED} such files come before it, which is the most")
        if seconds <= 0:
            took = (
                f"such files before it took {EXTRACTING_SECONDS:.0f} s to read, which is the most"
            )
            return Content(kind, reason=took)
        return _extracted(entry, kind, seconds)
    if decoded(start) is None:
        return Content("binary", reason=_binary(ending))
    return _text(entry, start, file, ending, whole)


def _picture(kind: str, data: bytes, path: str, unpack: int) -> Content:
    weight = images.weight(data, kind)
    reason = images.why_not(data, kind, path, unpack)
    unpacked = min(weight, unpack)
    if reason is not None:
        return Content("image", reason=reason, unpacked=unpacked)
    source = {
        "type": "base64",
        "media_type": f"image/{kind}",
        "data": base64.b64encode(data).decode(),
    }
    block = {"type": "image", "source": source}
    return Content("image", picture=block, picture_bytes=len(data), unpacked=unpacked)


def _extracted(entry: Entry, kind: str, seconds: float) -> Content:
    try:
        text, more = extracting.extract(entry.path, kind, entry.size, seconds)
    except extracting.NotExtracted as why:
        return Content(kind, reason=str(why))
    if more:
        text += "\n[there is more text in this file; it was not read]\n"
    return Content(kind, text=text)


def _binary(ending: str) -> str:
    return f"a binary file of kind .{ending}" if ending else "a binary file"


def _text(entry: Entry, start: bytes, file: BinaryIO, ending: str, whole: int) -> Content:
    if entry.size > whole:
        head = start + file.read(READ_ENDS - len(start))
        file.seek(-READ_ENDS, os.SEEK_END)
        tail = file.read(READ_ENDS)
        first, last = decoded(head, part=True), decoded(tail, part=True)
        if first is None or last is None:
            return Content("binary", reason=_binary(ending))
        unread = max(entry.size - len(head) - len(tail), 0)
        seam = f"\n[… {unread:,} bytes in the middle of this file were not read …]\n"
        return Content("text", text=first + seam + last, unread=unread)
    data = start + file.read(whole)
    text = decoded(data)
    if text is None:
        return Content("binary", reason=_binary(ending))
    cells = notebook_text(text) if ending == "ipynb" else None
    return Content("text", text=text) if cells is None else Content("notebook", text=cells)
