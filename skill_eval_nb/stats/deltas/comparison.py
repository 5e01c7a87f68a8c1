"""One configuration against the baseline over paired evals: the estimate and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..inference.exact import Sides, exact_p, reachable
from ..inference.intervals import Noise, cells, eval_noise, run_noise, tango
from ..inference.power import detectable

Scope = Literal["suite", "population"]
SCOPES: tuple[Scope, Scope] = ("suite", "population")
FEWEST = 6
"""Evals below which nothing can be claimed of tasks like these: with 5 the least p is .0625."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What paired evals say under one scope; None where they cannot say it.

    `runs` are those of all evals on either side, `baseline` is its mean over the evals.
    `sufficient` is whether there are the runs (suite) or evals (population) that a claim
    needs, `least_p` the smallest p that the design could reach.
    """

    scope: Scope
    level: float
    n_evals: int
    runs: tuple[int, int]
    sufficient: bool
    least_p: float
    estimate: float | None = None
    baseline: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    mde: float | None = None
    mde_twice_evals: float | None = None
    mde_twice_runs: float | None = None


def compare(evals: Sides, scope: Scope = "suite", level: float = 0.95) -> Comparison:
    """Compare the two sides of each eval, as STATISTICS knows them: runs first, then evals.

    Args:
        evals: for each paired eval its runs' values on the one side and on the baseline's.
        scope: `suite`, these evals: another run would come out differently. Welch's interval
            over the eval x configuration cells, and the permutation of labels within each
            eval. `population`, tasks like these: other evals would have been asked, too.
            Paired t over the evals' differences, and their sign flip; where every eval has a
            single run a side that passes or fails, Tango's interval and McNemar's exact test.
        level: of the interval; 1 - alpha.

    >>> these = compare([([1.0, 0.9], [0.5, 0.6]), ([0.8, 0.8], [0.8, 0.7])])
    >>> round(these.estimate, 3), round(these.low, 3), round(these.high, 3)
    (0.225, 0.087, 0.363)
    """
    ones, others = [one for one, _ in evals], [other for _, other in evals]
    runs = sum(map(len, ones)), sum(map(len, others))
    if not evals:
        return Comparison(scope, level, 0, runs, sufficient=False, least_p=1.0)
    means = [(_mean(one), _mean(other)) for one, other in evals]
    differences = [one - other for one, other in means]
    estimate = _mean(differences)
    both = cells(ones), cells(others)
    within = run_noise(*both)
    if scope == "suite":
        sufficient = all(side.enough for side in both)
        sides, noise = evals, within
        with_more_evals = within and Noise(within.se / math.sqrt(2), 2 * within.df)
        with_more_runs = within and run_noise(*(side.twice() for side in both))
    else:
        sufficient = len(evals) >= FEWEST
        sides, noise = [([one], [other]) for one, other in means], eval_noise(differences)
        with_more_evals = noise and Noise(noise.se / math.sqrt(2), 2 * noise.df + 1)
        with_more_runs = noise and within and _with_twice_the_runs(noise, within)
    low, high = _interval(evals, estimate, noise, level, scope) if sufficient else (None, None)
    return Comparison(
        scope=scope,
        level=level,
        n_evals=len(evals),
        runs=runs,
        sufficient=sufficient,
        least_p=reachable((len(one), len(other)) for one, other in sides),
        estimate=estimate,
        baseline=_mean([other for _, other in means]),
        low=low,
        high=high,
        p=exact_p(sides) if sufficient or scope == "population" else None,
        mde=_detectable(noise, level),
        mde_twice_evals=_detectable(with_more_evals, level),
        mde_twice_runs=_detectable(with_more_runs, level),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _interval(
    evals: Sides, estimate: float, noise: Noise | None, level: float, scope: Scope
) -> tuple[float, float] | tuple[None, None]:
    if scope == "population" and all(_is_single_and_binary(*sides) for sides in evals):
        better = sum(one[0] > other[0] for one, other in evals)
        worse = sum(one[0] < other[0] for one, other in evals)
        return tango(better, worse, len(evals), level)
    return noise.interval(estimate, level) if noise else (None, None)


def _is_single_and_binary(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) == 1 and {one[0], other[0]} <= {0, 1}


def _with_twice_the_runs(between: Noise, within: Noise) -> Noise:
    """Paired noise once the runs' part of it is halved; that is at most all of it."""
    halved = max(between.se**2 - within.se**2 / 2, between.se**2 / 2)
    return Noise(math.sqrt(halved), between.df)


def _detectable(noise: Noise | None, level: float) -> float | None:
    return float(detectable(noise.se, noise.df, level)) if noise else None
