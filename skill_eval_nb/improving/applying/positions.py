"""JSON text to values that know where they stand in it."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Marks at the beginning of a file, and what it is written in then."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE = re.compile(r'[^\s,\[\]{}:"/]+')
_NOT_FINITE = frozenset(("NaN", "Infinity", "-Infinity"))
_CLOSING = {"[": "]", "{": "}"}


class Unplaced(ValueError):
    """The text is not JSON whose values have one place each; the message says where it stops."""


@dataclass(frozen=True, slots=True)
class Key:
    """The name of a member, and where it stands, its quotes included."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value and where it stands: `text[start:end]`.

    Attributes:
        start: its first character.
        end: behind its last one.
        value: the plain value; lists and objects are the same ones that its parent's value has.
        items: the values in a list, or in an object in the order of `keys`.
        keys: the names of an object's members, in order; one that is given twice stands twice.
    """

    start: int
    end: int
    value: Any
    items: tuple[Node, ...] = ()
    keys: tuple[Key, ...] = ()

    def member(self, name: str) -> Node | None:
        """The value of a member; of the last one, where several have the name."""
        found = [item for key, item in zip(self.keys, self.items, strict=True) if key.name == name]
        return found[-1] if found else None


def decoded(data: bytes) -> tuple[str, bytes, str]:
    r"""The text of a file, and what it takes to write it again: the mark and the encoding.

    Raises:
        UnicodeDecodeError: it is no text.

    >>> decoded(codecs.BOM_UTF8 + b"[]")
    ('[]', b'\xef\xbb\xbf', 'utf-8')
    """
    found = next(((m, e) for m, e in BOMS if data.startswith(m)), None)
    mark, encoding = found or (b"", json.detect_encoding(data))
    return data[len(mark) :].decode(encoding), mark, encoding


def placed(text: str) -> Node:
    r"""The value of a JSON text, with the place of each of its parts.

    Raw control characters in strings, trailing commas, comments, `+0.5` and NaN (as null) are
    read, as `documents.parse` reads them; what it repairs beyond that has no place here.

    Raises:
        Unplaced: it is not such a text.

    >>> root = placed('{"evals": [{"id": 1,}, {"id": 2}]}')
    >>> root.value
    {'evals': [{'id': 1}, {'id': 2}]}
    >>> second = root.items[0].items[1]
    >>> '{"evals": [{"id": 1,}, {"id": 2}]}'[second.start : second.end]
    '{"id": 2}'
    """
    try:
        root = _value(text, _skip(text, 0))
    except RecursionError:
        raise Unplaced("nested too deeply") from None
    if (end := _skip(text, root.end)) != len(text):
        raise _stopped(text, end, "the end of the file")
    return root


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Node:
    opening = text[at : at + 1]
    if opening in _CLOSING:
        return _container(text, at, _CLOSING[opening])
    if opening == '"':
        end, value = _string(text, at)
        return Node(at, end, value)
    found = _BARE.match(text, at)
    if found is None:
        raise _stopped(text, at, "a value")
    return Node(at, found.end(), _bare(text, at, found[0]))


def _container(text: str, start: int, closing: str) -> Node:
    keys: list[Key] = []
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        if closing == "}":
            end, name = _string(text, at)
            keys.append(Key(name, at, end))
            at = _skip(text, _past(text, _skip(text, end), ":"))
        items.append(_value(text, at))
        at = _skip(text, items[-1].end)
        if text[at : at + 1] != closing:
            at = _skip(text, _past(text, at, ","))
    values = [item.value for item in items]
    names = [key.name for key in keys]
    value = dict(zip(names, values, strict=True)) if closing == "}" else values
    return Node(start, at + 1, value, tuple(items), tuple(keys))


def _string(text: str, at: int) -> tuple[int, str]:
    found = _STRING.match(text, at)
    if found is None:
        raise _stopped(text, at, "a string")
    try:
        return found.end(), json.loads(found[0], strict=False)
    except ValueError:
        raise _stopped(text, at, "a string without faults") from None


def _bare(text: str, at: int, word: str) -> Any:
    if word in _NOT_FINITE:
        return None
    try:
        return json.loads(word.removeprefix("+"))
    except ValueError:
        raise _stopped(text, at, "a value") from None


def _past(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise _stopped(text, at, f"`{sign}`")
    return at + 1


def _stopped(text: str, at: int, wanted: str) -> Unplaced:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    found = repr(text[at : at + 20]) if at < len(text) else "the end"
    return Unplaced(f"line {line}, column {column}: expected {wanted}, found {found}")
