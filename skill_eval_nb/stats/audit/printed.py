"""How exact a printed figure is: half a unit of its last place."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

NUMBER = re.compile(r"(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FRACTION = re.compile(r"\d\s*/\s*\d")
PERCENT = re.compile(r"%|\bpp\b|\dpp|per ?cent|points?\b", re.IGNORECASE)
UNITS = (1.0, 0.01, 0.001, 1000.0, 60.0)
"""What a printed number may have been multiplied by: percent, milliseconds, thousands, minutes."""


class Rounding(NamedTuple):
    """How far the true figure may lie from the printed one, in the unit of the figure."""

    half: float
    """Half a unit of the last printed place."""
    coarse: float
    """The same where the zeros that end a whole number are no digits: 50 for `3800`."""


def is_plain(printed: str) -> bool:
    """Whether it is a bare number as JSON writes it, which drops the zeros after the point.

    >>> is_plain("0.5"), is_plain("+0.50"), is_plain("50 %")
    (True, False, False)
    """
    return re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", printed) is not None


def rounding(printed: str, value: float) -> Rounding:
    """How exactly `value` was printed; 0 where it is a fraction, or no number was printed.

    Args:
        printed: the figure as it was printed, with whatever stands around it.
        value: what was read from it, perhaps in another unit.

    >>> rounding("+0.50", 0.5).half
    0.005
    >>> rounding("+9pp", 0.09).half
    0.005
    >>> rounding("3800", 3800.0)
    Rounding(half=0.5, coarse=50.0)
    >>> rounding("2/3", 2 / 3).half
    0.0
    """
    numbers = NUMBER.findall(printed)
    if FRACTION.search(printed) or not numbers:
        return Rounding(0.0, 0.0)
    ways = [way for number in numbers for way in _ways(number)]
    units = (0.01, *UNITS) if PERCENT.search(printed) else UNITS
    for unit in units:
        for way in ways:
            if math.isclose(float(way) * unit, abs(value), rel_tol=1e-9, abs_tol=1e-12):
                return _rounding(way, unit)
    return _rounding(ways[-1], 1.0)


def _ways(number: str) -> list[str]:
    """The ways to read a number's commas: between thousands, or as the decimal point."""
    whole = number.replace(",", "")
    return (
        [whole, number.replace(",", ".")]
        if number.count(",") == 1 and "." not in number
        else [whole]
    )


def _rounding(number: str, unit: float) -> Rounding:
    digits, _, exponent = number.lower().partition("e")
    whole, _, decimals = digits.partition(".")
    power = int(exponent or 0) - len(decimals)
    zeros = len(whole) - len(whole.rstrip("0") or "0")
    coarse = power if decimals.strip("0") or len(whole) < 2 else power + len(decimals) + zeros
    return Rounding(0.5 * 10.0**power * unit, 0.5 * 10.0**coarse * unit)
