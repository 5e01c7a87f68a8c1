"""Exact p-values: how often the labels alone, dealt out anew inside each eval, part so far.

Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is first made an integer number of steps (see `grid`),
and then they are counted without looking at each (see `tails`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .grid import step_of
from .tails import FEW, Parts, arrangements, listed, tail

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Sides = Sequence[tuple[Sequence[float], Sequence[float]]]
"""Each eval's values on the one side and on the other."""

ENOUGH = 100_000
"""Arrangements beyond which a studentised difference is looked at in a sample."""
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


def least_p(sides: Sides) -> float:
    """The smallest two-sided p that any labels of these values could have given.

    Values that are equal are told: an eval on which both sides are the same moves nothing.

    >>> least_p([([1.0], [0.5])] * 5), least_p([([1.0, 0.5, 0.2], [0.9, 0.3, 0.1])])
    (0.0625, 0.1)
    >>> least_p([([1.0], [0.5])] * 6 + [([1.0], [1.0])] * 2)
    0.03125
    """
    ends = (math.prod(_end(*one, sign) for one in sides) for sign in (1, -1))
    return min(1.0, max(LEAST, 2 * min(ends)))


def _end(one: Sequence[float], other: Sequence[float], sign: int) -> float:
    """The share of an eval's arrangements that part its sides as far as can be, to one end."""
    ordered = sorted((sign * round(value, 12) for value in (*one, *other)), reverse=True)
    last, k = ordered[len(one) - 1], len(one)
    taken = ordered[:k].count(last)
    return math.comb(ordered.count(last), taken) / math.comb(len(ordered), k)


def studentised_p(sides: Sides) -> float:
    """The same where the sides' runs differ in number: the difference over its standard error.

    Labels alone tell whether *anything* differs between the sides; where one has more runs and
    the other more noise, that is not whether their means do. Divided by its standard error, the
    difference is about the means (Janssen 1997; Chung and Romano 2013). Up to `ENOUGH`
    arrangements are all counted; of more, as many are drawn, always the same ones.
    """
    import numpy as np

    dealt = [_dealt(np.array(one, float), np.array(other, float)) for one, other in sides]
    many = math.prod(len(differences) for differences, _ in dealt)
    random = np.random.default_rng(0)
    sums = [np.zeros(1), np.zeros(1)]
    for each in dealt:
        if many <= ENOUGH:
            sums = [np.add.outer(sum_, own).ravel() for sum_, own in zip(sums, each, strict=True)]
        else:
            places = random.integers(len(each[0]), size=ENOUGH)
            places[0] = 0  # what was seen
            sums = [sum_ + own[places] for sum_, own in zip(sums, each, strict=True)]
    difference, noise = sums
    tiny = 1e-12 * max(1.0, float(np.abs(difference).max()))
    difference[np.abs(difference) <= tiny] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(difference) / np.sqrt(np.maximum(noise, 0))
    t[difference == 0] = 0.0
    return float(max(LEAST, (t >= t[0] * (1 - 1e-9)).mean()))


def _dealt(one: Array, other: Array) -> tuple[Array, Array]:
    """The difference of means and its squared error for every order of an eval's labels.

    What was seen comes first. Above `ENOUGH` orders so many are drawn.
    """
    import numpy as np

    values, k = np.concatenate([one, other]), len(one)
    if math.comb(len(values), k) <= ENOUGH:
        chosen = np.array(list(combinations(range(len(values)), k)))
    else:
        random = np.random.default_rng(0)
        chosen = random.permuted(np.tile(np.arange(len(values)), (ENOUGH, 1)), axis=1)[:, :k]
        chosen[0] = np.arange(k)
    mask = np.zeros((len(chosen), len(values)), dtype=bool)
    np.put_along_axis(mask, chosen, values=True, axis=1)
    means, errors = [], []
    for own in (mask, ~mask):
        number = own[0].sum()
        mean = own @ values / number
        means.append(mean)
        spread = own @ values**2 / number - mean**2
        errors.append(np.maximum(spread, 0) / max(number - 1, 1))
    return means[0] - means[1], errors[0] + errors[1]


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
