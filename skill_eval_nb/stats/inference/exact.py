"""Exact p-values: how often the labels alone, dealt out anew inside each eval, part so far.

Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is first made an integer number of steps (see `grid`),
and then they are counted without looking at each (see `tails`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .grid import step_of
from .tails import FEW, Parts, arrangements, listed, tail

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Sides = Sequence[tuple[Sequence[float], Sequence[float]]]
"""Each eval's values on the one side and on the other."""

LEAST = 1e-12
"""The smallest p that is given: what lies below drowns in rounding errors."""


def exact_p(sides: Sides) -> float:
    """Two-sided p of the mean over evals of the difference between their sides' means.

    Under the null hypothesis the labels inside an eval could stand in any order; all orders of
    all evals are counted. The smaller tail, what was seen included, is doubled (as
    `scipy.stats.permutation_test` does). With one value a side this is the sign flip of each
    eval's difference, and with values 0 and 1 McNemar's exact test.

    Where there are many arrangements, values without a common step, or with one too fine to
    count, are rounded to a grid of `STEPS` first: the test of the rounded values is as exact,
    and differs from that of the values by less than anybody could see.

    Args:
        sides: for each eval the values on either side, at least one each.

    Returns:
        The p-value, at least `LEAST`; 1 for no evals.

    Six evals, each better with the skill:

    >>> exact_p([([0.75], [0.5])] * 6)
    0.03125
    """
    weighed = [_weighed(one, other) for one, other in sides]
    rare = _counted(weighed) if arrangements(weighed) <= FEW else _on_the_grid(weighed)
    return float(min(1.0, max(LEAST, round(2 * rare, 12))))


def reachable(counts: Iterable[tuple[int, int]]) -> float:
    """The smallest two-sided p that a design can reach, from each eval's numbers of values.

    >>> reachable([(1, 1)] * 5), reachable([(3, 3)])
    (0.0625, 0.1)
    """
    return min(1.0, 2 / math.prod(math.comb(one + other, one) for one, other in counts))


def _weighed(one: Sequence[float], other: Sequence[float]) -> tuple[Array, int]:
    """What each value adds to the difference of means if it lies on the first side.

    Moving a value from the second side to the first adds x / k_1 and no longer takes x / k_2.
    All are counted from the smallest, which shifts every arrangement alike.
    """
    import numpy as np

    values = np.array([*one, *other], dtype=float)
    return (values - values.min()) * (1 / len(one) + 1 / len(other)), len(one)


def _counted(weighed: Parts) -> float:
    """The smaller tail, arrangement by arrangement; the first is what was seen."""
    dealt = listed(weighed)
    near = 1e-9 * dealt.max()
    seen = dealt[0]
    return min(float((dealt <= seen + near).mean()), float((dealt >= seen - near).mean()))


def _on_the_grid(weighed: Parts) -> float:
    """The smaller tail, every value rounded to whole steps."""
    import numpy as np

    step = step_of(weighed)
    if not step:
        return 1.0
    return tail([(np.rint(values / step).astype(int), k) for values, k in weighed])
