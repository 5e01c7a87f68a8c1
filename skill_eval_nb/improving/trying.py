"""`try_out`: try a draft on the stored runs before anything is paid for."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import TYPE_CHECKING

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import Expectation, StructuralExpectation, mend
from skill_eval_nb.grading.structural import OF_TRANSCRIPT, expectations_of, verdicts_on
from skill_eval_nb.grading.structural.outputs import CheckVerdict, list_outputs, verdict_unscored
from skill_eval_nb.grading.structural.types import Check, CheckContext, as_structural
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import AskingProgress, Terms
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.stored_runs import transcript_in
from skill_eval_nb.stats.values import RUN, natural, runs_of, stand_in_keys
from skill_eval_nb.text import count
from skill_eval_nb.workspace import collector_paused

from .evidence import Progress, stored_at
from .tried import AFTER, BEFORE, RUN_ERRORED, About, OnRuns, Trial, Tried, What
from .try_dimensions import try_dimensions
from .values import Draft, SuiteItem, plain
from .wording import likeness, measure

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

KEPT = [
    *("status", "gate_passed", "pass_rate", "structural_pass_rate"),
    *("rubric_weighted_mean", "judge_model", "executor_model"),
]
SCRIPTS = ("custom", "custom_script")
"""Checks that each start a program, so that threads help; the others run in one Python loop."""
EVERY = 500
"""Runs between two reports of progress."""
MOST = 5
"""The most reasons that are reported."""
LIKE = 0.5
"""Wordings that are less alike than this, 0-1, are about different things."""
GATE, CHECKED, GRADED = "gate_passed", "structural_pass_rate", "pass_rate"
SAME = 0.0051
"""Rates that differ by less are equal: files round them."""


def try_out(
    draft: Draft,
    ws: Workspace,
    *,
    baseline: str | None = None,
    level: float = 0.95,
    allow_scripts: bool = False,
    near: int = 2,
    judge_model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Tried:
    """Try a draft on the stored runs of its evals; neither suite nor runs are changed.

    Drafted checks are made on all stored outputs. A drafted rubric dimension is judged on them;
    without `budget_usd` that is only priced, unless the judge is free. Each judging is stored at
    once in the workspace, in `.skill-eval-nb/tries`, and reused the next time: nothing is paid for
    twice. If something is only removed or reweighted, the stored figures are enough.

    A p-value is that of a single draft: of twenty useless drafts, about one falls below .05.

    Args:
        draft: a draft from `draft` or from a person.
        ws: the workspace; use `ws.select(iteration=…)` for a part of it.
        baseline: the configuration to compare against; chosen by name if not given.
        level: 1 - alpha.
        allow_scripts: whether a drafted `custom_script` may run, in the sandbox.
        near: within how many lines of a match a text of `except_context` exempts it.
        judge_model: the model that judges a dimension; if not given, the one that judged these
            runs.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; what does not fit is not judged.
        progress: called with the progress.
        stop: once set, judgings in flight are cancelled; those that were stored stay.

    Raises:
        Stopped: `stop` was set before the end of judging.
        Refused: a number is out of range; there is no such baseline; it is unclear which of
            several workspaces is meant; there is a budget and no known price.
        OSError: a judging cannot be written; what was written stays.
        ModelFault: no API key was found; nothing was sent.
    """
    terms = Terms(connection, prices, budget_usd, progress=progress, stop=stop)
    runs = runs_for(draft, ws)
    trial = Trial(draft, ws, runs, baseline, level, allow_scripts, near, judge_model, terms)
    if draft.missing:
        lacking = ", ".join(draft.missing)
        answer = f"It cannot be tried yet; still needs: {lacking}."
        return trial.result("not tried", answer)
    if draft.part == "evals":
        return trial.result(
            "not tried", "A new eval has no stored outputs: it has to be run first."
        )
    if runs.is_empty():
        evals = ", ".join(draft.evals) or "no eval"
        return trial.result("not tried", f"There is no stored run of {evals}.")
    if draft.part == "structural_expectations":
        return _try_checks(trial)
    return (try_dimensions if draft.part == "dimensions" else _try_verdicts)(trial)


def runs_for(draft: Draft, ws: Workspace) -> pl.DataFrame:
    """The runs of a draft's evals: RUN, KEPT, `folder`, `reason`.

    `reason` says why the outputs of a run cannot be checked; it is null if they can. If evals of
    different workspaces have the same id, the draft's own runs decide which workspace is meant.

    Raises:
        Refused: it is unclear which of several workspaces is meant.
    """
    import polars as pl

    runs = runs_of(ws).with_columns((pl.len().over("path") > 1).alias("shared"))
    runs = runs.filter(pl.col("eval_id").is_in(list(draft.evals)))
    meant = {(run.workspace, run.skill) for run in draft.runs}
    there = set(runs.select("workspace", "skill").rows())
    if len(there) > 1:
        if not meant & there:
            names = ", ".join(sorted({workspace for workspace, _ in there}))
            raise refuse(
                f"draft {draft.key} names evals {', '.join(draft.evals)}, and several workspaces "
                f"have them: {names}; select one, as ws.select(workspace=…) does"
            )
        wanted = pl.DataFrame(sorted(meant & there), ["workspace", "skill"], orient="row")
        runs = runs.join(wanted, on=["workspace", "skill"], how="semi", maintain_order="left")
    folders = [folder_of(ws.path, path) for path in runs["path"]]
    reasons = [
        _reason_unseen(status, folder, shared, ws.path)
        for status, folder, shared in zip(runs["status"], folders, runs["shared"], strict=True)
    ]
    more = {"folder": folders, "reason": reasons}
    return runs.select(
        *RUN, *KEPT, *(pl.Series(name, own, pl.String) for name, own in more.items())
    )


def folder_of(base: str, path: str) -> str:
    """The folder of a run, given its path relative to what was loaded.

    >>> folder_of("data/ws", "iteration-1/eval-1"), folder_of("data/ws/run-1", "data/ws/run-1")
    ('data/ws/iteration-1/eval-1', 'data/ws/run-1')
    """
    return path if path == base or path.startswith("/") else f"{base or '.'}/{path}"


def _reason_unseen(status: str, folder: str, shared: bool, base: str) -> str | None:
    """Why a run's outputs cannot be checked; errored runs have no verdict at all."""
    if status == "errored":
        return RUN_ERRORED
    if shared:
        return "several runs share its folder, so it is unknown whose outputs these are"
    outputs = f"{folder}/outputs"
    if os.path.isdir(outputs):  # noqa: PTH112 one system call a run
        fault = leads_out(outputs, base)
        return None if fault is None else f"its outputs are not looked at: {fault}"
    if os.path.isdir(folder):  # noqa: PTH112
        return "it has no stored outputs"
    return f"its folder does not exist: {folder}"


