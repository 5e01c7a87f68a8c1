"""Intervals for a mean difference: its noise, how far off it may be, what a design can detect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast


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
    variance of its side's other cells. None if no noise was seen, or a side has not
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

    def find_root(low: float, high: float) -> float:
        return float(cast("float", optimize.brentq(off, low, high)))

    estimate, beside = (better - worse) / n, 1e-9
    low = find_root(-1, estimate - beside) if estimate > -1 else -1.0
    high = find_root(estimate + beside, 1) if estimate < 1 else 1.0
    return low, high


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
