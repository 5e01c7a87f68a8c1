"""`judge_severity`: how much harsher or milder each judge is than the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from .components import estimate
from .intervals import confidence
from .judgings import CELL, dimension, judgings_of
from .mean_squares import JUDGE
from .severity import Panels

if TYPE_CHECKING:
    import polars as pl

COLUMNS = [*CELL, "dimension", "judge", "severity", "low", "high", "n_runs"]


def judge_severity(data: Any, metric: str | None = None, *, level: float = 0.95) -> Any:
    """How much higher than the others each judge scores the same outputs.

    Args:
        data: a `Workspace`, or a table of rubric scores (polars or pandas).
        metric: a rubric dimension; None for each.
        level: confidence of the interval.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration ×
        dimension × judge, where several judges scored the same outputs:

        - `judge`: the model, `unstated` where no file names it;
        - `severity`, in points: positive where it scores higher than the mean judge, by least
          squares over outputs and judges; the sum over judges is 0;
        - `low` and `high`, Student's t by the run × judge residual; null where that shows no
          spread or has no degrees of freedom;
        - `n_runs`: outputs that it scored together with another judge.

    Raises:
        ValueError: for a metric that is not there, or a level outside (0, 1).

    >>> import polars as pl
    >>> scores = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2"], "run_number": [1] * 4, "score": [5, 3, 4, 2],
    ...     "dimension": ["clarity"] * 4, "judge_model": ["mild", "harsh"] * 2,
    ... })
    >>> judge_severity(scores).select("judge", pl.col("severity").round(9), "n_runs").rows()
    [('harsh', -1.0, 2), ('mild', 1.0, 2)]
    """
    import polars as pl
    from scipy import special

    level = confidence(level)
    found = estimate(judgings_of(data, metric))
    noise = found.cells.select(CELL).with_columns(
        pl.Series("ms", found.found.ms[:, JUDGE]),
        pl.Series("t", special.stdtrit(found.found.df[:, JUDGE], (1 + level) / 2)),
    )
    seen = pl.when(pl.col("ms") > 0).then(pl.col("t") * (pl.col("ms") * pl.col("inverse")).sqrt())
    rows = (
        noise.join(
            _severities(found.panels), on=CELL, nulls_equal=True, maintain_order="left_right"
        )
        .with_columns(
            dimension(),
            (pl.col("severity") - seen).alias("low"),
            (pl.col("severity") + seen).alias("high"),
        )
        .select(COLUMNS)
    )
    return like(data, rows)


def _severities(panels: Panels | None) -> pl.DataFrame:
    """A row a cell × judge that shares outputs: CELL, judge, severity, n_runs, inverse."""
    import polars as pl

    types = dict.fromkeys([*CELL, "judge"], pl.String)
    types |= {"severity": pl.Float64, "n_runs": pl.Int64, "inverse": pl.Float64}
    if panels is None:
        return pl.DataFrame(schema=types)
    judges = pl.DataFrame({"judge": panels.judges})
    return (
        panels.cells.join(judges, how="cross", maintain_order="left_right")
        .with_columns(
            pl.Series("severity", panels.offsets.ravel()),
            pl.Series("n_runs", panels.n_runs.ravel()),
            pl.Series("inverse", panels.inverse.ravel()),
        )
        .filter(pl.col("n_runs") > 0)
    )
