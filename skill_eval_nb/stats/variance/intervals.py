"""Intervals for variance components and their shares.

A mean square is taken for a chi-square over its effective degrees of freedom, which come from
leaving out whole evals in turn. The intervals of the mean squares become those of what is made
of them by the method of variance estimates recovery (Zou & Donner, Statistics in Medicine 27,
2008), which for sums of mean squares is Graybill and Wang's (JASA 75, 1980). A bootstrap over
evals covers much less where there are few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .mean_squares import NESTED, MeanSquares

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

HALVINGS = 30
"""After so many halvings a share is known to nine digits."""


def confidence(level: float) -> float:
    """The level, if it is one.

    Raises:
        ValueError: where it does not lie between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"`level` lies between 0 and 1, as 0.95 does; this is {level}.")
    return level


def component_bounds(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """Lower and upper bounds of every component, at least 0; cells × 4."""
    import numpy as np

    low, high = _of_squares(found, level)
    bounds = _combined(found.unmix, found.ms, low, high)
    return np.maximum(bounds[0], 0), np.maximum(bounds[1], 0)


def share_bounds(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """Lower and upper bounds of every component's share of eval, run and judge; cells × 4.

    A share exceeds s where `component - s * whole` exceeds 0, and that is again made of mean
    squares: the bounds are the s at which its interval begins and ceases to contain 0.
    """
    import numpy as np

    squares = _of_squares(found, level)
    whole = found.unmix[:, : len(NESTED)].sum(axis=1, keepdims=True)

    def bound(side: int) -> Array:
        lower, upper = np.zeros(found.ms.shape), np.ones(found.ms.shape)
        for _ in range(HALVINGS):
            middle = (lower + upper) / 2
            weights = found.unmix - middle[:, :, None] * whole
            above = _combined(weights, found.ms, *squares)[side] > 0
            lower, upper = np.where(above, middle, lower), np.where(above, upper, middle)
        return (lower if side == 0 else upper).round(8)

    return bound(0), bound(1)


def _of_squares(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """The interval of each expected mean square; 0 to 0 where there is none."""
    import numpy as np
    from scipy import special

    there = found.df > 0
    df = np.where(there, found.effective, 1)
    squares = found.ms * df
    low = squares / special.chdtri(df, (1 - level) / 2)
    high = squares / special.chdtri(df, (1 + level) / 2)
    return np.where(there, low, 0), np.where(there, high, 0)


def _combined(weights: Array, ms: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The interval of weighted sums of mean squares; weights are cells × sums × 4."""
    import numpy as np

    ms, low, high = ms[:, None], low[:, None], high[:, None]
    estimate = (weights * ms).sum(axis=2)
    down = weights * np.where(weights > 0, ms - low, high - ms)
    up = weights * np.where(weights > 0, high - ms, ms - low)
    reach_down, reach_up = (np.sqrt((part**2).sum(axis=2)) for part in (down, up))
    return estimate - reach_down, estimate + reach_up
