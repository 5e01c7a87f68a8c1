"""`measure`: how often does a skill's description get it picked up?"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from skill_eval_nb.models import Client, Connection, Prices, connect, load_prices
from skill_eval_nb.running.asking import NO_MONEY, AskingProgress, reached_by
from skill_eval_nb.running.budget import Budget
from skill_eval_nb.running.files import STAGING, remove
from skill_eval_nb.running.journal import (
    ENDED,
    Journal,
    read_journal,
    sweep,
)
from skill_eval_nb.running.ledger import Ledger, close_interrupted
from skill_eval_nb.running.options import executor_of, figures, worker_of
from skill_eval_nb.running.pool import EXECUTORS, warm_up
from skill_eval_nb.running.protocol import (
    Executor,
    Limits,
    Refused,
    SandboxKind,
    find_unpriced,
    gather_refusals,
)
from skill_eval_nb.running.skill import folder_beside
from skill_eval_nb.running.spec import Ended
from skill_eval_nb.running.threads import Stopped, in_thread, several, to_the_end
from skill_eval_nb.text import brief, count, dollars
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.jobs import PLANNED, STARTED
from skill_eval_nb.workspace.writing import who

from .attempt import (
    PREFIX,
    SKILLS,
    Attempt,
    MeasureConfig,
    Others,
    Query,
    further_attempts,
    make_attempt,
    read_attempt,
    read_offer,
    staged,
    write_attempt,
    write_summary,
)
from .measured import Measured, Price, Status, price_of


def faults_of(queries: Sequence[Query]) -> list[str]:
    """What is wrong with the queries."""
    faults = []
    if not queries:
        faults.append("there are no queries: write a trigger set, or draft one")
    for text, times in Counter(query.query for query in queries).items():
        if times > 1:
            faults.append(f"the query {text!r} is there {times} times; each may be there only once")
        if not text.strip():
            faults.append("a query is empty; take it out")
    return faults


def reached_from(runner: Executor | None, model: str | None) -> Connection:
    """How the model is reached by default: through the executor's stand-in, if it has one."""
    stand_in = getattr(runner, "stand_in", None)
    return reached_by(filter(None, [model])) if stand_in is None else Connection(stand_in=stand_in)


LONGEST = 90
"""Characters of a query that are shown during the measurement."""
STEP = "trigger"
"""An attempt's name in the journal."""


def take_up(journal: Journal, home: Path) -> None:
    """Close the attempts that a killed process left open, and delete their folders."""
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


WHY = {
    "partial": NO_MONEY,
    "stopped": "it was stopped before it began",
    "dry run": "no model was asked",
}
"""Why an attempt was not made, by the status of the measurement."""


