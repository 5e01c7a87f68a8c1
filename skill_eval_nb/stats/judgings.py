"""Rubric scores as rows a judging, and how much harsher each judge is than the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.sides import UNSTATED

from .values import EVAL, GROUP, METRICS, RUBRIC, judged_scores, values_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]


CELL = [*GROUP, "configuration", "metric"]
"""What has variance components of its own."""


def judgings_of(data: Any, metric: str | None = None) -> pl.DataFrame:
    """Every score of a judging, or figure of a run: CELL, EVAL, run, judge, value.

    `run` numbers the runs, `judge` is the judge's model (null if unknown, or where no
    judging is known apart). Nothing is null in `value`.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.

    Raises:
        ValueError: for a metric that is not there.
    """
    import polars as pl

    if metric in METRICS:
        figures = values_of(data, metric).drop_nulls("value").with_row_index("run")
        return figures.select(*CELL, *EVAL, "run", pl.lit(None, pl.String).alias("judge"), "value")
    named = {"run": "run_number", "judge": "judge_model", "value": "score"}
    scores = judged_scores(data).drop_nulls("score").select(*CELL, *EVAL, **named)
    if metric is None:
        return scores
    own = scores.filter(pl.col("metric") == RUBRIC + metric.removeprefix(RUBRIC))
    if own.is_empty():
        values_of(data, metric)  # raises where the metric is not there
    return own


def dimension() -> pl.Expr:
    """The rubric dimension that `metric` names, as `dimension`; null for a column of `runs`."""
    import polars as pl

    metric = pl.col("metric")
    name = metric.str.strip_prefix(RUBRIC)
    return pl.when(metric.str.starts_with(RUBRIC)).then(name).alias("dimension")


def by_run(judgings: pl.DataFrame) -> pl.DataFrame:
    """Each run's scores: CELL, EVAL, `n`, their `mean`, and `within`, squares around it."""
    import polars as pl

    value = pl.col("value")
    runs = judgings.sort("value").group_by(*CELL, *EVAL, "run")
    return runs.agg(
        pl.len().cast(pl.Float64).alias("n"),
        value.mean().alias("mean"),
        (value.var(ddof=0) * pl.len()).alias("within"),
    ).drop("run")


def by_eval(runs: pl.DataFrame) -> pl.DataFrame:
    """The sums over each eval of what `by_run` gives: CELL, EVAL and those below.

    With n_j the scores of run j, n their sum, and m_j the run's mean:

    - `n_judgings` n, `n_runs`, `mean` (that of the m_j);
    - `squares` Σ n_j², `inverse` Σ 1 / n_j;
    - `within_runs`, squares of scores around their run's mean;
    - `first` Σ n_j (m_j - c) and `second` Σ n_j (m_j - c)², counted from a `centre` c in the
      middle of all, lest large figures drown small differences.

    Sorted before every sum, so that the order of rows does not matter.
    """
    import polars as pl

    n, mean, off = pl.col("n"), pl.col("mean"), pl.col("off")
    centre = runs["mean"].median()
    return (
        runs.with_columns((mean - centre).alias("off"))
        .sort("mean", "n", "within")
        .group_by(*CELL, *EVAL)
        .agg(
            n.sum().alias("n_judgings"),
            pl.len().cast(pl.Float64).alias("n_runs"),
            mean.mean(),
            (n * n).sum().alias("squares"),
            (1 / n).sum().alias("inverse"),
            pl.col("within").sum().alias("within_runs"),
            (n * off).sum().alias("first"),
            (n * off * off).sum().alias("second"),
        )
        .sort("mean", "second", "first", "within_runs", "n_judgings", "squares")
    )


@dataclass(frozen=True, slots=True)
class Panels:
    """The judges of cells that had more than one.

    Attributes:
        cells: CELL, a row a cell.
        judges: the models of all judges.
        offsets: how far each scores above the mean judge on the same outputs; 0 for those that
            share none. Cells × judges, as are the next two.
        n_runs: outputs of each that another judge scored, too.
        inverse: its offset's squared standard error by the residual variance.
        spread: the judges' sum of squares, freed of which outputs they scored; a number a cell.
        df: its degrees of freedom, 0 if no output was scored by two of them.
        factor: how often the variance between judges is contained in `spread / df`, else 0.
    """

    cells: pl.DataFrame
    judges: tuple[str, ...]
    offsets: Array
    n_runs: Array
    inverse: Array
    spread: Array
    df: Array
    factor: Array


