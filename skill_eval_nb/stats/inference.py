"""How sure: exact tests, intervals, detectable effects, several questions at once.

Exact p-values say how often the labels alone, dealt out again inside each eval, part so far.
Nothing is drawn at random. Few arrangements are counted one by one. Of many, what an eval
contributes to the difference of means is first made an integer number of steps (see `_step_of`),
and then they are counted without looking at each (see `_exact_tail`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
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


def _exact_tail(parts: Parts) -> float:
    """The share of all arrangements whose sum is at most, or at least, the one seen.

    The smaller of the two, by the chances of each sum of one half of the items and of the other.
    """
    import numpy as np

    seen = sum(int(items[:k].sum()) for items, k in parts)
    odds, other = _join_distributions(
        [np.ones(1), *(_chance_of_sums(items, k) for items, k in parts)], left=2
    )
    left = seen - np.arange(len(odds))
    below = np.concatenate([[0.0], other.cumsum()])
    above = np.concatenate([other[::-1].cumsum()[::-1], [0.0]])
    low = odds * below[np.clip(left + 1, 0, len(other))]
    high = odds * above[np.clip(left, 0, len(other))]
    return min(float(low.sum()), float(high.sum()))


@lru_cache(maxsize=64)
def _list_choices(number: int, k: int) -> Array:
    """Every choice of k of so many places, a row each."""
    import numpy as np

    return np.array(list(combinations(range(number), k)))


def _chance_of_sums(items: Array, k: int) -> Array:
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


def _join_distributions(parts: list[Array], left: int) -> list[Array]:
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


def _step_of(weighed: Parts) -> float:
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
        ratio = _as_fraction(value)
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
def _as_fraction(value: float) -> tuple[int, int] | None:
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
    many = math.prod(math.comb(len(values), k) for values, k in weighed)
    rare = _count_tail(weighed) if many <= FEW else _tail_on_grid(weighed)
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
        low *= _count_ways(ordered[:k], ordered[k - 1], ordered) / whole
        high *= _count_ways(ordered[-k:], ordered[-k], ordered) / whole
    return min(1.0, max(LEAST, 2 * min(low, high)))


def _count_ways(chosen: list[float], last: float, ordered: list[float]) -> int:
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

    dealt = [_permute(np.array(scores, float), np.array(other, float)) for scores, other in sides]
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


def _permute(scores: Array, other: Array) -> tuple[Array, Array]:
    """The difference of means and its squared error for every order of an eval's labels.

    What was seen comes first. Above `ENOUGH` orders so many are drawn.
    """
    import numpy as np

    values, k = np.concatenate([scores, other]), len(scores)
    if math.comb(len(values), k) <= ENOUGH:
        chosen = _list_choices(len(values), k)
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
    import numpy as np

    sums = np.zeros(1)
    for values, k in weighed:
        sums = np.add.outer(sums, values[_list_choices(len(values), k)].sum(axis=1)).ravel()
    near = 1e-9 * sums.max()
    return min(float((sums <= sums[0] + near).mean()), float((sums >= sums[0] - near).mean()))


def _tail_on_grid(weighed: Parts) -> float:
    """The smaller tail, every value rounded to whole steps."""
    import numpy as np

    step = _step_of(weighed)
    if not step:
        return 1.0
    return _exact_tail([(np.rint(values / step).astype(int), k) for values, k in weighed])


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
    [chances] = _join_distributions(parts or [np.ones(1)], left=1)
    low = sum(_fewest_passes(kind) * times for kind, times in evals.items())
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
    return _join_distributions(
        [_chance_over_evals(kind, half), _chance_over_evals(kind, times - half)], left=1
    )[0]


def _hypergeometric_chances(kind: Kind) -> Array:
    """The hypergeometric chance of each number of passes on the first side, from the fewest on."""
    import numpy as np
    from scipy import special

    own, other, every = kind
    passes = np.arange(_fewest_passes(kind), min(own, every) + 1)
    cells = np.array([passes, own - passes, every - passes, other - every + passes])
    logs = -special.gammaln(cells + 1.0).sum(axis=0)
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def _fewest_passes(kind: Kind) -> int:
    """The fewest passes on the first side that the margins allow."""
    return max(0, kind[2] - kind[1])


@dataclass(frozen=True, slots=True)
class Noise:
    """The standard error of an estimate and the degrees of freedom that it rests on."""

    se: float
    df: float

    def interval(self, estimate: float, level: float) -> tuple[float, float]:
        """Student's t interval around the estimate.

        >>> low, high = Noise(se=0.1, df=5).interval(0.3, level=0.95)
        >>> round(low, 3), round(high, 3)
        (0.043, 0.557)
        """
        from scipy import special

        reach = self.se * float(special.stdtrit(self.df, (1 + level) / 2))
        return estimate - reach, estimate + reach

    def p(self, estimate: float) -> float:
        """Student's two-sided p of the estimate.

        >>> round(Noise(se=0.1, df=5).p(0.3), 3)
        0.03
        """
        from scipy import special

        return 2 * float(special.stdtr(self.df, -abs(estimate) / self.se))


@dataclass(frozen=True, slots=True)
class Cells:
    """One side of a comparison: each eval's variance over runs (any where unknown), and runs."""

    variances: Sequence[float]
    runs: Sequence[int]

    @property
    def has_repeats(self) -> bool:
        """Whether at least half of the evals were run twice or more, so that noise shows."""
        return 2 * sum(runs >= 2 for runs in self.runs) >= len(self.runs) > 0

    def with_twice_the_runs(self) -> Cells:
        """The same noise with twice the runs."""
        return Cells(self.variances, [2 * runs for runs in self.runs])


