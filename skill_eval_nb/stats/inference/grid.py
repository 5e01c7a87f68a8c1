"""The grid that values are rounded to before their arrangements are counted."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tails import Parts

STEPS = 1 << 16
"""How many different differences are told apart; finer ones are rounded."""
WORK = 1 << 27
"""Additions that counting the arrangements may take; above it they are rounded, too."""


def step_of(weighed: Parts) -> float:
    """The step of the grid: a common one where it is coarse enough, else one that is; or 0.

    It is 0 where all values of each eval are the same.
    """
    import numpy as np

    reach = [float(np.sort(values)[-k:].sum()) for values, k in weighed]
    work = sum(
        (k + 1) * len(values) * most for (values, k), most in zip(weighed, reach, strict=True)
    )
    coarse = max(sum(reach) / STEPS, work / WORK)
    distinct = np.unique(np.concatenate([values for values, _ in weighed]).round(12))
    return max(_common(distinct.tolist(), coarse), coarse)


def _common(values: list[float], coarse: float) -> float:
    """The largest step of which all values are multiples, or 0 if it is finer than `coarse`."""
    above, below = 0, 1
    for value in values:
        ratio = _ratio(value)
        if ratio is None:
            return 0
        numerator, denominator = ratio
        above, below = math.gcd(above * denominator, numerator * below), below * denominator
        shared = math.gcd(above, below)
        above, below = above // shared, below // shared
        if 0 < above / below < coarse:
            return 0
    return above / below


@lru_cache(maxsize=1 << 14)
def _ratio(value: float) -> tuple[int, int] | None:
    """The value as a fraction of small numbers; None where it is none."""
    from fractions import Fraction

    ratio = Fraction(value).limit_denominator(10_000)
    if abs(ratio - value) > 1e-9 * max(1, value):
        return None
    return ratio.as_integer_ratio()
