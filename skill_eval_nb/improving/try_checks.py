"""Drafts of checks: their verdicts on stored outputs, and what becomes of gates and rates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from skill_eval_nb.documents import Eval, Expectation, StructuralExpectation, mend
from skill_eval_nb.grading.structural import expectations_of
from skill_eval_nb.grading.structural.checking import verdicts_on
from skill_eval_nb.grading.structural.globs import BadGlob, matching
from skill_eval_nb.grading.structural.outputs import RUNNER, list_outputs
from skill_eval_nb.grading.structural.types import Check, CheckContext, as_structural
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.stored_runs import stored_runs, top_of, transcript_in
from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.values import RUN, stand_in_keys
from skill_eval_nb.text import count
from skill_eval_nb.workspace import collector_paused

from .differences import (
    AFTER,
    BEFORE,
    Differences,
    compared,
    gates_in_words,
    in_words,
    suite_of,
    without_it,
)
from .questions import Progress
from .tried import RUN_ERRORED, About, Request, Tried, What
from .values import SuiteItem
from .wording import likeness, measure

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

PASSED, FAILED, ERRORED, UNSCORED = "passed", "failed", "errored", "not scored"
OUTCOMES = (PASSED, FAILED, ERRORED, UNSCORED)
SCRIPTS = ("custom", "custom_script")
"""Checks that start a program each, so that threads help; the others are one loop in Python."""
EVERY = 500
"""Runs between two words on how far it is."""
MOST = 5
"""So many reasons are told."""
LIKE = 0.5
"""Wordings that are less alike, 0-1, are not about the same thing."""
GATE, CHECKED, GRADED = "gate_passed", "structural_pass_rate", "pass_rate"
SAME = 0.0051
"""Rates that differ by less are the same: files round them."""


class TriedVerdict(NamedTuple):
    """What a check comes to in one run; `passed` is None where it errored or is not scored."""

    passed: bool | None
    evidence: str | None
    outcome: str


def try_checks(request: Request, runs: pl.DataFrame) -> Tried:
    """What a draft's checks come to, beside what they replace; where none come, what goes."""
    import polars as pl

    draft = request.draft
    checks = [_check(one) for one in draft.new]
    rows = _rows(request.ws, runs)
    structural, judged = (rows.filter(pl.col("layer") == one) for one in ("structural", "judged"))
    gone = structural.clear() if draft.target is None else _of_target(structural, draft.target)
    folders, reasons = runs["folder"].to_list(), runs["reason"].to_list()
    each = _verdicts(request, checks, folders, reasons, request.terms.progress)
    verdicts: dict[What, list[TriedVerdict]] = {}
    if checks:
        verdicts["draft"] = [_all(of_run) for of_run in zip(*each, strict=True)]
    if draft.target is not None:
        verdicts["replaced"] = _replaced(request, draft.target, gone, runs)
        if not checks and all(one.passed is None for one in verdicts["replaced"]):
            return request.result("not tried", f"No run has a verdict on {draft.target}.")
    found = _compared(request, runs, verdicts)
    critical = [(check.critical, ones) for check, ones in zip(checks, each, strict=True)]
    key = ["workspace", "skill", "eval_id"]
    suites = request.ws.polars("evals").select(*key, "n_structural")
    n_structural = suites.unique(key, keep="first")
    figures = figures_of(runs, rows, gone, critical, n_structural)
    by_run = runs.select(RUN).with_columns(*_columns(verdicts)).hstack(figures.drop(RUN))
    suite = cache(partial(suite_of, request, by_run, (CHECKED, GRADED)))
    was, now = _open(GATE + BEFORE), _open(GATE + AFTER)
    gates: int = by_run.select((was != now).sum()).item()
    if not checks:
        answer, about = without_it(draft, suite(), CHECKED, gates), None
    else:
        answer = _answer(request, found, verdicts["draft"], gates)
        words = [one.description for one in checks if one.description]
        about = _about(request, words or gone["text"].head(1).to_list(), judged)
    differing = {}
    if about is not None:
        differing["disagreements"] = _disagreements(about, verdicts["draft"], judged, runs)
    return request.result(
        "tried",
        answer,
        by_run=by_run,
        suite=suite,
        about=about,
        gates_changed=gates,
        notes=tuple(_notes(request, runs, each, alone=about is None and bool(checks))),
        **differing,
        **found.parts(),
    )


