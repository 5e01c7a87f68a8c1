"""What benchmarks too small for a verdict lean to, by noise that other benchmarks have shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .inference.intervals import Noise, variance
from .values import ENDS, EVAL, GROUP, HEADLINE, join_sides

if TYPE_CHECKING:
    import polars as pl


# Fitted on public benchmarks that repeat their runs (46 repositories, 135 skills, 396 comparisons;
# docs/pages/verdicts.md says what they are and where this does not hold).
NOISE_FACTOR = 1.5
"""The variance of a run's pass rate, over that of a binomial with as many checks: .8 over eleven
repositories, 1.21 in the highest with more than three cells; this is the cautious side of both."""
NOISE_DF = 6.0
"""Degrees of freedom that this is worth beside the runs seen: own runs take over as they grow."""
SPREAD = 0.23
"""The standard deviation of an eval's difference in pass rate, between evals run once a side."""
SPREAD_DF = 4.0
"""Degrees of freedom that this is worth beside the evals seen."""


class SideRuns(NamedTuple):
    """An eval's runs on one side: what each reached, and of how many checks; None if unknown."""

    rates: Sequence[float]
    checks: Sequence[int] | None

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return math.fsum(self.rates) / len(self.rates)

    def with_failures(self, n: int, checks: int) -> SideRuns:
        """With so many more runs that failed all their checks."""
        return SideRuns([*self.rates, *[0.0] * n], [*(self.checks or ()), *[checks] * n])


EvalRuns = tuple[SideRuns, SideRuns]
"""Both sides of an eval, the baseline last."""


def borrow_variance(side: SideRuns, factor: float = NOISE_FACTOR) -> tuple[float, float]:
    """The variance between runs of an eval, also of one run; its degrees of freedom.

    s^2 = [6 factor q (1 - q) K / m + sum (r_k - mean)^2] / (6 + K - 1), where q = (x + 1/2) /
    (m + 1) and x of the m checks of all K runs passed: a moderated variance (Smyth 2004) that is
    drawn to `factor` times a binomial's. Without known checks the variance of the runs.

    >>> borrow_variance(SideRuns([0.6], [5]))
    (0.0729..., 6.0)
    """
    k = len(side.rates)
    if side.checks is None:
        return variance(side.rates), k - 1.0
    checks = sum(side.checks)
    passed = sum(rate * n for rate, n in zip(side.rates, side.checks, strict=True))
    q = (passed + 0.5) / (checks + 1)
    df = NOISE_DF + k - 1
    own = sum((rate - side.mean) ** 2 for rate in side.rates)
    return (NOISE_DF * factor * q * (1 - q) * k / checks + own) / df, df


def shrink_spread(between: float, n: int) -> float:
    """The variance of differences in pass rate between n evals, drawn to what is usual."""
    return (SPREAD_DF * SPREAD**2 + (n - 1) * between) / (SPREAD_DF + n - 1)


class Lean(NamedTuple):
    """What evals lean to: the interval and p that borrowed noise gives, and the difference."""

    low: float
    high: float
    p: float
    estimate: float


def borrow_noise(evals: Sequence[EvalRuns], level: float) -> Lean:
    """These evals' mean difference in pass rate, by borrowed noise.

    V = sum (s^2 / K) / n^2 over all eval x side cells, its degrees of freedom by Welch and
    Satterthwaite; rates come in whole checks, so that half a step, c = sum (1 / 4m) / n, is taken
    off the difference and added to the interval, which ends at +- 1.

    >>> ones = [SideRuns([rate], [n]) for rate, n in ((1.0, 5), (1.0, 4), (1.0, 6), (1.0, 5))]
    >>> others = [SideRuns([rate], [n]) for rate, n in ((0.6, 5), (0.5, 4), (0.5, 6), (1.0, 5))]
    >>> [round(value, 3) for value in borrow_noise(list(zip(ones, others)), level=0.95)]
    [-0.052, 0.752, 0.102, 0.35]
    """
    n = len(evals)
    terms = [
        (variance / len(side.rates) / n**2, df)
        for both in evals
        for side in both
        for variance, df in [borrow_variance(side)]
    ]
    whole = math.fsum(term for term, _ in terms)
    noise = Noise(math.sqrt(whole), whole**2 / math.fsum(term**2 / df for term, df in terms))
    estimate = math.fsum(one.mean - other.mean for one, other in evals) / n
    step = math.fsum(1 / (4 * sum(side.checks or ())) for both in evals for side in both) / n
    low, high = noise.interval(estimate, level)
    p = noise.p(max(abs(estimate) - step, 0))
    return Lean(max(low - step, -1.0), min(high + step, 1.0), p, estimate)


