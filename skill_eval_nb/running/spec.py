"""The content of a plan, and the steps that a run still lacks, as plain values.

Every eval × configuration × run is a cell. Cells are ordered in blocks: all first runs, then all
second ones, so that a job that ends early has complete pairs rather than complete evals. Inside a
block the evals are shuffled, and inside an eval the configurations, so that changes over time
(load, limits, a new version behind the same name) affect both sides alike. The shuffle depends only
on the seed and the cells' names: more runs, or fewer evals, do not change the order of the others.

The journal of an iteration begins with its fingerprint: its runs are comparable, since everything
that matters was the same. A plan with the same fingerprint continues the iteration, with more runs,
more judgings or more money; any other begins the next one, and can say what has changed.

A run goes through executed → checked → judged → graded, each step written in one piece before the
next begins. So the existing files say which steps are done, and nothing else has to be remembered.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.workspace.jobs import PLANNED, read_events

from .journal import DECIDED, read_journal
from .protocol import Executor, Limits, SandboxKind, Skill, refuse
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
"""The status in a run's timing.json; errored runs must not be graded."""

AFTER_RUN = ("check:", "judge:")
"""The beginning of an errored run's reason if the run itself is fine."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The steps that a run lacks; it is false if there is none.

    Attributes:
        execute: the run itself, and so everything that follows from it.
        check: the structural expectations.
        judgings: the numbers of the judgings. After a failed gate none of them is done,
            which cannot be known before the run is checked.
        grade: combining checks and judgings; it costs nothing.
    """

    execute: bool = False
    check: bool = False
    judgings: tuple[int, ...] = ()
    grade: bool = False

    def __bool__(self) -> bool:
        return self != Missing()


def reason_errored(folder: Path) -> str | None:
    """Why a run errored, in words; None if it did not, or was not executed yet."""
    timing = _object(folder / EXECUTED) or {}
    if timing.get("status") != ERRORED:
        return None
    return str(timing.get("reason") or "no reason was given")


def _is_older(folder: Path) -> bool:
    """Whether the grading is missing or older than one of the judgings.

    The job may have been killed between a further judging and the new grading. Grading
    costs nothing: once too often does no harm.
    """
    grading = folder / GRADED
    if not grading.is_file():
        return True
    graded = grading.stat().st_mtime_ns
    return any(path.stat().st_mtime_ns > graded for path in (folder / JUDGINGS).glob("*.json"))