def try_verdicts(request: Request, runs: pl.DataFrame) -> Tried:
    """The figures of each run and of the suite without the judge's verdicts on a target.

    What comes in its place is a text, on which only a judge has a verdict: it counts nowhere.
    """
    import polars as pl

    draft = request.draft
    if draft.target is None:
        answer = "No judge has decided it yet: apply it, then judge the stored runs again."
        return request.result("not tried", answer)
    judged = _rows(request.ws, runs).filter(pl.col("layer") == "judged")
    gone = _of_target(judged, draft.target)
    if gone.is_empty():  # a name, which stored verdicts need not tell
        texts = {
            expectation.text
            for _, definition in _evals_of(runs["folder"])
            for expectation in definition.expectations
            if draft.target in (expectation.id, expectation.name)
        }
        gone = judged.filter(pl.col("text").is_in(list(texts)))
    if gone.is_empty():
        return request.result("not tried", f"No stored run has a verdict on {draft.target}.")
    none = _unscored("no judge has decided it")
    verdicts: dict[What, list[TriedVerdict]] = {
        "replaced": [one or none for one in _stored(gone, runs)]
    }
    passed, after = pl.col("passed"), GRADED + AFTER
    rest = judged.join(gone, on="place", how="anti").group_by("run").agg(passed.mean().alias(after))
    goes = gone.select("run", goes=True).unique()
    changes = pl.col("goes").fill_null(value=False) & (pl.col("status") != "errored")
    graded = (
        runs.with_row_index("run")
        .select("run", "status", GRADED)
        .join(goes, on="run", how="left", maintain_order="left")
        .join(rest, on="run", how="left", maintain_order="left")
        .select(
            pl.col(GRADED).alias(GRADED + BEFORE),
            pl.when(changes).then(after).otherwise(GRADED).alias(after),
        )
    )
    by_run = runs.select(RUN).with_columns(*_columns(verdicts)).hstack(graded)
    suite = suite_of(request, by_run, (GRADED,))
    coming = count(len(draft.new), "expectation")
    note = f"The {coming} in its place would have to be judged, and are not in the figures."
    return request.result(
        "tried",
        without_it(draft, suite, GRADED),
        by_run=by_run,
        suite=lambda: suite,
        notes=(note,) if draft.new else (),
        **_compared(request, runs, verdicts).parts(),
    )


# ── verdicts ─────────────────────────────────────────────────────────────────────────────────


def _check(item: SuiteItem) -> StructuralExpectation:
    fields = {"description": item} if isinstance(item, str) else dict(item)
    try:
        return msgspec.convert(fields, StructuralExpectation)
    except msgspec.ValidationError:
        return mend(fields, StructuralExpectation)[0]


def _verdicts(
    request: Request,
    checks: Sequence[Check],
    folders: Sequence[str],
    reasons: Sequence[str | None],
    progress: Progress | None = None,
) -> list[list[TriedVerdict]]:
    """The verdicts of each check, run by run; each file of a run is read once at most.

    `reasons` say why a run cannot be looked at. `progress` is called whenever `EVERY` runs are
    done, and at the end.
    """
    if not checks:
        return []
    transcripts = any(check.type == "no_errors" for check in checks)
    wanted = [as_structural(check) for check in checks]
    spoken = [isinstance(check, Expectation) for check in checks]
    of_runner = RUNNER if any(map(_may_ask_for_all, wanted)) else ()

    def look(place: tuple[str, str | None]) -> list[TriedVerdict]:
        folder, reason = place
        if reason is not None:
            return [_unscored(reason)] * len(checks)
        transcript = transcript_in(folder) if transcripts else None
        outputs = list_outputs(f"{folder}/outputs", of_runner=of_runner)
        setting = CheckContext(
            outputs, transcript, request.near, request.allow_scripts, "bubblewrap"
        )
        return [_verdict(one.passed, one.evidence) for one in verdicts_on(wanted, spoken, setting)]

    def counted(verdicts: Iterable[list[TriedVerdict]]) -> Iterator[list[TriedVerdict]]:
        for done, one in enumerate(verdicts, 1):
            yield one
            if progress is not None and (done % EVERY == 0 or done == len(places)):
                progress(AskingProgress(done, len(places), 0, 0.0, "outputs checked"))

    places = list(zip(folders, reasons, strict=True))
    if request.allow_scripts and any(check.type in SCRIPTS for check in checks):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            by_run = list(counted(pool.map(look, places)))
    else:
        with collector_paused():
            by_run = list(counted(map(look, places)))
    return [list(column) for column in zip(*by_run, strict=True)]


