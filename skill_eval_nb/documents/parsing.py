"""Bytes to plain JSON values: strictly, else with the repairs that have one reading only."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from .base import Faults

_STEPS = re.compile(r'[^"\\\n]++|\\.?|"|\n\s*+', re.DOTALL)
"""A text in pieces: each begins or ends a string, may cut one off, or does none of it."""

_ENDS = re.compile(r"\s*+(?:[,:}\]]|\Z)")
"""What follows the quote that really ends a string."""


def close_strings(text: str) -> tuple[str, list[str]]:
    r"""Escape quotes inside strings, and close strings that a line's end cut off.

    A quote ends a string only where a comma, colon or closing bracket follows. A string
    whose line is followed by another string (or by a closing bracket) ends with its line.

    >>> close_strings('{"a": "say "hi" twice"}')[0]
    '{"a": "say \\"hi\\" twice"}'
    >>> print(close_strings('{"a": "cut o...\n "b": 1}')[0])
    {"a": "cut o...",
     "b": 1}
    """
    out: list[str] = []
    notes: dict[str, None] = {}
    inside = False
    for step in _STEPS.finditer(text):
        piece, after = step[0], text[step.end() : step.end() + 1]
        if not inside:
            inside = piece[-1] == '"'
        elif piece == '"':
            inside = not _ENDS.match(text, step.end())
            if inside:
                piece = '\\"'
                notes["quotes inside strings escaped"] = None
        elif piece[0] == "\n" and after in ('"', "}", "]"):  # the next member, or the end of all
            inside = False
            piece = ('",' if after == '"' else '"') + piece
            notes["strings without an end closed at the end of their line"] = None
        out.append(piece)
    return "".join(out), list(notes)


_ENCODINGS = {
    "utf-8-sig": "UTF-8 with a byte-order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 without a byte-order mark",
    "utf-16-be": "UTF-16 without a byte-order mark",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32 without a byte-order mark",
    "utf-32-be": "UTF-32 without a byte-order mark",
}
"""All but plain UTF-8 that JSON may be in: its first characters are ASCII, so nulls tell which."""

_KEPT = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|(?P<comment>//[^\n]*+|/\*.*?\*/)|/\*.*', re.DOTALL
)
"""Strings and comments. What has no end goes on to the end of the text, so that it is gone
through once: what is in it begins nothing."""

_REPAIRS = (
    (re.compile(r",(\s*[}\]])"), r"\1", "trailing commas left out"),
    (re.compile(r"([:\[,]\s*)\+(?=[\d.])"), r"\1", "plus signs before numbers left out"),
    (
        re.compile(
            r"(:\s*)(\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(?::?\d\d(?:\.\d+)?)?(?:Z|[+-][\d:]+)?)"
        ),
        r'\1"\2"',
        "time stamps without quotes read as text",
    ),
)
"""Outside of strings: what is wrong, what it becomes, and how it is told."""

MOST_DEEP = 200
"""Objects and lists inside of each other, of which none that people write has so many."""

_NAMED = 8
"""So many of the keys that were given twice are named."""


class NotJSON(ValueError):
    """The bytes are not JSON, and have no single reasonable reading as JSON."""


def parse(data: bytes, faults: Faults) -> Any:
    r"""Parse JSON bytes into plain values.

    What is not strict JSON but has only one reasonable reading is read, and the repair is
    noted in `faults`: byte-order marks, UTF-16 and UTF-32, raw control characters in strings,
    quotes that were not escaped or not closed, trailing commas, comments, `+0.5`,
    unquoted time stamps, NaN (as null), keys given twice (the last counts), what is nested more
    than `MOST_DEEP` deep (as null).

    Raises:
        NotJSON: where there is no such reading; the message says where it stops.

    >>> faults = Faults()
    >>> parse(b'{"text": "two\nlines", "n": [1, 2,],}', faults)
    {'text': 'two\nlines', 'n': [1, 2]}
    >>> [fault.message for fault in faults]
    ['not strict JSON: raw control characters in strings, trailing commas left out']
    """
    if not data.strip(b"\x00 \t\r\n"):
        raise NotJSON("the file is empty")
    try:
        text = _decode(data, faults)
    except UnicodeDecodeError as error:
        raise NotJSON(f"not text: byte {error.start} is not {error.encoding}") from None
    if not text.strip("\x00 \t\r\n"):
        raise NotJSON("the file is empty")
    return _parse_text(text, faults)


def _decode(data: bytes, faults: Faults) -> str:
    encoding = json.detect_encoding(data)
    text = data.decode(encoding)
    if name := _ENCODINGS.get(encoding):
        faults.add("warning", "repaired-json", "$", f"the file is {name}; write plain UTF-8")
    return text


def _parse_text(text: str, faults: Faults) -> Any:
    notes: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            times = Counter(key for key, _ in items)
            twice = sorted(key for key, n in times.items() if n > 1)
            more = f" and {len(twice) - _NAMED} more" if len(twice) > _NAMED else ""
            names = ", ".join(twice[:_NAMED])
            notes.append(f"keys given twice, the last counts: {names}{more}")
        return found

    def constant(name: str) -> None:
        notes.append(f"{name} read as null")

    first: json.JSONDecodeError | None = None
    for strict, repaired, done in _readings(text):
        notes.clear()
        decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant, strict=strict)
        try:
            value = decoder.decode(repaired)
        except json.JSONDecodeError as error:
            first = first or error
            continue
        except RecursionError:
            raise NotJSON("nested too deeply") from None
        except ValueError as error:  # a whole number of thousands of digits
            raise NotJSON(f"not usable as JSON: {error}") from None
        if _cut_below(value):
            notes.append(f"what is nested more than {MOST_DEEP} deep read as null")
        if done or notes:
            what = ", ".join(dict.fromkeys([*done, *notes]))
            faults.add("warning", "repaired-json", "$", f"not strict JSON: {what}")
        return value
    assert first is not None
    raise NotJSON(f"not JSON: {first.msg} at line {first.lineno}, column {first.colno}")


def _cut_below(value: Any) -> bool:
    """Put null in the place of what is nested too deeply to be written again; whether any was."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_DEEP - 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    cut = False
    for outer in level:
        for key in list(outer) if isinstance(outer, dict) else range(len(outer)):
            if isinstance(outer[key], dict | list):
                outer[key], cut = None, True
    return cut


def _readings(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Ever more tolerant readings: strict or not, the text, and what was done to it."""
    yield True, text, []
    raw = ["raw control characters in strings"]
    yield False, text, raw
    repaired, done = _repair(text)
    yield True, repaired, done
    yield False, repaired, raw + done
    closed, notes = close_strings(text)
    repaired, done = _repair(closed)
    yield False, repaired, notes + done


def _repair(text: str) -> tuple[str, list[str]]:
    """Apply the repairs to what lies outside of strings; those are put back as they were."""
    strings: list[str] = []
    done: list[str] = []

    def hollow(found: re.Match[str]) -> str:
        if found["comment"]:
            done[:] = ["comments left out"]
            return " "
        strings.append(found[0])
        return '""'

    bare = _KEPT.sub(hollow, text)
    for pattern, replacement, repair in _REPAIRS:
        mended = pattern.sub(replacement, bare)
        if mended != bare:
            done.append(repair)
            bare = mended
    return "".join(chain.from_iterable(zip_longest(bare.split('""'), strings, fillvalue=""))), done
