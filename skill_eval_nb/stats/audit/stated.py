"""The figures that a benchmark.json states, made ready to be held against its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.tables.columns import TABLES

from ..values import GROUP, METRICS, RUBRIC
from .printed import is_plain, rounding

if TYPE_CHECKING:
    import polars as pl

CONSISTENCY = "consistency"
DELTA = "delta"
"""What a benchmark.json calls the difference between its two configurations."""
WHOLE = [column.name for column in TABLES["runs"].columns if column.type == "whole"]
"""Metrics that are counts: a mean of `3800.0` is one that was stated as 3800."""


def ready(stated: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The stated figures that runs could answer, each with how exactly it was printed.

    Those of an iteration without runs, of an unknown metric, and those that are no number
    are left out. `skill` is null where the file speaks of a skill that no run names: all
    runs of its iteration are meant then.

    Returns:
        The columns of `stated`, and row (its number), stated_skill, stated_statistic (as the
        file has them; the statistic `value` is looked up as `mean`), half and coarse (the
        rounding of the figure, in its unit), own (half, as if the figure stood alone).
    """
    import polars as pl

    metric = pl.col("metric")
    known = metric.is_in([*METRICS, CONSISTENCY]) | metric.str.starts_with(RUBRIC)
    skills = runs.select(*GROUP, pl.col("skill").alias("scope")).unique()
    figures = (
        stated.with_row_index("row")
        .filter(known & pl.col("value").is_finite())
        .join(runs, on=["workspace", "iteration"], how="semi", nulls_equal=True)
        .join(skills, on=GROUP, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.col("skill").alias("stated_skill"),
            pl.col("scope").alias("skill"),
            pl.col("statistic").alias("stated_statistic"),
            pl.col("statistic").replace("value", "mean"),
        )
        .drop("scope")
    )
    return figures.with_columns(_roundings(figures)).with_columns(
        pl.when("plain")
        .then(pl.col("own").filter("plain").min().over("path", "metric", "statistic"))
        .otherwise("own")
        .alias("half")
    )


def _roundings(figures: pl.DataFrame) -> list[pl.Series]:
    import polars as pl

    printed = [
        text.removesuffix(".0") if metric in WHOLE else text
        for text, metric in figures.select(pl.col("printed").fill_null(""), "metric").iter_rows()
    ]
    found = [rounding(*pair) for pair in zip(printed, figures["value"], strict=True)]
    return [
        pl.Series("own", [each.half for each in found], pl.Float64),
        pl.Series("coarse", [each.coarse for each in found], pl.Float64),
        pl.Series("plain", [is_plain(text) for text in printed], pl.Boolean)
        & (figures["configuration"] != DELTA),
    ]
