"""Drafts of structural expectations: checked on all stored outputs of their evals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.values import RUN

from .answers import of_checks, without_it
from .asked import Asked
from .checking import (
    ERRORED,
    FAILED,
    PASSED,
    UNSCORED,
    Verdict,
    checks_of,
    together,
    verdicts_of,
)
from .compared import compared
from .disagreeing import about_of, disagreements
from .figures import CHECKED, GRADED, gates_changed, with_figures
from .replaced import of_target, replaced_verdicts, rows_of
from .suite import suite_of
from .tried import Tried, What

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

OUTCOMES = (PASSED, FAILED, ERRORED, UNSCORED)
MOST = 5
"""So many reasons are told."""


def try_checks(asked: Asked, runs: pl.DataFrame) -> Tried:
    """What a draft's checks come to, beside what they replace; where none come, what goes."""
    import polars as pl

    draft = asked.draft
    checks = checks_of(draft)
    rows = rows_of(asked.ws, runs)
    structural, judged = (rows.filter(pl.col("layer") == one) for one in ("structural", "judged"))
    gone = structural.clear() if draft.target is None else of_target(structural, draft.target)
    each = verdicts_of(
        checks,
        runs["folder"].to_list(),
        runs["reason"].to_list(),
        near=asked.near,
        allow_scripts=asked.allow_scripts,
        progress=asked.progress,
    )
    verdicts: dict[What, list[Verdict]] = {"draft": together(each)} if checks else {}
    if draft.target is not None:
        verdicts["replaced"] = replaced_verdicts(
            draft, structural, runs, near=asked.near, allow_scripts=asked.allow_scripts
        )
        if all(one.passed is None for one in verdicts["replaced"]) and not checks:
            return asked.tried("not tried", f"No run has a verdict on {draft.target}.")
    values: dict[What, pl.DataFrame] = {what: valued(runs, ones) for what, ones in verdicts.items()}
    found = compared(asked, asked.who(runs), values, OUTCOMES, "pass_rate")
    new = [(check.critical, ones) for check, ones in zip(checks, each, strict=True)]
    figures = with_figures(runs, rows, gone, new, n_structural(asked.ws))
    by_run = runs.select(RUN).with_columns(*columns_of(verdicts)).hstack(figures.drop(RUN))
    suite = cache(partial(suite_of, asked, by_run, (CHECKED, GRADED)))
    words = [one.description for one in checks if one.description] or gone["text"].head(1).to_list()
    about = about_of(draft, words, judged, asked.ws) if checks else None
    n_gates = gates_changed(by_run)
    answer = (
        of_checks(draft, found.proof, verdicts["draft"], n_gates)
        if checks
        else without_it(draft, suite(), CHECKED, n_gates)
    )
    return asked.tried(
        "tried",
        answer,
        by_run=by_run,
        suite=suite,
        about=about,
        disagreements=(
            pl.DataFrame()
            if about is None
            else disagreements(about, verdicts["draft"], judged, runs)
        ),
        gates_changed=n_gates,
        notes=tuple(notes_on(asked, runs, each, about is None and bool(checks))),
        **found.parts(),
    )


def valued(runs: pl.DataFrame, verdicts: Sequence[Verdict]) -> pl.DataFrame:
    """The keys of runs, `outcome`, and `value`: 1 passed, 0 failed, null neither."""
    import polars as pl

    marks = pl.Series("value", [one.passed for one in verdicts], pl.Boolean)
    outcomes = pl.Series("outcome", [one.outcome for one in verdicts], pl.String)
    return runs.select(*RUN, outcomes, marks.cast(pl.Float64))


def columns_of(verdicts: Mapping[What, Sequence[Verdict]]) -> list[pl.Series]:
    """The columns of `by_run` that hold verdicts."""
    import polars as pl

    ends: dict[What, str] = {"draft": "", "replaced": "replaced_"}
    return [
        column
        for what, ones in verdicts.items()
        for column in (
            pl.Series(f"{ends[what]}passed", [one.passed for one in ones], pl.Boolean),
            pl.Series(f"{ends[what]}evidence", [one.evidence for one in ones], pl.String),
        )
    ]


def n_structural(ws: Workspace) -> pl.DataFrame:
    """How many structural expectations the suite has for each eval."""
    key = ["workspace", "skill", "eval_id"]
    return ws.polars("evals").select(*key, "n_structural").unique(key, keep="first")


def notes_on(
    asked: Asked, runs: pl.DataFrame, each: Sequence[Sequence[Verdict]], alone: bool
) -> Iterator[str]:
    """What was left out, and why."""
    gone = set(asked.draft.evals) - set(runs["eval_id"])
    if gone:
        yield f"There is no stored run of {', '.join(sorted(gone, key=natural))}."
    reasons = Counter(
        one.evidence for ones in each for one in ones if one.passed is None and one.evidence
    )
    for reason, times in reasons.most_common(MOST):
        yield f"{times} × {reason}"
    if alone:
        yield "No judged expectation is about the same, so there is no judge to hold it against."