# ── verdicts ─────────────────────────────────────────────────────────────────────────────────


def _try_checks(trial: Trial) -> Tried:
    """Try the checks of a draft against what they replace, or the removal of a check."""
    import polars as pl

    draft, runs = trial.draft, trial.runs
    checks = [_check(item) for item in draft.new]
    rows = _stored_rows(trial)
    structural, judged = (
        rows.filter(pl.col("layer") == layer) for layer in ("structural", "judged")
    )
    gone = structural.clear() if draft.target is None else _of_target(structural, draft.target)
    each = _verdicts(trial, checks, runs, trial.terms.progress)
    found: dict[What, OnRuns] = {}
    if checks:
        found["draft"] = _on_runs([_all(of_run) for of_run in zip(*each, strict=True)])
    if draft.target is not None:
        found["replaced"] = replaced = _on_runs(_replaced_verdicts(trial, draft.target, gone))
        if not checks and not any(passed is not None for passed in replaced.values):
            return trial.result("not tried", f"No run has a verdict on {draft.target}.")
    critical = [(check.critical, column) for check, column in zip(checks, each, strict=True)]
    figures = _figures(trial, rows, gone, critical)
    was, now = (pl.col(GATE + when).fill_null(value=True) for when in (BEFORE, AFTER))
    more, about = {}, None
    if checks:
        words = [check.description for check in checks if check.description]
        about = _judged_about(draft, words or gone["text"].head(1).to_list(), judged)
    if about is not None:
        mine = trial.by_run({"draft": found["draft"]})
        more["disagreements"] = _find_disagreements(mine, about, judged)
    return trial.make_result(
        found,
        figures,
        (CHECKED, GRADED),
        gates=figures.select((was != now).sum()).item(),
        about=about,
        notes=tuple(_notes(trial, each, alone=about is None and bool(checks))),
        **more,
    )


