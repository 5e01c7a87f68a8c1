"""Evals to find something on, and evals to prove it on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def halves(evals: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Deal the evals out: the first half is to be looked at, the second is left alone.

    Which is which hangs on the names alone, so it is the same each time, and nobody has
    chosen it. The first half has one more of an odd number.

    >>> halves(["1", "2", "3"])
    (('1', '2'), ('3',))
    """
    names = sorted(set(evals))
    dealt = sorted(names, key=lambda one: hashlib.sha256(f"half of {one}".encode()).digest())
    first = set(dealt[: -(-len(dealt) // 2)])
    return tuple(n for n in names if n in first), tuple(n for n in names if n not in first)
