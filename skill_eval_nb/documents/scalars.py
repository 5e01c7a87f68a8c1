"""Reading numbers, verdicts and texts that were written in another type than documented.

Each reader gives the value, or raises `Unreadable` where there is no single clear reading.
"""

from __future__ import annotations

import math
import re
from typing import Any

PASSED = frozenset("pass passed yes true ok met success succeeded satisfied correct y ✓ ✅ ✔".split())
FAILED = frozenset("fail failed no false unmet not_met failure unsatisfied incorrect n ✗ ❌ ✘".split())
UNSCORED = frozenset("skip skipped pending n/a na none null unknown unscored not_scored".split())

_NUMBER = re.compile(
    r"\s*[~≈$]?\s*(?P<number>[+-−]?(?:\d[\d,_ ]*)?(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*"
    r"(?P<unit>%|pp|ms|s|sec|secs|seconds?|usd|tokens?|points?|x)?\s*"
)
_SHARE = re.compile(r"\s*(\d+)\s*/\s*(\d+)\s*")


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
        raw, percent = _parse(raw, unit)
        if percent:
            return raw
    if not isinstance(raw, (int, float)) or not math.isfinite(raw):
        raise Unreadable
    if unit == "rate" and 1 < raw <= 100:
        return round(raw / 100, 12)
    return float(raw)


def _parse(text: str, unit: str | None) -> tuple[float, bool]:
    """The number in `text`, and whether it was written as a share already."""
    if share := _SHARE.fullmatch(text):
        part, whole = int(share[1]), int(share[2])
        if unit != "rate" or whole == 0 or part > whole:
            raise Unreadable
        return part / whole, True
    found = _NUMBER.fullmatch(text)
    if not found or not any(character.isdigit() for character in found["number"]):
        raise Unreadable
    digits = found["number"].replace("−", "-").replace("_", "").replace(" ", "")
    if re.fullmatch(r"[+-]?\d+,\d{1,2}", digits):  # a decimal comma
        digits = digits.replace(",", ".")
    number = float(digits.replace(",", ""))
    if found["unit"] in ("%", "pp"):
        return number / 100, True
    if found["unit"] == "ms" and unit == "seconds":
        return number / 1000, True
    return number, False


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
    """A text from a text, a number or a list of texts.

    >>> read_text(3), read_text(["a", "b"])
    ('3', 'a\\nb')
    """
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, (int, float)):
        return str(raw)
    if isinstance(raw, list) and raw and all(isinstance(item, str) for item in raw):
        return "\n".join(raw)
    raise Unreadable
