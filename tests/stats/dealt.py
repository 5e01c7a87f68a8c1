"""Labels dealt out in every way, one after the other: what exact tests are held against."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

Eval = tuple[Sequence[float], Sequence[float]]
"""The figures of an eval on both sides."""
Sums = np.ndarray[Any, Any]


def every_deal(sides: Sequence[Eval], weights: Sequence[float] | None = None) -> Sums:
    """The weighed sum of the sides' differences for each way to deal out labels inside evals.

    What was seen comes first.
    """

    by = weights or [1.0] * len(sides)

    def differences(one: Sequence[float], other: Sequence[float]) -> list[float]:
        pool = np.array([*one, *other], dtype=float)
        chosen = map(list, combinations(range(len(pool)), len(one)))
        return [pool[own].mean() - np.delete(pool, own).mean() for own in chosen]

    each = [np.multiply(differences(*own), weight) for own, weight in zip(sides, by, strict=True)]
    return reduce(np.add.outer, each, np.zeros(1)).ravel()


def every_flip(differences: Sequence[float]) -> Sums:
    """Their sum under every sign of each; what was seen comes first."""
    return every_deal([([one], [0.0]) for one in differences])


def doubled_tail(sums: Sums) -> float:
    """The two-sided p: twice the share at least as far as what was seen, which is the first."""
    tails = (sums >= sums[0] - 1e-9).mean(), (sums <= sums[0] + 1e-9).mean()
    return min(1.0, 2 * float(min(tails)))
