"""Decide which stored runs can be judged and what to judge of each, and keep the results.

It also rebuilds a run's grading.json from its judgings.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from skill_eval_nb.disk import leads_out, read_bytes
from skill_eval_nb.documents import (
    Document,
    Expectation,
    Faults,
    Grading,
    Judging,
    Metrics,
    NotJSON,
    RubricScore,
    Structural,
    Timing,
    dump,
    mend,
    parse,
    to_json,
)
from skill_eval_nb.documents.run import STRUCTURAL
from skill_eval_nb.grading import grade
from skill_eval_nb.grading.grades import mean_scores
from skill_eval_nb.grading.judge import Case, Judge, Prepared, Unjudged, worst
from skill_eval_nb.grading.judge import judge as judge_it
from skill_eval_nb.grading.structural import is_checked
from skill_eval_nb.models import BudgetSpent, Client, Usage
from skill_eval_nb.text import count, dollars, natural_key
from skill_eval_nb.view import Block, Shown, Text, Title, reasons_table
from skill_eval_nb.workspace import write_atomic

from .asking import Account, LeftOut, Terms
from .estimate import CostPart
from .files import clear_error, write_judging
from .stored_runs import StoredRun
from .threads import finish_work

D = TypeVar("D", bound=Document)

_JUDGED = (
    "expectations summary rubric_scores rubric_summary claims user_notes_summary eval_feedback "
    "judge_model timestamp"
).split()
"""The fields of a grading that are made from judgings; the others stay as they are."""

_SAME = 0.051
"""Scores that differ by less are equal: some tools round to one decimal."""


@dataclass(frozen=True, slots=True)
class ExistingGrades:
    """The judgings that a run has, by their numbers, and its grading.

    Attributes:
        judgings: by number; from `judgings/N.json`, or the grading itself as the first.
        grading: as it was found; None if there is none.
        preserve: the judging that has to be written before the grading is made again, since
            what it holds is only in the grading.
        keep: why grading.json must not be rebuilt; None if it may be.
    """

    judgings: dict[int, Judging]
    grading: Grading | None
    preserve: int | None = None
    keep: str | None = None

    @property
    def last(self) -> int:
        """The highest number of a judging; 0 if there is none."""
        return max(self.judgings, default=0)


class UnreadableGrading(ValueError):
    """A required document cannot be read; the message says which and why."""


def read_existing(folder: Path) -> ExistingGrades:
    """The judgings of a run.

    Raises:
        UnreadableGrading: a judging or the grading cannot be read, and must not be overwritten.
    """
    for name in ("judgings", "grading.json", "timing.json"):  # what will be written
        if fault := leads_out(folder / name, folder):
            raise UnreadableGrading(f"{folder / name} cannot be written: {fault}")
    judgings = dict(_numbered_judgings(folder / "judgings"))
    timing = document(folder / "timing.json", Timing)
    places = [folder / "grading.json"]
    if timing is None or timing.executor is None:  # else what lies there is the agent's alone
        places.append(folder / "outputs" / "grading.json")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return ExistingGrades(judgings, None)
    grading, faults = _read_needed(found, Grading, folder)
    if grading.layer == STRUCTURAL:  # no judge's: what is judged now takes its place
        return ExistingGrades(judgings, None)
    useless = not grading.expectations and not grading.rubric_scores
    if useless and any(fault.severity == "error" for fault in faults):
        reason = f"{found.name} is not a grading of this run only; it was left unchanged"
        return ExistingGrades(judgings, grading, keep=reason)
    if not judgings:
        return ExistingGrades({1: _as_judging(grading)}, grading, preserve=1)
    return _grades_beside(judgings, grading)


def _numbered_judgings(folder: Path) -> list[tuple[int, Judging]]:
    found = []
    for path in folder.glob("*.json") if folder.is_dir() else ():
        judging, _ = _read_needed(path, Judging, folder.parent)
        number = int(path.stem) if path.stem.isdecimal() else judging.judging
        if number is None:
            raise UnreadableGrading(f"{path} has no number in its name: call it 1.json, 2.json, …")
        found.append((number, judging))
    return sorted(found, key=lambda pair: pair[0])


def _grades_beside(judgings: dict[int, Judging], grading: Grading) -> ExistingGrades:
    """Whether a grading next to judgings was made from them."""
    source = _find_source(grading, judgings)
    if source is None and grading.rubric_scores:
        reason = "grading.json was not made from the judgings next to it; it was left unchanged"
        return ExistingGrades(judgings, grading, keep=reason)
    if not grading.expectations or any(judging.expectations for judging in judgings.values()):
        return ExistingGrades(judgings, grading)
    # Verdicts that are only in the grading belong to the judging whose scores it shows.
    number = source or min(judgings)
    judgings[number].expectations = list(grading.expectations)
    return ExistingGrades(judgings, grading, preserve=number)


def _find_source(grading: Grading, judgings: dict[int, Judging]) -> int | None:
    """The judging whose scores a grading shows; the first if it shows a mean; else None."""
    every = list(judgings.values())
    alone = ((number, [judging]) for number, judging in judgings.items())
    means = ((min(judgings), every[:many]) for many in range(2, len(every) + 1))
    shown = grading.rubric_scores
    return next((number for number, some in (*alone, *means) if _are_means(shown, some)), None)


def _are_means(scores: dict[str, RubricScore], judgings: Sequence[Judging]) -> bool:
    """Whether scores are the means of those of some judgings."""
    stated = {name: score.score for name, score in scores.items() if score.score is not None}
    means = mean_scores(judgings)
    return (
        scores.keys() == {name for judging in judgings for name in judging.rubric_scores}
        and stated.keys() == means.keys()
        and all(abs(stated[name] - (means[name].score or 0)) <= _SAME for name in stated)
        and bool(scores)
    )


def _as_judging(grading: Grading) -> Judging:
    """A grading as the one judging that it is."""
    fields = {name: getattr(grading, name) for name in _JUDGED if name != "summary"}
    seconds = grading.timing.grader_duration_seconds if grading.timing is not None else None
    return Judging(judging=1, seconds=seconds, **fields)


def regrade_run(task: JudgeTask) -> None:
    """Rebuild grading.json from the old and the new judgings.

    Fields that are not made from judgings stay as they were, as do unknown fields.

    Raises:
        OSError: it cannot be written.
        UnreadableGrading: a document beside it cannot be read.
    """
    before, case = task.before, task.case
    if before.keep is not None or not task.new:
        return
    folder = task.run.folder
    every = {**before.judgings, **task.new}
    new_grading = grade(
        document(folder / "structural.json", Structural),
        [align_judging(every[number], case.expectations) for number in sorted(every)],
        document(folder / "metrics.json", Metrics),
        document(folder / "timing.json", Timing),
        dimensions=case.dimensions,
    )
    grading = before.grading
    if grading is None:
        grading = new_grading
    else:
        for name in _JUDGED:
            value = getattr(new_grading, name)
            if value is not None or name in ("rubric_summary", "summary"):
                setattr(grading, name, value)
        _take_times(grading, new_grading)
    write_atomic(folder / "grading.json", to_json(dump(grading)))


def _take_times(grading: Grading, new_grading: Grading) -> None:
    """The judge's time; what else a grading says of the run's time and tokens stays."""
    if grading.timing is None:
        grading.timing = new_grading.timing
    elif new_grading.timing is not None and new_grading.timing.grader_duration_seconds is not None:
        grader = grading.timing.grader_duration_seconds = new_grading.timing.grader_duration_seconds
        executor = new_grading.timing.executor_duration_seconds
        if grading.timing.total_duration_seconds is not None and executor is not None:
            grading.timing.total_duration_seconds = round(executor + grader, 3)


def align_judging(judging: Judging, expectations: Sequence[Expectation]) -> Judging:
    """A judging whose verdicts have the suite's words, so that votes are counted together.

    A verdict belongs to an expectation by its id, else by its text, else (if there are equally
    many) by its position.
    """
    by_id = {
        expectation.id: expectation for expectation in expectations if expectation.id is not None
    }
    by_text = {_fold_case(expectation.text): expectation for expectation in expectations}
    known = [
        (by_id.get(expectation.id) if expectation.id is not None else None)
        or by_text.get(_fold_case(expectation.text))
        for expectation in judging.expectations
    ]
    if not any(known) and len(known) == len(expectations):
        known = list(expectations)
    return msgspec.structs.replace(
        judging,
        expectations=[
            verdict
            if wanted is None
            else msgspec.structs.replace(verdict, text=wanted.text, id=wanted.id)
            for verdict, wanted in zip(judging.expectations, known, strict=True)
        ],
    )


def _fold_case(text: str) -> str:
    return " ".join(text.lower().split())


def document(path: Path, kind: type[D]) -> D | None:
    """A document beside a run's others; None if there is none.

    Raises:
        UnreadableGrading: there is one, and it cannot be read.
    """
    return _read_needed(path, kind, path.parent)[0] if path.is_file() else None


def _read_needed(path: Path, kind: type[D], run: Path) -> tuple[D, Any]:
    try:
        raw = parse(read_bytes(path, run), Faults())
    except (NotJSON, OSError) as error:
        raise UnreadableGrading(
            f"{path} cannot be read ({error}); correct or remove it first"
        ) from error
    return mend(raw, kind)


_DOCUMENTS = ("metrics.json", "grading.json", "timing.json")
"""Files that other tools put among the outputs, though the executor did not make them."""


@dataclass(slots=True)
class JudgeTask:
    """A run that can be judged.

    Attributes:
        run: the run.
        case: what its judge sees.
        before: its judgings so far.
        wanted: how many judgings it is to have in the end.
        new: its new judgings, by their numbers.
    """

    run: StoredRun
    case: Case
    before: ExistingGrades
    wanted: int = 0
    new: dict[int, Judging] = field(default_factory=dict)

    @property
    def numbers(self) -> range:
        """The numbers of the judgings that it lacked at the beginning."""
        return range(self.before.last + 1, self.wanted + 1)

    @property
    def next_number(self) -> int:
        """The number of its next judging: there are no gaps, also if one has failed."""
        return self.before.last + 1 + len(self.new)


def work_of(runs: Iterable[StoredRun]) -> tuple[list[JudgeTask], list[LeftOut]]:
    """The runs that can be judged, and the others with the reason."""
    runs = list(runs)
    work: list[JudgeTask] = []
    left: list[LeftOut] = []
    number = Counter(run.folder for run in runs)
    sides: dict[Path, set[str]] = {}
    for run in runs:
        sides.setdefault(run.workspace, set()).add(run.configuration)
    skills = {workspace: _skill_names(workspace) for workspace in sides}
    for run in runs:
        shared = "several runs share this folder" if number[run.folder] > 1 else None
        try:
            if (reason := shared or _why_not_judged(run)) is None:
                case = case_of(run, skills[run.workspace], tuple(sides[run.workspace]))
                work.append(JudgeTask(run, case, read_existing(run.folder)))
        except UnreadableGrading as error:
            reason = str(error)
        if reason is not None:
            left.append(LeftOut(str(run.folder), reason))
    return work, left


def case_of(run: StoredRun, skills: tuple[str, ...], sides: tuple[str, ...]) -> Case:
    """A stored run as a judge sees it; its eval and outputs must be known.

    `skills` and `sides` have the names of the workspace's skill and of all configurations.
    """
    assert run.eval is not None
    assert run.outputs is not None
    rubric = run.eval.quality_rubric
    # The same wherever the workspace is, and without a trace of its content.
    parts = [run.eval_id, run.eval_name, run.iteration, run.configuration, str(run.run_number)]
    return Case(
        prompt=run.eval.prompt,
        expected_output=run.eval.expected_output,
        expectations=tuple(
            expectation for expectation in run.eval.expectations if not is_checked(expectation)
        ),
        dimensions=tuple(rubric.dimensions if rubric is not None else ()),
        outputs=run.outputs,
        transcript=run.transcript,
        key=hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24],
        inputs=run.inputs,
        hidden=skills,
        configurations=sides,
        ignored=tuple(_ignored_names(run)),
    )


def _ignored_names(run: StoredRun) -> Iterable[str]:
    if run.transcript is not None and run.transcript.parent == run.outputs:
        yield run.transcript.name
    if not (run.folder / "metrics.json").is_file():
        yield from _DOCUMENTS


def why_not_shown(run: StoredRun) -> str | None:
    """Why a stored run cannot be shown to a model, in words; None if it can.

    Raises:
        UnreadableGrading: its timing.json cannot be read.
    """
    if run.eval is None:
        return (
            "its eval is not defined: there is no evals.json with it, and no eval_metadata.json "
            "with its prompt"
        )
    timing = document(run.folder / "timing.json", Timing)
    if timing is not None and timing.status == "errored":
        reason = timing.reason or "no reason was recorded"
        if not reason.startswith("judge:"):
            return f"the run is errored ({reason})"
    if run.outputs is None:
        linked = (run.folder / "outputs").is_symlink()
        return "its outputs are a link that leads elsewhere" if linked else "it has no outputs"
    return None


def _why_not_judged(run: StoredRun) -> str | None:
    if (why := why_not_shown(run)) is not None:
        return why
    assert run.eval is not None
    rubric = run.eval.quality_rubric
    if not (rubric and rubric.dimensions) and all(map(is_checked, run.eval.expectations)):
        return "its eval has neither expectations for a judge nor a rubric"
    structural = document(run.folder / "structural.json", Structural)
    if structural is not None and structural.gate_passed is False:
        return "gated: a critical structural expectation failed, so the judge is skipped"
    return None


def _skill_names(workspace: Path) -> tuple[str, ...]:
    """The name of a workspace's skill, if it is stated."""
    names = [workspace.name.removesuffix("-workspace")]
    for name in ("evals.json", "evals/evals.json", "benchmark.json"):
        try:
            raw = parse(read_bytes(workspace / name, workspace), Faults())
        except (NotJSON, OSError):  # it is told by the loader; here it only names the skill
            continue
        if isinstance(raw, dict):
            stated = (raw, raw.get("metadata"))
            names += [str(one.get("skill_name") or "") for one in stated if isinstance(one, dict)]
    return tuple(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True, slots=True, repr=False)