BESIDE = 1e-6
"""An end that is to leave out 0 lies so near to it, as a share of the estimate."""


def cells_of(side: Iterable[Sequence[float]]) -> Cells:
    """The cells of a side, from each eval's values.

    >>> cells_of([[1.0, 2.0], [3.0]])
    Cells(variances=[0.5, 0.0], runs=[2, 1])
    """
    values = list(side)
    return Cells([variance(own) for own in values], [len(own) for own in values])


def variance(values: Sequence[float]) -> float:
    """The sample variance; 0 of equal values, to the last digit, and of a single one.

    For the few runs of an eval this is much quicker than what works on arrays.
    """
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return sum((value - mean) * (value - mean) for value in values) / (len(values) - 1)


def run_noise(*sides: Cells) -> Noise | None:
    """The noise of the mean over evals that another set of runs would show.

    SE^2 = (1/n^2) sum_i (s_iA^2 / K_A + s_iB^2 / K_B), degrees of freedom by Welch and
    Satterthwaite over all eval x configuration cells. A cell of a single run takes the mean
    variance of its side's other cells. None if no noise was seen, or fewer than
    half of a side's evals were run twice.
    """
    if not all(side.has_repeats for side in sides):
        return None
    terms: list[tuple[float, int]] = []
    for side in sides:
        seen = [
            (own, runs) for own, runs in zip(side.variances, side.runs, strict=True) if runs > 1
        ]
        lent = sum(runs == 1 for runs in side.runs) / len(seen)
        share = len(side.runs) ** 2
        terms += [((1 / runs + lent) * own / share, runs - 1) for own, runs in seen]
    whole = math.fsum(term for term, _ in terms)
    if not whole > 0:
        return None
    return Noise(math.sqrt(whole), 1 / sum((term / whole) ** 2 / df for term, df in terms))


def eval_noise(differences: Iterable[float]) -> Noise | None:
    """The noise of the mean over evals that another set of evals would show: paired t.

    None for fewer than two evals, or where all differ by the same.
    """
    each = list(differences)
    n, spread = len(each), math.sqrt(variance(each))
    return Noise(spread / math.sqrt(n), n - 1) if spread > 1e-12 else None


SPREAD = 0.23
"""The standard deviation of an eval's difference in pass rate, between evals run once a side: of
public benchmarks that repeat their runs (see `stats.lean`)."""
SPREAD_DF = 4.0
"""Degrees of freedom that this is worth beside the evals seen."""


def shrink_spread(between: float, n: int) -> float:
    """The variance of differences in pass rate between n evals, drawn to what is usual."""
    return (SPREAD_DF * SPREAD**2 + (n - 1) * between) / (SPREAD_DF + n - 1)


