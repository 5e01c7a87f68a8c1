"""Exact p-values: how often the labels alone, dealt out anew inside each eval, part so far.

Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is first made an integer number of steps (see `grid`),
and then they are counted without looking at each (see `tails`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


Parts = Sequence[tuple["Array", int]]
"""Each eval's items, and how many of them lie on the first side."""

FEW = 10_000
"""Arrangements that are counted one by one."""
HALF = 1 << 12
"""Sums up to which the arrangements of either half are listed, to be counted in pairs."""
SPARSE = 8
"""So many times as many sums as choices of a half make it quicker to go by the choices."""
CHEAPER = 4
"""How many additions of rows take as long as one of a listed choice, about."""
DIGITS, NARROW = 60, 1500
"""Items whose choices a digit of 64 bits can count, and items × sums up to which that is quick."""
AT_ONCE = 4
"""Distributions that are joined in one go."""
SHORT = 128
"""Up to this length it is quicker to convolve without a Fourier transform."""


def tail(parts: Parts) -> float:
    """The share of all arrangements whose sum is at most, or at least, the one seen.

    The smaller of the two. Every arrangement is a sum of one half of the items and one of the
    other: short lists of these are counted pair by pair, long ones by how often each sum is.
    """
    import numpy as np

    seen = sum(int(items[:k].sum()) for items, k in parts)
    width = sum(int(items.sum()) for items, _ in parts) + 1
    if len(parts) == 1 and 1 << (len(parts[0][0]) + 1) // 2 <= min(HALF, width // SPARSE):
        items, k = parts[0]
        # Each item counts itself as well: what chooses k of them lies in one stretch of sums.
        first, other = (_subsets(half + width) for half in np.array_split(items, 2))
        return _of_pairs(first, other, (k * width, (k + 1) * width), k * width + seen)
    halves = parts[::2], parts[1::2]
    if all(arrangements(half) <= HALF for half in halves):
        return _of_pairs(listed(halves[0]), listed(halves[1]), (0, width), seen)
    first, other = together([np.ones(1), *(chances(items, k) for items, k in parts)], left=2)
    return _of_chances(first, other, seen)


def arrangements(parts: Parts) -> int:
    """How many there are."""
    return math.prod(math.comb(len(items), k) for items, k in parts)


def listed(parts: Parts) -> Array:
    """The sum of every arrangement, the one seen first."""
    import numpy as np

    sums = np.zeros(1, dtype=int)
    for items, k in parts:
        sums = np.add.outer(sums, items[_choices(len(items), k)].sum(axis=1)).ravel()
    return sums


@lru_cache(maxsize=64)
def _choices(number: int, k: int) -> Array:
    """Every choice of k of so many places, a row each."""
    import numpy as np

    return np.array(list(combinations(range(number), k)))


def _subsets(items: Array) -> Array:
    """The sum of every subset."""
    import numpy as np

    sums = np.zeros(1, dtype=int)
    for item in items:
        sums = np.concatenate([sums, sums + item])
    return sums


def _of_pairs(sums: Array, other: Array, within: tuple[int, int], seen: int) -> float:
    """The smaller tail of the sums of one of `sums` and one of `other`.

    Sums below the first of `within`, and from the last on, are of no arrangement.
    """
    import numpy as np

    ordered = np.sort(sums)

    def below(bound: int) -> int:
        return int(ordered.searchsorted(bound - other).sum())

    first, last = (below(end) for end in within)
    return min(below(seen + 1) - first, last - below(seen)) / (last - first)


def chances(items: Array, k: int) -> Array:
    """The chance of each sum of k of the items, each choice as likely: by sum from 0."""
    import numpy as np

    items = np.sort(items)
    number, width = len(items), int(items[-k:].sum()) + 1
    choices = math.comb(number, k)
    if number <= DIGITS and number * width <= NARROW:
        return _by_digits(items.tolist(), k, width) / choices
    if choices <= FEW and choices * k < (k + 1) * number * width // CHEAPER:
        return np.bincount(items[_choices(number, k)].sum(axis=1), minlength=width) / choices
    ways = np.zeros((k + 1, width))
    ways[0, 0] = reach = 1
    for at, item in enumerate(items.tolist()):
        # Rows that have no more items than there were, and can still come to k.
        low, high = max(1, k + 1 + at - number), min(k, at + 1) + 1
        upto = min(reach, width - item)
        ways[low:high, item : item + upto] += ways[low - 1 : high - 1, :upto]
        reach += item
    return ways[k] / ways[k].sum()


