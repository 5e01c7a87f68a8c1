"""Mean squares of evals, runs and judgings, and the components that they are made of.

Henderson's method I (Biometrics 9, 1953; Searle, Casella & McCulloch, *Variance Components*,
section 5.3) for judgings nested in runs nested in evals; on balanced data the classical
analysis of variance. Arrays have a row a cell and a column a level: LEVELS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

LEVELS = EVAL, RUN, JUDGE, SEVERITY = range(4)
"""Between evals, between runs of an eval, between judgings of a run, between judges."""
NESTED = LEVELS[:SEVERITY]
"""Those by which scores of one judge differ."""
SUMS = ("n_judgings", "n_runs", "first", "second", "within_runs", "squares")
DUST = 1e-13
"""A mean square below this share of the squared scores is what rounding leaves of nothing."""
ROUNDING = 1e-12
"""The same of a component, as a share of the mean squares that it is a difference of."""


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """What was seen of each cell, and how it is made of the components.

    Attributes:
        ms: mean squares, 0 where a level has no degrees of freedom; cells × 4.
        df: their degrees of freedom; cells × 4.
        effective: the same, as far as leaving out each eval in turn bears them out.
        unmix: component k is `unmix[k] @ ms`; cells × 4 × 4.
    """

    ms: Array
    df: Array
    effective: Array
    unmix: Array

    @property
    def components(self) -> Array:
        """The components as estimated, below 0 where chance has it so; cells × 4."""
        import numpy as np

        found = np.einsum("ckm,cm->ck", self.unmix, self.ms)
        return np.where(np.abs(found) < ROUNDING * self.ms.max(axis=1, keepdims=True), 0.0, found)


def mean_squares(evals: pl.DataFrame, n_cells: int, judges: Array) -> MeanSquares:
    """The mean squares of cells.

    Args:
        evals: what `by_eval` gives, with the number of its cell as `cell`.
        n_cells: how many cells there are.
        judges: for each cell the judges' sum of squares, its degrees of freedom and its
            factor (see `Panel`); 0 where judges are not crossed with runs.
    """
    import numpy as np

    cell = evals["cell"].to_numpy()
    spread, lost, factor = judges.T
    own, scale = _sums(evals, cell, n_cells)
    total = _per_cell(own, cell, n_cells)
    ms, df = _squares(total, lost)
    ms = np.where(ms < DUST * scale[:, None], 0.0, ms)
    without, left = _squares(total[cell] - own, lost[cell])
    effective = _effective(ms, df, _jackknife(without, left, cell, n_cells))
    of_judges = np.divide(spread, lost, out=np.zeros(n_cells), where=lost > 0)
    return MeanSquares(
        ms=np.column_stack([ms, of_judges]),
        df=np.column_stack([df, lost]),
        effective=np.column_stack([effective, lost]),
        unmix=_unmix(total, df, factor),
    )


def _per_cell(values: Array, cell: Array, n_cells: int) -> Array:
    import numpy as np

    columns = [np.bincount(cell, column, minlength=n_cells) for column in values.T]
    return np.column_stack(columns).astype(float)  # sums of nothing come as whole numbers


def _sums(evals: pl.DataFrame, cell: Array, n_cells: int) -> tuple[Array, Array]:
    """What each eval adds to the sums of its cell, and the cell's mean square from the centre.

    With n_ij scores of run j of eval i, and t_i how far the eval's level is from that of its
    cell: the eval itself, n_i, its runs, squares within and between runs, n_i t_i, n_i t_i²,
    Σ n_ij² / n_i, Σ n_ij² and n_i².
    """
    import numpy as np

    n, runs, first, second, within, squares = (evals[name].to_numpy() for name in SUMS)
    weights, firsts, seconds = _per_cell(np.column_stack([n, first, second]), cell, n_cells).T
    off = first / n - (firsts / weights)[cell]
    between = np.maximum(second - first**2 / n, 0)
    parts = [np.ones_like(n), n, runs, within, between, n * off, n * off**2]
    return np.column_stack([*parts, squares / n, squares, n**2]), seconds / weights


def _squares(sums: Array, lost: Array) -> tuple[Array, Array]:
    """Mean squares and degrees of freedom of evals, runs and judgings; 0 where there are none."""
    import numpy as np

    evals, n, runs, within, between, first, second, *_ = sums.T
    df = np.column_stack([evals - 1, runs - evals, n - runs - lost])
    over = np.divide(first**2, n, out=np.zeros_like(n), where=n > 0)
    squares = np.maximum(np.column_stack([second - over, between, within]), 0)
    return np.divide(squares, df, out=np.zeros_like(df), where=df > 0), np.maximum(df, 0)


def _jackknife(without: Array, left: Array, cell: Array, n_cells: int) -> Array:
    """Variance of the mean squares by leaving out each eval in turn; NaN where one carries all."""
    import numpy as np

    evals = np.bincount(cell, minlength=n_cells)[:, None]
    mean = _per_cell(without, cell, n_cells) / evals
    apart = _per_cell((without - mean[cell]) ** 2, cell, n_cells)
    carried = _per_cell((left <= 0).astype(float), cell, n_cells) == 0
    return np.where(carried, apart * (evals - 1) / evals, np.nan)


def _effective(ms: Array, df: Array, variance: Array) -> Array:
    """Satterthwaite's 2 MS² / Var(MS), at least 1 and at most what the design gives.

    Under the normal distribution the two are equal; scores that pile up at an end of the
    scale, or evals of which a few stand apart, tell less than their number promises.
    """
    import numpy as np

    seen = np.divide(2 * ms**2, variance, out=np.full_like(ms, np.inf), where=variance > 0)
    return np.minimum(np.maximum(seen, 1), df)


def _unmix(total: Array, df: Array, factor: Array) -> Array:
    """How components are made of mean squares, from how often each contains the other.

    A level without degrees of freedom has no component: its variance is part of the one above.
    """
    import numpy as np

    _, n, _, _, _, _, _, shared, squares, of_evals = total.T

    def per_df(sums: Array, level: int) -> Array:
        return np.divide(sums, df[:, level], out=np.zeros_like(sums), where=df[:, level] > 0)

    def inverse(times: Array) -> Array:
        return np.divide(1, times, out=np.zeros_like(times), where=times > 0)

    runs, evals = inverse(per_df(n - shared, RUN)), inverse(per_df(n - of_evals / n, EVAL))
    runs_in_evals = per_df(shared - squares / n, EVAL) * runs
    unmix = np.zeros((len(total), 4, 4))
    unmix[:, JUDGE, JUDGE] = df[:, JUDGE] > 0
    unmix[:, RUN, RUN] = runs
    unmix[:, RUN, JUDGE] = -runs
    unmix[:, EVAL, EVAL] = evals
    unmix[:, EVAL, RUN] = -runs_in_evals * evals
    unmix[:, EVAL, JUDGE] = (runs_in_evals - 1) * evals
    unmix[:, SEVERITY, SEVERITY] = inverse(factor)
    unmix[:, SEVERITY, JUDGE] = -inverse(factor)
    return unmix
