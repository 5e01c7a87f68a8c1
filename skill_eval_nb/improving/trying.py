"""`try_out`: try a draft on the stored runs before anything is paid for."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import (
    Dimension,
    Eval,
    Judging,
    QualityRubric,
    StructuralExpectation,
    dump,
    mend,
    to_json,
)
from skill_eval_nb.grading.checks import CheckContext
from skill_eval_nb.grading.judge import (
    Answer,
    Case,
    Judge,
    Unjudged,
    judging_of,
    prepare,
    questions,
    same_model,
)
from skill_eval_nb.grading.outputs import CheckVerdict, list_outputs, verdict_unscored
from skill_eval_nb.grading.structural import OF_TRANSCRIPT, verdict_on
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.ask import Answered
from skill_eval_nb.models.stand_in import MODELS
from skill_eval_nb.running.asking import AskingProgress, Item, Terms, answers_of
from skill_eval_nb.running.judge_tasks import case_of
from skill_eval_nb.running.stored_runs import StoredRun, top_of, transcript_in
from skill_eval_nb.stats.values import RUN, natural_key, runs_of
from skill_eval_nb.text import clip, count, dollars
from skill_eval_nb.workspace import collector_paused, write_atomic

from .tried import AFTER, BEFORE, RUN_ERRORED, OnRuns, Trial, Tried, Values, What
from .values import (
    D,
    Draft,
    Progress,
    SuiteItem,
    documents_at,
    only_suite,
    own_folder,
    plain,
    stored_at,
)

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
MEAN = "rubric_weighted_mean"
GATE, CHECKED, GRADED = "gate_passed", "structural_pass_rate", "pass_rate"
SAME = 0.0051
"""Rates that differ by less are equal: files round them."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


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
    why_not = ""
    if draft.missing:
        why_not = f"It cannot be tried yet; still needs: {', '.join(draft.missing)}."
    elif draft.part == "evals":
        why_not = "A new eval has no stored outputs: it has to be run first."
    elif runs.is_empty():
        of = f" of {', '.join(draft.evals)}" if draft.evals else ""
        why_not = f"There is no stored run{of}."
    if why_not:
        return trial.conclude("not tried", why_not)
    if draft.part == "structural_expectations":
        return _try_checks(trial)
    return (_try_dimensions if draft.part == "dimensions" else _try_verdicts)(trial)


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
        return None if fault is None else f"its outputs cannot be read: {fault}"
    if os.path.isdir(folder):  # noqa: PTH112
        return "it has no stored outputs"
    return f"its folder does not exist: {folder}"


# ── verdicts ─────────────────────────────────────────────────────────────────────────────────


def _try_checks(trial: Trial) -> Tried:
    """Try the checks of a draft against what they replace, or the removal of a check."""
    import polars as pl

    draft = trial.draft
    checks = [_read_item(item, StructuralExpectation, "description") for item in draft.new]
    rows = trial.select_rows("expectations")
    structural = rows.filter(layer="structural")
    gone = structural.clear() if draft.target is None else _select_target(structural, draft.target)
    verdicts = _check_runs(trial, checks) if checks else [[]] * trial.runs.height
    found: dict[What, OnRuns] = {}
    if checks:
        found["draft"] = _collect_runs(map(_join_verdicts, verdicts))
    if draft.target is not None:
        found["replaced"] = replaced = _stored_verdicts(gone, trial.runs)
        if not checks and not any(passed is not None for passed in replaced.values):
            return trial.conclude("not tried", f"No run has a verdict on {draft.target}.")
    figures = _rate_runs(trial, rows, gone, checks, verdicts)
    was, now = (pl.col(GATE + when).fill_null(value=True) for when in (BEFORE, AFTER))
    return trial.make_compared_result(
        found,
        figures,
        (CHECKED, GRADED),
        gates=figures.select((was != now).sum()).item(),
        notes=tuple(_list_notes(trial, verdicts)),
    )


