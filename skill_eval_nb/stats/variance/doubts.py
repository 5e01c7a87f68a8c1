"""What to know about a variance component before believing it, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .mean_squares import EVAL, JUDGE, RUN, SEVERITY

if TYPE_CHECKING:
    import polars as pl

ROUGH = 20
"""A variance from fewer is called a rough guess: from 20 it is off by a third as a rule."""


def note() -> pl.Expr:
    """The sentences that hold for a row of components, or null.

    Reads what `named` gives and `df`, `spread` (the mean square), `raw` (unclipped).
    """
    import polars as pl

    level = pl.col("level")
    unseen = (level == EVAL) & (pl.col("n_evals") < 2)
    sentences = [
        pl.when(unseen).then(pl.lit("With one eval, what evals differ by cannot be seen.")),
        _together(),
        pl.when(pl.col("lost") == 0, level <= RUN).then(
            pl.lit("Different judges scored different outputs: how severe each is, is part of it.")
        ),
        pl.when((level == JUDGE) & (pl.col("lost") > 0)).then(
            pl.lit("It is what a judge makes of one run beyond its usual severity.")
        ),
        pl.when((pl.col("raw") < 0) & ~unseen).then(
            pl.format(
                "The estimate is {}, below 0 as chance has it, and is set to 0.",
                pl.col("raw").round_sig_figs(2),
            )
        ),
        pl.when((pl.col("spread") == 0) & ~unseen).then(
            pl.lit("No spread was seen, which does not make it 0.")
        ),
        pl.when((pl.col("df") < ROUGH - 1) & ~unseen).then(
            pl.format("A rough guess: it rests on {}.", _ground())
        ),
    ]
    text = pl.concat_str(sentences, separator=" ", ignore_nulls=True)
    return pl.when(text != "").then(text).alias("note")


def _together() -> pl.Expr:
    """Why two or three components are one, and what would part them."""
    import polars as pl

    component = pl.col("component")
    rubric = pl.col("n_judgings").is_not_null()
    return (
        pl.when(component == "eval + run + judge", rubric)
        .then(pl.lit("No eval was run twice and no output judged twice: run and judge again."))
        .when(component.str.starts_with("eval + run"))
        .then(pl.lit("No eval was run twice: run again to tell evals and runs apart."))
        .when(component == "run + judge", rubric)
        .then(pl.lit("No output was judged twice: judge again to tell run and judge apart."))
        .when(component == "run + judge")
        .then(pl.lit("A run has one such figure, the judge's part in it included."))
    )


def _ground() -> pl.Expr:
    """What a component rests on, counted."""
    import polars as pl

    df = pl.col("df").cast(pl.Int64)
    beyond = {RUN: ("run", "eval"), JUDGE: ("judging", "run")}
    counted = pl.when(pl.col("level") == SEVERITY).then(pl.format("{} judges", df + 1))
    for level, (what, each) in beyond.items():
        plural = pl.when(df == 1).then(pl.lit(what)).otherwise(pl.lit(f"{what}s"))
        said = pl.format(f"{{}} {{}} beyond the first of each {each}", df, plural)
        counted = counted.when(pl.col("level") == level).then(said)
    return counted.otherwise(pl.format("{} evals", pl.col("n_evals")))
