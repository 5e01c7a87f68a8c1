"""A configuration's `run_summary`: mean and spread of every metric over its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pairing import side
from .values import (
    GROUP,
    Key,
    in_order,
    natural,
    runs_by_model,
    scores_of,
    statistic,
)

if TYPE_CHECKING:
    import polars as pl


ORDER = (
    "pass_rate",
    "structural_pass_rate",
    "rubric_normalized",
    "overall_efficiency",
    "consistency",
    "time_seconds",
    "tokens",
    "tool_calls",
    "errors",
    "cost_usd",
)
"""The metrics of a summary, in order; the rubric dimensions follow."""
STATISTICS = ("mean", "stddev", "min", "max", "n")


@statistic
def summarize(data: Any) -> Any:
    """Mean and spread of every metric over the runs of a configuration.

    Runs of all evals are pooled, as `run_summary` in benchmark.json defines it. That mixes the
    difficulty of the evals with the flakiness of the runs: use `deltas`, which pairs by eval, to
    decide.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration ×
        metric, and of each model and harness where a configuration has runs of several
        (`executor_model`, `harness`; null if runs do not state it, or other configurations
        have another): `mean`, `stddev` (sample, n - 1; null for fewer than two runs), `min`, `max`
        in the metric's unit (null if no run has the figure), `n` (runs that have it),
        `n_runs` (all runs of the configuration) and `n_errored` (those that errored).

        Metrics are those of which the skill has a figure at all, and `pass_rate` always.
        `rubric:<dimension>` is 1-5, a run's score its mean over judgings. `consistency` is
        1 - stddev / mean of overall_efficiency; it stands in `mean`, and is null at mean 0.
        The newest iteration is last, the with-skill side before the baseline.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "configuration": ["with_skill", "with_skill", "without_skill"],
    ...     "pass_rate": [1.0, 0.5, None],
    ... })
    >>> summarize(runs).select("configuration", "mean", "n", "n_runs").rows()
    [('with_skill', 0.75, 2, 2), ('without_skill', None, 0, 1)]
    """
    import polars as pl

    runs = runs_by_model(data)
    keys = [*GROUP, "configuration"]
    counts = runs.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias("n_runs"),
        (pl.col("status") == "errored").sum().cast(pl.Int64).alias("n_errored"),
    )
    figures = _figures(runs, scores_of(data))
    known = figures.filter(pl.col("mean").is_not_null() | (pl.col("metric") == "pass_rate"))
    summary = (
        counts.join(known.select(*GROUP[:2], "metric").unique(), on=GROUP[:2], nulls_equal=True)
        .join(figures, on=[*keys, "metric"], how="left", nulls_equal=True)
        .with_columns(pl.col("n").fill_null(0))
        .select(*keys, "metric", *STATISTICS, "n_runs", "n_errored")
    )
    names = dict.fromkeys(GROUP, natural)
    return in_order(summary, **names, configuration=side, metric=place)


def _figures(runs: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The STATISTICS of every metric of every configuration."""
    import polars as pl

    keys = [*GROUP, "configuration"]
    measured = [metric for metric in ORDER if metric in runs.columns]
    wide = runs.group_by(keys).agg(pl.struct(spread(metric)).alias(metric) for metric in measured)
    figures = [
        wide.select(*keys, pl.lit(metric).alias("metric"), metric).unnest(metric)
        for metric in measured
    ]
    efficiency = figures[measured.index("overall_efficiency")]
    rubric = scores.group_by(*keys, "metric").agg(spread("value"))
    return pl.concat([*figures, consistency(efficiency), rubric])


def place(metric: str) -> Key:
    """A sorting key for metrics: those of ORDER first and as there, then the others by name."""
    known = metric in ORDER
    return (not known, ORDER.index(metric) if known else natural(metric))


def consistency(efficiency: pl.DataFrame) -> pl.DataFrame:
    """`consistency` from the summary of overall_efficiency: null if that has mean 0."""
    import polars as pl

    mean, nothing = pl.col("mean"), pl.lit(None, pl.Float64)
    return efficiency.with_columns(
        pl.lit("consistency").alias("metric"),
        pl.when(mean != 0).then(1 - pl.col("stddev") / mean).alias("mean"),
        *(nothing.alias(statistic) for statistic in ("stddev", "min", "max")),
    )


def spread(column: str, ddof: int = 1) -> list[pl.Expr]:
    """The STATISTICS of a column. Sorted, so that sums do not depend on the order of rows."""
    import polars as pl

    values = pl.col(column).cast(pl.Float64).sort()
    return [
        values.mean().alias("mean"),
        values.std(ddof=ddof).alias("stddev"),
        values.min().alias("min"),
        values.max().alias("max"),
        values.count().cast(pl.Int64).alias("n"),
    ]
