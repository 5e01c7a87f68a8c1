"""Exact p-values: how often the labels alone, dealt out anew inside each eval, part so far.

Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is an integer number of steps under every arrangement
of its labels, so its distribution is an array, and that of all evals their convolution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Sides = Sequence[tuple[Sequence[float], Sequence[float]]]
"""Each eval's values on the one side and on the other."""

FEW = 10_000
"""Arrangements that are counted one by one."""
STEPS = 1 << 16
"""How many different differences are told apart above that; finer ones are rounded first."""
WORK = 1 << 27
"""Additions that counting the arrangements may take; above it they are rounded, too."""
LEAST = 1e-12
"""The smallest p that is given: what lies below drowns in rounding errors."""
MOST = 1 << 21
"""Choices of an eval that are summed one by one, where that is quicker than counting by sum."""
CHEAPER = 4
"""How many additions of the one way take as long as a sum of the other, about."""
SHORT = 512
"""Up to this length it is quicker to convolve without a Fourier transform."""


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
    arrangements = math.prod(math.comb(len(values), k) for values, k in weighed)
    tail = _counted(weighed) if arrangements <= FEW else _convolved(weighed)
    return float(min(1.0, max(LEAST, round(2 * tail, 12))))


def reachable(counts: Iterable[tuple[int, int]]) -> float:
    """The smallest two-sided p that a design can reach, from each eval's numbers of values.

    >>> reachable([(1, 1)] * 5), reachable([(3, 3)])
    (0.0625, 0.1)
    """
    arrangements = math.prod(math.comb(one + other, one) for one, other in counts)
    return min(1.0, 2 / arrangements)


def _weighed(one: Sequence[float], other: Sequence[float]) -> tuple[Array, int]:
    """What each value adds to the difference of means if it lies on the first side.

    Moving a value from the second side to the first adds x / k_1 and no longer takes x / k_2.
    All are counted from the smallest, which shifts every arrangement alike.
    """
    import numpy as np

    values = np.array([*one, *other], dtype=float)
    return (values - values.min()) * (1 / len(one) + 1 / len(other)), len(one)


def _counted(weighed: list[tuple[Array, int]]) -> float:
    """The smaller tail, arrangement by arrangement."""
    import numpy as np

    dealt, seen = np.zeros(1), 0.0
    for values, k in weighed:
        sums = values[_choices(len(values), k)].sum(axis=1)
        dealt = np.add.outer(dealt, sums).ravel()
        seen += sums[0]  # the first choice is the first k values, as they lie
    near = 1e-9 * dealt.max()
    return min(float((dealt <= seen + near).mean()), float((dealt >= seen - near).mean()))


@lru_cache(maxsize=64)
def _choices(number: int, k: int) -> Array:
    """Every choice of k of so many places, a row each."""
    import numpy as np

    return np.array(list(combinations(range(number), k)))


def _convolved(weighed: list[tuple[Array, int]]) -> float:
    """The smaller tail from the distributions of the evals."""
    step = _step(weighed)
    if not step:
        return 1.0
    dealt: list[Array] = []
    seen = 0
    for values, k in weighed:
        items = _steps(values, step)
        dealt.append(_sums(items, k))
        seen += int(items[:k].sum())
    chances = _all_together(dealt)
    return min(float(chances[: seen + 1].sum()), float(chances[seen:].sum()))


def _step(weighed: list[tuple[Array, int]]) -> float:
    """The step of the grid: a common one where it is coarse enough, else one that is; or 0."""
    import numpy as np

    distinct = np.unique(np.concatenate([values for values, _ in weighed] or [[0.0]]).round(12))
    span = sum(float(np.sort(values)[-k:].sum()) for values, k in weighed)
    work = sum((k + 1) * len(values) * float(np.sort(values)[-k:].sum()) for values, k in weighed)
    coarse = max(span / STEPS, work / WORK)
    common = _common(distinct.tolist(), coarse)
    return max(common, coarse)


def _common(values: list[float], coarse: float) -> float:
    """The largest step of which all values are multiples, or 0 if it is finer than `coarse`."""
    step = Fraction(0)
    for value in values:
        ratio = Fraction(value).limit_denominator(10_000)
        if abs(ratio - value) > 1e-9 * max(1, value):
            return 0
        step = Fraction(
            math.gcd(step.numerator * ratio.denominator, ratio.numerator * step.denominator),
            step.denominator * ratio.denominator,
        )
        if 0 < step < coarse:
            return 0
    return float(step)


def _steps(values: Array, step: float) -> Array:
    import numpy as np

    return np.rint(values / step).astype(int)


def _sums(items: Array, k: int) -> Array:
    """The distribution of the sum of k of the items, each choice as likely: by sum from 0."""
    import numpy as np

    width = int(np.sort(items)[-k:].sum()) + 1
    choices = math.comb(len(items), k)
    if choices < min(MOST, (k + 1) * len(items) * width // CHEAPER):
        ways = np.bincount(_each_sum(items, k), minlength=width)
        return ways / choices
    ways = np.zeros((k + 1, width))
    ways[0, 0] = 1
    for item in items:
        if item < width:
            ways[1:, item:] += ways[:-1, : width - item].copy()
    return ways[k] / ways[k].sum()


def _each_sum(items: Array, k: int) -> Array:
    """The sum of every choice of k of the items: choices of one half with those of the other."""
    import numpy as np

    one, other = (_by_size(half) for half in np.array_split(items, 2))
    pairs = ((one[size], other[k - size]) for size in range(len(one)) if 0 <= k - size < len(other))
    return np.concatenate([np.add.outer(*pair).ravel() for pair in pairs])


def _by_size(items: Array) -> list[Array]:
    """The sums of all choices of items, by how many are chosen."""
    import numpy as np

    sums = [np.zeros(1, dtype=int), *([np.zeros(0, dtype=int)] * len(items))]
    for item in items:
        for size in range(len(items), 0, -1):
            sums[size] = np.concatenate([sums[size], sums[size - 1] + item])
    return sums


def _all_together(parts: list[Array]) -> Array:
    """The distribution of the sum of independent parts, joined in pairs of like length."""
    while len(parts) > 1:
        parts.sort(key=len)
        rest = parts[-1:] if len(parts) % 2 else []
        parts = [_joined(*pair) for pair in list(pairwise(parts))[::2]] + rest
    return parts[0]


def _joined(one: Array, other: Array) -> Array:
    import numpy as np

    if min(len(one), len(other)) <= SHORT:
        return np.convolve(one, other)
    length = len(one) + len(other) - 1
    size = 1 << (length - 1).bit_length()
    product = np.fft.rfft(one, size) * np.fft.rfft(other, size)
    return np.maximum(np.fft.irfft(product, size)[:length], 0)
