"""A plan: what will be run, in which order, at what estimated price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Connection, Prices

from ..driving.journal import read
from ..executors.protocol import Executor, Limits, SandboxKind, Skill
from ..given.skill import SkillSource, stage
from ..given.suite import PlannedEval, Suite
from ..steps.state import Missing, state
from .cells import Cell
from .estimate import Estimate
from .fingerprint import Fingerprint

if TYPE_CHECKING:
    from concurrent.futures import Executor as Pool

    from skill_eval_nb.grading.judge import Judge

    from ..driving.job import Job

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
class Plan:
    """What will be done; nothing is spent and nothing is written before `start`.

    It is a value: it can be kept, sent to another process, and started more than once, which
    does only what is missing then.

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
        estimate: what is missing may come to, as it stood when the plan was made.
        warnings: what the user should look at before starting.
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
    estimate: Estimate
    warnings: tuple[str, ...]

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
            "skills": {one.name: one.skill and str(one.skill.folder) for one in self.sides},
            "suite": str(self.suite.path),
            "evals": [one.id for one in self.evals],
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
        return next(one for one in self.evals if one.id == cell.eval_id)

    def side_of(self, cell: Cell) -> Side:
        """The configuration that a cell is a run of."""
        return next(one for one in self.sides if one.name == cell.configuration)

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

    def start(
        self,
        pool: Pool | None = None,
        on_progress: Callable[[Any], object] | None = None,
    ) -> Job:
        """Begin, and return at once.

        Args:
            pool: where steps are done, such as that of a Dask client; in this process where
                none is given.
            on_progress: called with each new state of the job, from the job's thread.

        Returns:
            the job: wait for it, await it, stop it, look at its progress.
        """
        from ..driving.driver import start

        return start(self, pool=pool, on_progress=on_progress)

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