def _object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; None if there is none that can be read."""
    try:
        found = parse(read_bytes(path), Faults())
    except (FileNotFoundError, NotJSON):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Run:
    """A run to make.

    Attributes:
        cell: its name.
        eval: its eval.
        place: its own folder.
        missing: the steps that it lacked when it was checked.
    """

    cell: Cell
    eval: PlannedEval
    place: Path
    missing: Missing


EXECUTE, CHECK, JUDGE, GRADE = "execute", "check", "judge", "grade"
"""The steps of a run."""


@dataclass(frozen=True, slots=True)
class Order:
    """A step to do, with everything that it needs.

    Attributes:
        step: execute, check or judge.
        run: the run.
        plan: the plan, without cells and evals, so that it is small when sent.
        skill: the skill offered to the agent; None for no skill.
        number: of the judging.
        launch: the step's number in the journal.
    """

    step: str
    run: Run
    plan: Spec
    skill: Skill | None = None
    number: int = 0
    launch: int = 0


SNAPSHOTS = "skill-snapshot"
"""The folder of an iteration with the skills as they were offered."""


@dataclass(frozen=True, slots=True)
class Side:
    """A configuration: its name, and the skill that it offers, if any."""

    name: str
    skill: SkillSource | None


@dataclass(frozen=True, repr=False)
class Spec:
    """What will be done, as a value that can be stored and sent to another process.

    Attributes:
        suite: the eval suite, whole.
        evals: the evals to run.
        sides: the configurations, in the given order.
        workspace: the folder for the files.
        executor: what runs the prompts.
        executor_model: the model that works.
        judge_model: the model that judges; None if nothing is to be judged.
        judgings: judgings of each run.
        judge_per_dimension: whether each dimension is a call of its own.
        judge_batch: whether judging goes through the Message Batches API.
        budget_usd: the ceiling over all starts of the iteration, in US dollars.
        concurrency: steps at a time.
        seed: of the order.
        limits: of one run.
        sandbox: how the agents' commands are confined.
        allow_scripts: whether `custom_script` expectations may run.
        connection: how the models are reached.
        prices: what calls cost.
        retry_errored: whether to repeat runs that errored.
        looks: after these numbers of runs per side the job looks, and may end; empty for no looks.
        iteration: the number of the iteration.
        why_iteration: why it is this one, in words.
        cells: all runs, in launch order.
        fingerprint: what identifies the iteration.
    """

    suite: Suite
    evals: tuple[PlannedEval, ...]
    sides: tuple[Side, ...]
    workspace: Path
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
    looks: tuple[int, ...]
    iteration: int = 0
    why_iteration: str = ""
    cells: tuple[Cell, ...] = ()
    fingerprint: Fingerprint = field(default_factory=lambda: Fingerprint({}, {}))

    @property
    def folder(self) -> Path:
        """The iteration's folder."""
        return self.workspace / f"iteration-{self.iteration}"

    @property
    def skill_name(self) -> str:
        """The skill's name: from the first side that offers one, else from the suite."""
        names = [side.skill.name for side in self.sides if side.skill is not None]
        return names[0] if names else self.suite.skill_name or "no skill"

    @property
    def configurations(self) -> tuple[str, ...]:
        """The names of the sides."""
        return tuple(side.name for side in self.sides)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of skills that would tell a judge which side it sees; for all sides alike."""
        skills = [side.skill for side in self.sides if side.skill is not None]
        names = (name for skill in skills for name in (skill.name, skill.folder.name))
        return tuple(dict.fromkeys(names))

    @property
    def gate(self) -> bool:
        """Whether a failed critical expectation skips the judge; true unless the suite objects."""
        return self.suite.config.structural_gate is not False

    @property
    def judge(self) -> Judge | None:
        """The judge; None if nothing is to be judged."""
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
        """The options that are not in the fingerprint, as plain JSON.

        Together with the fingerprint, they are enough to make the same plan again from the disk
        alone.
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
            **({"looks": list(self.looks)} if self.looks else {}),
        }

    @property
    def decision(self) -> Mapping[str, Any] | None:
        """The journal's entry of the planned look that decided; None if none has."""
        events = read_journal(self.folder).events if self.looks else ()
        mine = {"event": DECIDED, "evals": self.asked["evals"]}
        return next((event for event in events if mine.items() <= event.items()), None)

    @property
    def stages(self) -> tuple[int, ...]:
        """Runs per side to complete before any further one: those of the looks still needed."""
        decision = self.decision
        looks = self.looks or (max((cell.run_number for cell in self.cells), default=0),)
        return tuple(look for look in looks if decision is None or look <= decision["runs"])

    @property
    def needed(self) -> tuple[Cell, ...]:
        """The cells to make: all, or those up to the planned look that has decided."""
        return self.cut_to(self.stages[-1]).cells

    def cut_to(self, runs: int) -> Self:
        """The same with at most this many runs of each eval on each side."""
        cells = tuple(cell for cell in self.cells if cell.run_number <= runs)
        return dataclasses.replace(self, cells=cells)

    @property
    def todo(self) -> tuple[Run, ...]:
        """The incomplete runs in order, by what the disk lacks now."""
        return tuple(run for run in map(self.run_of, self.needed) if run.missing)

    @property
    def spent_usd(self) -> float:
        """What earlier starts of the iteration spent, in US dollars, by its journal.

        Raises:
            ValueError: something else wrote into the journal.
        """
        return read_journal(self.folder).spent_usd

    def run_of(self, cell: Cell) -> Run:
        """The run of a cell, with what it lacks now."""
        eval_ = next(eval_ for eval_ in self.evals if eval_.id == cell.eval_id)
        place = self.workspace / cell.folder
        return Run(cell, eval_, place, self.lacks(eval_, place, retry_errored=self.retry_errored))

    def lacks(self, eval_: PlannedEval, place: Path, *, retry_errored: bool = False) -> Missing:
        """The steps that a run of an eval lacks.

        Args:
            eval_: its eval.
            place: its folder; it may not exist yet.
            retry_errored: whether a run that errored lacks what it errored in; it is done
                otherwise.
        """
        wanted = tuple(range(1, self.judgings + 1)) if eval_.has_judged else ()
        after_checks = Missing(judgings=wanted, grade=bool(wanted))
        everything = dataclasses.replace(after_checks, execute=True, check=bool(eval_.checks))
        if not (place / EXECUTED).is_file():
            return everything
        failed = reason_errored(place)
        if failed is not None and not retry_errored:
            return Missing()
        if failed is not None and not failed.startswith(AFTER_RUN):
            return everything
        passed = _object(place / CHECKED) if eval_.checks else {}
        if passed is None:
            return dataclasses.replace(after_checks, check=True)
        if self.gate and passed.get("gate_passed") is False:
            return Missing()
        lacks = tuple(n for n in wanted if not (place / JUDGINGS / f"{n}.json").is_file())
        return Missing(judgings=lacks, grade=bool(wanted) and (bool(lacks) or _is_older(place)))

    def staged(self, side: Side) -> Skill | None:
        """A configuration's skill, copied into the iteration; None if it offers none.

        The copy is made on first use.

        Raises:
            Refused: the skill has changed since the plan was made.
        """
        source, copy = side.skill, self.folder / SNAPSHOTS / side.name
        if source is None:
            return None
        return stage(
            source.folder, self.suite.path, copy, apart=[self.workspace], expected=source.digest
        )


