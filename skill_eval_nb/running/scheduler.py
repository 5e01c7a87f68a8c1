"""The course of a job: which step of which run comes next, and what follows from its end.

Judging goes before new executions: what was paid for is graded first. A step is launched
where `concurrency` allows and the most that it may cost fits into the budget with all that
is in flight at its worst. Where it does not fit, something in flight may still give money
back; where nothing is in flight, the job ends as partial.
"""

from __future__ import annotations

import asyncio
import math
import traceback
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import dollars

from .budget import Budget, BudgetMeter, Reservation
from .dispatcher import Dispatcher
from .files import InTheWay, Unwritable, mark_errored
from .journal import Journal
from .spec import Check, Execute, Hidden, JudgeOnce, Run, Spec
from .steps import case_of, grade
from .threads import exiting

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Judge, Prepared

    from .protocol import Skill


@dataclass(slots=True, eq=False)
class RunState:
    """A run that is being made.

    Attributes:
        run: which.
        judgings: the numbers of the judgings that are still to be launched.
        in_flight: how many are being done.
        failed: why one of them failed.
        prepared: the run made ready to be judged, once it is.
        worst_usd: the most that one judging may cost, once that is known.
    """

    run: Run
    judgings: deque[int] = field(default_factory=deque)
    in_flight: int = 0
    failed: str | None = None
    prepared: Prepared | None = None
    worst_usd: float | None = None


EXECUTE, CHECK, JUDGE, GRADE = "execute", "check", "judge", "grade"

MOST_PROBLEMS = 100
"""Problems that are kept in words; the files and the journal have all of them."""