def _by_digits(items: list[int], k: int, width: int) -> Array:
    """How often each sum of k of the items is, where these are few: digits of a whole number.

    Python adds such a number up much quicker than anything that loops over arrays. A digit has
    64 bits; there are `width` of them for each number of chosen items.
    """
    import numpy as np

    ways = 1
    for item in items:
        ways += ways << 64 * (width + item)
    row = (ways >> 64 * width * k) & ((1 << 64 * width) - 1)
    return np.frombuffer(row.to_bytes(8 * width, "little"), dtype="<u8")


def together(parts: list[Array], left: int) -> list[Array]:
    """The distributions of sums of independent parts, those of like length joined first.

    Args:
        parts: the chance of each sum from 0.
        left: how many are left, each the sum of some of them: 1, or 2 where there are two.
    """
    while len(parts) > left:
        parts = sorted(parts, key=len)
        size = math.ceil(len(parts) / max(left, math.ceil(len(parts) / AT_ONCE)))
        parts = [_joined(parts[at : at + size]) for at in range(0, len(parts), size)]
    return parts


def _joined(parts: list[Array]) -> Array:
    """The distribution of the sum of a few parts, the shortest first."""
    import numpy as np

    if len(parts[-1]) <= SHORT or len(parts) == 1:
        return reduce(np.convolve, parts)
    from scipy import fft

    length = sum(map(len, parts)) - len(parts) + 1
    size = min(odd << (math.ceil(length / odd) - 1).bit_length() for odd in (1, 3, 5))
    rows = np.zeros((len(parts), size))
    for row, part in zip(rows, parts, strict=True):
        row[: len(part)] = part
    fourier = cast("Any", fft)  # its own types are those of other libraries' arrays
    joined = fourier.irfft(fourier.rfft(rows).prod(axis=0), size)
    return np.maximum(joined[:length], 0)


def _of_chances(odds: Array, other: Array, seen: int) -> float:
    """The smaller tail of the sum of two parts that are known by the chance of each sum."""
    import numpy as np

    left = seen - np.arange(len(odds))
    below = np.concatenate([[0.0], other.cumsum()])
    above = np.concatenate([other[::-1].cumsum()[::-1], [0.0]])
    low = odds * below[np.clip(left + 1, 0, len(other))]
    high = odds * above[np.clip(left, 0, len(other))]
    return min(float(low.sum()), float(high.sum()))


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
    weighed = [_weighed(scores, other) for scores, other in sides]
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
    ends = (math.prod(_end(*side, sign) for side in sides) for sign in (1, -1))
    return min(1.0, max(LEAST, 2 * min(ends)))


def _end(scores: Sequence[float], other: Sequence[float], sign: int) -> float:
    """The share of an eval's arrangements that part its sides as far as can be, to one end."""
    ordered = sorted((sign * round(value, 12) for value in (*scores, *other)), reverse=True)
    last, k = ordered[len(scores) - 1], len(scores)
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

    dealt = [_dealt(np.array(scores, float), np.array(other, float)) for scores, other in sides]
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


def _dealt(scores: Array, other: Array) -> tuple[Array, Array]:
    """The difference of means and its squared error for every order of an eval's labels.

    What was seen comes first. Above `ENOUGH` orders so many are drawn.
    """
    import numpy as np

    values, k = np.concatenate([scores, other]), len(scores)
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


def _weighed(scores: Sequence[float], other: Sequence[float]) -> tuple[Array, int]:
    """What each value adds to the difference of means if it lies on the first side.

    Moving a value from the second side to the first adds x / k_1 and no longer takes x / k_2.
    All are counted from the smallest, which shifts every arrangement alike.
    """
    import numpy as np

    values = np.array([*scores, *other], dtype=float)
    return (values - values.min()) * (1 / len(scores) + 1 / len(other)), len(scores)


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