# ── the cells of an iteration, in their order ────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Cell:
    """One planned run.

    Attributes:
        eval_id: the eval's id, as text.
        eval_name: the eval's name.
        configuration: the side: with_skill, without_skill, …
        run_number: 1, 2, …
        folder: where its files go, relative to the workspace.
        key: an opaque id, the same for the same plan; it gives away neither the eval nor the side.
    """

    eval_id: str
    eval_name: str
    configuration: str
    run_number: int
    folder: str
    key: str


def make_cells(
    evals: Iterable[PlannedEval],
    configurations: Sequence[str],
    runs: int,
    *,
    seed: int,
    iteration: int,
    fingerprint: str,
) -> tuple[Cell, ...]:
    """All cells, in launch order.

    Args:
        evals: the evals to run.
        configurations: the names of the sides.
        runs: runs of each eval on each side.
        seed: of the order; the same seed gives the same order.
        iteration: the number of the iteration that the runs belong to.
        fingerprint: of the plan; it makes the keys of two plans differ.
    """
    cells = []
    for eval_, configuration, number in product(evals, configurations, range(1, runs + 1)):
        key = _hash(fingerprint, iteration, eval_.id, configuration, number)[:24]
        home = f"iteration-{iteration}/{eval_.folder}/{configuration}/run-{number}"
        cells.append(Cell(eval_.id, eval_.name, configuration, number, home, key))

    def draw_key(cell: Cell) -> tuple[int, str, str]:
        block = (seed, cell.run_number, cell.eval_id)
        return cell.run_number, _hash(*block), _hash(*block, cell.configuration)

    return tuple(sorted(cells, key=draw_key))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