class JudgedAgain(Shown):
    """The result of judging stored runs again.

    Attributes:
        status: `done`; `partial` if a judging failed or the budget was too small; `dry run` if no
            model was asked.
        model: the model that judges.
        judged: folders of the runs and the numbers of their new judgings.
        failed: judgings that failed, each with the reason.
        left_out: runs that could not be judged at all, each with the reason.
        kept: gradings that were not rebuilt, each with the reason; the judgings are next to them.
        usage: tokens of all calls that were answered.
        cost_usd: what they cost; None if a price is not known.
        n_missing: judgings still missing.
        worst_usd: the most that those of a dry run can cost, in US dollars; None if a price is not
            known.
        estimate: what those of a dry run may come to, about; None if it was none.
        before: how many judgings the runs had already, by the model that judged.
        message: anything else worth knowing; "" if there is nothing.
    """

    status: str
    model: str
    judged: tuple[tuple[Path, int], ...]
    failed: tuple[LeftOut, ...]
    left_out: tuple[LeftOut, ...]
    kept: tuple[LeftOut, ...]
    usage: Usage
    cost_usd: float | None
    n_missing: int
    worst_usd: float | None = 0.0
    estimate: CostPart | None = None
    before: Mapping[str, int] = field(default_factory=dict)
    message: str = ""

    def _blocks(self) -> Iterator[Block]:
        if self.status == "dry run":
            most = dollars(self.worst_usd)
            made = count(self.n_missing, "judging")
            yield Title(f"dry run: {made} by {self.model}, {most} at most")
        else:
            runs = len({folder for folder, _ in self.judged})
            made = f"{count(len(self.judged), 'judging')} of {count(runs, 'run')}"
            yield Title(f"{self.status}: {made}, {dollars(self.cost_usd)}")
        kinds = {"failed": self.failed, "left out": self.left_out, "kept": self.kept}
        why = [(kind, each.reason) for kind in kinds for each in kinds[kind]]
        yield reasons_table(why, "What was not done")
        yield Text(self.message)


