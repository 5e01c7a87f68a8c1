"""Several questions at once: p-values that allow for it."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted for their number: those at most alpha are false finds in alpha of cases.

    Benjamini and Hochberg 1995: the i-th smallest of m becomes the least of p_j m / j over
    all j from i on. A null stays null and is not counted.

    >>> benjamini_hochberg([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    order = sorted((one, at) for at, one in enumerate(p) if one is not None)
    adjusted: list[float | None] = [None] * len(p)
    least = 1.0
    for place in range(len(order), 0, -1):
        one, at = order[place - 1]
        least = min(least, one * len(order) / place)
        adjusted[at] = least
    return adjusted
