"""Intervals for a mean difference: its noise, how far off it may be, what a design can detect."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .exact import LEAST, together

if TYPE_CHECKING:
    import polars as pl

    from .exact import Array


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
    def enough(self) -> bool:
        """Whether at least half of the evals were run twice or more, so that noise shows."""
        return 2 * sum(runs >= 2 for runs in self.runs) >= len(self.runs) > 0

    def twice(self) -> Cells:
        """The same noise with twice the runs."""
        return Cells(self.variances, [2 * runs for runs in self.runs])


BESIDE = 1e-6
"""An end that is to leave out 0 lies so near to it, as a share of the estimate."""


def cells(side: Iterable[Sequence[float]]) -> Cells:
    """The cells of a side, from each eval's values.

    >>> cells([[1.0, 2.0], [3.0]])
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
    variance of its side's other cells. None where no noise was seen, or a side has not
    `enough` runs.
    """
    if not all(side.enough for side in sides):
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


def typical_values(
    differences: Sequence[float], level: float, weights: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """The interval of all differences that a sign flip of the evals would not rule out.

    The 2^n - 1 means over subsets of the evals part the line into 2^n pieces, each as likely to
    hold what is looked for (Hartigan, JASA 1969): from the k-th smallest to the k-th largest,
    k = (1 - level) / 2 of 2^n, rounded down. A number lies outside exactly where its two-sided
    sign flip has a p of at most 1 - level. None where k is 0: too few evals. Where evals weigh
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


def settled(
    interval: tuple[float, float], estimate: float, *, differs: bool, reach: float | None
) -> tuple[float, float]:
    """An interval that holds 0 exactly where nothing is claimed, cut to what is possible.

    Args:
        interval: as it was worked out.
        estimate: what it is about.
        differs: whether the exact test claims a difference: then an end at 0 or beyond it comes
            to stand just short of 0. Where it does not, 0 is taken in.
        reach: the largest difference that there can be; None for no bound.
    """
    low, high = interval
    if reach is not None and abs(estimate) <= reach:
        low, high = max(low, -reach), min(high, reach)
    if not differs:
        return min(low, 0.0), max(high, 0.0)
    near = BESIDE * abs(estimate)
    return (max(low, near), high) if estimate > 0 else (low, min(high, -near))


def tango(better: int, worse: int, n: int, level: float) -> tuple[float, float]:
    """Tango's score interval for a difference of paired rates (Statistics in Medicine 1998).

    Args:
        better: pairs that pass on the first side only.
        worse: pairs that pass on the second side only.
        n: all pairs.
        level: confidence.

    >>> low, high = tango(better=12, worse=2, n=50, level=0.95)
    >>> round(low, 3), round(high, 3)
    (0.061, 0.345)
    """
    from scipy import optimize, special

    z = float(special.ndtri((1 + level) / 2))

    def off(delta: float) -> float:
        """The score statistic squared at a supposed difference, less its critical value."""
        b = (2 * n - better + worse) * delta - better - worse
        c = -worse * delta * (1 - delta)
        rate = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * rate + delta * (1 - delta))
        return (better - worse - n * delta) ** 2 - z * z * variance

    def root(low: float, high: float) -> float:
        return float(cast("float", optimize.brentq(off, low, high)))

    estimate, beside = (better - worse) / n, 1e-9
    low = root(-1, estimate - beside) if estimate > -1 else -1.0
    high = root(estimate + beside, 1) if estimate < 1 else 1.0
    return low, high


SAME = 1 + 1e-7
"""Chances that differ by a smaller factor are equal: the rest is rounding."""

COUNTS = ["passed", "scored", "passed_baseline", "scored_baseline"]


class Margins(NamedTuple):
    """What the test of an eval takes as given: verdicts on either side, and passes in all."""

    scored: int
    scored_baseline: int
    passes: int

    @property
    def arrangements(self) -> float:
        """The logarithm of how many ways there are to deal out the sides to the verdicts."""
        return math.log(math.comb(self.scored + self.scored_baseline, self.scored))

    @property
    def tells(self) -> bool:
        """Whether both verdicts were seen, so that sides can differ."""
        return 0 < self.passes < self.scored + self.scored_baseline


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

    alone = pl.col("row").is_unique()
    once = tables.filter(alone)
    distinct = once.select(COUNTS).unique().with_row_index("row")
    found = distinct.join(_together(distinct), on="row").drop("row")
    of_one = once.join(found, on=COUNTS).select("row", "p", "least_p")
    return pl.concat([of_one, _together(tables.filter(~alone))])