def typical_values(
    differences: Sequence[float], level: float, weights: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """The interval of all differences that a sign flip of the evals would not rule out.

    The 2^n - 1 means over subsets of the evals part the line into 2^n pieces, each as likely to
    hold what is looked for (Hartigan, JASA 1969): from the k-th smallest to the k-th largest,
    k = (1 - level) / 2 of 2^n, rounded down. A number lies outside exactly where its two-sided
    sign flip has a p of at most 1 - level. None if k is 0: too few evals. Where evals weigh
    unlike (or stand for families of unlike size), these are weighted means.

    >>> typical_values([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.95)
    (0.1, 0.6)
    """
    import numpy as np

    n = len(differences)
    k = math.floor((1 - level) / 2 * 2**n + 1e-9)
    if k < 1:
        return None
    chosen = _subsets(n)
    weight = np.ones(n) if weights is None else np.array(weights)
    means = chosen @ (weight * np.array(differences)) / (chosen @ weight)
    low, high = np.partition(means, [k - 1, len(means) - k])[[k - 1, len(means) - k]]
    return float(low), float(high)


@cache
def _subsets(n: int) -> Any:
    """Which of n evals each subset holds, but for the empty one."""
    import numpy as np

    return ((np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1).astype(float)


def settle_interval(
    interval: tuple[float, float], estimate: float, *, differs: bool, reach: float | None
) -> tuple[float, float]:
    """An interval that holds 0 exactly if nothing is claimed, cut to what is possible.

    Args:
        interval: as it was worked out.
        estimate: what it is about.
        differs: whether the exact test claims a difference: then an end at 0 or beyond it comes
            to stand just short of 0. If it does not, 0 is taken in.
        reach: the largest difference that there can be; None for no bound.
    """
    low, high = interval
    if reach is not None and abs(estimate) <= reach:
        low, high = max(low, -reach), min(high, reach)
    if not differs:
        return min(low, 0.0), max(high, 0.0)
    near = BESIDE * abs(estimate)
    return (max(low, near), high) if estimate > 0 else (low, min(high, -near))


def tango_interval(better: int, worse: int, n: int, level: float) -> tuple[float, float]:
    """Tango's score interval for a difference of paired rates (Statistics in Medicine 1998).

    Args:
        better: pairs that pass on the first side only.
        worse: pairs that pass on the second side only.
        n: all pairs.
        level: confidence.

    >>> low, high = tango_interval(better=12, worse=2, n=50, level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.061, 0.345)
    """
    from scipy import optimize, special

    z = float(special.ndtri((1 + level) / 2))

    def excess_score(delta: float) -> float:
        """The score statistic squared at a supposed difference, less its critical value."""
        b = (2 * n - better + worse) * delta - better - worse
        c = -worse * delta * (1 - delta)
        rate = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * rate + delta * (1 - delta))
        return (better - worse - n * delta) ** 2 - z * z * variance

    def find_root(low: float, high: float) -> float:
        return float(cast("float", optimize.brentq(excess_score, low, high)))

    estimate, beside = (better - worse) / n, 1e-9
    low = find_root(-1, estimate - beside) if estimate > -1 else -1.0
    high = find_root(estimate + beside, 1) if estimate < 1 else 1.0
    return low, high


POWER = 0.8
MANY = 8
"""Evals from which on t promises no more than the flips of their signs can keep."""
DRAWS = 20_000
"""Data sets from which the power of a sign flip of few evals is told."""


def detectable_effect(se: Any, df: Any, level: float = 0.95, power: float = POWER) -> Any:
    """The effect that a two-sided t test finds with the given power, by the noncentral t.

    The far tail, which a test of any use never reaches, is left out (statsmodels' TTestPower
    counts it: at 80 % the two agree to 1e-6).

    Args:
        se: standard error of the estimate, a number or an array.
        df: its degrees of freedom, at least 1.
        level: 1 - alpha.
        power: chance that the test finds the effect, above 1 - level.

    Returns:
        The effect in the unit of `se`, as a number or an array.

    Three evals, standard deviation 0.2858 of their differences:

    >>> round(float(detectable_effect(0.2858 / 3**0.5, df=2)), 2)
    0.93
    """
    from scipy import special

    critical = special.stdtrit(df, (1 + level) / 2)
    return se * special.nctdtrinc(df, 1 - power, critical)


@cache
def detectable_by_flips(n: int, level: float = 0.95, power: float = POWER) -> float | None:
    """The effect that a sign flip of few evals finds with the given power, in their SDs.

    Of normal differences, drawn once with a fixed seed, to about two digits: a flip rules 0 out
    where the k-th smallest of all subset means (see `typical_values`) lies above it, and all of
    them move with the effect. None if no signs of so few evals could.

    >>> detectable_by_flips(5) is None, 1.7 < detectable_by_flips(6) < 1.9
    (True, True)
    """
    import numpy as np

    k = int((1 - level) / 2 * 2**n + 1e-9)
    if k < 1:
        return None
    drawn, chosen = np.random.default_rng(0).standard_normal((DRAWS, n)), _subsets(n)
    means = drawn @ (chosen / chosen.sum(axis=1, keepdims=True)).T
    return -float(np.quantile(np.partition(means, k - 1, axis=1)[:, k - 1], 1 - power))


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
    import numpy as np

    number, ordered = len(p), np.sort(p)
    scaled = ordered * number / np.arange(1, number + 1)
    behind = np.append(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    moved_up = ordered * number / np.arange(2, number + 2)  # where a smaller one comes before it
    each = []
    for own, best in zip(p, least, strict=True):
        at, to = np.searchsorted(ordered, own), np.searchsorted(ordered, best, side="right")
        least_p = min(best * number / (min(to, at) + 1), moved_up[to:at].min(initial=1.0))
        adjusted = float(behind[at])
        best_p = float(min(least_p, behind[at + 1]))
        each.append(Adjusted(adjusted, best_p, min(alpha, alpha * own / adjusted)))
    return each


def joint_p(
    p: Sequence[float], least: Sequence[float], dealt: Array, alpha: float
) -> list[Adjusted]:
    """Of several figures of the same runs: by Westfall and Young's smallest p (1993).

    How far the smallest p of all figures falls by chance is seen where labels are dealt out
    again for all of them together, so that figures that go together are not paid for twice.

    Args:
        p: of each figure alone.
        least: the smallest that each could be.
        dealt: the differences, a row a deal of the labels and a column a figure.
        alpha: of the verdict.

    >>> import numpy as np
    >>> twins = np.array([[1.0, 1.0], [-1.0, -1.0], [0.5, 0.5], [-0.5, -0.5]])
    >>> [one.p for one in joint_p([0.5, 0.5], [0.5, 0.5], twins, 0.05)]
    [0.5, 0.5]
    """
    import numpy as np

    sizes = np.round(np.abs(dealt), 12)
    ranks = np.empty_like(sizes)
    for at, column in enumerate(sizes.T):
        order = np.argsort(column)
        ordered = column[order]  # what is looked up in order is found much quicker
        near = np.searchsorted(ordered, ordered - 1e-9 * (1 + ordered))
        ranks[order, at] = len(ordered) - near
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


def flip_signs(differences: Array) -> Array:
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


def permute_within_evals(evals: Sequence[tuple[Array, int]]) -> Array:
    """The mean differences that labels dealt out again inside each eval give; as seen first.

    Args:
        evals: for each its runs × figures, NaN where a run lacks one, and how many of the
            runs, the first ones, are the one side's.
    """
    import numpy as np

    sums, number = 0.0, 0.0
    sides = _deal_sides(tuple((len(values), k) for values, k in evals))
    for (values, k), side in zip(evals, sides, strict=True):
        known, filled = ~np.isnan(values), np.nan_to_num(values)
        first = side @ filled
        count = k if known.all() else side @ known.astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            second = (filled.sum(axis=0) - first) / (known.sum(axis=0) - count)
            difference = first / count - second
        there = np.isfinite(difference)  # a deal may leave a side without a figure
        sums = sums + np.where(there & there[0], difference, 0.0)
        number = number + there[0]
    return sums / np.maximum(number, 1)


@lru_cache(maxsize=1)  # iterations mostly have as many runs each
def _deal_sides(sizes: tuple[tuple[int, int], ...]) -> tuple[Array, ...]:
    """Of each eval whether a run goes to the first side (1, else 0), a row a deal.

    Args:
        sizes: of each eval, how many runs it has and how many of them are the first side's.
    """
    import numpy as np

    random = np.random.default_rng(0)
    found = []
    for n, k in sizes:
        places = np.tile(np.arange(n), (DRAWN, 1))
        places[1:] = random.permuted(places[1:], axis=1)
        found.append((places < k).astype(float))
    return tuple(found)


def benjamini_hochberg(p: pl.Expr) -> pl.Expr:
    """p-values adjusted for their number: those at most alpha are false finds in alpha of cases.

    Benjamini and Hochberg 1995: the i-th smallest of m becomes the least of p_j m / j over
    all j from i on. A null stays null and is not counted.

    >>> import polars as pl
    >>> found = pl.DataFrame({"p": [0.01, None, 0.04]})
    >>> found.select(benjamini_hochberg(pl.col("p")))["p"].to_list()
    [0.02, None, 0.04]
    """
    falling = (p * p.count() / p.rank("max")).sort_by(p, descending=True, nulls_last=True)
    return falling.cum_min().gather(p.rank("ordinal", descending=True) - 1)


def holm_sidak(p: pl.Expr) -> pl.Expr:
    """p-values of independent data, adjusted for their number: any false find in alpha of cases.

    Holm's step-down with Sidak's bound: the i-th smallest of m becomes the largest of
    1 - (1 - p_j)^(m - j + 1) over all j up to i. As no p of an exact test is below its chance, this
    is at least what Westfall and Young (1993) have where data share nothing. A null stays null and
    is not counted.

    >>> import polars as pl
    >>> found = pl.DataFrame({"p": [0.04, None, 0.01]})
    >>> found.select(holm_sidak(pl.col("p")).round(9))["p"].to_list()
    [0.04, None, 0.0199]
    """
    import numpy as np
    import polars as pl

    rank, kept = p.rank("ordinal"), (-p.clip(upper_bound=1 - LEAST)).log1p()
    raised = -(kept * (p.count() + 1 - rank)).map_batches(np.expm1, pl.Float64)
    return raised.sort_by(p, nulls_last=True).cum_max().gather(rank - 1)
