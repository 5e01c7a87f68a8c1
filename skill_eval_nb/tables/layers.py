"""Runs that have one of the two layers alone, where the others have both: reported, once each.

`overall_efficiency` is the mean of what the checks and the rubric gave. Where a run has only
one of them it is that one, which is no like for like beside runs that have both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.workspace import NO_ITERATION

from .columns import TABLES
from .frames import to_polars

if TYPE_CHECKING:
    import polars as pl

EFFICIENCY_OF_ONE = "efficiency-of-one"


def single_layers(runs: pl.DataFrame, evals: pl.DataFrame) -> pl.DataFrame:
    """Rows of `problems`: one an iteration in which runs have one layer of two.

    Two layers are expected where an eval of the workspace has both checks and rubric
    dimensions, or a run of it has verdicts and scores.
    """
    import polars as pl

    checks = pl.coalesce("structural_pass_rate", "pass_rate").is_not_null()
    rubric = pl.col("rubric_normalized").is_not_null()
    if not runs.select((checks != rubric).any()).item():
        return to_polars(TABLES["problems"], {})
    in_suite = evals.filter(
        pl.col("n_dimensions") > 0, pl.col("n_expectations") + pl.col("n_structural") > 0
    )
    layered = {*in_suite["workspace"], *runs.filter(checks & rubric)["workspace"].unique()}
    found = (
        runs.filter(pl.col("workspace").is_in(list(layered)))
        .group_by("workspace", "iteration", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            (checks & ~rubric).sum().alias("unjudged"),
            (checks & ~rubric & (pl.col("status") == "gated")).sum().alias("gated"),
            (rubric & ~checks).sum().alias("unchecked"),
        )
        .filter(pl.col("unjudged") + pl.col("unchecked") > 0)
    )
    messages = [_message(*row) for row in found.drop("workspace").iter_rows()]
    return to_polars(
        TABLES["problems"],
        {
            "severity": ["info"] * found.height,
            "code": [EFFICIENCY_OF_ONE] * found.height,
            "path": found["workspace"].to_list(),
            "message": messages,
            "workspace": found["workspace"].to_list(),
        },
    )


def _message(iteration: str, n: int, unjudged: int, gated: int, unchecked: int) -> str:
    of = "" if iteration == NO_ITERATION else f" of {iteration}"
    parts = [
        f"no rubric scores in {unjudged} of {n} runs{of}" if unjudged else "",
        f"no verdicts in {unchecked} of {n} runs{of}" if unchecked else "",
    ]
    missing = " and ".join(part for part in parts if part) + (f" (gated: {gated})" if gated else "")
    return f"{missing}: there overall_efficiency is that of the other layer alone"
