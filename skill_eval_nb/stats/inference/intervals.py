"""Intervals for a mean difference: what its noise is, and how far the estimate may be off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


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


@dataclass(frozen=True, slots=True)
class Cells:
    """One side of a comparison: each eval's variance over runs (null as NaN) and runs."""

    variances: Array
    runs: Array

    @property
    def repeated(self) -> Array:
        """Which evals were run twice or more, so that their noise shows."""
        return self.runs >= 2

    @property
    def enough(self) -> bool:
        """Whether at least half of the evals were run twice or more."""
        return bool(2 * self.repeated.sum() >= len(self.runs) > 0)

    def twice(self) -> Cells:
        """The same noise with twice the runs."""
        return replace(self, runs=2 * self.runs)


def run_noise(*sides: Cells) -> Noise | None:
    """The noise of the mean over evals that another set of runs would show.

    SE^2 = (1/n^2) sum_i (s_iA^2 / K_A + s_iB^2 / K_B), degrees of freedom by Welch and
    Satterthwaite over all eval x configuration cells. A cell of a single run takes the mean
    variance of its side's other cells. None where no noise was seen, or a side has not
    `enough` runs.
    """
    import numpy as np

    if not all(side.enough for side in sides):
        return None
    parts, freedom = [], []
    for side in sides:
        seen = side.repeated
        weights = 1 / side.runs
        lent = weights[~seen].sum() / seen.sum()
        parts.append((weights[seen] + lent) * side.variances[seen] / len(side.runs) ** 2)
        freedom.append(side.runs[seen] - 1)
    terms, df = np.concatenate(parts), np.concatenate(freedom)
    if not terms.sum() > 0:
        return None
    return Noise(math.sqrt(terms.sum()), float(terms.sum() ** 2 / (terms**2 / df).sum()))


def eval_noise(differences: Array) -> Noise | None:
    """The noise of the mean over evals that another set of evals would show: paired t.

    None for fewer than two evals, or where all differ by the same.
    """
    n = len(differences)
    spread = float(differences.std(ddof=1)) if n > 1 else 0.0
    return Noise(spread / math.sqrt(n), n - 1) if spread > 1e-12 else None


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
