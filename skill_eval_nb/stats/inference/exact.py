"""Exact p-values: how often the labels alone, dealt out again inside each eval, part so far.

Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is first made an integer number of steps (see `step_of`),
and then they are counted without looking at each (see `exact_tail`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]


Parts = Sequence[tuple["Array", int]]
"""Each eval's items, and how many of them lie on the first side."""

FEW = 10_000
"""Arrangements that are counted one by one."""
AT_ONCE = 4
"""Distributions that are joined in one go."""
SHORT = 128
"""Up to this length it is quicker to convolve without a Fourier transform."""


def exact_tail(parts: Parts) -> float:
    """The share of all arrangements whose sum is at most, or at least, the one seen.

    The smaller of the two, by the chances of each sum of one half of the items and of the other.
    """
    import numpy as np

    seen = sum(int(items[:k].sum()) for items, k in parts)
    odds, other = together([np.ones(1), *(chances(items, k) for items, k in parts)], left=2)
    left = seen - np.arange(len(odds))
    below = np.concatenate([[0.0], other.cumsum()])
    above = np.concatenate([other[::-1].cumsum()[::-1], [0.0]])
    low = odds * below[np.clip(left + 1, 0, len(other))]
    high = odds * above[np.clip(left, 0, len(other))]
    return min(float(low.sum()), float(high.sum()))


def arrangements(parts: Parts) -> int:
    """How many there are."""
    return math.prod(math.comb(len(items), k) for items, k in parts)


def list_sums(parts: Parts) -> Array:
    """The sum of every arrangement, the one seen first."""
    import numpy as np

    sums = np.zeros(1, dtype=int)
    for items, k in parts:
        sums = np.add.outer(sums, items[_list_choices(len(items), k)].sum(axis=1)).ravel()
    return sums


@lru_cache(maxsize=64)
def _list_choices(number: int, k: int) -> Array:
    """Every choice of k of so many places, a row each."""
    import numpy as np

    return np.array(list(combinations(range(number), k)))


def chances(items: Array, k: int) -> Array:
    """The chance of each sum of k of the items, each choice as likely: by sum from 0."""
    import numpy as np

    items = np.sort(items)
    number, width = len(items), int(items[-k:].sum()) + 1
    ways = np.zeros((k + 1, width))
    ways[0, 0] = reach = 1
    for at, item in enumerate(items.tolist()):
        # Rows that have no more items than there were, and can still come to k.
        low, high = max(1, k + 1 + at - number), min(k, at + 1) + 1
        upto = min(reach, width - item)
        ways[low:high, item : item + upto] += ways[low - 1 : high - 1, :upto]
        reach += item
    return ways[k] / ways[k].sum()


def together(parts: list[Array], left: int) -> list[Array]:
    """The distributions of sums of independent parts, those of like length joined first.

    Args:
        parts: the chance of each sum from 0.
        left: how many are left, each the sum of some of them: 1, or 2 if there are two.
    """
    while len(parts) > left:
        parts = sorted(parts, key=len)
        size = math.ceil(len(parts) / max(left, math.ceil(len(parts) / AT_ONCE)))
        parts = [_convolve_parts(parts[at : at + size]) for at in range(0, len(parts), size)]
    return parts


def _convolve_parts(parts: list[Array]) -> Array:
    """The distribution of the sum of a few parts, the shortest first."""
    import numpy as np

    if len(parts[-1]) <= SHORT or len(parts) == 1:
        return reduce(np.convolve, parts)
    from scipy import fft

    length = sum(map(len, parts)) - len(parts) + 1
    fourier = cast("Any", fft)  # its own types are those of other libraries' arrays
    size = fourier.next_fast_len(length, real=True)
    joined = fourier.irfft(np.prod([fourier.rfft(part, size) for part in parts], axis=0), size)
    return np.maximum(joined[:length], 0)


STEPS = 1 << 16
"""How many different differences are told apart; finer ones are rounded."""
WORK = 1 << 27
"""Additions that counting the arrangements may take; above it they are rounded, too."""


