"""Each configuration by itself: mean and spread, pass@k and pass^k, runs that stand out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .pairing import side_key
from .values import (
    EVAL,
    GROUP,
    METRICS,
    RUN,
    Key,
    in_polars,
    natural_key,
    no_such,
    runs_by_model,
    scores_of,
    sort_rows,
    statistic,
    values_of,
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
    figures = _summarize_metrics(runs, scores_of(data))
    known = figures.filter(pl.col("mean").is_not_null() | (pl.col("metric") == "pass_rate"))
    summary = (
        counts.join(known.select(*GROUP[:2], "metric").unique(), on=GROUP[:2], nulls_equal=True)
        .join(figures, on=[*keys, "metric"], how="left", nulls_equal=True)
        .with_columns(pl.col("n").fill_null(0))
        .select(*keys, "metric", *STATISTICS, "n_runs", "n_errored")
    )
    names = dict.fromkeys(GROUP, natural_key)
    return sort_rows(summary, **names, configuration=side_key, metric=metric_order)


def _summarize_metrics(runs: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The STATISTICS of every metric of every configuration."""
    import polars as pl

    keys = [*GROUP, "configuration"]
    measured = [metric for metric in ORDER if metric in runs.columns]
    own = runs.select(*keys, pl.col(measured).cast(pl.Float64))
    values = own.unpivot(measured, index=keys, variable_name="metric")
    every = pl.concat([values, scores.select(values.columns)])
    figures = every.group_by(*keys, "metric").agg(spread("value"))
    efficiency = figures.filter(metric="overall_efficiency")
    return pl.concat([figures, consistency(efficiency)])


def metric_order(metric: str) -> Key:
    """A sorting key for metrics: first those in ORDER, in that order, then the others by name."""
    known = metric in ORDER
    return (not known, ORDER.index(metric) if known else natural_key(metric))


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


K_KEYS = [*GROUP, "configuration", "k"]


@statistic
def pass_at_k(data: Any, k: Sequence[int] = (1, 3, 5), threshold: float = 1.0) -> Any:
    """The chance that k runs of an eval pass at least once, and that they pass every time.

    With c passes in n runs, over all ways to draw k of them: pass@k = 1 - C(n-c, k) / C(n, k)
    (Chen et al., arXiv 2107.03374) and pass^k = C(c, k) / C(n, k) (Yao et al., tau-bench,
    arXiv 2406.12045). Each configuration's figure is the mean over its evals.

    Args:
        data: a `Workspace`, or a table of runs (polars or pandas).
        k: numbers of runs, at least 1.
        threshold: the pass rate at which a run passes; 1 if all expectations must pass.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration × k, and of
        each model and harness as for `deltas`: `pass_at_k` and `pass_hat_k` (0-1; null if no
        eval has k runs), `n_evals` (evals with k runs or more, which alone are averaged) and
        `n_evals_all` (evals with a run that has a pass rate). `pass_at_k_by_eval` has the evals.

    Raises:
        ValueError: for a k below 1.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": "1", "pass_rate": [1.0, 1.0, 0.5]})
    >>> found = pass_at_k(runs.with_columns(configuration=pl.lit("with_skill")), k=[1, 2, 5])
    >>> found.select("k", pl.col("pass_at_k", "pass_hat_k").round(3), "n_evals").rows()
    [(1, 0.667, 0.667, 1), (2, 1.0, 0.333, 1), (5, None, None, 0)]
    """
    import polars as pl

    evals = pass_at_k_by_eval(in_polars(data), k, threshold)
    return evals.group_by(K_KEYS, maintain_order=True).agg(
        pl.col("pass_at_k", "pass_hat_k").mean(),
        pl.col("pass_at_k").count().cast(pl.Int64).alias("n_evals"),
        pl.len().cast(pl.Int64).alias("n_evals_all"),
    )


@statistic
def pass_at_k_by_eval(data: Any, k: Sequence[int] = (1, 3, 5), threshold: float = 1.0) -> Any:
    """pass@k and pass^k of each eval.

    Args:
        data: as for `pass_at_k`.
        k: as for `pass_at_k`.
        threshold: as for `pass_at_k`.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration × k ×
        eval, and of each model and harness as for `deltas`: `n_passed`, `n_runs` (runs with a pass
        rate; the others enter nothing), `pass_at_k` and `pass_hat_k` (0-1, null for k > n_runs).
        Evals of which no run has a pass rate have no row.

    Raises:
        ValueError: as `pass_at_k`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": ["1", "2"], "configuration": "x", "pass_rate": [1.0, 0.9]})
    >>> pass_at_k_by_eval(runs, k=[1], threshold=0.9)["pass_at_k"].to_list()
    [1.0, 1.0]
    """
    import polars as pl

    wanted = sorted(set(k))
    if wanted and wanted[0] < 1:
        raise ValueError(f"k counts runs, so it is at least 1, not {wanted[0]}.")
    passed = (pl.col("value") >= threshold - 1e-9).sum()
    evals = (
        values_of(data, "pass_rate")
        .drop_nulls("value")
        .group_by(*GROUP, *EVAL, "configuration")
        .agg(passed.cast(pl.Int64).alias("n_passed"), pl.len().cast(pl.Int64).alias("n_runs"))
    )
    counts = evals.select("n_passed", "n_runs").unique()
    chances = pl.DataFrame(
        [(c, n, many, *_pass_at_k(c, n, many)) for c, n in counts.iter_rows() for many in wanted],
        {
            **dict.fromkeys(("n_passed", "n_runs", "k"), pl.Int64),
            **dict.fromkeys(("pass_at_k", "pass_hat_k"), pl.Float64),
        },
        orient="row",
    )
    found = evals.join(chances, on=["n_passed", "n_runs"]).sort("k")
    order = {**dict.fromkeys(GROUP, natural_key), "configuration": side_key}
    by_eval = sort_rows(found, **dict.fromkeys(EVAL, natural_key)).sort("k", maintain_order=True)
    columns = [*K_KEYS, *EVAL, "n_passed", "n_runs", "pass_at_k", "pass_hat_k"]
    return sort_rows(by_eval, **order).select(columns)


def _pass_at_k(c: int, n: int, k: int) -> tuple[float | None, float | None]:
    """pass@k and pass^k for c passes in n runs.

    >>> _pass_at_k(c=1, n=3, k=2), _pass_at_k(c=1, n=3, k=4)
    ((0.6666666666666667, 0.0), (None, None))
    """
    if k > n:
        return None, None
    ways = math.comb(n, k)
    return 1 - math.comb(n - c, k) / ways, math.comb(c, k) / ways


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
    groups = dict.fromkeys(GROUP, natural_key)
    return sort_rows(found, **groups, metric=lambda name: (order[name],), configuration=side_key)


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
