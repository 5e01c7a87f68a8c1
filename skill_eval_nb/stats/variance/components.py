"""The variance components of every cell, and what each is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..names import in_order, natural
from ..pairing import side
from ..summary import place
from ..values import GROUP, RUBRIC
from .judgings import CELL, by_eval, by_run
from .mean_squares import EVAL, JUDGE, LEVELS, RUN, SEVERITY, MeanSquares, mean_squares
from .severity import Panels, freed, of_several

if TYPE_CHECKING:
    import polars as pl

BY_JUDGE = (
    "pass_rate",
    "passed",
    "failed",
    "rubric_weighted_mean",
    "rubric_normalized",
    "overall_efficiency",
)
"""Figures of a run that a judge may have had a part in, beside the rubric's dimensions."""
JUDGED = ["spread", "lost", "factor"]
"""What panels say of a cell: the judges' sum of squares, its degrees of freedom, its factor."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The components of every cell.

    Attributes:
        cells: a row a cell, in the order people read: CELL, n_evals, n_runs, n_judgings (null
            for figures of runs), `judged` (a judge had a part in the figure), JUDGED (null
            with one judge, degrees of freedom 0 where no two scored the same output).
        evals: what `by_eval` gives, with the row of its cell as `cell`.
        found: the mean squares, in the order of the cells.
        panels: the judges of cells that had more than one, where there are such cells.
    """

    cells: pl.DataFrame
    evals: pl.DataFrame
    found: MeanSquares
    panels: Panels | None


def estimate(judgings: pl.DataFrame) -> Estimate:
    """The components behind the scores or figures that `judgings_of` gives."""
    import polars as pl

    runs, panels = _runs(judgings)
    evals = by_eval(runs)
    rubric = pl.col("metric").str.starts_with(RUBRIC)
    cells = (
        judgings.group_by(CELL)
        .agg(pl.len().cast(pl.Int64).alias("n_judgings"))
        .join(
            evals.group_by(CELL).agg(
                pl.len().cast(pl.Int64).alias("n_evals"), pl.col("n_runs").sum().cast(pl.Int64)
            ),
            on=CELL,
            nulls_equal=True,
        )
        .join(_judged(panels), on=CELL, how="left", nulls_equal=True)
        .with_columns(
            pl.when(rubric).then("n_judgings").alias("n_judgings"),
            (rubric | pl.col("metric").is_in(BY_JUDGE)).alias("judged"),
        )
    )
    names = dict.fromkeys(GROUP, natural)
    cells = in_order(cells, **names, configuration=side, metric=place)
    numbers = cells.select(CELL).with_row_index("cell")
    evals = evals.join(numbers, on=CELL, nulls_equal=True, maintain_order="left")
    judges = cells.select(pl.col(JUDGED).fill_null(0)).to_numpy()
    return Estimate(cells, evals, mean_squares(evals, cells.height, judges), panels)


def _runs(judgings: pl.DataFrame) -> tuple[pl.DataFrame, Panels | None]:
    """The runs, without their judges' severity where that shows; and the judges' panels."""
    import polars as pl

    several = of_several(judgings)
    if several.is_empty():
        return by_run(judgings), None
    runs, panels = freed(judgings.join(several, on=CELL, nulls_equal=True))
    crossed = runs.select(CELL).unique()
    others = by_run(judgings.join(crossed, on=CELL, how="anti", nulls_equal=True))
    return pl.concat([runs, others]), panels


def _judged(panels: Panels | None) -> pl.DataFrame:
    """CELL and JUDGED of the cells with more than one judge."""
    import polars as pl

    if panels is None:
        return pl.DataFrame(
            schema=dict.fromkeys(CELL, pl.String) | dict.fromkeys(JUDGED, pl.Float64)
        )
    figures = zip(JUDGED, (panels.spread, panels.df, panels.factor), strict=True)
    return panels.cells.with_columns(
        pl.Series(name, column, dtype=pl.Float64) for name, column in figures
    )


def named(found: Estimate) -> pl.DataFrame:
    """A row a cell × component that there is: `cell`, `level`, `component` and what `cells` has.

    What cannot be told apart is one component and has both names: without a second run of any
    eval `eval + run`, without a second judging of any run `run + judge`.
    """
    import polars as pl

    known = pl.DataFrame(found.found.df > 0, ["of_evals", "of_runs", "of_judgings", "of_judges"])
    runs, judgings = pl.col("of_runs"), pl.col("of_judgings")
    run = pl.when(judgings | ~pl.col("judged")).then(pl.lit("run")).otherwise(pl.lit("run + judge"))
    evals = pl.when(runs).then(pl.lit("eval")).otherwise(pl.format("eval + {}", run))
    names = {
        EVAL: evals,
        RUN: pl.when(runs).then(run),
        JUDGE: pl.when(judgings).then(pl.lit("judge")),
        SEVERITY: pl.when("of_judges").then(pl.lit("judge severity")),
    }
    rows = found.cells.hstack(known).drop("spread", "factor").with_row_index("cell")
    return pl.concat(
        rows.with_columns(pl.lit(level).alias("level"), names[level].alias("component"))
        for level in LEVELS
    ).sort("cell", "level")