def _try_verdicts(trial: Trial) -> Tried:
    """Work out the figures of runs and suite without the judge's verdicts on a target.

    New expectations only get verdicts from a judge, so they do not count.
    """
    import polars as pl

    draft, runs = trial.draft, trial.runs
    if draft.target is None:
        answer = "No judge has decided it yet: apply it, then judge the stored runs again."
        return trial.result("not tried", answer)
    judged = _stored_rows(trial).filter(layer="judged")
    gone = _of_target(judged, draft.target)
    if gone.is_empty():  # it may be a name, which stored verdicts need not have
        texts = [
            expectation.text
            for run in stored_at(runs["folder"]).values()
            for expectation in (run.eval.expectations if run.eval else ())
            if draft.target in (expectation.id, expectation.name)
        ]
        gone = judged.filter(pl.col("text").is_in(texts))
    if gone.is_empty():
        return trial.result("not tried", f"No stored run has a verdict on {draft.target}.")
    places, goes = set(gone["place"]), set(gone["run"])
    rest: dict[int, list[bool]] = {}
    for run, place, passed in judged.select("run", "place", "passed").iter_rows():
        if place not in places and passed is not None:
            rest.setdefault(run, []).append(passed)
    after = [
        (fmean(rest[at]) if at in rest else None) if at in goes and status != "errored" else graded
        for at, (status, graded) in enumerate(runs.select("status", GRADED).iter_rows())
    ]
    none = verdict_unscored("no judge has decided it")
    note = f"Not in the figures: {count(len(draft.new), 'new expectation')}, as only a judge can "
    return trial.make_result(
        {"replaced": _on_runs([verdict or none for verdict in _stored_verdicts(gone, runs)])},
        runs.select(
            pl.col(GRADED).alias(GRADED + BEFORE), pl.Series(GRADED + AFTER, after, pl.Float64)
        ),
        (GRADED,),
        notes=(f"{note}decide on that.",) if draft.new else (),
    )


def _check(item: SuiteItem) -> StructuralExpectation:
    fields = {"description": item} if isinstance(item, str) else dict(item)
    return mend(fields, StructuralExpectation)[0]


def _verdicts(
    trial: Trial, checks: Sequence[Check], runs: pl.DataFrame, progress: Progress | None = None
) -> list[list[CheckVerdict]]:
    """The verdicts of each check, run by run.

    `progress` is called after every `EVERY` runs, and at the end.
    """
    if not checks:
        return []
    transcripts = any(check.type in OF_TRANSCRIPT for check in checks)
    wanted = [as_structural(check) for check in checks]
    spoken = [isinstance(check, Expectation) for check in checks]

    def look(place: tuple[str, str | None]) -> list[CheckVerdict]:
        folder, reason = place
        if reason is not None:
            return [verdict_unscored(reason)] * len(checks)
        transcript = transcript_in(folder) if transcripts else None
        outputs = list_outputs(f"{folder}/outputs")
        setting = CheckContext(outputs, transcript, trial.near, trial.allow_scripts, "bubblewrap")
        return verdicts_on(wanted, spoken, setting)

    places, by_run = runs.select("folder", "reason").iter_rows(), []
    scripts = trial.allow_scripts and any(check.type in SCRIPTS for check in checks)
    with ThreadPoolExecutor(os.cpu_count()) if scripts else collector_paused() as pool:
        for done, verdicts in enumerate((pool.map if pool else map)(look, places), 1):
            by_run.append(verdicts)
            if progress is not None and (done % EVERY == 0 or done == runs.height):
                progress(AskingProgress(done, runs.height, 0, 0.0, "outputs checked"))
    return [list(column) for column in zip(*by_run, strict=True)]


def _all(of_run: Sequence[CheckVerdict]) -> CheckVerdict:
    """Several checks as one: it passes if all of them pass."""
    mark = _all_pass([verdict.passed for verdict in of_run])
    evidences = [verdict.evidence or "" for verdict in of_run if verdict.passed is mark]
    return CheckVerdict(mark, "; ".join(dict.fromkeys(evidences)))


