"""Ids of new items, given on in the way of those that are there."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)


def next_id(way: str | int, taken: Iterable[str | int], letter: str = "") -> str | int:
    """The next free id of a list.

    Args:
        way: an id of the list, or one like them: the new one has its type, what it has before
            its number, and its leading zeros.
        taken: the ids that were ever given in the list.
        letter: what the new one begins with where `way` has no number.

    >>> next_id("S2", ["S1", "S2"]), next_id(3, [1, 3]), next_id("Q07", ["Q07"])
    ('S3', 4, 'Q08')
    >>> next_id("S1", []), next_id("has-tests", ["has-tests"], "S")
    ('S1', 'S1')
    """
    found = _NUMBERED.fullmatch(str(way))
    prefix, digits = (found[1], found[2]) if found else (letter, "")
    same = [one for one in map(_NUMBERED.fullmatch, map(str, taken)) if one and one[1] == prefix]
    number = 1 + max((int(one[2]) for one in same), default=0)
    if isinstance(way, int):
        return number
    return prefix + str(number).zfill(len(digits) if digits.startswith("0") else 1)