_ITERATION = re.compile(r"iteration-(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What all runs of an iteration share.

    Attributes:
        runs: what outputs depend on: skills, evals, executor, model, limits, seed.
        grading: what verdicts also depend on: the judge, whether scripts may run. A judge of None
            fits any: nothing has been judged so far.
    """

    runs: Mapping[str, Any]
    grading: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """A hash of `runs`."""
        return hashlib.sha256(json.dumps(self.runs, sort_keys=True).encode()).hexdigest()

    def differences(self, other: Fingerprint) -> list[str]:
        """The names of what differs; none if one continues the other."""
        names = [*dict.fromkeys([*self.runs, *other.runs])]
        differs = [name for name in names if self.runs.get(name) != other.runs.get(name)]
        for name in dict.fromkeys([*self.grading, *other.grading]):
            mine, theirs = self.grading.get(name), other.grading.get(name)
            open_ = name == "judge" and (mine is None or theirs is None)
            if mine != theirs and not open_:
                differs.append(name)
        return differs

    def event(self) -> dict[str, Any]:
        """The first entry of the journal: a plain JSON object."""
        fingerprint = {"runs": dict(self.runs), "grading": dict(self.grading)}
        return {"event": PLANNED, "fingerprint": fingerprint}


def mark_plan(plan: Spec) -> Fingerprint:
    """The fingerprint of a plan."""
    judge = {"model": plan.judge_model, "per_dimension": plan.judge_per_dimension}
    return Fingerprint(
        runs={
            "skills": {side.name: side.skill and side.skill.digest for side in plan.sides},
            "evals": plan.suite.digest,
            "executor": {"name": plan.executor.name, "options": plain(plan.executor)},
            "executor_model": plan.executor_model,
            "limits": plain(plan.limits),
            "seed": plan.seed,
            "sandbox": plan.sandbox,
            "stand_in": plain(plan.connection.stand_in),
        },
        grading={
            "judge": plan.judge_model and judge,
            "allow_scripts": plan.allow_scripts,
        },
    )


def plain(value: Any) -> Any:
    """A value as plain JSON, the same in every process and on every machine.

    >>> plain({"b": (1, 2), "a": None})
    {'a': None, 'b': [1, 2]}
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.compare and not field.name.startswith("_")
        }
        return {"is": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(element) for element in value), key=json.dumps)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(element) for element in value]
    if isinstance(value, Path):
        return str(value)
    return getattr(value, "__qualname__", type(value).__qualname__)


def read_planned(iteration: Path) -> list[Fingerprint]:
    """The fingerprints in the journal of an iteration; none if there is no journal."""
    marks = read_events(iteration, PLANNED, "fingerprint")
    return [
        Fingerprint(mark["runs"], mark["grading"])
        for mark in marks
        if {"runs", "grading"} <= mark.keys()
    ]


def choose_iteration(
    workspace: Path, mine: Fingerprint, wanted: int | None = None
) -> tuple[int, str]:
    """Which iteration a plan belongs to, and why, in words.

    Args:
        workspace: the workspace's folder; it may not exist yet.
        mine: the plan's fingerprint.
        wanted: the requested number.

    Raises:
        Refused: the requested iteration exists and is another plan's.
    """
    there = iterations_of(workspace)
    if wanted is not None:
        if wanted in there and (others := _say_others(there[wanted], mine)) is not None:
            raise refuse(
                f"iteration-{wanted} exists, but {others}; leave `iteration` out for the next one"
            )
        return wanted, "continued" if wanted in there else "as requested"
    for number in sorted(there, reverse=True):
        if read_planned(there[number]) and _say_others(there[number], mine) is None:
            return number, "continued: skill, evals, models, executor, limits and seed are the same"
    if not there:
        return 1, "the first"
    last = max(there)
    if _say_others(there[last], mine) is None:
        return last, "still empty"
    return last + 1, f"new: in iteration-{last} {_say_others(there[last], mine)}"


def iterations_of(workspace: Path) -> dict[int, Path]:
    """A workspace's iterations by their numbers; what is not a folder has its number, too."""
    if not workspace.is_dir():
        return {}
    named = ((_ITERATION.fullmatch(path.name), path) for path in workspace.iterdir())
    return {int(found[1]): path for found, path in named if found}


def _say_others(iteration: Path, mine: Fingerprint) -> str | None:
    """How an iteration differs from a plan; None if the plan continues it."""
    found = read_planned(iteration)
    if not iteration.is_dir():
        return "it is not a folder"
    if not found:
        return "it has no journal of a plan" if any(iteration.iterdir()) else None
    for other in found:
        if differs := mine.differences(other):
            return (
                f"{' and '.join(_say_difference(name, other, mine) for name in differs)} differed"
            )
    return None


def _say_difference(name: str, old: Fingerprint, new: Fingerprint) -> str:
    """A difference in words, with its values if they are short."""
    before = {**old.runs, **old.grading}.get(name)
    after = {**new.runs, **new.grading}.get(name)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return f"{name} ({', '.join(names)})"
    shown = f"{name} ({before!r}, now {after!r})"
    return shown if len(shown) <= 80 else name
