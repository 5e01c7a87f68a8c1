"""Bytes to plain JSON values, and those of another type, if one reading only is clear."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any

import msgspec

from skill_eval_nb.disk import decode

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


_KEPT = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|(?P<comment>//[^\n]*+|/\*.*?\*/)|/\*.*', re.DOTALL
)
"""Strings and comments. What has no end goes on to the end of the text, so that it is gone
through once: what is in it begins nothing."""

_REPAIRS = (
    (re.compile(r",(\s*[}\]])"), r"\1", "trailing commas removed"),
    (re.compile(r"([:\[,]\s*)\+(?=[\d.])"), r"\1", "plus signs before numbers removed"),
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
"""How deep objects and lists may lie inside of each other; nobody writes them deeper."""

_NAMED = 8
"""How many of the keys that were given twice are named."""


class NotJSON(ValueError):
    """The bytes are not JSON, and have no single reasonable reading as JSON."""


def parse_strict(data: bytes) -> Any:
    """The value of strict JSON, fast; None of anything else, which `parse` may know how to read."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def parse(data: bytes, faults: Faults) -> Any:
    r"""Parse JSON bytes into plain values.

    What is not strict JSON but has only one reasonable reading is read, and the repair is
    noted in `faults`: byte-order marks, UTF-16 and UTF-32, raw control characters in strings,
    quotes that were not escaped or not closed, trailing commas, comments, `+0.5`,
    unquoted time stamps, NaN (as null), keys given twice (the last counts), what is nested more
    than `MOST_DEEP` deep (as null).

    Raises:
        NotJSON: if there is no such reading; the message says where it stops.

    >>> faults = Faults()
    >>> parse(b'{"text": "two\nlines", "n": [1, 2,],}', faults)
    {'text': 'two\nlines', 'n': [1, 2]}
    >>> [fault.message for fault in faults]
    ['not strict JSON: raw control characters in strings, trailing commas removed']
    """
    if not data.strip(b"\x00 \t\r\n"):
        raise NotJSON("the file is empty")
    text = read_as_text(data, faults)
    if not text.strip("\x00 \t\r\n"):
        raise NotJSON("the file is empty")
    return _parse_text(text, faults)


def read_as_text(data: bytes, faults: Faults) -> str:
    """The text of a file in whatever encoding: what `disk.decode` finds odd about it is a fault.

    JSON in UTF-16 or UTF-32 is known even without a mark, as it begins with ASCII.

    Raises:
        NotJSON: if it is said to be UTF-16 or UTF-32, and is not.
    """
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8"):
        text, odd = decode(data)
        odd = "UTF-8 with a byte-order mark" if encoding == "utf-8-sig" and odd is None else odd
    else:
        marked = " without a byte-order mark" if "-" in encoding[4:] else ""
        odd = encoding.upper()[:6] + marked
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise NotJSON(f"not text: byte {error.start} is not {error.encoding}") from None
    if odd:
        faults.add("warning", "repaired-json", "$", f"the file is {odd}; write plain UTF-8")
    return text


def parse_lines(data: bytes, faults: Faults) -> Iterator[Any]:
    """The values of a JSONL file, one a line; a line that is not JSON is a fault, and left out."""
    if parse_strict(data.split(b"\n", 1)[0]) is None:
        data = read_as_text(data, faults).encode("utf-8", "surrogatepass")
    for number, line in enumerate(data.splitlines(), 1):
        value = parse_strict(line)
        if value is None and line.strip():
            try:
                value = parse(line, faults)
            except NotJSON:
                message = f"line {number} is not JSON: left out"
                faults.add("error", "not-json", f"$[{number - 1}]", message)
        elif line.count(b"[") + line.count(b"{") > MOST_DEEP and _cut_below(value):
            message = f"anything nested more than {MOST_DEEP} levels deep read as null"
            faults.add("warning", "repaired-json", f"$[{number - 1}]", message)
        if value is not None:
            yield value