def step_of(weighed: Parts) -> float:
    """The step of the grid: a common one if it is coarse enough, else one that is; or 0.

    It is 0 if all values of each eval are the same.
    """
    import numpy as np

    reach = [float(np.sort(values)[-k:].sum()) for values, k in weighed]
    work = sum(
        (k + 1) * len(values) * most for (values, k), most in zip(weighed, reach, strict=True)
    )
    coarse = max(sum(reach) / STEPS, work / WORK)
    distinct = np.unique(np.concatenate([values for values, _ in weighed]).round(12))
    return max(_common_step(distinct.tolist(), coarse), coarse)


def _common_step(values: list[float], coarse: float) -> float:
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
    """The value as a fraction of small numbers; None if it is none."""
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

    If there are many arrangements, values without a common step, or with one too fine to
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
    weighed = [_weigh_values(scores, other) for scores, other in sides]
    rare = _count_tail(weighed) if arrangements(weighed) <= FEW else _on_the_grid(weighed)
    return float(min(1.0, max(LEAST, round(2 * rare, 12))))


def least_p(sides: Sides) -> float:
    """The smallest two-sided p that any labels of these values could have given.

    Values that are equal are told: an eval on which both sides are the same moves nothing.

    >>> least_p([([1.0], [0.5])] * 5), least_p([([1.0, 0.5, 0.2], [0.9, 0.3, 0.1])])
    (0.0625, 0.1)
    >>> least_p([([1.0], [0.5])] * 6 + [([1.0], [1.0])] * 2)
    0.03125
    """
    low = high = 1.0
    for scores, other in sides:
        ordered, k = sorted(round(value, 12) for value in (*scores, *other)), len(scores)
        whole = math.comb(len(ordered), k)
        low *= _ways_to(ordered[:k], ordered[k - 1], ordered) / whole
        high *= _ways_to(ordered[-k:], ordered[-k], ordered) / whole
    return min(1.0, max(LEAST, 2 * min(low, high)))


def _ways_to(chosen: list[float], last: float, ordered: list[float]) -> int:
    """In how many ways values that are equal can be chosen: of `ordered` those at one end."""
    return math.comb(ordered.count(last), chosen.count(last))