ALL, DRAWN = 12, 5_000
"""Evals up to which all flips of signs are looked at jointly; else so many, always the same."""


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A p-value that allows for the other questions asked with it.

    Attributes:
        p: the adjusted one.
        least: the smallest that it could have become, had only this question's labels stood
            otherwise.
        alone: the p of this question alone at which the adjusted one would be alpha: its
            interval is that of 1 - `alone`, so that the two never contradict each other.
    """

    p: float
    least: float
    alone: float


def over_evals(p: Sequence[float], least: Sequence[float], alpha: float) -> list[Adjusted]:
    """Of many evals or checks, each for itself: by Benjamini and Hochberg."""
    found = benjamini_hochberg(p)
    each = []
    for at, (own, adjusted) in enumerate(zip(p, found, strict=True)):
        best = benjamini_hochberg([*p[:at], least[at], *p[at + 1 :]])[at]
        assert adjusted is not None
        assert best is not None
        each.append(Adjusted(adjusted, best, min(alpha, alpha * own / adjusted)))
    return each


def jointly(
    p: Sequence[float], least: Sequence[float], dealt: Array, alpha: float
) -> list[Adjusted]:
    """Of several figures of the same runs: by Westfall and Young's smallest p (1993).

    How far the smallest p of all figures falls by chance is seen where labels are dealt out
    anew for all of them together, so that figures that go together are not paid for twice.

    Args:
        p: of each figure alone.
        least: the smallest that each could be.
        dealt: the differences, a row a deal of the labels and a column a figure.
        alpha: of the verdict.

    >>> import numpy as np
    >>> twins = np.array([[1.0, 1.0], [-1.0, -1.0], [0.5, 0.5], [-0.5, -0.5]])
    >>> [one.p for one in jointly([0.5, 0.5], [0.5, 0.5], twins, 0.05)]
    [0.5, 0.5]
    """
    import numpy as np

    sizes = np.round(np.abs(dealt), 12)
    ranks = np.empty_like(sizes)
    for at, column in enumerate(sizes.T):
        ordered = np.sort(column)
        ranks[:, at] = len(ordered) - np.searchsorted(ordered, column - 1e-9 * (1 + column))
    smallest = np.sort(ranks.min(axis=1) / len(ranks))

    def chance(own: Any) -> Any:
        return np.searchsorted(smallest, own + 1e-9, side="right") / len(smallest)

    steps = np.unique(smallest)
    below = steps[chance(steps) <= alpha + 1e-9]
    alone = min(alpha, max([alpha / len(p), *below.tolist()]))  # Bonferroni's share always holds
    each = []
    for own, best in zip(p, least, strict=True):
        adjusted = min(max(own, float(chance(own))), 1.0, own * len(p))
        least_p = min(max(best, float(chance(best))), 1.0, best * len(p))
        each.append(Adjusted(adjusted, least_p, max(alone, own) if adjusted <= alpha else alone))
    return each


def flips(differences: Array) -> Array:
    """The sums that flips of the evals' signs give, for all columns alike; as seen first.

    Args:
        differences: evals × figures; NaN where an eval lacks one.
    """
    import numpy as np

    n = len(differences)
    if n <= ALL:
        signs = 1 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (DRAWN, n))
        signs[0] = 1
    return signs @ np.nan_to_num(differences)


def deals(evals: Sequence[tuple[Array, int]]) -> Array:
    """The mean differences that labels dealt out anew inside each eval give; as seen first.

    Args:
        evals: for each its runs × figures, NaN where a run lacks one, and how many of the
            runs, the first ones, are the one side's.
    """
    import numpy as np

    random = np.random.default_rng(0)
    sums, number = 0.0, 0.0
    for values, k in evals:
        places = np.tile(np.arange(len(values)), (DRAWN, 1))
        places[1:] = random.permuted(places[1:], axis=1)
        mask = (places < k).astype(float)  # products of booleans would be booleans, and no counts
        known, filled = (~np.isnan(values)).astype(float), np.nan_to_num(values)
        first, count = mask @ filled, mask @ known
        with np.errstate(invalid="ignore", divide="ignore"):
            second = (filled.sum(axis=0) - first) / (known.sum(axis=0) - count)
            difference = first / count - second
        paired = ~np.isnan(difference[0])
        sums = sums + np.where(paired, np.nan_to_num(difference), 0.0)
        number = number + paired
    return sums / np.maximum(number, 1)


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted for their number: those at most alpha are false finds in alpha of cases.

    Benjamini and Hochberg 1995: the i-th smallest of m becomes the least of p_j m / j over
    all j from i on. A null stays null and is not counted.

    >>> benjamini_hochberg([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    order = sorted((p_value, at) for at, p_value in enumerate(p) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p)
    least = 1.0
    for place in range(len(order), 0, -1):
        p_value, at = order[place - 1]
        least = min(least, p_value * len(order) / place)
        adjusted[at] = least
    return adjusted


def holm_sidak(p: Sequence[float | None]) -> list[float | None]:
    """p-values of independent data, adjusted for their number: any false find in alpha of cases.

    Holm's step-down with Sidak's bound: the i-th smallest of m becomes the largest of
    1 - (1 - p_j)^(m - j + 1) over all j up to i. As no p of an exact test is below its chance, this
    is at least what Westfall and Young (1993) have where data share nothing. A null stays null and
    is not counted.

    >>> holm_sidak([0.04, None, 0.01])
    [0.04, None, 0.0199]
    """
    order = sorted((p_value, at) for at, p_value in enumerate(p) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p)
    most = 0.0
    for place, (p_value, at) in enumerate(order):
        most = max(most, -math.expm1((len(order) - place) * math.log1p(-min(p_value, 1 - LEAST))))
        adjusted[at] = most
    return adjusted