def _try_verdicts(trial: Trial) -> Tried:
    """Work out the figures of runs and suite without the judge's verdicts on a target.

    New expectations only get verdicts from a judge, so they do not count.
    """
    import polars as pl

    draft, runs = trial.draft, trial.runs
    if draft.target is None:
        answer = "No judge has decided it yet: apply it, then judge the stored runs again."
        return trial.conclude("not tried", answer)
    judged = trial.select_rows("expectations").filter(layer="judged")
    gone = _select_target(judged, draft.target)
    if gone.is_empty():  # it may be a name, which stored verdicts need not have
        texts = [
            expectation.text
            for run in stored_at(runs["folder"]).values()
            for expectation in (run.eval.expectations if run.eval else ())
            if draft.target in (expectation.id, expectation.name)
        ]
        gone = judged.filter(pl.col("text").is_in(texts))
    if gone.is_empty():
        return trial.conclude("not tried", f"No stored run has a verdict on {draft.target}.")
    rest = judged.join(gone, on="place", how="anti").group_by("run").agg(pl.mean("passed"))
    goes = pl.col("run").is_in(gone["run"].to_list()) & pl.col("status").ne_missing("errored")
    both = runs.with_row_index("run").join(rest, on="run", how="left", maintain_order="left")
    after = pl.when(goes).then("passed").otherwise(GRADED)
    note = f"Not in the figures: {count(len(draft.new), 'new expectation')}, as only a judge can "
    return trial.make_compared_result(
        {"replaced": _stored_verdicts(gone, runs)},
        both.select(pl.col(GRADED).alias(GRADED + BEFORE), after.alias(GRADED + AFTER)),
        (GRADED,),
        notes=(f"{note}decide on that.",) if draft.new else (),
    )


def _read_item(item: SuiteItem, kind: type[D], name: str) -> D:
    """A new item as a document; one that is only a text is its field of this name."""
    return mend({name: item} if isinstance(item, str) else dict(item), kind)[0]


def _check_runs(trial: Trial, checks: Sequence[StructuralExpectation]) -> list[list[CheckVerdict]]:
    """The verdicts on the outputs of each run, check by check.

    The progress is reported after every `EVERY` runs, and at the end.
    """
    total, progress = trial.runs.height, trial.terms.progress
    transcripts = any(check.type in OF_TRANSCRIPT for check in checks)

    def check_run(place: tuple[str, str | None]) -> list[CheckVerdict]:
        folder, reason = place
        if reason is not None:
            return [verdict_unscored(reason)] * len(checks)
        transcript = transcript_in(folder) if transcripts else None
        outputs = list_outputs(f"{folder}/outputs")
        setting = CheckContext(outputs, transcript, trial.near, trial.allow_scripts, "bubblewrap")
        return [verdict_on(check, setting) for check in checks]

    places, verdicts = trial.runs.select("folder", "reason").iter_rows(), []
    scripts = trial.allow_scripts and any(check.type in SCRIPTS for check in checks)
    with ThreadPoolExecutor(os.cpu_count()) if scripts else collector_paused() as pool:
        for done, of_run in enumerate((pool.map if pool else map)(check_run, places), 1):
            verdicts.append(of_run)
            if progress is not None and (done % EVERY == 0 or done == total):
                progress(AskingProgress(done, total, 0, 0.0, "outputs checked"))
    return verdicts


def _join_verdicts(of_run: Sequence[CheckVerdict]) -> CheckVerdict:
    """Several checks as one: it passes if all of them pass."""
    mark = _all_pass([verdict.passed for verdict in of_run])
    evidences = [verdict.evidence or "" for verdict in of_run if verdict.passed is mark]
    return CheckVerdict(mark, "; ".join(dict.fromkeys(evidences)))


def _select_target(rows: pl.DataFrame, target: str) -> pl.DataFrame:
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
    return _collect_runs(
        verdict_unscored(RUN_ERRORED) if status == "errored" else there.get(run, none)
        for run, status in enumerate(runs["status"])
    )


def _collect_runs(verdicts: Iterable[CheckVerdict]) -> OnRuns:
    passed, evidence = zip(*((one.passed, one.evidence) for one in verdicts), strict=True)
    return OnRuns(passed, evidence)


# ── notes ────────────────────────────────────────────────────────────────────────────────────