def _parse_text(text: str, faults: Faults) -> Any:
    notes: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            times = Counter(key for key, _ in items)
            twice = sorted(key for key, n in times.items() if n > 1)
            more = f" and {len(twice) - _NAMED} more" if len(twice) > _NAMED else ""
            names = ", ".join(twice[:_NAMED])
            notes.append(f"keys given twice (the last counts): {names}{more}")
        return found

    def read_as_null(name: str) -> None:
        notes.append(f"{name} read as null")

    first: json.JSONDecodeError | None = None
    for strict, repaired, done in _try_readings(text):
        notes.clear()
        decoder = json.JSONDecoder(
            object_pairs_hook=pairs, parse_constant=read_as_null, strict=strict
        )
        try:
            value = decoder.decode(repaired)
        except json.JSONDecodeError as error:
            first = first or error
            continue
        except RecursionError:
            raise NotJSON("nested too deeply") from None
        except ValueError as error:  # a whole number of thousands of digits
            raise NotJSON(f"not usable as JSON: {error}") from None
        if repaired.count("[") + repaired.count("{") > MOST_DEEP and _cut_below(value):
            notes.append(f"anything nested more than {MOST_DEEP} levels deep read as null")
        if done or notes:
            what = ", ".join(dict.fromkeys([*done, *notes]))
            faults.add("warning", "repaired-json", "$", f"not strict JSON: {what}")
        return value
    assert first is not None
    raise NotJSON(f"not JSON: {first.msg} (line {first.lineno}, column {first.colno})")


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


