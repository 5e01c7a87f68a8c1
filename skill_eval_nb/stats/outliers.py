"""Runs that stand out from their peers, or from the other runs of their eval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .pairing import side
from .values import (
    EVAL,
    GROUP,
    METRICS,
    RUN,
    in_order,
    natural,
    no_such,
    statistic,
    values_of,
)

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


@statistic
def outliers(
    data: Any,
    metrics: Sequence[str] = ("time_seconds", "tokens", "cost_usd"),
    threshold: float = 3.5,
) -> Any:
    """Runs whose modified z-score reaches the threshold, and that are also far from the median.

    Times, tokens and costs are skewed, so their logarithms are used; a run stands out only if it
    is at least `APART` times the median, or at most the median divided by `APART`. Values of 0
    are ignored. Modified z = 0.6745 (value - median) / MAD, where MAD is the median of the
    absolute deviations (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993). If the
    MAD is 0, the mean absolute deviation times 1.253314 replaces it; if that is 0 as well,
    nothing stands out. `compared_with` says what a run is compared with:

    - `eval`: the runs of its eval and configuration, if there are at least 10;
    - `evals`: if there are 3 to 9, its distance from their median is compared with such
      distances in all evals of the configuration that have as few. So a run does not stand out
      because its eval takes long. (An odd number of runs has its median among them, at distance
      0; that one is left out of the MAD.)
    - `configuration`: if there are 1 or 2, all such runs of the configuration. This cannot tell
      an eval that takes long from a run that took long.

    With fewer than 10 runs to compare with, no run is reported. Runs that errored are left out.

    Args:
        data: a `Workspace`, or a table of runs (polars or pandas).
        metrics: number columns of `runs`.
        threshold: the modified z-score at which a run stands out, high or low.

    Returns:
        In the kind of `data`, one row an outlying run × metric: the keys of the run, which is
        compared with runs of its model and harness alone (as for `deltas`), `metric`, `value`,
        `median` (of its eval's runs, else of the configuration's), `modified_z`, `n`
        (runs compared), `compared_with`, `mean` and `mean_without` (of all runs of the
        configuration, and of those that do not stand out; null if all do) and `n_outliers`
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
    errored = (pl.col("status") == "errored").fill_null(value=False)
    values = values_of(data, *dict.fromkeys(metrics)).filter(~errored).drop_nulls("value")
    scored = _score_outliers(values.sort(RUN, nulls_last=True))
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
            *(*GROUP, *EVAL, "configuration", "run_number"),
            *("metric", "value", "median", "modified_z", "n", "compared_with"),
            *("mean", "mean_without", "n_outliers"),
        )
    )
    order = {name: place for place, name in enumerate(metrics)}
    groups = dict.fromkeys(GROUP, natural)
    return in_order(found, **groups, metric=lambda name: (order[name],), configuration=side)


def _score_outliers(values: pl.DataFrame) -> pl.DataFrame:
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
    own = pl.when(pl.col("compared_with") == "eval").then("eval_id")
    peers = [*WHOLE, "compared_with", "own"]
    centred = (
        values.with_columns(kind.alias("compared_with"))
        .with_columns(
            own.alias("own"),
            pl.when(alone)
            .then(value.median().over(*WHOLE, "compared_with"))
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
