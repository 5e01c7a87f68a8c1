"""The engine of a job: each run is one coroutine, from its first missing step to its end.

The number of runs and of model calls at a time is limited, and runs that were paid for are graded
before new ones begin. A step is launched if its worst case fits the budget together with the worst
case of everything in flight. If it does not fit, it waits for what is in flight to give money back;
if nothing is in flight, the step is left out, and the job ends as partial.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from concurrent.futures import Executor as Pool
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from skill_eval_nb.text import count, dollars

from .budget import Budget, Halted
from .files import STAGING, InTheWay, Unwritable, mark_errored
from .journal import Ended, Interrupted, Launched, Ledger, Lost
from .pool import HALT, JobFailed, do_in_pool
from .spec import CHECK, EXECUTE, JUDGE, Missing, Order, Run, Spec
from .spec import reason_errored as why_errored
from .steps import CannotRun, case_of, check, execute, failed_step, grade, judge
from .threads import is_exiting, run_several

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Prepared
    from skill_eval_nb.models import Client

    from .protocol import Skill

NOUNS = {EXECUTE: "run", JUDGE: "judging"}
"""What is paid for, by the step."""
CHECKS = 4
"""Structural checks at a time; they call no model, but may run programs."""
MOST_PROBLEMS = 100
"""Problems that are kept in memory; the files and the journal have all of them."""


class Engine:
    """Makes runs, several at a time, within a budget; each start of a job has its own.

    Attributes:
        counts: how many runs are finished and errored.
        rest: for each run that has not ended, how many paid steps of each name are not begun.
        problems: what went wrong or stands out, in words.
        for_batch: the runs to judge by a batch.
        short: the first thing that did not fit the budget, and its worst price in US dollars.
        stopping: whether nothing more is begun.
    """

    def __init__(
        self, plan: Spec, pool: Pool | None, ledger: Ledger, skills: dict[str, Skill | None]
    ) -> None:
        self.plan, self.judge = plan, plan.judge
        self._terms = replace(plan, cells=(), evals=(), suite=replace(plan.suite, evals=()))
        self.ledger = ledger
        self.counts: Counter[str] = Counter()
        self.rest: dict[str, Counter[str]] = {}
        self.problems: list[str] = []
        self.for_batch: list[Run] = []
        self.short: tuple[str, float] | None = None
        self.stopping = False
        self._pool, self._skills = pool, skills
        self._places = asyncio.Semaphore(plan.concurrency)
        self._checks = ThreadPoolExecutor(CHECKS, "skill-eval-nb check")
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._dearest = 0.0  # the most that any judging so far could have cost
        self._main: asyncio.Task[Any] | None = None
        self._shut = False  # nothing more is launched

    async def __aenter__(self) -> Self:
        self._main = asyncio.current_task()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        await self._stack.aclose()
        self._checks.shutdown()
        return self.stopping and kind is asyncio.CancelledError

    def stop(self, grace: float) -> None:
        """Begin nothing more, and cancel what is in flight after `grace` seconds."""
        self.stopping = True
        if self.halt() or self._main is None:  # work in a pool cannot be cancelled
            return
        asyncio.get_running_loop().call_later(grace, self._main.cancel)

    def halt(self) -> bool:
        """Stop all further calls of a pool's workers; returns whether there is a pool."""
        if self._pool is not None:
            path = self.plan.folder / STAGING / HALT
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return self._pool is not None

    async def connected(self) -> Client:
        """The client for all calls, shared with executors that use the SDK."""
        if self._client is None:
            from skill_eval_nb.models import connect

            self._client = await self._stack.enter_async_context(connect(self.plan.connection))
        return self._client

    # ── the steps of a run ───────────────────────────────────────────────────────────────────

    def missing(self, run: Run) -> Missing:
        """What a run lacks; one that errored lacks nothing."""
        return self.plan.lacks(run.eval, run.place)

    async def make_all(self, runs: Iterable[Run]) -> None:
        """Send runs through their missing steps, until nothing more can be done.

        Raises:
            Exception: an error that would hit every other run, too; nothing more is begun.
        """

        async def make(run: Run) -> None:
            try:
                await self._make_run(run)
            except BaseException:
                self._shut = True
                raise

        await run_several(map(make, runs), self.plan.concurrency)

    async def _make_run(self, run: Run) -> None:
        missing = run.missing
        if missing.execute:
            if not await self._execute_run(run):
                return
            missing = self.missing(run)
        if missing.check:
            if not await self._check_run(run):
                return
            missing = self.missing(run)
        if missing.judgings and self.judge is not None:
            if self.plan.judge_batch:
                self.for_batch.append(run)
                return
            if not await self.judge_alone(run, missing.judgings):
                return
            missing = self.missing(run)
        await self.end_run(run, graded=not missing.grade)

    async def _execute_run(self, run: Run) -> bool:
        order = Order(EXECUTE, run, self._terms, skill=self._skills[run.cell.configuration])
        try:
            ended = await self._do_paid(order, self.plan.limits.usd)
        except InTheWay as error:
            return self.end_errored(run, str(error))
        if ended is not None and ended.reason is not None:
            return self.end_errored(run, f"{run.cell.folder}: {ended.reason}")
        return ended is not None

    async def _check_run(self, run: Run) -> bool:
        ended = await self._do_step(Order(CHECK, run, self._terms), None)
        if ended is not None and ended.reason is not None:
            return self.end_ungraded(run, CHECK, ended.reason)
        return ended is not None

    async def judge_alone(self, run: Run, numbers: Iterable[int]) -> bool:
        """Judge a run by calls; if a judging fails, the run is errored."""
        from skill_eval_nb.grading.judge import Unjudged, prepare, worst

        assert self.judge is not None
        try:
            prepared = await asyncio.to_thread(prepare, self.judge, case_of(run, self.plan))
        except Unjudged as error:
            return self.end_ungraded(run, JUDGE, error.reason)
        most = await asyncio.to_thread(worst, prepared)
        usd = self.plan.prices.cost(most, self.judge.model) or 0.0
        self._dearest = max(self._dearest, usd)
        ends: list[Ended | None] = []
        reasons: list[str] = []

        async def judge_once(number: int) -> None:
            if reasons:
                return  # the run is errored: pay no more for it
            order = Order(JUDGE, run, self._terms, number=number)
            ended = await self._do_paid(order, usd, prepared)
            ends.append(ended)
            reasons.extend([ended.reason] if ended is not None and ended.reason else [])

        await run_several(map(judge_once, numbers), self.plan.concurrency)
        return self.end_ungraded(run, JUDGE, reasons[0]) if reasons else None not in ends

    async def end_run(self, run: Run, *, graded: bool = False) -> None:
        """Grade a run that has all its verdicts."""
        if not graded:
            try:
                await asyncio.to_thread(grade, run)
            except (Unwritable, OSError):
                raise
            except Exception as error:
                if is_exiting():
                    raise
                failed = failed_step(error)
                self.ledger.journal.add("trace", key=run.cell.key, traceback=failed.trace)
                self.end_ungraded(run, JUDGE, f"it could not be graded: {failed.reason}")
                return
        self._count_run(run, "finished")

    # ── a step, in its turn and with its money ───────────────────────────────────────────────

    async def _do_paid(
        self, order: Order, worst: float | None, prepared: Prepared | None = None
    ) -> Ended | None:
        """Do a step that calls a model; None if it was cut off or does not fit the budget."""
        name = order.step
        async with self._places:
            reservation = None
            if not self._is_shut(name):
                # Judging what was paid for comes before executing more.
                reservation = await self.ledger.budget.wait_for(worst, later=name == EXECUTE)
                if reservation is None and not self._is_shut(name):
                    self.short = self.short or (NOUNS[name], worst or 0.0)
            if reservation is None:
                return None
            rest, ended = self.rest.get(order.run.cell.key, Counter()), None
            rest[name] -= 1
            try:
                if not self._is_shut(name):
                    ended = await self._do_step(order, reservation, prepared)
                return ended
            finally:
                reservation.close()
                rest[name] += ended is None

    def _is_shut(self, name: str) -> bool:
        """Whether no step of this name is begun; when money is short, judgings may still fit."""
        short = name == EXECUTE and self.short is not None
        return self.stopping or self._shut or short

    async def _do_step(
        self, order: Order, reservation: Budget | None, prepared: Prepared | None = None
    ) -> Ended | None:
        """Do a step; once more if its worker was lost before it wrote anything."""
        worst = reservation.cap_usd if reservation is not None else None
        try:
            return await self._attempt_step(order, reservation, prepared)
        except Lost as error:
            if isinstance(error.__cause__, BrokenExecutor):
                raise JobFailed(f"{error}. Start the plan again with a new pool") from error
            if not self._has_written_nothing(order):
                return Ended(why_errored(order.run.place))
            is_check = order.step == CHECK
            again = None if is_check else self.ledger.budget.allot(worst)
            if not self.stopping and (is_check or again):
                try:
                    return await self._attempt_step(order, again, prepared)
                except Lost as once_more:
                    error = once_more
            return None if self.stopping else self._note_error(order, Ended(str(error)))

    async def _attempt_step(
        self, order: Order, reservation: Budget | None, prepared: Prepared | None
    ) -> Ended | None:
        cell, data = order.run.cell, {"number": order.number} if order.number else {}
        opened = self.ledger.step(order.step, cell.key, cell.folder, reservation, **data)
        with suppress(Halted):
            async with opened as step:
                order = replace(order, launch=step.number)
                step.ended = await self._come_to_end(order, step, prepared)
                return step.ended
        return None

    async def _come_to_end(self, order: Order, step: Launched, prepared: Prepared | None) -> Ended:
        """Do a step here or in the pool."""
        try:
            if self._pool is not None:
                ended = await do_in_pool(self._pool, order, step, self.ledger)
            elif order.step == CHECK:
                loop = asyncio.get_running_loop()
                ended = await loop.run_in_executor(self._checks, check, order)
            elif order.step == EXECUTE:
                ended = await execute(order, step.meter(), self._client)
            else:
                ended = await judge(order, step.meter(), await self.connected(), prepared)
        except (Lost, Unwritable, CannotRun, InTheWay, JobFailed):
            raise
        except Exception as error:  # noqa: BLE001 -- reported, with its trace
            ended = failed_step(error)
        return self._note_error(order, ended)

    def _has_written_nothing(self, order: Order) -> bool:
        """Whether a step whose worker was lost has written nothing."""
        missing = self.missing(order.run)
        if order.step == JUDGE:
            return order.number in missing.judgings
        return missing.execute if order.step == EXECUTE else missing.check

    def _note_error(self, order: Order, ended: Ended) -> Ended:
        """Mark a run as errored if its execution failed before it could write that itself."""
        if ended.reason is not None and ended.reason != why_errored(order.run.place):
            if is_exiting():
                raise Interrupted
            if order.step == EXECUTE:
                mark_errored(order.run, ended.reason)
        return ended

    # ── how runs end ─────────────────────────────────────────────────────────────────────────

    def end_ungraded(self, run: Run, step: str, reason: str) -> bool:
        """Mark a run as errored because it could not be checked or judged."""
        problem = f"{step}: {reason}"
        mark_errored(run, problem)
        return self.end_errored(run, f"{run.cell.folder}: {problem}")

    def end_errored(self, run: Run, problem: str) -> bool:
        """Count a run as errored: it has no next step."""
        self.report(problem)
        self._count_run(run, "errored")
        return False

    def _count_run(self, run: Run, became: str) -> None:
        self.counts[became] += 1
        self.rest.pop(run.cell.key, None)
        self.ledger.changed()

    def report(self, text: str) -> None:
        """Keep a problem, in words."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(text)
        elif len(self.problems) == MOST_PROBLEMS:
            self.problems.append("and more: see the journal")

    @property
    def waiting(self) -> Counter[str]:
        """How many paid steps of each name are not begun; may be called from any thread."""
        return sum(tuple(self.rest.values()), Counter())

    @property
    def lacking(self) -> str | None:
        """What is missing because the budget was too small, and how much is needed; else None."""
        if self.short is None:
            return None
        noun, needs = self.short
        rest, budget = self.waiting, self.ledger.budget
        worst = rest[EXECUTE] * (self.plan.limits.usd or 0.0) + rest[JUDGE] * self._dearest
        missing = " and ".join(count(rest[name], NOUNS[name]) for name in NOUNS if rest[name])
        return (
            f"the budget of {dollars(budget.cap_usd or 0.0)} is too small: "
            f"{dollars(budget.spent_usd)} is spent, and the next {noun} may cost up to "
            f"{dollars(needs)}. Missing: {missing}, which may cost up to {dollars(worst)} more. "
            f"Plan again with budget_usd of at least {dollars(budget.spent_usd + needs)}, and "
            "start: only what is missing will be done"
        )