def _try_readings(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Ever more tolerant readings: strict or not, the text, and what was done to it."""
    yield True, text, []
    raw = ["raw control characters in strings"]
    yield False, text, raw
    repaired, done = _repair_json(text)
    yield True, repaired, done
    yield False, repaired, raw + done
    closed, notes = close_strings(text)
    repaired, done = _repair_json(closed)
    yield False, repaired, notes + done


def _repair_json(text: str) -> tuple[str, list[str]]:
    """Apply the repairs to what lies outside of strings; those are put back as they were."""
    strings: list[str] = []
    done: list[str] = []

    def hollow(found: re.Match[str]) -> str:
        if found["comment"]:
            done[:] = ["comments removed"]
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


PASSED = frozenset(
    "pass passed yes true ok met success succeeded satisfied correct y ✓ ✅ ✔".split()
)
FAILED = frozenset(
    "fail failed no false unmet not_met failure unsatisfied incorrect n ✗ ❌ ✘".split()
)
UNSCORED = frozenset("skip skipped pending n/a na none null unknown unscored not_scored".split())
ERRORED = frozenset(
    "error errored execution_error exception timeout timed_out crash crashed aborted cancelled "
    "canceled".split()
)
"""Words for a run that came to no result."""

_NUMBER = re.compile(
    r"\s*+(?:[~≈$]\s*+)?"
    r"(?P<number>[+\-−]?(?:\d[\d,_ ]*+(?:\.\d++)?|\.\d++)(?:[eE][+-]?\d++)?)\s*+"
    r"(?P<unit>%|pp|ms|s|sec|secs|seconds?|usd|tokens?|points?|x)?\s*+"
)
_SHARE = re.compile(
    r"\s*(\d{1,15})\s*/\s*(\d{1,15})(?:\s*(?:checks?|expectations?|assertions?|tests?))?"
    r"(?:\s*(?:pass|passed|passing|met|ok))?\s*[.!]?\s*",
    re.IGNORECASE,
)

_PLAIN = frozenset("usd token point x".split())
"""Units that say nothing that the field does not say."""

_FACTORS = {
    ("%", "rate"): 0.01,
    ("pp", "rate"): 0.01,
    ("m", "seconds"): 0.001,
    ("m", "milliseconds"): 1.0,
    **{(word, "seconds"): 1.0 for word in ("s", "sec", "second")},
    **{(word, "milliseconds"): 1000.0 for word in ("s", "sec", "second")},
}
"""What a written unit comes to in the unit that is wanted; `m` is what is left of `ms`."""

_LARGEST = sys.float_info.max
"""No figure is larger: beyond it there is infinity, which JSON cannot hold."""


class Unreadable(ValueError):
    """There is no single clear reading of the value as the wanted type."""


def read_bool(raw: Any) -> bool | None:
    """A verdict: true, false, or None for one that says it was not scored.

    >>> read_bool("PASS"), read_bool("not met"), read_bool("skipped")
    (True, False, None)
    """
    if isinstance(raw, (int, float)) and raw in (0, 1):
        return bool(raw)
    if isinstance(raw, str):
        word = re.sub(r"[\s-]+", "_", raw.strip().lower().rstrip(".!"))
        if word in PASSED:
            return True
        if word in FAILED:
            return False
        if word in UNSCORED:
            return None
    raise Unreadable


def is_verdict(raw: Any) -> bool:
    """Whether a value says that something passed, did not, or was not scored.

    >>> is_verdict("PASS"), is_verdict(None), is_verdict(5)
    (True, True, False)
    """
    try:
        return raw is None or isinstance(read_bool(raw), bool | None)
    except Unreadable:
        return False


def read_number(raw: Any, unit: str | None = None) -> float:
    """A number from a number or a text, in the wanted unit.

    >>> read_number("85%", "rate"), read_number("3/4", "rate"), read_number("1,234 tokens")
    (0.85, 0.75, 1234.0)
    >>> read_number("250 ms", "seconds"), read_number(78.3, "rate")
    (0.25, 0.783)
    """
    if isinstance(raw, bool):
        raise Unreadable
    if isinstance(raw, str):
        number, is_share = _parse_number(raw, unit)
    elif isinstance(raw, (int, float)):
        number, is_share = raw, False
    else:
        raise Unreadable
    if not abs(number) <= _LARGEST:
        raise Unreadable
    if unit == "rate" and not is_share and 1 < abs(number) <= 100:
        if abs(number) < 2:  # neither a share nor likely a percentage
            raise Unreadable
        return round(number / 100, 12)
    return float(number)


def _parse_number(text: str, unit: str | None) -> tuple[float, bool]:
    """The number in `text`, and whether it was written as a share already."""
    if share := read_share(text):
        if unit != "rate" or share[1] == 0:
            raise Unreadable
        return share[0] / share[1], True
    found = _NUMBER.fullmatch(text)
    if not found:
        raise Unreadable
    digits = found["number"].replace("−", "-").replace("_", "").replace(" ", "")
    if re.fullmatch(r"[+-]?\d+,\d{1,2}", digits):  # a decimal comma
        digits = digits.replace(",", ".")
    number = float(digits.replace(",", ""))
    written = (found["unit"] or "").rstrip("s") or found["unit"]
    if written is None or written in _PLAIN:
        return number, False
    factor = _FACTORS.get((written, unit or ""))
    if factor is None:  # a time where tokens are wanted
        raise Unreadable
    return round(number * factor, 12), unit == "rate"


def read_share(text: str) -> tuple[int, int] | None:
    """How many of how many passed, if a text says just that.

    >>> read_share("7/8"), read_share("3 / 5 passed"), read_share("5/3"), read_share("3/5 failed")
    ((7, 8), (3, 5), None, None)
    """
    found = _SHARE.fullmatch(text)
    return (int(found[1]), int(found[2])) if found and int(found[1]) <= int(found[2]) else None


def as_pair(value: Any) -> tuple[int, int] | None:
    """How many of how many, where a value says that: `[3, 5]`, `{"passed": 3, "total": 5}`, `3/5`.

    >>> as_pair([3, 5]), as_pair("3/5"), as_pair([5, 3])
    ((3, 5), (3, 5), None)
    """
    if isinstance(value, Mapping):
        value = [value.get("passed"), value.get("total")]
    if isinstance(value, str):
        return read_share(value)
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    part, whole = value
    return (part, whole) if type(part) is type(whole) is int and 0 <= part <= whole else None


def read_int(raw: Any, unit: str | None = None) -> int:
    """A whole number.

    >>> read_int("12"), read_int(3.0)
    (12, 3)
    """
    number = read_number(raw, unit)
    if number != int(number):
        raise Unreadable
    return int(number)


def read_text(raw: Any) -> str:
    r"""A text from a text, a number or a list of texts.

    >>> read_text(3), read_text(["a", "b"])
    ('3', 'a\nb')
    """
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, (int, float)) and abs(raw) <= _LARGEST:
        return str(raw)
    if isinstance(raw, list) and raw and all(isinstance(item, str) for item in raw):
        return "\n".join(raw)
    raise Unreadable
