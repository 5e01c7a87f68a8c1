"""The smallest effect that a design can detect."""

from __future__ import annotations

from typing import Any

POWER = 0.8


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
