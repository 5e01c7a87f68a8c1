"""Which stored runs can be judged, what is to be judged of each, and what has come of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, Judging, NotJSON, Structural, Timing, parse
from skill_eval_nb.grading.judge import Case, Judge, Prepared, Unjudged, worst
from skill_eval_nb.grading.judge import judge as judge_it
from skill_eval_nb.grading.structural.types import is_checked
from skill_eval_nb.models import BudgetSpent, Client, Connection, Prices, Tally, Usage, together

from .asking import NO_MONEY, AskingProgress
from .budget import Budget, BudgetQueue, Reservation
from .refused import refuse
from .regrading import (
    ExistingGrades,
    UnreadableGrading,
    document,
    heal,
    judged,
    preserve,
    regrade,
    write_judging,
)
from .stored_runs import StoredRun

_DOCUMENTS = ("metrics.json", "grading.json", "timing.json")
"""What other tools put among the outputs, though the executor did not make it."""


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """A run that can be judged: what its judge is shown, and the judgings it has."""

    run: StoredRun
    case: Case
    before: ExistingGrades


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that was not judged, and why."""

    folder: Path
    reason: str


def work_of(runs: Iterable[StoredRun]) -> tuple[list[JudgeTask], list[LeftOut]]:
    """The runs that can be judged, and the others with the reason."""
    runs = list(runs)
    shared = {folder for folder, many in Counter(run.folder for run in runs).items() if many > 1}
    work: list[JudgeTask] = []
    left: list[LeftOut] = []
    skills = {workspace: _skill_names(workspace) for workspace in {run.workspace for run in runs}}
    sides: dict[Path, set[str]] = {}
    for run in runs:
        sides.setdefault(run.workspace, set()).add(run.configuration)
    for run in runs:
        try:
            reason = "several runs share this folder" if run.folder in shared else _why_not(run)
            if reason is None:
                case = case_of(run, skills[run.workspace], tuple(sides[run.workspace]))
                work.append(JudgeTask(run, case, judged(run.folder)))
                continue
        except UnreadableGrading as error:
            reason = str(error)
        left.append(LeftOut(run.folder, reason))
    return work, left


def case_of(run: StoredRun, skills: tuple[str, ...], sides: tuple[str, ...]) -> Case:
    """A stored run as a judge is to see it; its eval and outputs must be known.

    `skills` and `sides` have the names of the workspace's skill and of all configurations.
    """
    assert run.eval is not None
    assert run.outputs is not None
    rubric = run.eval.quality_rubric
    return Case(
        prompt=run.eval.prompt,
        expected_output=run.eval.expected_output,
        expectations=tuple(
            expectation for expectation in run.eval.expectations if not is_checked(expectation)
        ),
        dimensions=tuple(rubric.dimensions if rubric is not None else ()),
        outputs=run.outputs,
        transcript=run.transcript,
        key=_key(run),
        inputs=run.inputs,
        hidden=skills,
        configurations=sides,
        ignored=tuple(_ignored(run)),
    )


