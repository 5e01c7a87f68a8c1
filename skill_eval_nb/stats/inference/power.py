"""The smallest effect that a design can detect."""

from __future__ import annotations

from functools import cache
from typing import Any

POWER = 0.8
FLIPPED = (6, 7)
"""Evals of which t would promise what the flips of so few signs cannot keep."""
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
