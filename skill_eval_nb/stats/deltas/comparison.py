"""One configuration against the baseline over paired evals: the estimate and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..inference.exact import Sides, exact_p, reachable
from ..inference.intervals import Cells, Noise, eval_noise, run_noise, tango
from ..inference.power import detectable

if TYPE_CHECKING:
    from ..inference.exact import Array

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
    import numpy as np

    runs = (sum(len(one) for one, _ in evals), sum(len(other) for _, other in evals))
    if not evals:
        return Comparison(scope, level, 0, runs, sufficient=False, least_p=1.0)
    means = np.array([(math.fsum(a) / len(a), math.fsum(b) / len(b)) for a, b in evals])
    differences = means[:, 0] - means[:, 1]
    estimate = float(differences.mean())
    cells = _cells([one for one, _ in evals]), _cells([other for _, other in evals])
    within = run_noise(*cells)
    if scope == "suite":
        sufficient = all(side.enough for side in cells)
        sides, noise = evals, within
        with_more_evals = within and Noise(within.se / math.sqrt(2), 2 * within.df)
        with_more_runs = within and run_noise(*(side.twice() for side in cells))
    else:
        sufficient = len(evals) >= FEWEST
        sides, noise = [([one], [other]) for one, other in means.tolist()], eval_noise(differences)
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
        baseline=float(means[:, 1].mean()),
        low=low,
        high=high,
        p=exact_p(sides) if sufficient or scope == "population" else None,
        mde=_detectable(noise, level),
        mde_twice_evals=_detectable(with_more_evals, level),
        mde_twice_runs=_detectable(with_more_runs, level),
    )


def _cells(side: Sequence[Sequence[float]]) -> Cells:
    import numpy as np

    def variance(values: Array) -> float:
        return float(values.var(ddof=1)) if len(values) > 1 and values.min() < values.max() else 0.0

    variances = [variance(np.asarray(values, dtype=float)) for values in side]
    return Cells(np.array(variances), np.array([len(values) for values in side]))


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