LEANS = ("lean", "lean_low", "lean_high", "lean_p", "improved")
"""Columns of `deltas`: the word, its interval and p, and how many evals improved of how many."""
NO_LEAN = "no lean"
ADDITIONS = (*LEANS, "next_step", "next_runs")
"""Columns of `deltas` that stand beside a verdict, and where there can be none are null."""


def lean(evals: Sequence[EvalRuns], counted: Sequence[EvalRuns], level: float) -> dict[str, Any]:
    """LEANS of these evals.

    Args:
        evals: the paired evals, with checks known.
        counted: the same with errored runs as failures. Where the two lean otherwise, there is
            no lean, the interval holds both and p is the larger.
        level: of the interval; 1 - alpha.
    """
    found = [borrow_noise(each, level) for each in (evals, counted)]
    words = {
        NO_LEAN if each.p > 1 - level else "leans up" if each.estimate > 0 else "leans down"
        for each in found
    }
    alike = len(words) == 1
    ends = [end for each in found[: 1 if alike else 2] for end in (each.low, each.high)]
    improved = sum(one.mean > other.mean for one, other in evals)
    return {
        "lean": words.pop() if alike else NO_LEAN,
        "lean_low": min(ends),
        "lean_high": max(ends),
        "lean_p": found[0].p if alike else max(each.p for each in found),
        "improved": f"{improved} of {len(evals)}",
    }


Counted = tuple[list[EvalRuns], list[EvalRuns]]
"""Paired evals with the checks of their runs; and the same with errored runs as failures."""


def count_checks(
    paired: pl.DataFrame, runs: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], Counted]]:
    """The paired evals of each comparison whose runs' checks are known, and as many a side.

    Of pass rates alone: another figure, or one that is not passed / total, has no binomial noise.

    Args:
        paired: what `pairs` gives.
        runs: the runs, with the same names of sides, and MODEL as `by_model` gives it.
        by: what has one answer; `metric` is among them.
    """
    import polars as pl

    rate, checks = pl.col("pass_rate"), pl.coalesce(pl.col("passed") + pl.col("failed"), "total")
    passed = pl.col("passed").fill_null(rate * checks)
    cells = (
        runs.filter(rate.is_not_null())
        .with_columns(pl.when((rate * checks - passed).abs() < 0.1).then(checks).alias("checks"))
        .sort("pass_rate", "checks")
        .group_by(*GROUP, *EVAL, "configuration")
        .agg(rates="pass_rate", checks="checks")
    )
    both = join_sides(paired.filter(metric=HEADLINE), cells, [*GROUP, *EVAL])
    for key, rows in both.group_by(by, maintain_order=True):
        counted = _read_evals(rows.to_dicts())
        if counted[0]:
            yield key, counted


def _read_evals(rows: Sequence[Mapping[str, Any]]) -> Counted:
    """The evals of one comparison; none if checks are not known, or not as many on a side."""
    evals: list[EvalRuns] = []
    counted: list[EvalRuns] = []
    for row in rows:
        sides = [SideRuns(row[f"rates{end}"] or [], row[f"checks{end}"] or []) for end in ENDS]
        lost = [row[f"n_errored{end}"] for end in ENDS]
        there = [side for side in sides if side.rates]
        if row["estimate"] is None and not (len(there) == 1 and any(lost)):
            continue  # left out for another reason than errors
        most = {max(side.checks) if all(side.checks) else 0 for side in there if side.checks}
        if len(most) != 1 or 0 in most:
            return [], []
        if row["estimate"] is not None:
            evals.append((sides[0], sides[1]))
        failed = [side.with_failures(n, *most) for side, n in zip(sides, lost, strict=True)]
        if all(side.rates for side in failed):
            counted.append((failed[0], failed[1]))
    return evals, counted
