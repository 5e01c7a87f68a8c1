"""Runs that stand out in time, tokens or cost: shown with what they change, never removed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from .pairing import side
from .values import EVAL, GROUP, METRICS, RUN, in_order, natural, no_such, runs_of

if TYPE_CHECKING:
    import polars as pl

ENOUGH, FEW = 10, 3
"""Runs that can be judged by themselves; runs of an eval whose median says something."""
APART = 1.5
"""How many times the median a run is at least that stands out; or as small a part of it."""
MAD, MEAN_DEVIATION = 0.6745, 1.253314
"""What makes either deviation an estimate of a normal distribution's standard deviation."""
CELL = [*GROUP, *EVAL, "configuration", "metric"]
WHOLE = [*GROUP, "configuration", "metric"]


def outliers(
    data: Any,
    metrics: Sequence[str] = ("time_seconds", "tokens", "cost_usd"),
    threshold: float = 3.5,
) -> Any:
    """Runs whose modified z-score is at least the threshold, and that are far off as well.

    Times, tokens and costs are skewed, so their logarithms are looked at; a run stands out only
    where it is at least `APART` times the median, or as small a part of it. One of 0 is not
    looked at. Modified z = 0.6745 (value - median) / MAD, MAD being the median of the absolute
    deviations (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993). Where the
    MAD is 0 the mean absolute deviation takes its place, times 1.253314; where that is 0,
    too, nothing stands out. What a run is compared with, `compared_with`:

    - `eval`: the runs of its eval and configuration, where there are at least 10;
    - `evals`: where there are 3 to 9, its distance from their median is held against such
      distances in all evals of the configuration that have as few. So an eval that takes
      long is no reason to stand out. (An odd number of runs has its median among them, at
      distance 0; that one is left out of the MAD.)
    - `configuration`: where there are 1 or 2, all such runs of the configuration. Here an
      eval that takes long cannot be told from a run that took long.

    With fewer than 10 runs to compare with, nothing is said. Runs that errored are left out.

    Args:
        data: a `Workspace`, or a table of runs (polars or pandas).
        metrics: number columns of `runs`.
        threshold: the modified z-score from which on a run stands out, either way.

    Returns:
        In the kind of `data`, one row an outlying run × metric: the keys of the run, `metric`,
        `value`, `median` (of its eval's runs, else of the configuration's), `modified_z`, `n`
        (runs compared), `compared_with`, `mean` and `mean_without` (of all runs of the
        configuration, and of those that do not stand out; null where all do) and `n_outliers`
        (how many do). The largest of a configuration's scores first.

    Raises:
        ValueError: for a metric that `runs` does not have.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": "1", "run_number": range(1, 11), "configuration": "with_skill",
    ...     "time_seconds": [40.0, 41, 42, 43, 44, 45, 46, 47, 48, 300],
    ... })
    >>> found = outliers(runs, metrics=["time_seconds"])
    >>> found.select("run_number", "median", pl.col("modified_z").round(1), "mean_without").rows()
    [(10, 44.5, 22.9, 44.0)]
    """
    import polars as pl

    for metric in metrics:
        if metric not in METRICS:
            raise no_such("metric", metric, METRICS)
    scored = _scored(_values(data, metrics))
    apart = pl.col("away").abs() >= math.log(APART)
    outlying = (pl.col("modified_z").abs() >= threshold) & apart
    value = pl.col("value")
    with_means = scored.with_columns(
        value.mean().over(WHOLE).alias("mean"),
        value.filter(~outlying.fill_null(value=False)).mean().over(WHOLE).alias("mean_without"),
        outlying.sum().cast(pl.Int64).over(WHOLE).alias("n_outliers"),
    )
    found = (
        with_means.filter(outlying)
        .sort(pl.col("modified_z").abs(), descending=True, maintain_order=True)
        .select(
            *(*RUN, "metric", "value", "median", "modified_z", "n", "compared_with"),
            *("mean", "mean_without", "n_outliers"),
        )
    )
    order = {name: place for place, name in enumerate(metrics)}
    groups = dict.fromkeys(GROUP, natural)
    return like(
        data, in_order(found, **groups, metric=lambda name: (order[name],), configuration=side)
    )


def _values(data: Any, metrics: Sequence[str]) -> pl.DataFrame:
    """RUN, metric, value of every run that did not error and has the figure, in order."""
    import polars as pl

    errored = (pl.col("status") == "errored").fill_null(value=False)
    wide = runs_of(data).filter(~errored).sort(RUN, nulls_last=True)
    return pl.concat(
        wide.select(
            *RUN, pl.lit(metric).alias("metric"), pl.col(metric).cast(pl.Float64).alias("value")
        ).drop_nulls("value")
        for metric in dict.fromkeys(metrics)
    )


def _scored(values: pl.DataFrame) -> pl.DataFrame:
    """`values` with each run's median, n, compared_with and modified_z (null: not compared)."""
    import polars as pl

    value, runs = pl.col("value"), pl.len().over(CELL)
    kind = (
        pl.when(runs >= ENOUGH)
        .then(pl.lit("eval"))
        .when(runs >= FEW)
        .then(pl.lit("evals"))
        .otherwise(pl.lit("configuration"))
    )
    alone = pl.col("compared_with") == "configuration"
    kinds = [*WHOLE, "compared_with"]
    own = pl.when(pl.col("compared_with") == "eval").then("eval_id")
    peers = [*kinds, "own"]
    centred = (
        values.with_columns(kind.alias("compared_with"))
        .with_columns(
            own.alias("own"),
            pl.when(alone)
            .then(value.median().over(kinds))
            .otherwise(value.median().over(CELL))
            .alias("median"),
        )
        .with_columns(
            pl.when((value > 0) & (pl.col("median") > 0))
            .then((value / pl.col("median")).log())
            .alias("away")
        )
    )
    away = pl.col("away").abs()
    is_median = (
        (pl.col("compared_with") == "evals")
        & (runs % 2 == 1)
        & (away.rank("ordinal").over(CELL) == 1)
    )
    scale = pl.coalesce(
        pl.when(pl.col("mad") > 0).then(pl.col("mad") / MAD),
        pl.when(pl.col("mean_away") > 0).then(pl.col("mean_away") * MEAN_DEVIATION),
    )
    return centred.with_columns(
        away.filter(~is_median).median().over(peers).alias("mad"),
        away.mean().over(peers).alias("mean_away"),
        pl.len().cast(pl.Int64).over(peers).alias("n"),
    ).with_columns(pl.when(pl.col("n") >= ENOUGH).then(pl.col("away") / scale).alias("modified_z"))
