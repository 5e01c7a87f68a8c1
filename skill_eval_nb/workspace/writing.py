"""Writing into a JSON file that others write, too: what stays the same stays byte for byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from difflib import SequenceMatcher, unified_diff
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import open_regular, write_atomic
from skill_eval_nb.documents.base import to_json

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
        with open_regular(path) as file:
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


_BLANK = re.compile(r"[ \t\r\n]*")


class NotPlain(ValueError):
    """The text is no strict JSON; the message says why."""


class _Part(NamedTuple):
    """A part of a list or an object: where it begins (with its name), its value, and ends."""

    name: str | int
    begin: int
    value: int
    end: int


def plain_value(text: str) -> Any:
    """The value of a strict JSON text in which no name stands twice in an object.

    Raises:
        NotPlain: it is no such text.

    >>> plain_value('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    skill_eval_nb.workspace.writing.NotPlain: `a` stands twice in one object
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        for name in found:
            if sum(name == other for other, _ in pairs) > 1:
                raise NotPlain(f"`{name}` stands twice in one object")
        return found

    def constant(name: str) -> Any:
        raise NotPlain(f"{name} is no JSON")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except NotPlain:
        raise
    except RecursionError:
        raise NotPlain("it is nested too deeply") from None
    except ValueError as error:
        raise NotPlain(f"it is no strict JSON: {error}") from None


def same(value: Any, other: Any) -> bool:
    """Whether two plain values say the same; true is not 1.

    >>> same({"a": [1, 2.0]}, {"a": [1.0, 2]}), same(1, True)
    (True, False)
    """
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def written_like(value: Any, data: bytes | None) -> bytes:
    r"""A value as JSON, in the place of what a file holds: what stays the same stays byte for byte.

    What is new stands in the indentation, and on a line or on lines, as what is beside it. Where
    the file is no strict JSON, the whole is written in its indentation, escapes and line ends.

    Args:
        value: what the file is to say.
        data: what it holds now; None where there is no file.

    >>> written_like([1, 2, 3], b'[1,\n 2]\n'), written_like({"a": 1}, b'{\r\n\t"a": 2}')
    (b'[1,\n 2,\n 3]\n', b'{\r\n\t"a": 1}')
    >>> written_like({"b": "é", "c": "è"}, b'{"a": [ 1 ], "b": "\\u00e9"}')
    b'{"b": "\\u00e9", "c": "\\u00e8"}'
    """
    if data is None:
        return to_json(value)
    text = data.decode("utf-8")
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    writer, at = _Writer(text), _skip(text, 0)
    try:
        old = plain_value(text)
    except NotPlain:
        new = writer.rendered(value, "", inline=writer.unit is None)
        new += writer.newline if text.endswith("\n") else ""
    else:
        _, end = json.JSONDecoder().raw_decode(text, at)
        new = text[:at] + writer.written(at, end, old, value) + text[end:]
    return (mark + new).encode("utf-8", "backslashreplace")  # half of a surrogate pair


def _aligned(old: list[Any], new: list[Any]) -> list[tuple[int | None, Any]]:
    """The items of a list, each with the place of the old one that it is, or comes instead of."""
    texts = [[json.dumps(element, sort_keys=True) for element in each] for each in (old, new)]
    found: list[tuple[int | None, Any]] = []
    for _, i, j, k, m in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        found += [(i + at if i + at < j else None, element) for at, element in enumerate(new[k:m])]
    return found


class _Writer:
    """Writes values as a text has them."""

    def __init__(self, text: str) -> None:
        self.text = text
        indent = re.search(r"\n([ \t]+)\S", text)
        self.unit = indent[1] if indent else None
        self.escaped = text.isascii() and "\\u" in text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        colon = re.search(r'"(\s*:[ \t]*)', text)
        self.colon = colon[1] if colon else ": "
        self.comma = ", " if self.colon != ":" else ","

    def written(self, at: int, end: int, old: Any, new: Any) -> str:
        """The text of a value in the place of the one that stands there."""
        if isinstance(old, list) and isinstance(new, list):
            return self._list(at, end, old, new)
        if isinstance(old, dict) and isinstance(new, dict):
            return self._object(at, end, old, new)
        if same(old, new):
            return self.text[at:end]
        return self.rendered(new, self._indent(at), inline="\n" not in self.text[at:end])

    def rendered(self, value: Any, indent: str, *, inline: bool) -> str:
        """A new value: on one line, or its lines indented further than `indent`."""
        text = json.dumps(
            value,
            ensure_ascii=self.escaped,
            indent=None if inline else self.unit,
            separators=(self.comma if inline else ",", self.colon),
        )
        return text.replace("\n", self.newline + indent)

    def _list(self, at: int, end: int, old: list[Any], new: list[Any]) -> str:
        parts = list(self._parts(at))
        texts: list[tuple[int | None, str]] = []
        for place, value in _aligned(old, new):
            if place is None:
                texts.append((None, self._beside(at, parts, value)))
            else:
                part = parts[place]
                texts.append((place, self.written(part.value, part.end, old[place], value)))
        return self._joined(at, end, parts, texts)

    def _object(self, at: int, end: int, old: dict[str, Any], new: dict[str, Any]) -> str:
        parts = list(self._parts(at))
        texts: list[tuple[int | None, str]] = []
        for place, part in enumerate(parts):
            if part.name in new:
                name = self.text[part.begin : part.value]
                value = self.written(part.value, part.end, old[str(part.name)], new[str(part.name)])
                texts.append((place, name + value))
        for name, value in new.items():
            if name not in old:
                key = json.dumps(name, ensure_ascii=self.escaped)
                texts.append((None, key + self.colon + self._beside(at, parts, value)))
        return self._joined(at, end, parts, texts)

    def _beside(self, at: int, parts: Sequence[_Part], value: Any) -> str:
        """A new part: on one line where a part like it is, or where all of them are."""
        if not parts:
            return self.rendered(value, self._indent(at) + (self.unit or ""), inline=not self.unit)
        opening = "[" if isinstance(value, list) else "{"
        alike = [part for part in parts if self.text[part.value] == opening]
        beside = self.text[alike[-1].value : alike[-1].end] if alike else ""
        inline = "\n" not in self.text[at : parts[-1].end] or (
            len(beside) > 2 and "\n" not in beside
        )
        return self.rendered(value, self._indent(parts[-1].begin), inline=inline or not self.unit)

    def _joined(
        self, at: int, end: int, parts: Sequence[_Part], texts: Sequence[tuple[int | None, str]]
    ) -> str:
        """The parts within their brackets, with what stood between those that stay."""
        opening, closing = self.text[at], self.text[end - 1]
        if not texts:
            return opening + closing if parts else self.text[at:end]
        if parts:
            lead, tail = self.text[at + 1 : parts[0].begin], self.text[parts[-1].end : end - 1]
            usual = "," + lead if "\n" in lead else self.comma
        else:
            indent = self.newline + self._indent(at)
            lead, tail = (indent + self.unit, indent) if self.unit else ("", "")
            usual = "," + lead if self.unit else self.comma
        if len(parts) > 1:
            usual = self.text[parts[-2].end : parts[-1].begin]
        whole = texts[0][1]
        for (before, _), (after, text) in pairwise(texts):
            if before is None or after != before + 1:
                whole += usual + text
            else:
                whole += self.text[parts[before].end : parts[before + 1].begin] + text
        return opening + lead + whole + tail + closing

    def _parts(self, at: int) -> Iterator[_Part]:
        """The parts of the list or object that begins in a place."""
        text, read = self.text, json.JSONDecoder().raw_decode
        is_object = text[at] == "{"
        place, begin = 0, _skip(text, at + 1)
        while text[begin] not in "]}":
            name: str | int = place
            value = begin
            if is_object:
                name, value = read(text, begin)
                value = _skip(text, _skip(text, value) + 1)
            _, end = read(text, value)
            yield _Part(name, begin, value, end)
            begin, place = _skip(text, end), place + 1
            if text[begin] == ",":
                begin = _skip(text, begin + 1)

    def _indent(self, at: int) -> str:
        """The blanks that the line of a place begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()