def _stored_rows(trial: Trial) -> pl.DataFrame:
    """The rows of `expectations` of these runs, with the index `run` of each, and a `place`."""
    import polars as pl

    # Filter by eval first: joining all rows of a workspace would take longer than all the rest.
    evals = pl.col("eval_id").is_in(trial.runs["eval_id"].unique().to_list())
    rows = trial.ws.polars("expectations").filter(evals)
    rows = rows.with_columns(*stand_in_keys()).with_row_index("place")
    numbered = trial.runs.select(RUN).with_row_index("run")
    return rows.join(numbered, on=RUN, nulls_equal=True, maintain_order="left")


def _of_target(rows: pl.DataFrame, target: str) -> pl.DataFrame:
    """The rows of the expectation with this id, else with this text."""
    import polars as pl

    found = rows.filter(pl.col("expectation_id") == target)
    if found.height:
        return found
    texts = [text for text in rows["text"].unique() if plain(text) == plain(target)]
    return rows.filter(pl.col("text").is_in(texts))


def _worst(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per run: if a run has several, the worst counts."""
    worst = rows.sort("passed", nulls_last=True, maintain_order=True)
    return worst.unique("run", keep="first").select("run", "passed", "evidence")


def _stored_verdicts(rows: pl.DataFrame, runs: pl.DataFrame) -> list[CheckVerdict | None]:
    """The verdict of each run; None if the run has no row."""
    there = {run: CheckVerdict(*verdict) for run, *verdict in _worst(rows).iter_rows()}
    return [
        verdict_unscored(RUN_ERRORED) if status == "errored" else there.get(run)
        for run, status in enumerate(runs["status"])
    ]


def _replaced_verdicts(trial: Trial, target: str, gone: pl.DataFrame) -> list[CheckVerdict]:
    """The verdicts on a draft's target: stored ones, or new checks where none are stored."""
    runs = trial.runs
    stored, reasons = _stored_verdicts(gone, runs), runs["reason"].to_list()
    places = {folder: at for at, folder in enumerate(runs["folder"])}
    lacking = [
        folder for folder, at in places.items() if stored[at] is None and reasons[at] is None
    ]
    for folder, run in stored_at(lacking).items():
        every = expectations_of(run.eval) if run.eval else ()
        check = next((known for known in every if _is_target(known, target)), None)
        if check is not None:
            ((stored[places[folder]],),) = _verdicts(trial, [check], runs[places[folder]])
    none = "no verdict on it is stored, and its definition was not found"
    return [
        verdict or verdict_unscored(reason or none)
        for verdict, reason in zip(stored, reasons, strict=True)
    ]


def _is_target(check: Check, target: str) -> bool:
    text = check.text if isinstance(check, Expectation) else check.description
    return check.id == target or plain(text or "") == plain(target)


def _on_runs(verdicts: Sequence[CheckVerdict]) -> OnRuns:
    passed = [verdict.passed for verdict in verdicts]
    return OnRuns(passed, [verdict.evidence for verdict in verdicts])


# ── what is said of it ───────────────────────────────────────────────────────────────────────


def _notes(trial: Trial, each: Sequence[Sequence[CheckVerdict]], *, alone: bool) -> Iterator[str]:
    """What was left out, and why."""
    gone = set(trial.draft.evals) - set(trial.runs["eval_id"])
    if gone:
        yield f"There is no stored run of {', '.join(sorted(gone, key=natural))}."
    reasons = Counter(
        verdict.evidence
        for column in each
        for verdict in column
        if verdict.passed is None and verdict.evidence
    )
    for reason, times in reasons.most_common(MOST):
        yield f"{times} × {reason}"
    if alone:
        yield "No judged expectation is about the same thing, so no judge's verdicts to compare."


def _judged_about(draft: Draft, words: Sequence[str], judged: pl.DataFrame) -> About | None:
    """The judged expectation that a draft is about.

    It is the draft's target if that is judged, else the expectation with the most similar words;
    None if none is similar enough.
    """
    if draft.target is not None and (found := _of_target(judged, draft.target)).height:
        return About(found["text"][0], "the draft names it")
    texts = judged["text"].unique(maintain_order=True).to_list()
    own = [word for word in words if word.strip()]
    if not (own and texts):
        return None
    measured = measure([*texts, *own])
    square = likeness(measured, range(len(measured.texts)))
    best = square[: len(texts), len(texts) :].max(axis=1)
    alike, place = float(best.max()), int(best.argmax())
    return About(texts[place], "the nearest in words", alike) if alike >= LIKE else None


def _find_disagreements(mine: pl.DataFrame, about: About, judged: pl.DataFrame) -> pl.DataFrame:
    """The runs where the draft and the judge disagree: RUN, and `passed` and `evidence` of both.

    Runs that one of them has not scored are left out: there is nothing to compare.
    """
    import polars as pl

    theirs = _worst(judged.filter(pl.col("text") == about.text))
    theirs = theirs.rename({name: f"judged_{name}" for name in ("passed", "evidence")})
    mine = mine.with_row_index("run")
    both = mine.join(theirs, on="run", maintain_order="left").drop("run")
    return both.filter(pl.col("passed") != pl.col("judged_passed"))


# ── gates and rates ──────────────────────────────────────────────────────────────────────────


def _figures(
    trial: Trial,
    rows: pl.DataFrame,
    gone: pl.DataFrame,
    new: Sequence[tuple[bool, Sequence[CheckVerdict]]],
) -> pl.DataFrame:
    """The gate and the rates of each run, `…_before` as stored, and `…_after`.

    `gate_passed_after` is based on the stored verdicts without the removed ones, and on the new
    ones; if the stored verdicts contradict the stored gate, the gate is believed.
    `structural_pass_rate_after` is null if a run's checks are not stored one by one. A run whose
    gate closes would not be judged, so its `pass_rate_after` is that of its checks, as in every
    gated run; if the gate opens, it is null, since no judge has looked yet. An errored run stays
    as it is.

    Args:
        trial: what is tried.
        rows: the rows of `expectations` of its runs, each with the index `run`.
        gone: the rows that are removed.
        new: for each new check, whether it is critical, and its verdicts run by run.
    """
    import polars as pl

    key = ("workspace", "skill", "eval_id")
    suites = trial.ws.polars("evals").select(*key, "n_structural").reverse().iter_rows()
    n_structural = {tuple(names): number for *names, number in suites}
    places, judged = set(gone["place"]), set(rows.filter(layer="judged")["run"])
    checked: dict[int, list[tuple[int, bool | None, bool]]] = {}
    columns = rows.filter(layer="structural").select("run", "place", "passed", "critical")
    for run, *verdict in columns.iter_rows():
        checked.setdefault(run, []).append((verdict[0], verdict[1], bool(verdict[2])))
    found = []
    for at, run in enumerate(trial.runs.select(*key, "status", GATE, CHECKED, GRADED).rows()):
        *names, status, gate, rate, graded = run
        before, after = (gate, rate, graded), (gate, rate, graded)
        if status != "errored":
            own = checked.get(at, [])
            rest = [verdict for verdict in own if verdict[0] not in places]
            stated = n_structural.get(tuple(names))
            none_else = (1 if stated is None else stated) - bool(places) <= 0
            if not own:
                base = True if gate is None and none_else else gate
            else:
                explains_gate = (_gate_of(own) is not False) is gate
                base = _gate_of(rest) if explains_gate else gate
            coming = [(0, column[at].passed, is_critical) for is_critical, column in new]
            opens = _gate_of([*coming, (0, base, True)])
            marks = [verdict[1] for verdict in (*rest, *coming) if verdict[1] is not None]
            share = fmean(marks) if marks and (own or none_else) else None
            was_open, is_open = gate is not False, opens is not False
            known = at not in judged and None not in (graded, rate)
            of_checks = known and abs(graded - rate) < SAME
            then = share if (was_open and not is_open) or of_checks else graded
            after = (opens, share, None if is_open and not was_open else then)
        found.append([value for pair in zip(before, after, strict=True) for value in pair])
    types = {GATE: pl.Boolean, CHECKED: pl.Float64, GRADED: pl.Float64}
    schema = {name + when: kind for name, kind in types.items() for when in (BEFORE, AFTER)}
    return pl.DataFrame(found, schema, orient="row")


def _all_pass(marks: Collection[bool | None]) -> bool | None:
    """Whether all checks passed; None if unknown."""
    return False if False in marks else None if None in marks else True


def _gate_of(checks: Sequence[tuple[int, bool | None, bool]]) -> bool | None:
    """Whether all critical checks passed; None if unknown."""
    return _all_pass([passed for _, passed, critical in checks if critical])
