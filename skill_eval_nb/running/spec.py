"""What a plan says, and what of it a run still lacks: values, which anybody may read and send on.

A run goes through executed → checked → judged → graded, each step written in one piece before
the next begins. So the files that are there are the steps that are done, and nothing else has to
be remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.models import Connection, Prices

from .iteration import Cell, Fingerprint
from .journal import read
from .protocol import Executor, Limits, SandboxKind, Skill
from .skill import SkillSource, stage
from .suite import PlannedEval, Suite

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Judge


EXECUTED = "timing.json"
"""Part of a run's folder from the moment that it has its place."""

CHECKED = "structural.json"
GRADED = "grading.json"
JUDGINGS = "judgings"

DONE, ERRORED = "done", "errored"
"""The status in timing.json of a run; one that errored is not to be graded."""

AFTER_RUN = ("check:", "judge:")
"""How the reason of an errored run begins, where the run itself is fine."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The steps that a run lacks; it is false where there is none.

    Attributes:
        execute: the run itself, and so everything that follows from it.
        check: the structural expectations.
        judgings: the numbers of the judgings. After a failed gate none of them is done,
            which cannot be known before the run is checked.
        grade: putting together what was checked and judged; it costs nothing.
    """

    execute: bool = False
    check: bool = False
    judgings: tuple[int, ...] = ()
    grade: bool = False

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def steps(self) -> tuple[str, ...]:
        """In words: execute, check, judge 1, …, grade."""
        judged = [f"judge {number}" for number in self.judgings]
        named = (("execute", self.execute), ("check", self.check))
        first = [name for name, lacks in named if lacks]
        return (*first, *judged, *(["grade"] if self.grade else []))


def state(
    folder: Path,
    judgings: int,
    has_structural: bool,
    has_judged: bool,
    *,
    gate: bool = True,
    retry_errored: bool = False,
) -> Missing:
    """The steps that a run lacks.

    Args:
        folder: the run's folder; it need not be there.
        judgings: how many judgings it is to have.
        has_structural: whether its eval has structural expectations.
        has_judged: whether its eval has something for a judge: expectations or a rubric.
        gate: whether a failed critical expectation skips the judge.
        retry_errored: whether a run that errored lacks what it errored in; it is done
            otherwise.
    """
    wanted = tuple(range(1, judgings + 1)) if has_judged else ()
    everything = Missing(execute=True, check=has_structural, judgings=wanted, grade=bool(wanted))
    if not (folder / EXECUTED).is_file():
        return everything
    failed = errored(folder)
    if failed is not None and not retry_errored:
        return Missing()
    if failed is not None and not failed.startswith(AFTER_RUN):
        return everything
    passed = _object(folder / CHECKED) if has_structural else {}
    if passed is None:
        return Missing(check=True, judgings=wanted, grade=bool(wanted))
    if gate and passed.get("gate_passed") is False:
        return Missing()
    lacks = tuple(n for n in wanted if not (folder / JUDGINGS / f"{n}.json").is_file())
    return Missing(judgings=lacks, grade=bool(wanted) and (bool(lacks) or _is_older(folder)))


def errored(folder: Path) -> str | None:
    """Why a run errored, in words; None where it did not, or was not executed yet."""
    timing = _object(folder / EXECUTED) or {}
    if timing.get("status") != ERRORED:
        return None
    return str(timing.get("reason") or "no reason was given")


def _is_older(folder: Path) -> bool:
    """Whether the grading is not there, or was made before one of the judgings.

    The job may have been killed between a further judging and the new grading. Grading
    costs nothing: once too often does no harm.
    """
    grading = folder / GRADED
    if not grading.is_file():
        return True
    graded = grading.stat().st_mtime_ns
    return any(path.stat().st_mtime_ns > graded for path in (folder / JUDGINGS).glob("*.json"))


def _object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; None where there is none that can be read."""
    try:
        found = parse(read_bytes(path), Faults())
    except (FileNotFoundError, NotJSON):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is to be made: its cell, its eval, the iteration's folder and its own."""

    cell: Cell
    eval: PlannedEval
    iteration: Path
    place: Path


@dataclass(frozen=True, slots=True)
class Hidden:
    """Names that tell a judge which side it looks at; all sides' names, for each of them."""

    skills: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Execute:
    """Everything that executing a run takes."""

    run: Run
    executor: Executor
    skill: Skill | None
    model: str
    limits: Limits
    sandbox: SandboxKind
    connection: Connection
    launch: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """Everything that checking a run takes.

    Attributes:
        gate: whether a failed critical expectation skips the judge.
        judged: whether a judge looks at the run once it is through the gate.
    """

    run: Run
    allow_scripts: bool
    sandbox: SandboxKind
    gate: bool = True
    judged: bool = True


@dataclass(frozen=True, slots=True)
class JudgeOnce:
    """Everything that one judging of a run takes."""

    run: Run
    judge: Judge
    number: int
    hidden: Hidden
    connection: Connection
    prices: Prices | None = None


Order = Execute | Check | JudgeOnce
"""A step that is to be done."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended.

    Attributes:
        reason: why it errored, in words for the user; None where it did not.
        trace: where in the code, if it was an error of a program and not of a model.
        seconds: wall clock.
        own_usd: what the executor says it cost, in US dollars, where it asked no meter.
    """

    reason: str | None = None
    trace: str | None = None
    seconds: float = 0.0
    own_usd: float | None = None


