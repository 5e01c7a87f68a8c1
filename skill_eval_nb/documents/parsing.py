"""Bytes to plain JSON values: strictly, else with the repairs that have one reading only."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from .faults import Faults
from .quoting import close_strings

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a byte-order mark"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

_REPAIRS = (
    (re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL), "", "comments left out"),
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


class NotJSON(ValueError):
    """The bytes are not JSON, and have no single reasonable reading as JSON."""


def parse(data: bytes, faults: Faults) -> Any:
    r"""Parse JSON bytes into plain values.

    What is not strict JSON but has only one reasonable reading is read, and the repair is
    noted in `faults`: byte-order marks and UTF-16, raw control characters in strings,
    quotes that were not escaped or not closed, trailing commas, comments, `+0.5`,
    unquoted time stamps, NaN (as null), keys given twice (the last counts).

    Raises:
        NotJSON: where there is no such reading; the message says where it stops.

    >>> faults = Faults()
    >>> parse(b'{"text": "two\nlines", "n": [1, 2,],}', faults)
    {'text': 'two\nlines', 'n': [1, 2]}
    >>> [fault.message for fault in faults]
    ['not strict JSON: raw control characters in strings, trailing commas left out']
    """
    try:
        text = _decode(data, faults)
    except UnicodeDecodeError as error:
        raise NotJSON(f"not text: byte {error.start} is not {error.encoding}") from None
    if not text.strip("\x00 \t\r\n"):
        raise NotJSON("the file is empty")
    return _parse_text(text, faults)


def _decode(data: bytes, faults: Faults) -> str:
    for mark, encoding, name in _BOMS:
        if data.startswith(mark):
            faults.add("warning", "repaired-json", "$", f"the file is {name}; write plain UTF-8")
            return data.decode(encoding)
    return data.decode("utf-8")


def _parse_text(text: str, faults: Faults) -> Any:
    notes: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            twice = sorted({key for key, _ in items if sum(key == k for k, _ in items) > 1})
            notes.append(f"keys given twice, the last counts: {', '.join(twice)}")
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
        if done or notes:
            what = ", ".join(dict.fromkeys([*done, *notes]))
            faults.add("warning", "repaired-json", "$", f"not strict JSON: {what}")
        return value
    assert first is not None
    raise NotJSON(f"not JSON: {first.msg} at line {first.lineno}, column {first.colno}")


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
    done: list[str] = []
    for pattern, replacement, told in _REPAIRS:
        changed = _outside_strings(text, pattern, replacement)
        if changed != text:
            done.append(told)
            text = changed
    return text, done


def _outside_strings(text: str, pattern: re.Pattern[str], replacement: str) -> str:
    """Apply a repair to what lies outside of strings; strings are put back as they were."""
    strings = _STRING.findall(text)
    hollow = _STRING.sub('""', text)
    mended = pattern.sub(replacement, hollow)
    pieces = mended.split('""')
    if len(pieces) != len(strings) + 1:
        return text
    return "".join(
        piece + (strings[index] if index < len(strings) else "")
        for index, piece in enumerate(pieces)
    )