def of_several(judgings: pl.DataFrame) -> pl.DataFrame:
    """The cells with more than one judge: CELL."""
    import polars as pl

    if judgings["judge"].n_unique() < 2:
        return judgings.select(CELL).clear()
    judges = judgings.group_by(CELL).agg(pl.col("judge").n_unique())
    return judges.filter(pl.col("judge") > 1).select(CELL)


def remove_severity(judgings: pl.DataFrame) -> tuple[pl.DataFrame, Panels]:
    """Runs as `by_run` has them, without the severity of their judges; and their panels.

    If no judge shares an output with another, severity cannot be told from what each
    scored: such cells have no runs here. A judge's scores of one run are averaged first, for
    they share what that judge makes of it.

    Args:
        judgings: of cells with more than one judge.
    """
    import numpy as np
    import polars as pl

    runs, judges, scores = _score_matrix(judgings)
    cells = runs.select(CELL).unique(maintain_order=True).with_row_index("cell")
    cell = runs.join(cells, on=CELL, nulls_equal=True, maintain_order="left")["cell"].to_numpy()
    there = ~np.isnan(scores)
    times = there.sum(axis=1)
    filled = np.where(there, scores, 0)
    off = np.where(there, scores - (filled.sum(axis=1) / times)[:, None], 0)
    panels = _fit_panels(cells.drop("cell"), judges, cell, there, off)
    own = np.where(there, filled - panels.offsets[cell], 0)
    mean = own.sum(axis=1) / times
    within = (np.where(there, own - mean[:, None], 0) ** 2).sum(axis=1)
    figures = {"n": times.astype(float), "mean": mean, "within": within}
    runs = runs.with_columns(pl.Series(name, values) for name, values in figures.items())
    return runs.filter(panels.df[cell] > 0), panels


def _score_matrix(judgings: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...], Array]:
    """The runs, the judges, and each judge's mean score of each run; NaN if there is none.

    Runs of a cell stand together, in an order that depends on their scores alone.
    """
    import polars as pl

    named = judgings.with_columns(pl.col("judge").fill_null(UNSTATED)).sort("value")
    judges = sorted(named["judge"].unique())
    columns = [f"judge {at}" for at in range(len(judges))]
    wide = (
        named.with_columns(pl.col("judge").replace_strict(judges, columns))
        .pivot("judge", index=[*CELL, *EVAL, "run"], values="value", aggregate_function="mean")
        .sort(*CELL, *columns)
    )
    scores = wide.select(pl.col(columns).fill_null(float("nan"))).to_numpy()
    return wide.select(*CELL, *EVAL), tuple(judges), scores


def _fit_panels(
    cells: pl.DataFrame, judges: tuple[str, ...], cell: Array, there: Array, off: Array
) -> Panels:
    """Least squares of score = output + judge, the outputs eliminated (Searle 1971, ch. 7).

    Args:
        cells: a row a cell.
        judges: their names.
        cell: the cell of each output.
        there: whether a judge scored an output; outputs × judges.
        off: how far from the output's mean; 0 if it did not.
    """
    import numpy as np

    def per_cell(columns: Array) -> Array:
        sums = [np.bincount(cell, column, minlength=cells.height) for column in columns.T]
        return np.stack(sums, axis=-1).astype(float)

    shares = there / there.sum(axis=1, keepdims=True)
    scored = per_cell(there.astype(float))
    together = np.stack([per_cell(there * shares[:, [at]]) for at in range(len(judges))], axis=1)
    normal = scored[:, :, None] * np.eye(len(judges)) - together
    inverse = np.linalg.pinv(normal, hermitian=True)
    right = per_cell(off)
    offsets = np.einsum("cij,cj->ci", inverse, right)
    df = np.linalg.matrix_rank(normal, hermitian=True)
    trace = np.trace(normal, axis1=1, axis2=2)
    shared = there.sum(axis=1, keepdims=True) > 1
    return Panels(
        cells=cells,
        judges=judges,
        offsets=offsets,
        n_runs=per_cell((there & shared).astype(float)).astype(int),
        inverse=np.diagonal(inverse, axis1=1, axis2=2),
        spread=np.maximum((offsets * right).sum(axis=1), 0),
        df=df,
        factor=np.divide(trace, df, out=np.zeros(len(df)), where=df > 0),
    )