def _together(tables: pl.DataFrame) -> pl.DataFrame:
    """`exact_tests` of tables whose rows differ, or have several evals."""
    import polars as pl

    passes = (pl.col("passed") + pl.col("passed_baseline")).alias("passes")
    given = tables.select("row", "passed", "scored", "scored_baseline", passes).filter(
        pl.col("scored") > 0, pl.col("scored_baseline") > 0
    )
    distinct = given.select(Margins._fields).unique().sort(Margins._fields)
    kinds = [Margins(*row) for row in distinct.iter_rows()]
    known = distinct.with_columns(
        pl.Series("kind", range(len(kinds)), pl.Int64),
        pl.Series("arrangements", [kind.arrangements for kind in kinds], pl.Float64),
        pl.Series("tells", [kind.tells for kind in kinds], pl.Boolean),
    )
    tells, even = pl.col("tells"), (pl.col("scored") == pl.col("scored_baseline")).all()
    rows = (
        given.join(known, on=Margins._fields)
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
        [row for names, sums in seen for row in _tested(names, sums, kinds)],
        {"kinds": pl.String, "seen": pl.Int64, "p": pl.Float64},
        orient="row",
    )
    least = pl.col("least_p").clip(LEAST, 1).round(12)
    return rows.join(tested, on=["kinds", "seen"]).select("row", "p", least)


def _tested(
    names: str, sums: Sequence[int], kinds: Sequence[Margins]
) -> Iterator[tuple[str, int, float]]:
    """The p of each sum of passes on the first side, for evals of these kinds."""
    import numpy as np

    evals = Counter(kinds[int(name)] for name in names.split(",") if name)
    parts = [_repeated(kind, times) for kind, times in evals.items()]
    [chances] = together(parts or [np.ones(1)], left=1)
    low = sum(_fewest(kind) * times for kind, times in evals.items())
    ranked = np.sort(chances)
    tails = np.concatenate([[0.0], ranked.cumsum()])
    for total in sums:
        rarer = int(np.searchsorted(ranked, chances[total - low] * SAME, side="right"))
        yield names, total, float(min(1.0, max(LEAST, round(tails[rarer], 12))))


@lru_cache(maxsize=4096)
def _repeated(kind: Margins, times: int) -> Array:
    """The chance of each sum of passes on the first side over so many evals of a kind."""
    if times == 1:
        return _chances(kind)
    half = times // 2
    return together([_repeated(kind, half), _repeated(kind, times - half)], left=1)[0]


def _chances(kind: Margins) -> Array:
    """The hypergeometric chance of each number of passes on the first side, from the fewest on."""
    import numpy as np

    fewest = _fewest(kind)
    passes = np.arange(fewest, min(kind.scored, kind.passes))
    ways_up = (kind.scored - passes) * (kind.passes - passes)
    ways_down = (passes + 1) * (kind.scored_baseline - kind.passes + passes + 1)
    logs = np.concatenate([[0.0], np.log(ways_up / ways_down).cumsum()])
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def _fewest(kind: Margins) -> int:
    """The fewest passes on the first side that the margins allow."""
    return max(0, kind.passes - kind.scored_baseline)


POWER = 0.8
MANY = 8
"""Evals from which on t promises no more than the flips of their signs can keep."""
DRAWS = 20_000
"""Data sets from which the power of a sign flip of few evals is told."""


def detectable(se: Any, df: Any, level: float = 0.95, power: float = POWER) -> Any:
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

    >>> round(float(detectable(0.2858 / 3**0.5, df=2)), 2)
    0.93
    """
    from scipy import special

    critical = special.stdtrit(df, (1 + level) / 2)
    return se * special.nctdtrinc(df, 1 - power, critical)


@cache
def flipped(n: int, level: float = 0.95, power: float = POWER) -> float | None:
    """The effect that a sign flip of few evals finds with the given power, in their SDs.

    Of normal differences, drawn once with a fixed seed, to about two digits: a flip rules 0 out
    where the k-th smallest of all subset means (see `typical_values`) lies above it, and all of
    them move with the effect. None where no signs of so few evals could.

    >>> flipped(5) is None, 1.7 < flipped(6) < 1.9
    (True, True)
    """
    import numpy as np

    k = int((1 - level) / 2 * 2**n + 1e-9)
    if k < 1:
        return None
    drawn = np.random.default_rng(0).standard_normal((DRAWS, n))
    chosen = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    means = drawn @ (chosen / chosen.sum(axis=1, keepdims=True)).T
    return -float(np.quantile(np.partition(means, k - 1, axis=1)[:, k - 1], 1 - power))
