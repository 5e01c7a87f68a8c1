"""`measure`: does a skill's description do its work?"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

from skill_eval_nb.models import Connection, Prices, load_prices
from skill_eval_nb.running.asking import NO_MONEY, reached_by
from skill_eval_nb.running.budget import Budget, noted
from skill_eval_nb.running.driver import close_interrupted
from skill_eval_nb.running.files import STAGING, notes_of, remove
from skill_eval_nb.running.journal import (
    CLOSING,
    ENDED,
    LAUNCHED,
    PLANNED,
    STARTED,
    Journal,
    Record,
    read,
    sweep,
)
from skill_eval_nb.running.ledger import Ledger
from skill_eval_nb.running.options import executor_of, figures
from skill_eval_nb.running.pool import EXECUTORS, warm_up
from skill_eval_nb.running.protocol import Executor, Limits, Refused, SandboxKind, gathered
from skill_eval_nb.running.spec import Ended
from skill_eval_nb.running.threads import Stopped, in_thread, several, to_the_end
from skill_eval_nb.text import count, dollars
from skill_eval_nb.workspace.writing import who

from .attempt import (
    PREFIX,
    SKILLS,
    Attempt,
    MeasureConfig,
    Others,
    PathLike,
    PlannedAttempt,
    Query,
    default_folder,
    further_attempts,
    make_attempt,
    read_attempt,
    read_offer,
    staged,
    write_attempt,
    write_summary,
)
from .measured import Measured, Price, Status, price_of


def faults_of(queries: Sequence[Query], budget_usd: float | None) -> list[str]:
    """What is wrong with the queries, or with the budget, which may be 0."""
    faults = []
    if not queries:
        faults.append("there are no queries: write a trigger set, or draft one")
    for text, times in Counter(query.query for query in queries).items():
        if times > 1:
            faults.append(f"the query {text!r} is there {times} times; each is to be there once")
        if not text.strip():
            faults.append("a query is empty; take it out")
    if budget_usd is not None and not budget_usd >= 0:
        faults.append(f"budget_usd is {budget_usd}; it is at least 0")
    return faults


def reached_from(runner: Executor | None, model: str | None) -> Connection:
    """How the model is reached where nobody says."""
    stand_in = getattr(runner, "stand_in", None)
    return reached_by(filter(None, [model])) if stand_in is None else Connection(stand_in=stand_in)


def model_of(
    model: str | None, runner: Executor | None, connection: Connection | None, faults: list[str]
) -> str | None:
    """Who decides: the stand-in where one answers and nobody else is named."""
    from skill_eval_nb.models.stand_in.settings import EXECUTOR

    answers = getattr(runner, "stand_in", None) or getattr(connection, "stand_in", None)
    if model is None and answers is not None:
        return EXECUTOR
    if model is None and runner is not None:
        faults.append(f"model is not given: executor `{runner.name}` needs the name of a model")
    return model


STEP = "trigger"
"""What an attempt is called in the journal."""


@dataclass(frozen=True, slots=True)
class MeasuringProgress:
    """How far a measurement is.

    Attributes:
        done: attempts that are there, those of earlier starts included.
        total: attempts in all.
        outcomes: how many had each outcome so far.
        spent_usd: US dollars spent on them, earlier starts included, as far as prices are known.
        latest: the attempt that ended last.
    """

    done: int
    total: int
    outcomes: Mapping[str, int]
    spent_usd: float
    latest: Attempt


@dataclass
class AttemptState:
    """Attempts that are being made.

    Attributes:
        home: the folder of the measurement.
        setting: under what queries are asked.
        cap_usd: what one attempt may cost at most; None without a ceiling.
        budget: the ceiling.
        total: attempts in all.
        progress: called whenever an attempt has ended.
        attempts: the attempts that are there; those from before are put in first.
        left_out: attempts that the budget did not hold.
    """

    home: Path
    setting: MeasureConfig
    cap_usd: float | None
    budget: Budget
    total: int
    progress: Callable[[MeasuringProgress], None] | None = None
    attempts: dict[PlannedAttempt, Attempt] = field(default_factory=dict)
    left_out: list[PlannedAttempt] = field(default_factory=list)

    async def all(
        self, cells: Sequence[PlannedAttempt], journal: Journal, concurrency: int
    ) -> None:
        """Make attempts, so many at a time."""
        self._ledger = Ledger(self.home, journal, self.budget, lambda: None)
        await several(map(self._attempt, cells), concurrency)

    async def _attempt(self, cell: PlannedAttempt) -> None:
        """Make an attempt and write it, within the budget."""
        reservation = await self._ledger.queue.allot(self.cap_usd)
        if reservation is None:
            self.left_out.append(cell)
            return
        root = Path(mkdtemp(prefix=PREFIX))
        try:
            async with self._ledger.step(STEP, cell.key, str(root), reservation) as step:
                meter = step.meter()
                try:
                    result = await make_attempt(cell, self.setting, root, meter)
                finally:
                    meter.close()
                if result.own_usd is not None:
                    reservation.count(result.own_usd)
                kept = (result.attempt, result.execution, result.execution.usage)
                writing = asyncio.to_thread(write_attempt, self.home, self.setting, *kept)
                await to_the_end(writing)  # what was paid for is kept
                failed = result.attempt.outcome == "errored"
                step.ended = Ended(result.attempt.reason if failed else None)
        finally:
            self._ledger.queue.close(reservation)
        self.attempts[cell] = result.attempt
        if self.progress is not None:
            counts = Counter(attempt.outcome for attempt in self.attempts.values())
            done, spent = len(self.attempts), self.budget.spent_usd
            self.progress(MeasuringProgress(done, self.total, counts, spent, result.attempt))


def take_up(journal: Journal, home: Path) -> None:
    """Close the attempts that a killed process left open, and take away what it left."""
    opened = [launch.event.get("folder") for launch in journal.record.open.values()]
    staged = [line.get("skills") for line in journal.record.events if line.get("event") == STARTED]
    for left in map(str, filter(None, [*opened, *staged])):
        root = Path(left)
        if root.parent == Path(gettempdir()) and root.name.startswith((PREFIX, SKILLS)):
            remove(root)
    sweep(home)
    for queried in home.glob("query-*"):
        sweep(queried, 0)
    close_interrupted(journal, home)


def spent_on(record: Record, home: Path, cells: Iterable[PlannedAttempt]) -> float:
    """US dollars that attempts have cost over all starts, by the journal.

    One that nobody closed counts with what it can have cost by its notes, else at its worst.
    """
    keys = {cell.key for cell in cells}
    numbers = {
        event["launch"]
        for event in record.events
        if event.get("event") == LAUNCHED and event.get("key") in keys
    }
    closed = (event for event in record.events if event.get("event") in CLOSING)
    spent = sum(event.get("usd") or 0.0 for event in closed if event.get("launch") in numbers)
    for number, launch in record.open.items():
        if number in numbers:
            notes: Any = noted(notes_of(home, number))
            spent += (launch.worst_usd or 0.0) if notes is None else notes
    return spent


WHY = {
    "partial": NO_MONEY,
    "stopped": "it was stopped before it began",
    "dry run": "nobody was asked",
}
"""Why an attempt was not made, by the status of the measurement."""


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """What is to be measured.

    Attributes:
        setting: under what queries are asked.
        cells: the attempts.
        home: the folder of the measurement.
        prices: what calls cost.
        retry_errored: whether those that errored are made again.
    """

    setting: MeasureConfig
    cells: tuple[PlannedAttempt, ...]
    home: Path
    prices: Prices
    retry_errored: bool

    def there(self) -> dict[PlannedAttempt, Attempt]:
        """The attempts that were made before.

        Raises:
            Refused: a file is not what was written there.
        """
        found = ((cell, read_attempt(self.home, cell)) for cell in self.cells)
        return {cell: attempt for cell, attempt in found if attempt is not None}

    def missing(self, there: Mapping[PlannedAttempt, Attempt]) -> list[PlannedAttempt]:
        """The attempts that are to be made."""
        return [
            cell
            for cell in self.cells
            if cell not in there or (self.retry_errored and there[cell].outcome == "errored")
        ]

    def measured(
        self,
        attempts: Mapping[PlannedAttempt, Attempt],
        status: Status,
        message: str,
        price: Price | None = None,
    ) -> Measured:
        """What came of it; `price` is what was missing before it began."""
        offered, model = self.setting.offered, self.setting.model
        spent = spent_on(read(self.home), self.home, self.cells)
        return Measured(
            skill_name=offered.skill.name,
            description=offered.skill.description,
            others=tuple(other.name for other in offered.others),
            model=model,
            executor=self.setting.executor.name,
            attempts=tuple(
                attempts.get(cell) or Attempt(cell.query, cell.run, "not run", WHY.get(status))
                for cell in self.cells
            ),
            status=status,
            cost_usd=spent if self.prices.known(model) else None,
            price=price or price_of(self.missing(attempts), self.setting, self.prices),
            message=message,
            folder=self.home,
        )


TURNS = 6
SECONDS = 180.0
"""The limits of an attempt where none are given: whether a skill is opened shows early."""


def measure(
    skill: PathLike,
    queries: Iterable[Query],
    *,
    runs: int = 3,
    model: str | None = None,
    executor: str | Executor = "messages-api",
    others: Others = "bundled",
    description: str | None = None,
    series: str = "",
    folder: PathLike | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    limits: Limits | None = None,
    sandbox: SandboxKind = "bubblewrap",
    connection: Connection | None = None,
    prices: Prices | None = None,
    seed: int = 0,
    retry_errored: bool = False,
    dry_run: bool = False,
    progress: Callable[[MeasuringProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Measured:
    """Ask each query several times, and see whether the skill is picked up.

    Each attempt has a working folder, a home and a configuration of its own, with the skill
    among the others; it ends as soon as the skill was opened. `triggered`: the skill's body was
    opened at any point. `not triggered`: the run came to its end, or to its limit of turns,
    without. `errored`: it broke, ran out of time or was refused. `not run`: it never began.

    Each attempt is written at once, and is never made again: called again after an
    interruption, this makes those that are missing, and more where `runs` or `queries` have
    grown. What can stand for each other has the same skill, description, others, executor,
    model, limits of turns, time and output, sandbox and series.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: each with words of its own.
        runs: attempts of each query.
        model: who decides; `stand-in` where a stand-in answers and no other is named.
        executor: its name, or itself.
        others: the skills beside it: `"bundled"` for a handful that come with the package (but
            one of the skill's own name), `"none"`, or paths of skills' folders, or of folders
            that hold such.
        description: measured in place of the one in SKILL.md, which is not touched.
        series: a name; the same thing measured under another name is measured anew.
        folder: where attempts are written; `triggers` in NAME-workspace beside the skill where
            it is not given.
        budget_usd: the most that these attempts may cost, earlier starts included, in US
            dollars; an attempt whose worst case does not fit is not begun.
        concurrency: attempts at a time.
        limits: what one attempt may use; 6 turns and 180 s where they are not given.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how the model is reached; where it is not given, the stand-in answers in
            process for its own models, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        seed: of the order of attempts.
        retry_errored: whether attempts that errored are made again.
        dry_run: nobody is asked, and `price` says what the rest may cost.
        progress: called whenever an attempt has ended.
        stop: once it is set, what is in flight is cancelled, and what was written stays.

    Raises:
        Refused: a skill, a query or a figure cannot be used, two skills have the same name, no
            model is known, or there is a budget and no known price; all faults at once. Or the
            same thing is being measured already, here or in another process.
        OSError: an attempt cannot be written.
    """
    listed = list(queries)
    allowed = limits or Limits(turns=TURNS, seconds=SECONDS)
    faults = faults_of(listed, budget_usd)
    figures(faults, runs, 0, concurrency, None, None, allowed)
    runner = executor_of(executor, {}, sandbox, faults)
    worker = model_of(model, runner, connection, faults)
    known = prices or load_prices()
    if worker is not None and budget_usd is not None and not known.known(worker):
        faults.append(f"budget_usd is set, so the price must be known: {known.unknown(worker)}")
    reached = connection or reached_from(runner, worker)
    if not dry_run and type(runner).__module__.startswith(EXECUTORS) and (why := reached.why_not()):
        faults.append(why)
    offer = None
    with gathered(faults):
        offer = read_offer(skill, others, description)
    if faults or offer is None or runner is None or worker is None:
        raise Refused(dict.fromkeys(faults))
    base = default_folder(offer.skill.folder) if folder is None else Path(folder).expanduser()
    cells = tuple(PlannedAttempt(query, run) for query in listed for run in range(1, runs + 1))
    with staged(offer) as offered:
        setting = MeasureConfig(offered, runner, worker, allowed, sandbox, reached, series)
        wanted = MeasurePlan(setting, cells, base / setting.fingerprint, known, retry_errored)
        there = wanted.there()
        if dry_run:
            return wanted.measured(there, "dry run", "nobody was asked")
        if not wanted.missing(there):
            message = f"all of it was there already{_errored(there.values())}"
            return _concluded(wanted, there, "done", message)
        return _run(wanted, budget_usd, concurrency, seed, progress, stop)


def _run(
    wanted: MeasurePlan,
    budget_usd: float | None,
    concurrency: int,
    seed: int,
    progress: Callable[[MeasuringProgress], None] | None,
    stop: threading.Event | None,
) -> Measured:
    """Make what is missing, as the one writer of this measurement."""
    setting, home = wanted.setting, wanted.home
    journal = Journal(home, {"event": PLANNED, "measured": setting.common})
    try:
        there = wanted.there()
        missing = wanted.missing(there)
        price = price_of(missing, setting, wanted.prices)
        spent = spent_on(journal.record, home, wanted.cells)
        skills = str(setting.offered.skill.folder.parent)
        journal.add(STARTED, **who(), ceiling_usd=budget_usd, skills=skills, attempts=len(missing))
        take_up(journal, home)
        budget = Budget(budget_usd, wanted.prices, spent)
        cap = None if budget_usd is None else price.cap_usd
        state = AttemptState(home, setting, cap, budget, len(wanted.cells), progress)
        state.attempts.update((cell, there[cell]) for cell in there if cell not in missing)
        warm_up(setting.connection, setting.executor, judged=False)
        status: Status = "done"
        try:
            # In a drawn order: the runs of a query are spread over the whole.
            random.Random(seed).shuffle(missing)  # noqa: S311 -- an order, no secret
            in_thread(state.all(missing, journal, concurrency), stop, name="measure")
        except Stopped:
            status = "stopped"
        status = "partial" if state.left_out and status == "done" else status
        message = _message(state, status, budget_usd, cap)
        remove(home / STAGING)
        journal.add(ENDED, status=status, message=message)
        return _concluded(wanted, {**there, **state.attempts}, status, message, price)
    finally:
        journal.close()


def _concluded(
    wanted: MeasurePlan,
    attempts: Mapping[PlannedAttempt, Attempt],
    status: Status,
    message: str,
    price: Price | None = None,
) -> Measured:
    """The measurement, with its summary written, in which all runs of a query count."""
    measured = wanted.measured(attempts, status, message, price)
    if attempts:
        every = (*measured.attempts, *further_attempts(wanted.home, wanted.cells))
        write_summary(wanted.home, replace(measured, attempts=every).document())
    return measured


def _message(
    state: AttemptState, status: Status, budget_usd: float | None, cap: float | None
) -> str:
    if status == "stopped":
        return "it was stopped; measure again, and what is missing is made"
    if status == "partial":
        return (
            f"the budget of {dollars(budget_usd or 0.0)} does not hold "
            f"{count(len(state.left_out), 'more attempt')}, each {dollars(cap or 0.0)} at worst; "
            "measure again with a higher one, and what is missing is made"
        )
    return f"{count(len(state.attempts), 'attempt')}{_errored(state.attempts.values())}"


def _errored(attempts: Iterable[Attempt]) -> str:
    errored = sum(attempt.outcome == "errored" for attempt in attempts)
    again = "; retry_errored=True makes them again" if errored else ""
    return f", {errored:,} errored{again}"