def studentised_p(sides: Sides) -> float:
    """The same where the sides' runs differ in number: the difference over its standard error.

    Labels alone tell whether *anything* differs between the sides; if one has more runs and
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


def _weigh_values(scores: Sequence[float], other: Sequence[float]) -> tuple[Array, int]:
    """What each value adds to the difference of means if it lies on the first side.

    Moving a value from the second side to the first adds x / k_1 and no longer takes x / k_2.
    All are counted from the smallest, which shifts every arrangement alike.
    """
    import numpy as np

    values = np.array([*scores, *other], dtype=float)
    return (values - values.min()) * (1 / len(scores) + 1 / len(other)), len(scores)


def _count_tail(weighed: Parts) -> float:
    """The smaller tail, arrangement by arrangement; the first is what was seen."""
    dealt = list_sums(weighed)
    near = 1e-9 * dealt.max()
    seen = dealt[0]
    return min(float((dealt <= seen + near).mean()), float((dealt >= seen - near).mean()))


def _on_the_grid(weighed: Parts) -> float:
    """The smaller tail, every value rounded to whole steps."""
    import numpy as np

    step = step_of(weighed)
    if not step:
        return 1.0
    return exact_tail([(np.rint(values / step).astype(int), k) for values, k in weighed])


SAME = 1 + 1e-7
"""Chances that differ by a smaller factor are equal: the rest is rounding."""


MARGINS = ["scored", "scored_baseline", "passes"]
Kind = tuple[int, int, int]
"""What the test of an eval takes as given: verdicts on either side, and passes in all."""


def exact_tests(tables: pl.DataFrame) -> pl.DataFrame:
    """The exact two-sided p of each row's 2×2 tables, one an eval, taken together.

    Inside each eval the sides could have been dealt out to the verdicts in any order. What is
    counted is the passes on the first side, over all evals; p is the chance of a count as
    likely as the one seen, or less so. For one eval that is Fisher's exact test, for evals of
    one verdict a side McNemar's, for several evals the exact conditional test of Birch
    (JRSS B 1964), whose approximation is Mantel and Haenszel's.

    Args:
        tables: `row`, and `passed`, `scored`, `passed_baseline`, `scored_baseline`: counts.

    Returns:
        `row`, `p` (at least `LEAST`), and `least_p`: no verdicts on so many runs can bring it
        below. Rows none of whose evals is scored on both sides are left out.

    Two evals, each passed thrice in three on the first side and never in three on the other:

    >>> import polars as pl
    >>> eval_ = {"passed": 3, "scored": 3, "passed_baseline": 0, "scored_baseline": 3}
    >>> exact_tests(pl.DataFrame([{"row": 7, **eval_}] * 2)).rows()
    [(7, 0.005, 0.005)]
    """
    import polars as pl
    from scipy import special

    passes = (pl.col("passed") + pl.col("passed_baseline")).alias("passes")
    given = tables.select("row", "passed", "scored", "scored_baseline", passes).filter(
        pl.col("scored") > 0, pl.col("scored_baseline") > 0
    )
    distinct = given.select(MARGINS).unique().sort(MARGINS)
    own, other, every = (distinct[name] for name in MARGINS)
    ways = special.gammaln(own + other + 1) - special.gammaln(own + 1) - special.gammaln(other + 1)
    known = distinct.with_columns(
        pl.int_range(pl.len()).alias("kind"),
        pl.Series("arrangements", ways, pl.Float64),
        ((every > 0) & (every < own + other)).alias("tells"),  # so that sides can differ
    )
    tells, even = pl.col("tells"), (pl.col("scored") == pl.col("scored_baseline")).all()
    rows = (
        given.join(known, on=MARGINS)
        .group_by("row")
        .agg(
            pl.col("kind").filter(tells).sort().cast(pl.String).str.join(",").alias("kinds"),
            pl.col("passed").filter(tells).sum().cast(pl.Int64).alias("seen"),
            # All of one side and none of the other: where sides are even, the reverse is as rare.
            ((even + 1) * (-pl.col("arrangements").sort().sum()).exp()).alias("least_p"),
        )
    )
    seen = rows.select("kinds", "seen").unique().group_by("kinds").agg("seen").rows()
    tested = pl.DataFrame(
        [row for names, sums in seen for row in _test_sums(names, sums, distinct.rows())],
        {"kinds": pl.String, "seen": pl.Int64, "p": pl.Float64},
        orient="row",
    )
    least = pl.col("least_p").clip(LEAST, 1).round(12)
    return rows.join(tested, on=["kinds", "seen"]).select("row", "p", least)


def _test_sums(
    names: str, sums: Sequence[int], kinds: Sequence[Kind]
) -> Iterator[tuple[str, int, float]]:
    """The p of each sum of passes on the first side, for evals of these kinds."""
    import numpy as np

    evals = Counter(kinds[int(name)] for name in names.split(",") if name)
    parts = [_chance_over_evals(kind, times) for kind, times in evals.items()]
    [chances] = together(parts or [np.ones(1)], left=1)
    low = sum(_fewest(kind) * times for kind, times in evals.items())
    ranked = np.sort(chances)
    tails = np.concatenate([[0.0], ranked.cumsum()])
    for total in sums:
        rarer = int(np.searchsorted(ranked, chances[total - low] * SAME, side="right"))
        yield names, total, float(min(1.0, max(LEAST, round(tails[rarer], 12))))


@lru_cache(maxsize=4096)
def _chance_over_evals(kind: Kind, times: int) -> Array:
    """The chance of each sum of passes on the first side over so many evals of a kind."""
    if times == 1:
        return _hypergeometric_chances(kind)
    half = times // 2
    return together(
        [_chance_over_evals(kind, half), _chance_over_evals(kind, times - half)], left=1
    )[0]


def _hypergeometric_chances(kind: Kind) -> Array:
    """The hypergeometric chance of each number of passes on the first side, from the fewest on."""
    import numpy as np
    from scipy import special

    own, other, every = kind
    passes = np.arange(_fewest(kind), min(own, every) + 1)
    cells = np.array([passes, own - passes, every - passes, other - every + passes])
    logs = -special.gammaln(cells + 1.0).sum(axis=0)
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def _fewest(kind: Kind) -> int:
    """The fewest passes on the first side that the margins allow."""
    return max(0, kind[2] - kind[1])
