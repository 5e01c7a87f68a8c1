"""`variance`: how far evals, runs and the judge make scores differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from .components import estimate, named
from .doubts import note
from .intervals import component_bounds, confidence, share_bounds
from .judgings import CELL, dimension, judgings_of
from .mean_squares import EVAL, SEVERITY, MeanSquares

if TYPE_CHECKING:
    import polars as pl

FEWEST = 2
"""Degrees of freedom below which an interval would hold anything."""
COLUMNS = [
    *CELL,
    "dimension",
    "component",
    "variance",
    "low",
    "high",
    "share",
    "share_low",
    "share_high",
    "n_evals",
    "n_runs",
    "n_judgings",
    "clipped",
    "note",
]


def variance(data: Any, metric: str | None = None, *, level: float = 0.95) -> Any:
    """Where the variance of a configuration's scores comes from: evals, runs or the judge.

    A score is taken for the sum of its eval's level, what its run makes of it, and what the
    judging makes of that. The three variances are Henderson's method I estimates; on balanced
    data those of the analysis of variance: with R runs an eval and J judgings a run, judge =
    MS_judging, run = (MS_run - MS_judging) / J, eval = (MS_eval - MS_run) / (R J). The
    variance of the mean of all scores is eval / E + run / (E R) + judge / (E R J).

    What the data cannot tell apart is one component with both names: `run + judge` where no
    output was judged twice, `eval + run` where no eval was run twice. Figures that no judge
    has a part in (`time_seconds`, `structural_pass_rate`, …) have `eval` and `run`.

    Where several judges scored the same outputs they are crossed with the runs: `judge` is
    then what a judge makes of one run beyond its usual severity, and `judge severity` how
    far judges differ on all of them. That is no part of the whole that shares are of, for a
    judge's severity shifts all its scores alike; `judge_severity` has it judge by judge.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by `rubric:<name>` or by its
            name alone; None for every rubric dimension.
        level: confidence of the intervals.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration ×
        metric × component; none where there is no figure.

        - `metric`, and for a rubric's dimension its name as `dimension`;
        - `variance` in the metric's unit squared, with `low` and `high`; `share` of the sum of
          eval, run and judge (0-1), with `share_low` and `share_high`;
        - `n_evals`, `n_runs`, `n_judgings` (scores; null for figures of runs);
        - `clipped`: the estimate was below 0, as chance has it, and is set to 0;
        - `note`: what to know about it, in sentences; null where there is nothing.

        A variance that cannot be seen at all (one eval) is null, and so are shares then.
        Intervals come from leaving out each whole eval in turn, which says how many degrees
        of freedom the mean squares have, and the chi-square distribution (see
        `variance_intervals`). They are null below two degrees of freedom, and have no upper
        end where no spread was seen.

    Raises:
        ValueError: for a metric that is not there, or a level outside (0, 1).

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2", "3", "3"],
    ...     "configuration": ["with_skill"] * 6,
    ...     "time_seconds": [10.0, 12.0, 20.0, 22.0, 30.0, 32.0],
    ... })
    >>> variance(runs, "time_seconds").select("component", "variance", "share").rows()
    [('eval', 99.0, 0.98...), ('run', 2.0, 0.019...)]
    """
    level = confidence(level)
    found = estimate(judgings_of(data, metric))
    figures = _figures(found.found, level)
    rows = named(found).join(figures, on=["cell", "level"], maintain_order="left")
    told = rows.drop_nulls("component").with_columns(dimension(), note())
    return like(data, told.select(COLUMNS))


def _figures(found: MeanSquares, level: float) -> pl.DataFrame:
    """A row a cell × level: the figures of a component, `raw`, `spread` and `df`."""
    import numpy as np
    import polars as pl

    raw = found.components
    low, high = component_bounds(found, level)
    share_low, share_high = share_bounds(found, level)
    cells, levels = np.indices(raw.shape)
    columns = {"raw": raw, "low": low, "high": high, "share_low": share_low}
    columns |= {"share_high": share_high, "spread": found.ms, "df": found.df}
    rows = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    keys = {"cell": cells.ravel().astype("uint32"), "level": levels.ravel().astype("int32")}
    return _told(rows.with_columns(**{name: pl.Series(key) for name, key in keys.items()}))


def _told(rows: pl.DataFrame) -> pl.DataFrame:
    """The figures as far as the data carry them; null where they do not."""
    import polars as pl

    df, level = pl.col("df"), pl.col("level")
    part = (level != SEVERITY) & ((df > 0) | (level == EVAL))
    known = pl.when(df > 0)
    seen, carried = pl.col("spread") > 0, df >= FEWEST
    rows = rows.with_columns(
        known.then(pl.col("raw").clip(0)).alias("variance"),
        known.then(pl.col("raw") < 0).fill_null(value=False).alias("clipped"),
        pl.when(carried).then("low").alias("low"),
        pl.when(carried & seen).then("high").alias("high"),
    )
    whole = pl.col("variance").filter(part).sum().over("cell")
    every = pl.col("variance").filter(part).is_not_null().all().over("cell")
    steady = carried.filter(part).all().over("cell")
    shared = every & (level != SEVERITY) & (whole > 0)
    return rows.with_columns(
        pl.when(shared).then(pl.col("variance") / whole).alias("share"),
        pl.when(shared & steady).then("share_low").alias("share_low"),
        pl.when(shared & steady & seen).then("share_high").alias("share_high"),
    )
