"""`try_out`: try a draft on the stored runs before anything is paid for."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import TYPE_CHECKING

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import StructuralExpectation, mend
from skill_eval_nb.grading.check_types import CheckContext
from skill_eval_nb.grading.outputs import CheckVerdict, list_outputs, verdict_unscored
from skill_eval_nb.grading.structural import OF_TRANSCRIPT, verdicts_on
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import AskingProgress, Terms
from skill_eval_nb.running.stored_runs import transcript_in
from skill_eval_nb.stats.values import RUN, natural, runs_of
from skill_eval_nb.text import count
from skill_eval_nb.workspace import collector_paused

from .tried import AFTER, BEFORE, RUN_ERRORED, OnRuns, Trial, Tried, What
from .try_dimensions import try_dimensions
from .values import Draft, Progress, SuiteItem, only_suite, plain, stored_at

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
GATE, CHECKED, GRADED = "gate_passed", "structural_pass_rate", "pass_rate"
SAME = 0.0051
"""Rates that differ by less are equal: files round them."""


def try_out(
    draft: Draft,
    ws: Workspace,
    *,
    baseline: str | None = None,
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
        Refused: a number is out of range; there is no such baseline; several workspaces or skills
            have its evals; there is a budget and no known price.
        OSError: a judging cannot be written; what was written stays.
        ModelFault: no API key was found; nothing was sent.
    """
    terms = Terms(connection, prices, budget_usd, progress=progress, stop=stop)
    runs = runs_for(draft, ws)
    trial = Trial(draft, ws, runs, baseline, allow_scripts, near, judge_model, terms)
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

    `reason` says why the outputs of a run cannot be checked; it is null if they can.

    Raises:
        Refused: several workspaces or skills have such evals.
    """
    import polars as pl

    runs = runs_of(ws).with_columns((pl.len().over("path") > 1).alias("shared"))
    runs = runs.filter(pl.col("eval_id").is_in(list(draft.evals)))
    only_suite(runs, "a try-out")
    folders = [run_folder(ws.path, path) for path in runs["path"]]
    reasons = [
        _reason_unseen(status, folder, shared, ws.path)
        for status, folder, shared in zip(runs["status"], folders, runs["shared"], strict=True)
    ]
    more = {"folder": folders, "reason": reasons}
    return runs.select(
        *RUN, *KEPT, *(pl.Series(name, own, pl.String) for name, own in more.items())
    )


def run_folder(base: str, path: str) -> str:
    """The folder of a run, given its path relative to what was loaded.

    >>> run_folder("data/ws", "iteration-1/eval-1"), run_folder("data/ws/run-1", "data/ws/run-1")
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

    draft = trial.draft
    checks = [_check(item) for item in draft.new]
    rows = trial.rows("expectations")
    structural = rows.filter(layer="structural")
    gone = structural.clear() if draft.target is None else _of_target(structural, draft.target)
    verdicts = _verdicts(trial, checks) if checks else [[]] * trial.runs.height
    found: dict[What, OnRuns] = {}
    if checks:
        found["draft"] = _on_runs(map(_all, verdicts))
    if draft.target is not None:
        found["replaced"] = replaced = _stored_verdicts(gone, trial.runs)
        if not checks and not any(passed is not None for passed in replaced.values):
            return trial.result("not tried", f"No run has a verdict on {draft.target}.")
    figures = _figures(trial, rows, gone, checks, verdicts)
    was, now = (pl.col(GATE + when).fill_null(value=True) for when in (BEFORE, AFTER))
    return trial.make_result(
        found,
        figures,
        (CHECKED, GRADED),
        gates=figures.select((was != now).sum()).item(),
        notes=tuple(_notes(trial, verdicts)),
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
    judged = trial.rows("expectations").filter(layer="judged")
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
    rest = judged.join(gone, on="place", how="anti").group_by("run").agg(pl.mean("passed"))
    goes = pl.col("run").is_in(gone["run"].to_list()) & pl.col("status").ne_missing("errored")
    both = runs.with_row_index("run").join(rest, on="run", how="left", maintain_order="left")
    after = pl.when(goes).then("passed").otherwise(GRADED)
    note = f"Not in the figures: {count(len(draft.new), 'new expectation')}, as only a judge can "
    return trial.make_result(
        {"replaced": _stored_verdicts(gone, runs)},
        both.select(pl.col(GRADED).alias(GRADED + BEFORE), after.alias(GRADED + AFTER)),
        (GRADED,),
        notes=(f"{note}decide on that.",) if draft.new else (),
    )


def _check(item: SuiteItem) -> StructuralExpectation:
    fields = {"description": item} if isinstance(item, str) else dict(item)
    return mend(fields, StructuralExpectation)[0]


def _verdicts(trial: Trial, checks: Sequence[StructuralExpectation]) -> list[list[CheckVerdict]]:
    """The verdicts on the outputs of each run, check by check.

    The progress is reported after every `EVERY` runs, and at the end.
    """
    total, progress = trial.runs.height, trial.terms.progress
    transcripts = any(check.type in OF_TRANSCRIPT for check in checks)

    def look(place: tuple[str, str | None]) -> list[CheckVerdict]:
        folder, reason = place
        if reason is not None:
            return [verdict_unscored(reason)] * len(checks)
        transcript = transcript_in(folder) if transcripts else None
        outputs = list_outputs(f"{folder}/outputs")
        setting = CheckContext(outputs, transcript, trial.near, trial.allow_scripts, "bubblewrap")
        return verdicts_on(checks, [False] * len(checks), setting)

    places, verdicts = trial.runs.select("folder", "reason").iter_rows(), []
    scripts = trial.allow_scripts and any(check.type in SCRIPTS for check in checks)
    with ThreadPoolExecutor(os.cpu_count()) if scripts else collector_paused() as pool:
        for done, of_run in enumerate((pool.map if pool else map)(look, places), 1):
            verdicts.append(of_run)
            if progress is not None and (done % EVERY == 0 or done == total):
                progress(AskingProgress(done, total, 0, 0.0, "outputs checked"))
    return verdicts


def _all(of_run: Sequence[CheckVerdict]) -> CheckVerdict:
    """Several checks as one: it passes if all of them pass."""
    mark = _all_pass([verdict.passed for verdict in of_run])
    evidences = [verdict.evidence or "" for verdict in of_run if verdict.passed is mark]
    return CheckVerdict(mark, "; ".join(dict.fromkeys(evidences)))


def _of_target(rows: pl.DataFrame, target: str) -> pl.DataFrame:
    """The rows of the expectation with this id, else with this text."""
    import polars as pl

    found = rows.filter(pl.col("expectation_id") == target)
    if found.height:
        return found
    texts = [text for text in rows["text"].unique() if plain(text) == plain(target)]
    return rows.filter(pl.col("text").is_in(texts))


def _stored_verdicts(rows: pl.DataFrame, runs: pl.DataFrame) -> OnRuns:
    """The stored verdict of each run; if a run has several, the worst counts."""
    worst = rows.sort("passed", nulls_last=True, maintain_order=True).unique("run", keep="first")
    verdicts = worst.select("run", "passed", "evidence").iter_rows()
    there = {run: CheckVerdict(*verdict) for run, *verdict in verdicts}
    none = verdict_unscored("no verdict on it is stored")
    return _on_runs(
        verdict_unscored(RUN_ERRORED) if status == "errored" else there.get(run, none)
        for run, status in enumerate(runs["status"])
    )


def _on_runs(verdicts: Iterable[CheckVerdict]) -> OnRuns:
    passed, evidence = zip(*((one.passed, one.evidence) for one in verdicts), strict=True)
    return OnRuns(passed, evidence)


# ── notes ────────────────────────────────────────────────────────────────────────────────────


def _notes(trial: Trial, verdicts: Sequence[Sequence[CheckVerdict]]) -> Iterator[str]:
    """What was left out, and why."""
    gone = set(trial.draft.evals) - set(trial.runs["eval_id"])
    if gone:
        yield f"There is no stored run of {', '.join(sorted(gone, key=natural))}."
    reasons = Counter(
        verdict.evidence
        for of_run in verdicts
        for verdict in of_run
        if verdict.passed is None and verdict.evidence
    )
    for reason, times in reasons.most_common(MOST):
        yield f"{times} × {reason}"


# ── gates and rates ──────────────────────────────────────────────────────────────────────────


def _figures(
    trial: Trial,
    rows: pl.DataFrame,
    gone: pl.DataFrame,
    checks: Sequence[StructuralExpectation],
    verdicts: Sequence[Sequence[CheckVerdict]],
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
        checks: the new ones.
        verdicts: on each run, one per new check.
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
            new = zip(checks, verdicts[at], strict=True)
            coming = [(0, verdict.passed, check.critical) for check, verdict in new]
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
