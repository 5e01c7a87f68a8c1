"""Why a stated figure may differ from what its runs give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..values import GROUP
from .readings import PARTS, misreadings
from .stated import DELTA

if TYPE_CHECKING:
    import polars as pl

HAIR = 1e-9
"""What rounding inside the machine may add: a share of the figure, or this much below 1."""


def compare(stated: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """`stated` beside the figures: recomputed, PARTS, difference and agrees.

    Where a delta could be meant between several sides, the nearest is taken.
    """
    import polars as pl

    keys = [*GROUP, "configuration", "metric", "statistic"]
    difference = pl.col("value") - pl.col("recomputed")
    return (
        stated.join(figures, on=keys, how="left", nulls_equal=True)
        .with_columns(
            difference.alias("difference"),
            _within(difference, "half").fill_null(value=False).alias("agrees"),
        )
        .sort("row", pl.col("difference").abs(), *PARTS, nulls_last=True)
        .unique("row", keep="first", maintain_order=True)
    )


def explain(off: pl.DataFrame, stated: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """The likely cause of each row of `off` that has one: row, cause.

    Args:
        off: the rows of `compare` that do not agree.
        stated: all stated figures.
        values: the figures of runs, as `misreadings` takes them.
    """
    import polars as pl

    found = pl.DataFrame(schema={"row": off.schema["row"], "cause": pl.String})
    for cause, rows in _candidates(off, stated, values):
        if found.height == off.height:
            break
        fitting = rows.select("row", pl.lit(cause).alias("cause")).unique()
        found = pl.concat([found, fitting.join(found, on="row", how="anti")])
    return found


def _candidates(
    off: pl.DataFrame, stated: pl.DataFrame, values: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each cause with the rows that it fits, the surest cause first."""
    import polars as pl

    value, recomputed = pl.col("value"), pl.col("recomputed")
    delta = off.filter(pl.col("configuration") == DELTA)
    yield "sign of the delta turned", delta.filter(_within(value + recomputed, "half"))
    yield from _zeros(off, values)
    for cause, figures in misreadings(values):
        yield cause, compare(off.select(stated.columns), figures).filter("agrees")
    yield from _stated_means(delta, stated)
    relative = value - (pl.col("with_mean") / pl.col("baseline_mean") - 1)
    yield "relative change, not a difference", delta.filter(_within(relative, "half"))
    apart = value - recomputed
    yield "rounded to fewer digits", off.filter(_within(apart, "own") | _within(apart, "coarse"))
    cut = (apart.abs() < 2 * pl.col("own")) & (value.abs() < recomputed.abs())
    yield "cut off, not rounded", off.filter(cut)
    counts = off.filter(pl.col("statistic") == "n")
    yield (
        "another number of runs",
        off.join(counts, on=[*GROUP, "path"], how="semi", nulls_equal=True),
    )


def _zeros(off: pl.DataFrame, values: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """A 0 where the runs give no figure, or where the runs were not found."""
    import polars as pl

    keys = [*GROUP, "configuration", "metric"]
    zero = off.filter((pl.col("value") == 0) & (pl.col("configuration") != DELTA))
    means = zero.filter(pl.col("statistic") == "mean")
    yield (
        "missing run counted as 0",
        zero.join(means, on=[*keys, "path"], how="semi", nulls_equal=True),
    )
    runs = values.group_by(keys).agg(pl.col("value").count().alias("n_found"))
    empty = zero.filter(pl.col("recomputed").is_null()).join(runs, on=keys, nulls_equal=True)
    yield "missing run counted as 0", empty.filter(pl.col("n_found") == 0)
    single = (pl.col("statistic") == "stddev") & (pl.col("n_found") == 1)
    yield "a single run has no standard deviation", empty.filter(single)


def _stated_means(delta: pl.DataFrame, stated: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The difference of the means that the file states, a mean that it lacks taken for 0."""
    import polars as pl

    keys = [*GROUP, "path", "metric"]
    means = stated.filter(pl.col("statistic") == "mean").select(
        *keys, with_configuration="configuration", said="value"
    )
    other = means.rename({"with_configuration": "baseline", "said": "baseline_said"})
    rows = delta.join(means, on=[*keys, "with_configuration"], how="left", nulls_equal=True).join(
        other, on=[*keys, "baseline"], how="left", nulls_equal=True
    )
    said, baseline_said = pl.col("said"), pl.col("baseline_said")
    fitting = rows.filter(
        _within(pl.col("value") - (said.fill_null(0) - baseline_said.fill_null(0)), "half")
    )
    both = said.is_not_null() & baseline_said.is_not_null()
    yield "difference of the stated means", fitting.filter(both)
    yield "missing summary read as 0", fitting.filter(~both)


def _within(difference: pl.Expr, rounding: str) -> pl.Expr:
    """Whether a difference is no more than the rounding, and what the machine adds to it."""
    import polars as pl

    hair = HAIR * pl.max_horizontal(pl.col("value").abs(), 1.0)
    return difference.abs() <= pl.col(rounding) + hair