def _key(run: StoredRun) -> str:
    """The same wherever the workspace lies, and no word of what it is made from."""
    parts = [run.eval_id, run.eval_name, run.iteration, run.configuration, str(run.run_number)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def _ignored(run: StoredRun) -> Iterable[str]:
    if run.transcript is not None and run.transcript.parent == run.outputs:
        yield run.transcript.name
    if not (run.folder / "metrics.json").is_file():
        yield from _DOCUMENTS


def _why_not(run: StoredRun) -> str | None:
    if run.eval is None:
        return (
            "its eval is not defined: there is no evals.json with it, and no eval_metadata.json "
            "with its prompt"
        )
    rubric = run.eval.quality_rubric
    if not (rubric and rubric.dimensions) and all(map(is_checked, run.eval.expectations)):
        return "its eval has neither expectations for a judge nor a rubric"
    structural = document(run.folder / "structural.json", Structural)
    if structural is not None and structural.gate_passed is False:
        return "gated: a critical structural expectation failed, so the judge is skipped"
    timing = document(run.folder / "timing.json", Timing)
    if timing is not None and timing.status == "errored":
        reason = timing.reason or "no reason was noted"
        if not reason.startswith("judge:"):
            return f"the run is errored ({reason})"
    if run.outputs is None:
        linked = (run.folder / "outputs").is_symlink()
        return "its outputs are a link that leads elsewhere" if linked else "it has no outputs"
    return None


def _skill_names(workspace: Path) -> tuple[str, ...]:
    """What a workspace's skill is called, as far as it says."""
    names = [workspace.name.removesuffix("-workspace")]
    for name in ("evals.json", "evals/evals.json", "benchmark.json"):
        try:
            raw = parse(read_bytes(workspace / name, workspace), Faults())
        except (NotJSON, OSError):  # it is told by the loader; here it only names the skill
            continue
        if isinstance(raw, dict):
            metadata = raw.get("metadata")
            names += [
                document["skill_name"]
                for document in (raw, metadata)
                if isinstance(document, dict) and isinstance(document.get("skill_name"), str)
            ]
    return tuple(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A judging that there is none of, and why."""

    folder: Path
    judging: int
    reason: str


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """What became of judging stored runs anew.

    Attributes:
        status: `done`; `partial` where a judging failed or the budget was too small.
        judged: folders of the runs and the numbers of their new judgings.
        failed: judgings that there are none of, each with its reason.
        left_out: runs that could not be judged at all, each with its reason.
        kept: gradings that were not made anew, each with its reason; the judgings lie beside.
        usage: tokens of all calls that were answered.
        cost_usd: what they cost; None where a price is not known.
        message: what to know beside that, in words; "" where there is nothing.
    """

    status: str
    judged: tuple[tuple[Path, int], ...]
    failed: tuple[NotJudged, ...]
    left_out: tuple[LeftOut, ...]
    kept: tuple[LeftOut, ...]
    usage: Usage
    cost_usd: float | None
    message: str = ""

    def __repr__(self) -> str:
        """What a notebook shows: the counts, and every reason once."""
        cost = "a price is not known" if self.cost_usd is None else f"${self.cost_usd:.4f}"
        runs = len({folder for folder, _ in self.judged})
        lines = [f"{self.status}: {len(self.judged)} judgings of {runs} runs, {cost}"]
        reasons = [
            *(("failed", failure.reason) for failure in self.failed),
            *(("left out", run.reason) for run in self.left_out),
            *(("kept", run.reason) for run in self.kept),
        ]
        for what, reason in dict.fromkeys(reasons):
            lines.append(f"{what}: {reasons.count((what, reason))} × {reason}")
        return "\n".join([*lines, self.message] if self.message else lines)


@dataclass(frozen=True, slots=True)
class RejudgeSpec:
    """What `judge_again` was asked for."""

    home: Path
    judge: Judge
    wanted: Mapping[Path, int]
    """How many judgings each run is to have in the end, by its folder."""
    connection: Connection
    prices: Prices
    budget_usd: float | None
    concurrency: int
    progress: Callable[[AskingProgress], None] | None = None

    def numbers(self, work: JudgeTask) -> range:
        """The numbers of the judgings that a run lacks."""
        return range(work.before.last + 1, self.wanted[work.run.folder] + 1)


@dataclass
class JudgeState:
    """What has come of it so far, and the money."""

    order: RejudgeSpec
    total: int
    left_out: list[LeftOut]
    tally: Tally = field(default_factory=Tally)
    judged: list[tuple[Path, int]] = field(default_factory=list)
    failed: list[NotJudged] = field(default_factory=list)
    kept: list[LeftOut] = field(default_factory=list)
    message: str = ""

    def __post_init__(self) -> None:
        """Begin the budget; a ceiling needs prices to hold.

        Raises:
            Refused: there is a ceiling, and no known price.
        """
        order = self.order
        self.budget = Budget(order.budget_usd, order.prices)
        known = order.prices.cost(Tally().usage, order.judge.model)
        if order.budget_usd is not None and known is None:
            raise refuse(
                f"no price is known for `{order.judge.model}`, so no budget can be kept: add it "
                "to the table of prices, or leave budget_usd out"
            )
        self._turns = BudgetQueue(self.budget)

    async def allot(self, prepared: Prepared) -> Reservation | None:
        """Money for one judging at its worst; waits for what is in flight, where it must."""
        bound = worst(prepared.judge, prepared.case, prepared=prepared)
        usd = self.order.prices.cost(bound, prepared.judge.model)
        return await self._turns.allot(None if self.order.budget_usd is None else usd)

    def close(self, reservation: Reservation) -> None:
        """Give back what is left of it."""
        self._turns.close(reservation)

    def ended(self, work: JudgeTask, number: int, reason: str | None) -> None:
        """Note that a judging has ended, with the reason where there is none."""
        folder = work.run.folder
        if reason is None:
            self.judged.append((folder, number))
        else:
            self.failed.append(NotJudged(folder, number, reason))
        if self.order.progress is not None:
            done = len(self.judged) + len(self.failed)
            run = work.run
            what = f"{run.eval_name}, {run.configuration}, run {run.run_number}, judging {number}"
            self.order.progress(
                AskingProgress(done, self.total, len(self.failed), self.budget.spent_usd, what)
            )

    def result(self) -> JudgedAgain:
        """What came of it in the end."""
        return JudgedAgain(
            status="partial" if self.failed else "done",
            judged=tuple(sorted(self.judged)),
            failed=tuple(sorted(self.failed, key=lambda fault: (fault.folder, fault.judging))),
            left_out=tuple(self.left_out),
            kept=tuple(self.kept),
            usage=self.tally.usage,
            cost_usd=self.tally.cost(self.order.prices),
            message=self.message,
        )


async def judge_once(
    client: Client,
    books: JudgeState,
    work: JudgeTask,
    prepared: Prepared,
    number: int,
    new: dict[int, Judging],
) -> str | None:
    """Judge once; the judging goes into `new`. Gives the reason where there is none."""
    judge, prices = books.order.judge, books.order.prices
    reservation = await books.allot(prepared)
    if reservation is None:
        return NO_MONEY
    meter = together(reservation, books.tally)
    try:
        new[number] = await judge_it(
            client, judge, work.case, number, meter, prices=prices, prepared=prepared
        )
    except Unjudged as error:
        return error.reason
    except BudgetSpent as error:
        return str(error)
    finally:
        books.close(reservation)
    return None


def settle(work: JudgeTask, number: int, new: dict[int, Judging]) -> None:
    """Write a new judging, and make the grading anew.

    The judging comes first: should this be killed in between, nothing that was paid for is
    lost, and the grading is made of it at the next judging.
    """
    preserve(work.before)
    write_judging(work.run.folder, number, new[number])
    regrade(work.before, new, work.case.expectations, work.case.dimensions)
    heal(work.run.folder)


def note_kept(books: JudgeState, work: JudgeTask) -> None:
    """Note a grading that was not made anew."""
    if work.before.keep is not None:
        books.kept.append(LeftOut(work.run.folder, work.before.keep))