@dataclass
class Measurement:
    """What to measure, and what is already there.

    Attributes:
        setting: the conditions under which queries are asked.
        planned: every attempt by its key, as it is before it is made.
        home: the folder of the measurement.
        prices: what calls cost.
        retry_errored: whether to repeat attempts that errored.
        progress: called after each attempt.
        attempts: the attempts already made, by key.
        due: the attempts still to make, by key.
        left_out: how many attempts the budget was too small for.
    """

    setting: MeasureConfig
    planned: Mapping[str, Attempt]
    home: Path
    prices: Prices
    retry_errored: bool
    progress: Callable[[AskingProgress], None] | None
    attempts: dict[str, Attempt] = field(default_factory=dict)
    due: dict[str, Attempt] = field(default_factory=dict)
    left_out: int = 0

    def read_attempts(self) -> None:
        """Read the stored attempts, and work out which are missing.

        Raises:
            Refused: a stored attempt was changed.
        """
        found = ((key, read_attempt(self.home, each)) for key, each in self.planned.items())
        self.attempts = {key: attempt for key, attempt in found if attempt is not None}
        self.due = {
            key: each
            for key, each in self.planned.items()
            if key not in self.attempts
            or (self.retry_errored and self.attempts[key].outcome == "errored")
        }

    @property
    def price(self) -> Price:
        """What the missing attempts may cost."""
        return price_of(self.due.values(), self.setting, self.prices)

    @property
    def spent_usd(self) -> float:
        """US dollars that the attempts have cost over all starts, by the journal.

        What a kill left open counts at its worst until the next start, which reads its notes.
        """
        costs = read_journal(self.home).costs
        return sum(costs.get(key, 0.0) for key in self.planned)

    def build_result(self, status: Status, message: str, price: Price) -> Measured:
        """The result; `price` is that of the attempts that were missing at the start."""
        offered, model = self.setting.offered, self.setting.model
        why = WHY.get(status)
        return Measured(
            skill_name=offered.skill.name,
            description=offered.skill.description,
            others=tuple(other.name for other in offered.others),
            model=model,
            executor=self.setting.executor.name,
            attempts=tuple(
                self.attempts.get(key) or replace(each, reason=why)
                for key, each in self.planned.items()
            ),
            status=status,
            cost_usd=self.spent_usd if self.prices.known(model) else None,
            price=price,
            message=message,
            folder=self.home,
        )

    def write_result(self, status: Status, message: str, price: Price) -> Measured:
        """The result, after writing a summary that counts all stored runs of each query."""
        measured = self.build_result(status, message, price)
        if self.attempts:
            every = (*measured.attempts, *further_attempts(self.home, self.planned))
            write_summary(self.home, replace(measured, attempts=every).document())
        return measured

    def make_due(
        self, budget_usd: float | None, concurrency: int, seed: int, stop: threading.Event | None
    ) -> Measured:
        """Make the missing attempts, as the only writer of this measurement."""
        setting, home = self.setting, self.home
        journal = Journal(home, {"event": PLANNED, "measured": setting.common})
        try:
            self.read_attempts()
            due, price = list(self.due.values()), self.price
            skills = str(setting.offered.skill.folder.parent)
            journal.add(STARTED, **who(), ceiling_usd=budget_usd, skills=skills, attempts=len(due))
            take_up(journal, home)
            cap = None if budget_usd is None else price.cap_usd
            budget = Budget(budget_usd, self.prices, self.spent_usd)
            ledger = Ledger(home, journal, budget, lambda: None)
            calls = warm_up(setting.connection, setting.executor, judged=False)
            # In random order, so that the runs of each query are spread over the whole time.
            random.Random(seed).shuffle(due)  # noqa: S311 -- an order, no secret

            async def make_all() -> None:
                connected = connect(setting.connection) if calls else nullcontext()
                async with connected as client:
                    work = (self._make(each, ledger, cap, client) for each in due)
                    await several(work, concurrency)

            try:
                in_thread(make_all(), stop, name="measure")
                status: Status = "partial" if self.left_out else "done"
            except Stopped:
                status = "stopped"
            message = self._say_end(status, budget_usd, cap)
            remove(home / STAGING)
            journal.add(ENDED, status=status, message=message)
            return self.write_result(status, message, price)
        finally:
            journal.close()

    async def _make(
        self, planned: Attempt, ledger: Ledger, cap_usd: float | None, client: Client | None
    ) -> None:
        """Make an attempt and write it, within the budget."""
        reservation = await ledger.budget.wait_for(cap_usd)
        if reservation is None:
            self.left_out += 1
            return
        root = Path(mkdtemp(prefix=PREFIX))
        async with ledger.step(STEP, planned.key, str(root), reservation) as step:
            made = await make_attempt(planned, self.setting, root, step.meter(), client)
            attempt, execution = made
            kept = (self.home, self.setting, attempt, execution)
            await to_the_end(asyncio.to_thread(write_attempt, *kept))  # it has been paid for
            step.ended = Ended(attempt.reason)
        self.attempts[planned.key] = attempt
        del self.due[planned.key]
        if self.progress is not None:
            there = (each for key, each in self.attempts.items() if key not in self.due)
            failed = sum(each.outcome == "errored" for each in there)
            done, total = len(self.planned) - len(self.due), len(self.planned)
            what = f"{attempt.outcome}: {brief(attempt.query.query, LONGEST)}"
            self.progress(AskingProgress(done, total, failed, ledger.budget.spent_usd, what))

    def _say_end(self, status: Status, budget_usd: float | None, cap_usd: float | None) -> str:
        """How it ended, in a sentence."""
        if status == "stopped":
            return "it was stopped; measure again to make the missing attempts"
        if status == "partial":
            return (
                f"the budget of {dollars(budget_usd or 0.0)} is too small for "
                f"{count(self.left_out, 'more attempt')}, each {dollars(cap_usd or 0.0)} at worst; "
                "measure again with a higher budget to make them"
            )
        return f"{count(len(self.attempts), 'attempt')}{self.say_errored()}"

    def say_errored(self) -> str:
        """How many errored, and how to repeat them."""
        errored = sum(attempt.outcome == "errored" for attempt in self.attempts.values())
        again = "; retry_errored=True repeats them" if errored else ""
        return f", {errored:,} errored{again}"