SNAPSHOTS = "skill-snapshot"
"""The folder of an iteration that holds the skills as they were offered."""


@dataclass(frozen=True, slots=True)
class Side:
    """A configuration: its name, and the skill that it offers, if any."""

    name: str
    skill: SkillSource | None


@dataclass(frozen=True, slots=True)
class Todo:
    """A cell that is not complete, and the steps that it lacks."""

    cell: Cell
    missing: Missing


@dataclass(frozen=True, repr=False)
class Spec:
    """What will be done, as a value: it can be kept, and sent to another process.

    Attributes:
        suite: the eval suite, whole.
        evals: the evals that are run.
        sides: the configurations, in the order they were given.
        workspace: the folder that the files go to.
        iteration: the number of the iteration.
        why_iteration: why it is this one, in words.
        cells: all runs, in the order in which they are launched.
        executor: what runs the prompts.
        executor_model: the model that works.
        judge_model: the model that judges; None where nothing is to be judged.
        judgings: judgings of each run.
        judge_per_dimension: whether each dimension is a call of its own.
        judge_batch: whether judging goes through the Message Batches API.
        budget_usd: the ceiling over all starts of the iteration, in US dollars.
        concurrency: steps at a time.
        seed: of the order.
        limits: of one run.
        sandbox: how the agents' commands are kept in.
        allow_scripts: whether `custom_script` expectations may run.
        connection: how the models are reached.
        prices: what calls cost.
        retry_errored: whether runs that errored are done again.
        fingerprint: what makes the iteration.
    """

    suite: Suite
    evals: tuple[PlannedEval, ...]
    sides: tuple[Side, ...]
    workspace: Path
    iteration: int
    why_iteration: str
    cells: tuple[Cell, ...]
    executor: Executor
    executor_model: str
    judge_model: str | None
    judgings: int
    judge_per_dimension: bool
    judge_batch: bool
    budget_usd: float | None
    concurrency: int
    seed: int
    limits: Limits
    sandbox: SandboxKind
    allow_scripts: bool
    connection: Connection
    prices: Prices
    retry_errored: bool
    fingerprint: Fingerprint

    @property
    def folder(self) -> Path:
        """The iteration's folder."""
        return self.workspace / f"iteration-{self.iteration}"

    @property
    def skill_name(self) -> str:
        """The skill's name: as the first side that offers one calls it, else as the suite does."""
        names = [side.skill.name for side in self.sides if side.skill is not None]
        return names[0] if names else self.suite.skill_name or "no skill"

    @property
    def configurations(self) -> tuple[str, ...]:
        """The names of the sides."""
        return tuple(side.name for side in self.sides)

    @property
    def gate(self) -> bool:
        """Whether a failed critical expectation skips the judge; so unless the suite objects."""
        return self.suite.config.structural_gate is not False

    @property
    def judge(self) -> Judge | None:
        """The judge; None where nothing is to be judged."""
        if self.judge_model is None or not self.judgings:
            return None
        from skill_eval_nb.grading.judge import Judge

        return Judge(
            model=self.judge_model,
            judgings=self.judgings,
            per_dimension=self.judge_per_dimension,
        )

    @property
    def asked(self) -> dict[str, Any]:
        """What somebody asked for and the fingerprint does not say, as plain JSON.

        With the fingerprint it is enough to plan the same again, from the disk alone.
        """
        return {
            "skills": {side.name: side.skill and str(side.skill.folder) for side in self.sides},
            "suite": str(self.suite.path),
            "evals": [eval_.id for eval_ in self.evals],
            "runs": max((cell.run_number for cell in self.cells), default=0),
            "judgings": self.judgings,
            "judge_batch": self.judge_batch,
            "concurrency": self.concurrency,
            "retry_errored": self.retry_errored,
        }

    @property
    def todo(self) -> tuple[Todo, ...]:
        """The cells that are not complete, in order: what the disk lacks at this moment."""
        states = ((cell, self.state(cell)) for cell in self.cells)
        return tuple(Todo(cell, missing) for cell, missing in states if missing)

    @property
    def spent_usd(self) -> float:
        """What earlier starts of the iteration spent, in US dollars, by its journal.

        Raises:
            ValueError: something else wrote into the journal.
        """
        return read(self.folder).spent_usd

    def eval_of(self, cell: Cell) -> PlannedEval:
        """The eval that a cell is a run of."""
        return next(eval_ for eval_ in self.evals if eval_.id == cell.eval_id)

    def folder_of(self, cell: Cell) -> Path:
        """Where a cell's files go."""
        return self.workspace / cell.folder

    def state(self, cell: Cell) -> Missing:
        """What a cell lacks at this moment."""
        eval_ = self.eval_of(cell)
        return state(
            self.folder_of(cell),
            self.judgings,
            eval_.has_structural,
            eval_.has_judged,
            gate=self.gate,
            retry_errored=self.retry_errored,
        )

    def staged(self, configuration: str) -> Skill | None:
        """A configuration's skill, copied into the iteration; None where it offers none.

        The copy is made when it is first asked for.

        Raises:
            Refused: the skill has changed since the plan was made.
            KeyError: there is no such configuration.
        """
        sides = {side.name: side.skill for side in self.sides}
        source = sides[configuration]
        if source is None:
            return None
        return stage(
            source.folder,
            self.suite.path,
            self.folder / SNAPSHOTS / configuration,
            apart=[self.workspace],
            expected=source.digest,
        )