class Scheduler:
    """Sends runs from step to step until nothing is left that can be launched.

    Attributes:
        executing: runs that are still to be executed, in order.
        judging: runs with judgings that are still to be launched.
        for_batch: runs that wait for a batch of judgings.
        counts: how many runs are finished and errored.
        problems: what went wrong or stands out, in words.
        short: what is to be said where the budget does not reach.
        fatal: the error that ends the job.
    """

    def __init__(
        self,
        plan: Spec,
        journal: Journal,
        budget: Budget,
        dispatcher: Dispatcher,
        skills: dict[str, Skill | None],
        hidden: Hidden,
        changed: Callable[[], None],
    ) -> None:
        self.plan, self.journal, self.budget, self.dispatcher = plan, journal, budget, dispatcher
        self.hidden = hidden
        self.judge: Judge | None = plan.judge
        self._skills = skills
        self._changed = changed
        self.executing: deque[RunState] = deque()
        self.judging: deque[RunState] = deque()
        self.for_batch: list[RunState] = []
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.short: str | None = None
        self.fatal: BaseException | None = None
        self.stopping = False
        self._up_to = math.inf
        self._batch: Callable[[list[RunState]], Coroutine[Any, Any, None]] | None = None
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._paid = 0  # steps in flight that call a model
        self._weighing = 0
        self._dearest = 0.0  # the most that any judging so far could have cost

    async def to_its_end(self, runs: float = math.inf) -> None:
        """Launch what can be launched, until nothing is in flight any more.

        Of runs that are not executed yet, the first so many of each eval on each side.
        """
        self._up_to = runs
        while self._launch():
            await self._wake.wait()
            self._wake.clear()

    def by_batches(self, batch: Callable[[list[RunState]], Coroutine[Any, Any, None]]) -> None:
        """Judge by batches, which this makes of runs."""
        self._batch = batch

    def cancel(self) -> None:
        """Cancel whatever is in flight, at its next await.

        What was only just launched begins first: it then ends as all else, and gives back its
        money.
        """
        loop = asyncio.get_running_loop()
        for task in tuple(self._tasks):
            loop.call_soon(task.cancel)  # in the order of asking: after the task's first step

    def stop(self, grace: float) -> None:
        """Launch nothing more, and cancel what is in flight after `grace` seconds."""
        self.stopping = True
        if not self.dispatcher.halt():  # what a pool's worker is at cannot be cancelled from here
            asyncio.get_running_loop().call_later(grace, self.cancel)
        self._wake.set()

    def fail(self, error: BaseException) -> None:
        """End the job: no other step would be spared this error."""
        if self.fatal is None:
            self.fatal = error
            if not isinstance(error, (Unwritable, OSError)):
                self.dispatcher.halt()
            self.cancel()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something be done beside the rest."""
        task = asyncio.ensure_future(self._kept(work))
        self._tasks.add(task)
        task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake.set()

    async def _kept(self, work: Coroutine[Any, Any, None]) -> None:
        """What nothing below has caught is an error of the machine, or of the driver itself."""
        try:
            await work
        except asyncio.CancelledError:
            return
        except Exception as error:  # noqa: BLE001 -- kept, and raised by `run`
            if exiting():
                self.stopping = True  # the next start goes on
            else:
                self.fail(error)

    # ── which step is next ───────────────────────────────────────────────────────────────────

    def _launch(self) -> bool:
        """Launch what can be; gives whether there is anything to wait for."""
        while not self.shut and self._paid + self._weighing < self.plan.concurrency:
            if self.judging:
                launched = self._launch_judging()
            elif self.executing and self.executing[0].run.cell.run_number <= self._up_to:
                launched = self._launch_execution()
            elif self.for_batch and not self._tasks:
                launched = self._launch_batch()
            else:
                break
            if not launched:
                break
        return bool(self._tasks)

    def _launch_judging(self) -> bool:
        """Launch the next judging; where its money is not there, another that is cheaper."""
        for run_state in tuple(self.judging):
            if run_state.prepared is None:
                self.judging.remove(run_state)
                self._weighing += 1
                self.spawn(self._weigh(run_state))
                return True
            reservation = self.budget.allot(run_state.worst_usd)
            if reservation is not None:
                number = run_state.judgings.popleft()
                if not run_state.judgings:
                    self.judging.remove(run_state)
                run_state.in_flight += 1
                self._paid += 1
                self.spawn(self._judge_once(run_state, number, reservation))
                return True
            if self._tasks:
                return False
        self.give_up("judging", min(run_state.worst_usd or 0.0 for run_state in self.judging))
        return False

    def _launch_execution(self) -> bool:
        reservation = self.budget.allot(self.plan.limits.usd)
        if reservation is not None:
            self._paid += 1
            self.spawn(self._execute(self.executing.popleft(), reservation))
            return True
        if self._tasks:
            return False
        if self.for_batch:
            return self._launch_batch()
        self.give_up("run", self.plan.limits.usd or 0.0)
        return False

    def _launch_batch(self) -> bool:
        run_states, self.for_batch = self.for_batch, []
        assert self._batch is not None
        self.spawn(self._batch(run_states))
        return True

    def give_up(self, what: str, needs: float) -> None:
        """The budget does not reach: say what is missing, and how much would be needed.

        Args:
            what: the step that is next.
            needs: the most that it may cost, in US dollars.
        """
        runs = len(self.executing)
        judgings = sum(len(run_state.judgings) for run_state in (*self.judging, *self.for_batch))
        if self.judge is not None:
            judgings += runs * self.judge.judgings
        worst = runs * (self.plan.limits.usd or 0.0) + judgings * self._dearest
        done = self.counts["finished"] + self.counts["errored"]
        spent = self.budget.spent_usd
        about = ""
        if done:
            guess = spent / done * (len(self.plan.cells) - done)
            about = f" (about {dollars(guess)} if it goes on as before)"
        counted = ((runs, "runs"), (judgings, "judgings"))
        missing = " and ".join(f"{number} {noun}" for number, noun in counted if number)
        self.short = (
            f"the budget of {dollars(self.budget.ceiling_usd or 0.0)} does not reach: "
            f"{dollars(spent)} is spent, and the next {what} may cost up to {dollars(needs)}. "
            f"Missing: {missing}, which may cost up to {dollars(worst)} more at worst{about}. "
            f"Plan again with budget_usd of at least {dollars(spent + needs)}, and start: what is "
            "done is not done again"
        )

    @property
    def shut(self) -> bool:
        """Whether nothing more is launched."""
        return self.stopping or self.fatal is not None or self.short is not None

    # ── the steps ────────────────────────────────────────────────────────────────────────────

    def advance(self, run_state: RunState) -> None:
        """Send a run that was executed to its next step."""
        missing = self.dispatcher.missing(run_state.run)
        if missing.check:
            self.spawn(self._check(run_state))
        elif missing.judgings and self.judge is not None:
            run_state.judgings = deque(missing.judgings)
            if self._batch is not None:
                self.for_batch.append(run_state)
            else:
                self.judging.append(run_state)
        elif missing.grade:
            self.spawn(self._grade(run_state))
        else:
            self.finished()

    async def _execute(self, run_state: RunState, reservation: Reservation) -> None:
        plan, run = self.plan, run_state.run
        order = Execute(
            run=run,
            executor=plan.executor,
            skill=self._skills[run.cell.configuration],
            model=plan.executor_model,
            limits=plan.limits,
            sandbox=plan.sandbox,
            connection=plan.connection,
        )
        try:
            ended = await self.dispatcher.do(EXECUTE, order, reservation)
        except InTheWay as error:
            self.errored(str(error))
            return
        finally:
            self._paid -= 1
        if ended is None:
            self.executing.appendleft(run_state)
        elif ended.reason is not None:
            self.errored(f"{run.cell.folder}: {ended.reason}")
        else:
            self.advance(run_state)

    async def _check(self, run_state: RunState) -> None:
        plan, run = self.plan, run_state.run
        order = Check(
            run,
            plan.allow_scripts,
            plan.sandbox,
            gate=plan.gate,
            judged=plan.judgings > 0 and run.eval.has_judged,
        )
        ended = await self.dispatcher.do(CHECK, order, None)
        if ended is None:
            return
        if ended.reason is not None:
            reason = f"check: {ended.reason}"
            mark_errored(run, reason)
            self.errored(f"{run.cell.folder}: {reason}")
        else:
            self.advance(run_state)

    async def _weigh(self, run_state: RunState) -> None:
        """Make a run ready to be judged, and find out what a judging may cost at worst."""
        from skill_eval_nb.grading.judge import Unjudged

        try:
            prepared, run_state.worst_usd = await asyncio.to_thread(self._weighed, run_state.run)
        except Unjudged as error:
            self.unjudged(run_state, error.reason)
            return
        finally:
            self._weighing -= 1
        run_state.prepared = prepared
        self._dearest = max(self._dearest, run_state.worst_usd)
        self.judging.appendleft(run_state)

    def _weighed(self, run: Run) -> tuple[Prepared, float]:
        from skill_eval_nb.grading.judge import prepare, worst

        assert self.judge is not None
        prepared = prepare(self.judge, case_of(run, self.hidden))
        meter = BudgetMeter(None, self.plan.prices)
        meter.reserve(self.judge.model, worst(self.judge, prepared.case, prepared=prepared))
        return prepared, meter.worst_usd

    async def _judge_once(self, run_state: RunState, number: int, reservation: Reservation) -> None:
        assert self.judge is not None
        connection, prices = self.plan.connection, self.plan.prices
        order = JudgeOnce(run_state.run, self.judge, number, self.hidden, connection, prices)
        try:
            ended = await self.dispatcher.do(JUDGE, order, reservation, run_state.prepared)
        finally:
            self._paid -= 1
            run_state.in_flight -= 1
        if ended is None:
            return
        if ended.reason is not None:
            self.unjudged(run_state, ended.reason)
        else:
            self.judged(run_state)

    def judged(self, run_state: RunState) -> None:
        """After a judging: grade the run if it was the last."""
        if run_state.in_flight or run_state.judgings:
            return
        if run_state.failed is not None:
            self.unjudged(run_state, run_state.failed)
            return
        run_state.prepared = None
        self.spawn(self._grade(run_state))

    def unjudged(self, run_state: RunState, reason: str) -> None:
        """A run of which a judging failed is errored, when those in flight have ended."""
        run_state.failed = run_state.failed or reason
        run_state.judgings.clear()
        if run_state in self.judging:
            self.judging.remove(run_state)
        if not run_state.in_flight:
            problem = f"judge: {run_state.failed}"
            mark_errored(run_state.run, problem)
            self.errored(f"{run_state.run.cell.folder}: {problem}")

    async def _grade(self, run_state: RunState) -> None:
        try:
            await asyncio.to_thread(grade, run_state.run)
        except (Unwritable, OSError):
            raise
        except Exception as error:
            if exiting():
                raise
            self.journal.add("trace", key=run_state.run.cell.key, traceback=traceback.format_exc())
            self.unjudged(run_state, f"it could not be graded: {type(error).__name__}: {error}")
            return
        self.dispatcher.done[GRADE] += 1
        self.finished()

    # ── what became of it ────────────────────────────────────────────────────────────────────

    def finished(self) -> None:
        """A run has all that it is to have."""
        self.counts["finished"] += 1
        self._changed()

    def errored(self, problem: str) -> None:
        """A run ended in an error."""
        self.counts["errored"] += 1
        self.report(problem)
        self._changed()

    def report(self, text: str) -> None:
        """Keep a problem in words."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(text)
        elif len(self.problems) == MOST_PROBLEMS:
            self.problems.append("and more: see the journal")