TURNS = 6
SECONDS = 180.0
"""The default limits of an attempt: an agent that opens a skill does so early."""


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
    progress: Callable[[AskingProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Measured:
    """Ask each query several times, and see how often the skill is picked up.

    Each attempt has its own working folder, home and configuration, with the skill among the
    others; it ends as soon as the skill is opened. `triggered`: the skill's body was opened at
    some point. `not triggered`: the run ended, or reached its limit of turns, without opening it.
    `errored`: it broke, ran out of time or was refused. `not run`: it never began.

    Each attempt is written at once and never repeated: after an interruption, the same call makes
    only the missing attempts, and so does a call with more `runs` or `queries`. Attempts are
    interchangeable if they have the same skill, description, other skills, executor, model,
    limits of turns, time and output, sandbox and series.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: the queries, no two with the same words.
        runs: attempts of each query.
        model: the model that decides; `stand-in` if a stand-in answers and no model is named.
        executor: an executor or its name.
        others: the skills next to it: `"bundled"` for a few that come with the package (except
            one with the skill's own name), `"none"`, or paths of skills' folders, or of folders
            that contain some.
        description: measured instead of the one in SKILL.md, which is not changed.
        series: a name; measured under another name, the same thing is measured again.
        folder: where to write the attempts; if not given, `triggers` in NAME-workspace next to
            the skill.
        budget_usd: the most that these attempts may cost, earlier starts included, in US
            dollars; an attempt whose worst case does not fit is not begun.
        concurrency: attempts at a time.
        limits: what one attempt may use; 6 turns and 180 s if not given.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        seed: for the order of attempts.
        retry_errored: whether to repeat attempts that errored.
        dry_run: no model is asked, and `price` says what the rest may cost.
        progress: called after each attempt.
        stop: once set, calls in flight are cancelled; what was written stays.

    Raises:
        Refused: a skill, a query or a number cannot be used, two skills have the same name, no
            model is known, or there is a budget and no known price; all faults at once. Or the
            same thing is being measured already, here or in another process.
        OSError: an attempt cannot be written.
    """
    listed = list(queries)
    allowed = limits or Limits(turns=TURNS, seconds=SECONDS)
    faults = faults_of(listed)
    figures(faults, runs, 0, concurrency, None, budget_usd, allowed)
    runner = executor_of(executor, {}, sandbox, faults)
    stand_in = getattr(runner, "stand_in", None) or getattr(connection, "stand_in", None)
    worker = worker_of(runner, model, stand_in, faults, name="model")
    known = prices or load_prices()
    faults += find_unpriced([worker], known, budget_usd)
    reached = connection or reached_from(runner, worker)
    if not dry_run and type(runner).__module__.startswith(EXECUTORS) and (why := reached.why_not()):
        faults.append(why)
    offer = None
    with gather_refusals(faults):
        offer = read_offer(skill, others, description)
    if faults or offer is None or runner is None or worker is None:
        raise Refused(dict.fromkeys(faults))
    base = folder_beside(offer.skill.folder, folder, "triggers")
    attempts = (Attempt(query, run, "not run") for query in listed for run in range(1, runs + 1))
    planned = {attempt.key: attempt for attempt in attempts}
    with staged(offer) as offered:
        setting = MeasureConfig(offered, runner, worker, allowed, sandbox, reached, series)
        home = base / setting.fingerprint
        work = Measurement(setting, planned, home, known, retry_errored, progress)
        work.read_attempts()
        if dry_run:
            return work.build_result("dry run", "no model was asked", work.price)
        if not work.due:
            message = f"nothing was missing{work.say_errored()}"
            return work.write_result("done", message, work.price)
        return work.make_due(budget_usd, concurrency, seed, stop)