def _list_notes(trial: Trial, verdicts: Sequence[Sequence[CheckVerdict]]) -> Iterator[str]:
    """What was left out, and why."""
    gone = set(trial.draft.evals) - set(trial.runs["eval_id"])
    if gone:
        yield f"There is no stored run of {', '.join(sorted(gone, key=natural_key))}."
    reasons = Counter(
        verdict.evidence
        for of_run in verdicts
        for verdict in of_run
        if verdict.passed is None and verdict.evidence
    )
    for reason, times in reasons.most_common(MOST):
        yield f"{times} × {reason}"


# ── gates and rates ──────────────────────────────────────────────────────────────────────────


def _rate_runs(
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


# ── rubric dimensions, judged within a budget or priced ──────────────────────────────────────


def _try_dimensions(trial: Trial) -> Tried:
    """Judge new dimensions on stored outputs if that is free or within a budget; else price it.

    If a dimension is only removed or gets another weight, nothing has to be judged.
    """
    import polars as pl

    draft, ws, runs = trial.draft, trial.ws, trial.runs
    new = [_read_item(item, Dimension, "name") for item in draft.new]
    stored = _stored_scores(trial)
    rows = ws.polars("dimensions").filter(pl.col("eval_id").is_in(runs["eval_id"].to_list()))
    found: dict[What, OnRuns] = {}
    target = None if draft.target is None else _target_name(rows, draft.target)
    if target is not None:
        by_place = dict(stored.filter(dimension=target).select("run", "score").iter_rows())
        found["replaced"] = OnRuns([by_place.get(at) for at in range(runs.height)])
    judged, notes, begins = _Judged(), (), ""
    if target is not None and (not new or _is_reweighed(rows, target, new)):
        old = found["replaced"].values
        if not any(old):
            return trial.conclude("not tried", f"No stored run has a score on {target}.")
        coming = {dimension.name: (dimension.weight, old) for dimension in new}
        begins = f"With weight {new[0].weight:g} of {target}" if new else ""
    else:
        judged = _judge_dimensions(trial, new)
        if isinstance(judged, Tried):
            return judged
        notes = tuple(judged.notes(runs))
        coming = {
            dimension.name: (dimension.weight, judged.scores(dimension.name, runs.height))
            for dimension in new
        }
        evidence = [judged.evidence(at) for at in range(runs.height)]
        found = {"draft": OnRuns(_weighted_scores(list(coming.values())), evidence), **found}
    return trial.make_compared_result(
        found,
        _rubric_means(runs, stored, target, coming),
        (MEAN,),
        scored=True,
        begins=begins,
        cost_usd=judged.cost_usd,
        to_judge=judged.to_judge,
        notes=notes,
    )


# ── judging ──────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Judged:
    """The judgings so far.

    Attributes:
        model: the model that judges.
        judgings: the judgings, by the index of the run.
        unscored: why a run has none, by its index.
        to_judge: how many are missing.
        cost_usd: what was spent; None if a price is not known.
    """

    model: str = ""
    judgings: dict[int, Judging] = field(default_factory=dict)
    unscored: dict[int, str] = field(default_factory=dict)
    to_judge: int = 0
    cost_usd: float | None = 0.0

    def scores(self, name: str, n_runs: int) -> list[float | None]:
        """The score of each run in a dimension."""
        rubrics = {at: judging.rubric_scores for at, judging in self.judgings.items()}
        found = {at: rubric[name].score for at, rubric in rubrics.items() if name in rubric}
        return [found.get(at) for at in range(n_runs)]

    def evidence(self, place: int) -> str:
        """The evidence for the scores of a run, or why it has none."""
        if place not in self.judgings:
            return f"Not scored: {self.unscored.get(place)}"
        scores = self.judgings[place].rubric_scores.values()
        return "; ".join(score.evidence or "" for score in scores)

    def notes(self, runs: pl.DataFrame) -> Iterator[str]:
        """What was left out and why, and a warning about the judge."""
        for reason, times in Counter(self.unscored.values()).most_common(MOST):
            yield f"{count(times, 'run')}: {reason}."
        for executor in sorted(set(runs["executor_model"].drop_nulls())):
            if (warning := same_model(self.model, executor)) is not None:
                yield warning


def _judge_dimensions(trial: Trial, new: Sequence[Dimension]) -> _Judged | Tried:
    """The judgings of new dimensions, stored and new; or a result that says what they need.

    Judgings are stored one per file in `.skill-eval-nb/tries/<draft>/judgings` of the workspace. A
    file's name is a hash of the model and of all that it was shown and asked, so that any change
    makes a new question.

    Raises:
        Stopped: `stop` was set before the end.
        Refused: there is a budget and no known price, the draft is being tried already, or the
            folder cannot be written.
        OSError: a judging cannot be written.
        ModelFault: no API key was found; nothing was sent.
    """
    models = sorted(set(trial.runs["judge_model"].drop_nulls()))
    model = trial.terms.model(trial.judge_model, models)
    if not isinstance(model, str):
        judges = f"{', '.join(models)} judged these runs" if models else "no run names one"
        answer = f"This needs a judge, and {judges}: name a model with judge_model."
        return trial.conclude("not tried", answer)
    terms, connection = trial.terms, trial.terms.connection
    free = model in MODELS if connection is None else connection.stand_in is not None
    dry_run = terms.budget_usd is None and not free
    found = _Judged(model)
    items = dict(_prepare_items(found, trial, model, new))
    every = list(items.values())
    mine = replace(terms, budget_usd=None if free else terms.budget_usd, dry_run=dry_run)
    answers = answers_of(every, partial(_stored_judgings, every), "a try-out", mine)
    for place, item in items.items():
        if item.key in answers.values:
            found.judgings[place] = answers.values[item.key]
        elif item.key in answers.failed:
            found.unscored[place] = answers.failed[item.key].reason
    found.to_judge = len(items) - len(found.judgings)
    found.cost_usd = 0.0 if free else answers.cost_usd
    if not (dry_run and found.to_judge):
        return found
    usd = answers.worst_usd
    price = "its price is unknown: add it to the price table"
    if usd is not None:
        price = f"{dollars(usd)} at most: set budget_usd to do it"
    return trial.conclude(
        "priced",
        f"{count(found.to_judge, 'run')} would be judged by {clip(model)}; {price}.",
        price_usd=usd,
        to_judge=found.to_judge,
        notes=tuple(found.notes(trial.runs)),
    )


def _prepare_items(
    found: _Judged, trial: Trial, model: str, new: Sequence[Dimension]
) -> Iterator[tuple[int, Item[Judging]]]:
    """The runs that can be judged, prepared one by one; the others are noted in `found`."""
    judge, rubric, runs = Judge(model), QualityRubric(list(new)), trial.runs
    sides = tuple(sorted(set(trial.ws.polars("runs")["configuration"])))
    stored = stored_at(runs.filter(runs["reason"].is_null())["folder"])
    for place, row in enumerate(runs.iter_rows(named=True)):
        try:
            prepared = prepare(judge, _judge_case(row, stored.get(row["folder"]), rubric, sides))
        except Unjudged as error:
            found.unscored[place] = error.reason
            continue
        (question,) = questions(prepared, 1)
        content = json.dumps([question.model, question.body()["messages"]], sort_keys=True)
        name = hashlib.sha256(content.encode()).hexdigest()[:24]
        folder = judgings_folder(top_of(Path(row["folder"]).resolve()), trial.draft.key)
        save = partial(_save_judging, prepared, trial.terms.known_prices, folder / f"{name}.json")
        yield place, Item(name, name, replace(question, key=name), folder, save)


def _save_judging(prepared: Any, prices: Prices, path: Path, answered: Answered[Answer]) -> Judging:
    judging = judging_of(
        prepared,
        1,
        [answered.value],
        answered.usage,
        prices=prices,
        refused=answered.refused,
        seconds=answered.seconds,
    )
    write_atomic(path, to_json(dump(judging)))
    return judging


def judgings_folder(home: Path, key: str) -> Path:
    """The folder for the judgings of a draft in this workspace; an odd key gets a plain name.

    >>> judgings_folder(Path("ws"), "d-12ab").parts[-5:]
    ('ws', '.skill-eval-nb', 'tries', 'd-12ab', 'judgings')

    Raises:
        OSError: a link leads out of the workspace.
    """
    name = key if _PLAIN.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()[:16]
    return own_folder(home, "tries", name, "judgings")  # `judgings` are never taken for results


def _stored_judgings(items: Sequence[Item[Judging]]) -> dict[str, Judging]:
    """The stored judgings; unreadable ones are ignored."""
    paths = (item.folder / f"{item.key}.json" for item in items if item.folder is not None)
    found = documents_at(paths, Judging)
    return {path.stem: judging for path, judging in found if judging.rubric_scores}


def _judge_case(
    row: Mapping[str, Any], run: StoredRun | None, rubric: QualityRubric, sides: tuple[str, ...]
) -> Case:
    """A run as a judge sees it, with only these dimensions.

    Raises:
        Unjudged: it cannot be judged, or was gated.
    """
    if run is None:
        raise Unjudged(row["reason"] or "it has no stored outputs")
    if row["gate_passed"] is False:
        raise Unjudged("it failed the gate, so the judge is skipped")
    if run.eval is None or not run.eval.prompt:
        raise Unjudged("the prompt of its eval is unknown")
    own = Eval(run.eval.prompt, expected_output=run.eval.expected_output, quality_rubric=rubric)
    names = (top_of(run.folder).name.removesuffix("-workspace"), row["skill"])
    return case_of(replace(run, eval=own), tuple(dict.fromkeys(names)), sides)


# ── scores and weights ───────────────────────────────────────────────────────────────────────


def _stored_scores(trial: Trial) -> pl.DataFrame:
    """Each run's scores, averaged over judgings: `run` (its index), dimension, score, weight."""
    import polars as pl

    rows = trial.select_rows("rubric_scores").drop_nulls("score")
    return rows.group_by("run", "dimension", maintain_order=True).agg(
        pl.col("score").sort().mean(), pl.col("weight").first()
    )


def _target_name(rows: pl.DataFrame, target: str) -> str:
    """The name of the dimension with this id, else with this name."""
    ids = rows.filter(rows["dimension_id"] == target)["dimension"]
    names = [name for name in rows["dimension"].unique() if plain(name) == plain(target)]
    return next(iter([*ids, *names]), target)


def _is_reweighed(rows: pl.DataFrame, target: str, new: Sequence[Dimension]) -> bool:
    """Whether a draft only changes a weight, so that the stored scores are still valid."""
    if len(new) != 1 or plain(new[0].name) != plain(target):
        return False
    stated = rows.filter(dimension=target).select("description", "anchors").unique().rows()
    return bool(stated) and all(
        (description or None) == (new[0].description or None)
        and (json.loads(anchors) if anchors else {}) == new[0].scoring
        for description, anchors in stated
    )


def _weighted_scores(given: Sequence[tuple[float, Values]]) -> Values:
    """The weighted mean of dimensions, for each run; a single dimension is its own mean."""
    weights = [weight for weight, _ in given]
    if len(given) == 1:
        return given[0][1]
    rows = zip(*(scores for _, scores in given), strict=True)
    return [fmean(row, weights) if None not in row and any(weights) else None for row in rows]


def _rubric_means(
    runs: pl.DataFrame,
    scores: pl.DataFrame,
    target: str | None,
    new: Mapping[str, tuple[float, Values]],
) -> pl.DataFrame:
    """`rubric_weighted_mean_before` as stored, and `_after`.

    After is null if a run has no score in a new dimension, or its scores are not stored one by
    one; a run without any score stays as it is.

    Args:
        runs: as in `Trial`.
        scores: the result of `_stored_scores`.
        target: the dimension to remove.
        new: the weight and the scores of each new dimension, run by run.
    """
    import polars as pl

    score, weight = pl.col("score"), pl.col("weight")
    rest = scores if target is None else scores.filter(pl.col("dimension") != target)
    sums = rest.group_by("run").agg(
        (score * weight).sum().alias("scored"), weight.sum().alias("weighed")
    )
    wide = runs.with_row_index("run").select("run", MEAN)
    for table in (scores.select("run", stored=True).unique(), sums):
        wide = wide.join(table, on="run", how="left", maintain_order="left")
    scored, weighed = pl.col("scored").fill_null(0.0), pl.col("weighed").fill_null(0.0)
    for own, values in new.values():
        scored += pl.lit(pl.Series(values, dtype=pl.Float64)) * own
        weighed += own
    after = pl.when(pl.col("stored") & (weighed > 0)).then(scored / weighed)
    return wide.select(pl.col(MEAN).alias(MEAN + BEFORE), after.alias(MEAN + AFTER))