def _may_ask_for_all(expectation: StructuralExpectation) -> bool:
    """Whether a check may look at files that the runner, too, has under their name."""
    if expectation.pattern is None:
        return True
    try:
        return bool(matching(expectation.pattern, RUNNER))
    except BadGlob:
        return True


def _unscored(reason: str) -> TriedVerdict:
    """No verdict, and why; a run that errored is told apart from one that is not scored."""
    return TriedVerdict(
        None, f"Not scored: {reason}", ERRORED if reason == RUN_ERRORED else UNSCORED
    )


def _verdict(passed: bool | None, evidence: str | None) -> TriedVerdict:
    return TriedVerdict(passed, evidence, {None: UNSCORED, True: PASSED, False: FAILED}[passed])


def _all(of_run: Sequence[TriedVerdict]) -> TriedVerdict:
    """Several checks as one: it passes where all of them pass."""
    if len(of_run) == 1 or of_run[0].outcome == ERRORED:
        return of_run[0]
    marks = [one.passed for one in of_run]
    mark = False if False in marks else None if None in marks else True
    return _verdict(mark, "; ".join(one.evidence or "" for one in of_run if one.passed is mark))


def _rows(ws: Workspace, runs: pl.DataFrame) -> pl.DataFrame:
    """The rows of `expectations` of these runs, with the index `run` of each, and a `place`."""
    import polars as pl

    # By eval first: a join of all rows of a workspace would take longer than all the rest.
    evals = pl.col("eval_id").is_in(runs["eval_id"].unique().to_list())
    rows = ws.polars("expectations").filter(evals)
    rows = rows.with_columns(*stand_in_keys()).with_row_index("place")
    numbered = runs.select(RUN).with_row_index("run")
    return rows.join(numbered, on=RUN, nulls_equal=True, maintain_order="left")


def plain(text: str) -> str:
    """A text as two are compared.

    >>> plain(" It  Builds ")
    'it builds'
    """
    return " ".join(text.casefold().split())


def _of_target(rows: pl.DataFrame, target: str) -> pl.DataFrame:
    """The rows of the expectation that is meant: by its id, else by its text."""
    import polars as pl

    found = rows.filter(pl.col("expectation_id") == target)
    if found.height:
        return found
    texts = [text for text in rows["text"].unique() if plain(text) == plain(target)]
    return rows.filter(pl.col("text").is_in(texts))


def _stored(rows: pl.DataFrame, runs: pl.DataFrame) -> list[TriedVerdict | None]:
    """The verdict of each run; None where the run has no row. Twice in a run: the worse counts."""
    worst = rows.sort("passed", nulls_last=True, maintain_order=True)
    there = {
        run: (passed, evidence)
        for run, passed, evidence in reversed(worst.select("run", "passed", "evidence").rows())
    }
    return [
        _unscored(RUN_ERRORED)
        if status == "errored"
        else _verdict(*there[run])
        if run in there
        else None
        for run, status in enumerate(runs["status"])
    ]


def _replaced(
    request: Request, target: str, gone: pl.DataFrame, runs: pl.DataFrame
) -> list[TriedVerdict]:
    """The verdicts of a draft's target: stored ones; where there is none, checked now."""
    stored = _stored(gone, runs)
    folders, reasons = runs["folder"].to_list(), runs["reason"].to_list()
    lacking = {
        folders[at]: at for at, one in enumerate(stored) if one is None and reasons[at] is None
    }
    for folder, definition in _evals_of(lacking):
        check = next((one for one in expectations_of(definition) if _is(one, target)), None)
        if check is not None:
            ((stored[lacking[folder]],),) = _verdicts(request, [check], [folder], [None])
    none = "no verdict on it is stored, and its definition was not found"
    return [one or _unscored(reason or none) for one, reason in zip(stored, reasons, strict=True)]


def _evals_of(folders: Iterable[str]) -> Iterator[tuple[str, Eval]]:
    """The folders of runs, each with the eval as its suite defines it."""
    real = {Path(folder).resolve(): folder for folder in folders}
    for top in {top_of(one) for one in real}:
        for run in stored_runs(top):
            folder = real.get(run.folder.resolve())
            if folder is not None and run.eval is not None:
                yield folder, run.eval


def _is(check: Check, target: str) -> bool:
    text = check.text if isinstance(check, Expectation) else check.description
    return check.id == target or plain(text or "") == plain(target)


# ── what they come to ────────────────────────────────────────────────────────────────────────


