"""`audit`: what a benchmark.json states against what its own runs give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import frame_of, like

from ..names import Key, in_order, natural
from ..pairing import side
from ..summary import place
from ..values import GROUP, METRICS, RUBRIC, RUN, runs_of, scores_of
from .causes import compare, explain
from .readings import figures
from .stated import CONSISTENCY, DELTA, ready

if TYPE_CHECKING:
    import polars as pl

AUDIT = [
    *GROUP,
    "configuration",
    "metric",
    "statistic",
    "stated",
    "printed",
    "recomputed",
    "difference",
    "agrees",
    "cause",
    "path",
]


def audit(workspace: Any) -> Any:
    """Each figure that a benchmark.json states beside the one its own runs give.

    A figure agrees when it lies within half a unit of the last place it was printed with.
    JSON drops the zeros after the point, so a bare number counts as printed with as many
    places as the most exact figure of the same metric and statistic in its file: a mean of
    `1.0` beside one of `0.387` says 1.000.

    Args:
        workspace: a `Workspace`; the tables `stated`, `runs` and `rubric_scores` are read.

    Returns:
        In the kind of the workspace's backend, one row a stated figure that the runs of its
        workspace and iteration can answer: `stated` and `printed`, `recomputed` (null where
        the runs have none and the file says 0), `difference` (stated - recomputed),
        `agrees`, `cause` (null where it agrees, else the likely one in plain words, or
        `unknown`) and `path`. A delta is recomputed as the with-skill side's mean minus the
        baseline's; means and standard deviations are over runs, as in `summarize`.

    Raises:
        TypeError: for a single table.

    >>> from skill_eval_nb.tables import TABLES, Workspace
    >>> from skill_eval_nb.tables.frames import to_polars
    >>> keys = {"workspace": ["w"] * 2, "skill": ["s"] * 2, "iteration": ["none"] * 2}
    >>> runs = to_polars(TABLES["runs"], {
    ...     **keys, "eval_id": ["1", "2"], "configuration": ["with_skill"] * 2,
    ...     "run_number": [1, 1], "pass_rate": [1.0, 0.5],
    ... })
    >>> stated = to_polars(TABLES["stated"], {
    ...     **keys, "configuration": ["with_skill"] * 2, "metric": ["pass_rate"] * 2,
    ...     "statistic": ["mean", "stddev"], "value": [0.75, 0.25], "printed": ["0.75", "0.25"],
    ... })
    >>> ws = Workspace.from_tables({"runs": runs, "stated": stated})
    >>> audit(ws).select("statistic", "agrees", "cause").rows()
    [('mean', True, None), ('stddev', False, 'population standard deviation')]
    """
    import polars as pl

    if not hasattr(workspace, "polars"):
        kind = type(workspace).__name__
        raise TypeError(
            f"`audit` takes a Workspace, for it needs several tables; this is a {kind}."
        )
    runs = runs_of(workspace)
    stated = ready(frame_of(workspace, "stated"), runs)
    values = _values(runs, scores_of(workspace), stated)
    found = compare(stated, figures(values))
    off = found.filter(~pl.col("agrees"))
    cause = explain(off, stated, _part(values, off))
    rows = (
        found.join(cause, on="row", how="left", maintain_order="left")
        .filter(pl.col("recomputed").is_not_null() | pl.col("cause").is_not_null())
        .with_columns(
            pl.col("stated_skill").alias("skill"),
            pl.col("stated_statistic").alias("statistic"),
            pl.col("value").alias("stated"),
            pl.when(~pl.col("agrees")).then(pl.col("cause").fill_null("unknown")).alias("cause"),
        )
        .select(AUDIT)
    )
    names = dict.fromkeys([*GROUP, "path"], natural)
    return like(workspace, in_order(rows, **names, configuration=_delta_last, metric=place))


def _values(runs: pl.DataFrame, scores: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The figures of the runs that the stated ones are about, as `misreadings` takes them."""
    import polars as pl

    wanted = {"overall_efficiency", *stated["metric"]}
    beside = pl.col("output_chars", "passed", "failed").cast(pl.Int64)
    long = [
        runs.select(
            *RUN,
            pl.lit(metric).alias("metric"),
            pl.col(metric).cast(pl.Float64).alias("value"),
            beside,
        )
        for metric in METRICS
        if metric in wanted
    ]
    dimensions = stated.filter(pl.col("metric").str.starts_with(RUBRIC))
    rubric = (
        runs.select(*RUN, beside)
        .join(
            dimensions.select("workspace", "iteration", "metric").unique(),
            on=["workspace", "iteration"],
            nulls_equal=True,
        )
        .join(scores, on=[*RUN, "metric"], how="left", nulls_equal=True)
    )
    values = pl.concat([*long, rubric.select(long[0].columns)])
    whole = values.with_columns(pl.lit(None, pl.String).alias("skill"))
    return _part(pl.concat([values, whole]), stated)


def _part(values: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """The part of the values that the stated figures are about."""
    import polars as pl

    source = pl.col("metric").replace(CONSISTENCY, "overall_efficiency")
    about = stated.select(*GROUP, source)
    return values.join(about, on=[*GROUP, "metric"], how="semi", nulls_equal=True)


def _delta_last(configuration: str) -> Key:
    return (configuration == DELTA, side(configuration))