@dataclass
class Rejudging:
    """Stored runs that are being judged.

    Attributes:
        home: the folder that was named.
        judge: the judge.
        work: the runs to judge.
        terms: how the judge is asked.
        money: what may be spent, and the progress.
        failed: judgings that there are none of.
        message: anything else worth knowing.
    """

    home: Path
    judge: Judge
    work: Sequence[JudgeTask]
    terms: Terms
    money: Account
    failed: list[LeftOut] = field(default_factory=list)
    message: str = ""

    async def judge_once(self, client: Client, task: JudgeTask, prepared: Prepared) -> Judging:
        """Judge once.

        Raises:
            Unjudged: there is no judging; it says why.
        """
        try:
            async with self.money.meter(self.judge.model, worst(prepared)) as meter:
                return await judge_it(
                    client, prepared, task.next_number, meter, prices=self.money.prices
                )
        except BudgetSpent as error:
            raise Unjudged(str(error)) from error

    async def keep(self, task: JudgeTask, judging: Judging) -> None:
        """Write a judging at once."""
        number = judging.judging = task.next_number
        task.new[number] = judging
        await finish_work(asyncio.to_thread(store_judging, task, number), then_go=True)
        self._count(task, number)

    def fail(self, task: JudgeTask, number: int, reason: str) -> None:
        """Keep the reason why there is no judging."""
        self.failed.append(LeftOut(f"{task.run.folder}, judging {number}", reason))
        self._count(task, number, failed=True)

    def _count(self, task: JudgeTask, number: int, *, failed: bool = False) -> None:
        run = task.run
        what = f"{run.eval_name}, {run.configuration}, run {run.run_number}, judging {number}"
        self.money.count_ended(what, failed=failed)

    def result(self, left_out: Iterable[LeftOut], **more: Any) -> JudgedAgain:
        """The result; `more` has other fields of it."""
        judged = sorted((task.run.folder, number) for task in self.work for number in task.new)
        used = self.money.budget
        lacking = sum(len(task.numbers) for task in self.work)
        before = (made for task in self.work for made in task.before.judgings.values())
        fields = JudgedAgain(
            status="partial" if self.failed else "done",
            model=self.judge.model,
            judged=tuple(judged),
            failed=tuple(sorted(self.failed, key=lambda fault: natural_key(fault.what))),
            left_out=tuple(left_out),
            kept=tuple(
                LeftOut(str(task.run.folder), task.before.keep)
                for task in self.work
                if task.new and task.before.keep is not None
            ),
            usage=used.usage,
            cost_usd=used.cost(self.money.prices),
            n_missing=lacking - len(judged),
            before=Counter(made.judge_model for made in before if made.judge_model),
            message=self.message,
        )
        return replace(fields, **more)


def store_judging(task: JudgeTask, number: int) -> None:
    """Write a new judging, and make the grading again.

    What is only in the grading is stored as a judging first. The new judging comes before the
    grading: should this be killed in between, nothing that was paid for is lost, and the grading is
    made of it at the next judging.
    """
    before, folder = task.before, task.run.folder
    if (kept := before.preserve) is not None and before.keep is None:
        write_judging(folder, kept, before.judgings[kept])
    write_judging(folder, number, task.new[number])
    regrade_run(task)
    clear_error(folder)