def _compared(
    request: Request, runs: pl.DataFrame, verdicts: Mapping[What, Sequence[TriedVerdict]]
) -> Differences:
    """Verdicts compared between the sides: 1 passed, 0 failed, null neither."""
    import polars as pl

    values: dict[What, pl.DataFrame] = {
        what: runs.select(
            *RUN,
            pl.Series("outcome", [one.outcome for one in ones], pl.String),
            pl.Series("value", [one.passed for one in ones], pl.Boolean).cast(pl.Float64),
        )
        for what, ones in verdicts.items()
    }
    return compared(request, runs, values, OUTCOMES, "pass_rate")


def _columns(verdicts: Mapping[What, Sequence[TriedVerdict]]) -> Iterator[pl.Series]:
    """The columns of `by_run` that hold verdicts."""
    import polars as pl

    for what, ones in verdicts.items():
        begin = "" if what == "draft" else "replaced_"
        yield pl.Series(f"{begin}passed", [one.passed for one in ones], pl.Boolean)
        yield pl.Series(f"{begin}evidence", [one.evidence for one in ones], pl.String)


def _answer(
    request: Request, found: Differences, verdicts: Sequence[TriedVerdict], gates: int
) -> str:
    """How the sides differ in a drafted check, in one sentence."""
    scored = [verdict for verdict in verdicts if verdict.passed is not None]
    if not scored:
        ((reason, times),) = Counter(verdict.evidence for verdict in verdicts).most_common(1)
        return f"It was scored in none of {count(len(verdicts), 'run')}: {times} × {reason}."
    if found.proof is None:
        passed = sum(one.passed is True for one in scored)
        answer = f"It passes in {passed:,} of {count(len(scored), 'run')}; there are no two sides"
    else:
        answer = in_words(request.draft, found.proof, "Its pass rate is")
    return f"{answer}{gates_in_words(gates)}."


def _notes(
    request: Request, runs: pl.DataFrame, each: Sequence[Sequence[TriedVerdict]], *, alone: bool
) -> Iterator[str]:
    """What was left out, and why."""
    gone = set(request.draft.evals) - set(runs["eval_id"])
    if gone:
        yield f"There is no stored run of {', '.join(sorted(gone, key=natural))}."
    reasons = Counter(
        one.evidence for ones in each for one in ones if one.passed is None and one.evidence
    )
    for reason, times in reasons.most_common(MOST):
        yield f"{times} × {reason}"
    if alone:
        yield "No judged expectation is about the same, so there is no judge to hold it against."


def _about(request: Request, words: Sequence[str], judged: pl.DataFrame) -> About | None:
    """The judged expectation that a draft is about.

    It is the draft's target where that is a judged one; else the expectation that is nearest
    in words to the draft; None where none is.
    """
    if judged.is_empty():
        return None
    draft = request.draft
    if draft.target is not None and (found := _of_target(judged, draft.target)).height:
        return About(found["text"][0], "the draft names it")
    texts = judged["text"].unique(maintain_order=True).to_list()
    own = [word for word in words if word.strip()]
    if not own:
        return None
    measured = measure([*texts, *own])
    square = likeness(measured, range(len(measured.texts)))
    best = square[: len(texts), len(texts) :].max(axis=1)
    place = int(best.argmax())
    alike = float(best[place])
    return About(texts[place], "the nearest in words", alike) if alike >= LIKE else None


def _disagreements(
    about: About, verdicts: Sequence[TriedVerdict], judged: pl.DataFrame, runs: pl.DataFrame
) -> pl.DataFrame:
    """The runs whose verdict is not the judge's: RUN, and `passed` and `evidence` of both.

    Runs that either has not scored are left out: there is no second word to hold against.
    """
    import polars as pl

    theirs = (
        judged.filter(pl.col("text") == about.text)
        .sort("passed", nulls_last=True, maintain_order=True)
        .unique("run", keep="first")
        .select("run", judged_passed="passed", judged_evidence="evidence")
    )
    mine = runs.select(RUN).with_row_index("run").with_columns(*_columns({"draft": verdicts}))
    both = mine.join(theirs, on="run", maintain_order="left").drop("run")
    return both.filter(pl.col("passed") != pl.col("judged_passed"))


# ── gates and rates ──────────────────────────────────────────────────────────────────────────


