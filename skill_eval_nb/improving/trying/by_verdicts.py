"""Drafts of judged expectations: what the stored verdicts say without what goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.stats.phrases import count
from skill_eval_nb.stats.values import RUN

from .answers import without_it
from .asked import Asked
from .by_checks import OUTCOMES, columns_of, valued
from .checking import unscored
from .compared import compared
from .figures import AFTER, BEFORE, GRADED
from .replaced import of_target, rows_of, stored_verdicts, texts_named
from .suite import suite_of
from .tried import Tried

if TYPE_CHECKING:
    import polars as pl

NO_JUDGE = "no judge has decided it"


def try_verdicts(asked: Asked, runs: pl.DataFrame) -> Tried:
    """The figures of each run and of the suite without the verdicts on a draft's target.

    What comes in its place is a text, on which only a judge has a verdict: it counts nowhere.
    """
    import polars as pl

    draft = asked.draft
    if draft.target is None:
        return asked.tried(
            "not tried",
            "No judge has decided it yet: apply it, then judge the stored runs again.",
        )
    judged = rows_of(asked.ws, runs).filter(pl.col("layer") == "judged")
    gone = of_target(judged, draft.target)
    if gone.is_empty():
        texts = texts_named(draft.target, runs["folder"])
        gone = judged.filter(pl.col("text").is_in(list(texts)))
    if gone.is_empty():
        return asked.tried("not tried", f"No stored run has a verdict on {draft.target}.")
    verdicts = [one or unscored(NO_JUDGE) for one in stored_verdicts(gone, runs)]
    found = compared(
        asked, asked.who(runs), {"replaced": valued(runs, verdicts)}, OUTCOMES, "pass_rate"
    )
    by_run = (
        runs.select(RUN)
        .with_columns(*columns_of({"replaced": verdicts}))
        .hstack(_graded(runs, judged, gone))
    )
    suite = suite_of(asked, by_run, (GRADED,))
    notes = []
    if draft.new:
        coming = count(len(draft.new), "expectation")
        notes.append(
            f"The {coming} in its place would have to be judged, and are not in the figures."
        )
    return asked.tried(
        "tried",
        without_it(draft, suite, GRADED, 0),
        by_run=by_run,
        suite=lambda: suite,
        notes=tuple(notes),
        **found.parts(),
    )


def _graded(runs: pl.DataFrame, judged: pl.DataFrame, gone: pl.DataFrame) -> pl.DataFrame:
    """The pass rate of each run before and after; after is null where nothing is left."""
    import polars as pl

    passed, after = pl.col("passed"), GRADED + AFTER
    rest = judged.join(gone, on="place", how="anti").group_by("run").agg(passed.mean().alias(after))
    numbered = runs.with_row_index("run").select("run", "status", GRADED)
    wide = numbered.join(
        gone.select("run", goes=True).unique(), on="run", how="left", maintain_order="left"
    ).join(rest, on="run", how="left", maintain_order="left")
    changes = pl.col("goes").fill_null(value=False) & (pl.col("status") != "errored")
    return wide.select(
        pl.col(GRADED).alias(GRADED + BEFORE),
        pl.when(changes).then(after).otherwise(GRADED).alias(after),
    )
