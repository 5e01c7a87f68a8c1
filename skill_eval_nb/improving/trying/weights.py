"""The rubric's mean of each run with one dimension taken out and others put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skill_eval_nb.documents import Dimension
from skill_eval_nb.stats.values import RUN, stand_in_keys

from .figures import AFTER, BEFORE
from .replaced import plain

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

MEAN = "rubric_weighted_mean"


def scores_of(ws: Workspace, runs: pl.DataFrame) -> pl.DataFrame:
    """Each run's scores, the mean over its judgings: `run` (its index), dimension, score, weight.

    Also `evidence`, of one of the judgings.
    """
    import polars as pl

    scores = ws.polars("rubric_scores").with_columns(*stand_in_keys()).drop_nulls("score")
    rows = scores.join(runs.select(RUN).with_row_index("run"), on=RUN, nulls_equal=True)
    return rows.group_by("run", "dimension", maintain_order=True).agg(
        pl.col("score").sort().mean(), pl.col("weight", "evidence").first()
    )


def target_of(ws: Workspace, runs: pl.DataFrame, target: str) -> str:
    """The name of the dimension that is meant: by its id, else by its name."""
    import polars as pl

    rows = ws.polars("dimensions").filter(
        pl.col("eval_id").is_in(runs["eval_id"].unique().to_list())
    )
    ids = rows.filter(pl.col("dimension_id") == target)["dimension"]
    names = [name for name in rows["dimension"].unique() if plain(name) == plain(target)]
    return ids[0] if len(ids) else names[0] if names else target


def is_reweighed(ws: Workspace, runs: pl.DataFrame, target: str, new: Sequence[Dimension]) -> bool:
    """Whether a draft changes nothing but a weight, so that the stored scores still hold."""
    import json

    import polars as pl

    if len(new) != 1 or plain(new[0].name) != plain(target):
        return False
    rows = ws.polars("dimensions").filter(
        pl.col("eval_id").is_in(runs["eval_id"].unique().to_list()), pl.col("dimension") == target
    )
    said = rows.select("description", "anchors").unique().rows()
    return bool(said) and all(
        (description or None) == (new[0].description or None)
        and (json.loads(anchors) if anchors else {}) == new[0].scoring
        for description, anchors in said
    )


def with_means(
    runs: pl.DataFrame,
    scores: pl.DataFrame,
    target: str | None,
    new: Mapping[str, tuple[float, Sequence[float | None]]],
) -> pl.DataFrame:
    """`rubric_weighted_mean_before` as stored, and `_after`.

    After is null where a run has no score on what comes, or its scores are not stored one by
    one; a run that has no score at all stays as it is.

    Args:
        runs: as `runs_for` gives them.
        scores: what `scores_of` gives.
        target: the dimension that goes.
        new: of each dimension that comes, its weight, and its score run by run.
    """
    import polars as pl

    score, weight = pl.col("score"), pl.col("weight")
    rest = scores if target is None else scores.filter(pl.col("dimension") != target)
    sums = rest.group_by("run").agg(
        (score * weight).sum().alias("scored"), weight.sum().alias("weighed")
    )
    wide = (
        runs.with_row_index("run")
        .select("run", MEAN)
        .join(
            scores.select("run", stored=True).unique(), on="run", how="left", maintain_order="left"
        )
        .join(sums, on="run", how="left", maintain_order="left")
    )
    scored, weighed = pl.col("scored").fill_null(0.0), pl.col("weighed").fill_null(0.0)
    for own, values in new.values():
        scored += pl.lit(pl.Series(list(values), dtype=pl.Float64)) * own
        weighed += own
    after = pl.when(pl.col("stored") & (weighed > 0)).then(scored / weighed)
    return wide.select(pl.col(MEAN).alias(MEAN + BEFORE), after.alias(MEAN + AFTER))