def figures_of(
    runs: pl.DataFrame,
    rows: pl.DataFrame,
    gone: pl.DataFrame,
    new: Sequence[tuple[bool, Sequence[TriedVerdict]]],
    n_structural: pl.DataFrame,
) -> pl.DataFrame:
    """The gate and the rates of each run, `…_before` as stored, and `…_after`.

    `gate_passed_after` rests on the stored verdicts without those that go, and on the new ones;
    where the stored verdicts do not say the same as the stored gate, that is taken at its word.
    `structural_pass_rate_after` is null where a run's checks are not stored one by one. A run
    whose gate closes would not be judged, so `pass_rate_after` is that of its checks, as it
    is in every gated run; where the gate opens it is null, since the judge has yet to be asked.
    An errored run stays as it is.

    Args:
        runs: as `runs_for` gives them.
        rows: their rows of `expectations`, each with the index `run`.
        gone: those of the rows that go.
        new: of each new check, whether it is critical, and its verdicts run by run.
        n_structural: of each eval (`workspace`, `skill`, `eval_id`), how many structural
            expectations its suite has.
    """
    import polars as pl

    col = pl.col
    structural = rows.filter(col("layer") == "structural")
    rest = structural.join(gone.select("place"), on="place", how="anti")
    judged = rows.filter(col("layer") == "judged").select("run", judged=True).unique()
    wide = runs.with_row_index("run")
    for table in (_summed(structural, "all"), _summed(rest, "rest"), judged):
        wide = wide.join(table, on="run", how="left", maintain_order="left")
    key = ["workspace", "skill", "eval_id"]
    wide = wide.join(n_structural, on=key, how="left", maintain_order="left").with_columns(
        _of_new(new)
    )
    none_else = col("n_structural").fill_null(1) - (1 if gone.height else 0) <= 0
    errored = col("status") == "errored"
    left = pl.when(col("n_rest").is_null()).then(statement=True).otherwise("gate_rest")
    base = (
        pl.when(col("n_all").is_null())
        .then(pl.coalesce(GATE, pl.when(none_else).then(statement=True)))
        .when(col("gate_all").fill_null(value=True).eq_missing(col(GATE)))
        .then(left)
        .otherwise(GATE)
    )
    passed, failed = (col(f"{what}_rest").fill_null(0) + col(f"{what}_new") for what in MARKS)
    known = col("n_all").is_not_null() | none_else
    rate = pl.when(known & (passed + failed > 0)).then(passed / (passed + failed))
    wide = wide.with_columns(
        pl.when(errored).then(GATE).otherwise(base & col("gate_new")).alias(GATE + AFTER),
        pl.when(errored).then(CHECKED).otherwise(rate).alias(CHECKED + AFTER),
    )
    was_open, is_open = _open(GATE), _open(GATE + AFTER)
    of_checks = col("judged").is_null() & ((col(GRADED) - col(CHECKED)).abs() < SAME)
    graded = (
        pl.when(errored)
        .then(GRADED)
        .when(~was_open & is_open)
        .then(None)
        .when((was_open & ~is_open) | of_checks)
        .then(CHECKED + AFTER)
        .otherwise(GRADED)
    )
    names = (GATE, CHECKED, GRADED)
    before = [col(name).alias(name + BEFORE) for name in names]
    wide = wide.with_columns(*before, graded.alias(GRADED + AFTER))
    return wide.select(*RUN, *(name + when for name in names for when in (BEFORE, AFTER)))


MARKS = ("passed", "failed")


def _open(column: str) -> pl.Expr:
    """Whether a gate lets a run through to the judge: it does unless a critical check failed."""
    import polars as pl

    return pl.col(column).fill_null(value=True)


def _summed(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Passed, failed and the gate of each run's rows, under names with this end."""
    import polars as pl

    passed, critical = pl.col("passed"), pl.col("critical").fill_null(value=False)
    return rows.group_by("run").agg(
        pl.len().alias(f"n_{name}"),
        passed.sum().alias(f"passed_{name}"),
        (~passed).sum().alias(f"failed_{name}"),
        passed.filter(critical).all(ignore_nulls=False).alias(f"gate_{name}"),
    )


def _of_new(new: Sequence[tuple[bool, Sequence[TriedVerdict]]]) -> list[pl.Expr]:
    """How many of the new checks passed and failed in each run, and their gate."""
    import polars as pl

    marks = [
        pl.Series([verdict.passed for verdict in verdicts], dtype=pl.Boolean) for _, verdicts in new
    ]
    critical = [one for one, (is_critical, _) in zip(marks, new, strict=True) if is_critical]
    return [
        pl.sum_horizontal(pl.lit(0), *map(pl.lit, marks)).alias("passed_new"),
        pl.sum_horizontal(pl.lit(0), *(pl.lit(~mark) for mark in marks)).alias("failed_new"),
        pl.all_horizontal(pl.lit(value=True), *map(pl.lit, critical)).alias("gate_new"),
    ]
