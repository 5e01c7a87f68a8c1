"""`deltas`: what a configuration changes against the baseline, paired by eval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from .pairing import pairs, sides
from .values import GROUP, RUBRIC, runs_of, scores_of, values_of, with_unscored

if TYPE_CHECKING:
    import polars as pl


def deltas(data: Any, metric: str = "pass_rate", baseline: str | None = None) -> Any:
    """Each configuration against the baseline: the mean difference over paired evals.

    An eval's difference d_i is its mean over runs minus its mean over runs of the baseline;
    a run's rubric score is first its mean over judgings. The estimate is the mean of d_i
    (Miller, arXiv 2411.00640, section 4). Runs without the figure enter no mean.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by `rubric:<name>` or by its
            name alone.
        baseline: the configuration to compare against. Chosen by name where not given:
            `without_skill`, `baseline`, `no_skill`, `control`, … else `old_skill`, …

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration that
        is not the baseline: `baseline`, `metric`, `estimate` (in the metric's unit, null
        without a paired eval), `n_evals` (paired), `n_runs` and `n_runs_baseline` (runs that
        entered), `n_unpaired` and `unpaired` (names of the evals without a pair). Groups
        without a baseline have no row: `deltas_by_eval` says why.

    Raises:
        ValueError: for a metric or baseline that is not there; the message says what is.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2", "3"],
    ...     "configuration": ["with_skill", "without_skill"] * 2 + ["with_skill"],
    ...     "pass_rate": [1.0, 0.5, 0.75, 0.75, 1.0],
    ... })
    >>> deltas(runs).select("estimate", "n_evals", "unpaired").rows()
    [(0.25, 2, ['3'])]
    """
    return like(data, _overall(_pairs(data, metric, baseline)))


def deltas_by_eval(data: Any, metric: str = "pass_rate", baseline: str | None = None) -> Any:
    """Each eval's difference between a configuration and the baseline.

    Args:
        data: as for `deltas`.
        metric: as for `deltas`.
        baseline: as for `deltas`.

    Returns:
        In the kind of `data`, one row an eval × configuration that is not the baseline:
        `mean` and `baseline_mean` over runs, `estimate` (their difference), `n_runs` and
        `n_runs_baseline` (runs that have the figure), and `reason`, null where the eval is
        paired, else why it is not. Where no baseline can be told, `baseline` is null and
        every eval says so.

    Raises:
        ValueError: as `deltas`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({"eval_id": ["1"], "configuration": ["with_skill"]})
    >>> deltas_by_eval(runs.with_columns(pass_rate=1.0))["reason"].item()
    'no baseline among the configurations: with_skill'
    """
    return like(data, _pairs(data, metric, baseline))


def deltas_by_dimension(data: Any, baseline: str | None = None) -> Any:
    """`deltas` of every rubric dimension, in points of the 1-5 scale.

    An eval counts for the dimensions that some run of it was scored on. Runs that failed
    the gate were not judged, so `n_runs` and `n_runs_baseline` may differ much: look at both.

    Args:
        data: a `Workspace` or a table of rubric scores (polars or pandas).
        baseline: as for `deltas`.

    Returns:
        In the kind of `data`, the columns of `deltas` and `dimension`, one row a dimension
        and configuration; no row where nothing was scored.

    Raises:
        ValueError: for a baseline that is not there.

    >>> import polars as pl
    >>> scores = pl.DataFrame({
    ...     "eval_id": ["1", "1"], "configuration": ["with_skill", "old_skill"],
    ...     "dimension": ["clarity", "clarity"], "score": [5, 3],
    ... })
    >>> deltas_by_dimension(scores).select("dimension", "baseline", "estimate").rows()
    [('clarity', 'old_skill', 2.0)]
    """
    import polars as pl

    runs = runs_of(data)
    paired = pairs(with_unscored(scores_of(data), runs), sides(runs, baseline))
    dimension = pl.col("metric").str.strip_prefix(RUBRIC).alias("dimension")
    found = _overall(paired).with_columns(dimension)
    columns = [name for name in found.columns if name != "dimension"]
    columns.insert(columns.index("metric") + 1, "dimension")
    return like(data, found.select(columns))


def _pairs(data: Any, metric: str, baseline: str | None) -> pl.DataFrame:
    return pairs(values_of(data, metric), sides(runs_of(data), baseline))


def _overall(paired: pl.DataFrame) -> pl.DataFrame:
    """The mean over paired evals, from what `pairs` gives, in its order."""
    import polars as pl

    estimate = pl.col("estimate")
    both = paired.filter(pl.col("configuration").is_not_null() & pl.col("baseline").is_not_null())
    return both.group_by(*GROUP, "configuration", "baseline", "metric", maintain_order=True).agg(
        estimate.sort().mean(),
        estimate.count().cast(pl.Int64).alias("n_evals"),
        pl.col("n_runs", "n_runs_baseline").filter(estimate.is_not_null()).sum(),
        estimate.null_count().cast(pl.Int64).alias("n_unpaired"),
        pl.col("eval_name").filter(estimate.is_null()).alias("unpaired"),
    )
