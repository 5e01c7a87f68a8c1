"""Each configuration by itself: its mean and spread over evals, pass@k and pass^k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .pairing import side
from .values import (
    EVAL,
    GROUP,
    Key,
    in_order,
    natural,
    runs_by_model,
    scores_of,
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
    own = runs.select(*keys, pl.col(measured).cast(pl.Float64))
    values = own.unpivot(measured, index=keys, variable_name="metric")
    every = pl.concat([values, scores.select(values.columns)])
    figures = every.group_by(*keys, "metric").agg(spread("value"))
    efficiency = figures.filter(metric="overall_efficiency")
    return pl.concat([figures, consistency(efficiency)])


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

    evals = _by_eval(data, k, threshold)
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
    return _by_eval(data, k, threshold)


def _by_eval(data: Any, k: Sequence[int], threshold: float) -> pl.DataFrame:
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
        [(c, n, many, *_chances(c, n, many)) for c, n in counts.iter_rows() for many in wanted],
        {
            **dict.fromkeys(("n_passed", "n_runs", "k"), pl.Int64),
            **dict.fromkeys(("pass_at_k", "pass_hat_k"), pl.Float64),
        },
        orient="row",
    )
    found = evals.join(chances, on=["n_passed", "n_runs"]).sort("k")
    order = {**dict.fromkeys(GROUP, natural), "configuration": side}
    by_eval = in_order(found, **dict.fromkeys(EVAL, natural)).sort("k", maintain_order=True)
    columns = [*K_KEYS, *EVAL, "n_passed", "n_runs", "pass_at_k", "pass_hat_k"]
    return in_order(by_eval, **order).select(columns)


def _chances(c: int, n: int, k: int) -> tuple[float | None, float | None]:
    """pass@k and pass^k for c passes in n runs.

    >>> _chances(c=1, n=3, k=2), _chances(c=1, n=3, k=4)
    ((0.6666666666666667, 0.0), (None, None))
    """
    from math import comb

    if k > n:
        return None, None
    return 1 - comb(n - c, k) / comb(n, k), comb(c, k) / comb(n, k)
