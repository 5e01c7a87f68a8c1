"""Judging by batches: a job's runs, those of an earlier start; what `judge_again` needs, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skill_eval_nb.models.usage import PriceList

from .budget import Budget, BudgetMeter, Reservation
from .dispatcher import JobFailed
from .journal import ERRORED, FINISHED, SUBMITTED, Launch
from .scheduler import RunState, Scheduler
from .spec import JUDGINGS, Run
from .steps import case_of, write_judging

if TYPE_CHECKING:
    from skill_eval_nb.documents import Judging
    from skill_eval_nb.grading.judge import Judge, Prepared
    from skill_eval_nb.models import Meter, Prices, Usage
    from skill_eval_nb.models.batches import Results


EVERY = 5.0
"""Seconds between looks at a batch."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchedJudging(Generic[T]):
    """A judging that goes by a batch: of what, its number, what is shown, its requests by id."""

    of: T
    number: int
    prepared: Prepared
    requests: Mapping[str, dict[str, Any]]


class NoJudging(Exception):
    """A batch gave no judging; `answered` where a model did, and cannot be understood."""

    def __init__(self, reason: str, answered: Usage | None = None) -> None:
        super().__init__(reason)
        self.reason, self.answered = reason, answered


def batched(of: T, prepared: Prepared, number: int, name: str) -> BatchedJudging[T]:
    """A judging with its requests, whose ids are `name` and a number each.

    None is marked for the cache: writing to it costs more, and the requests of a batch are
    done in whatever order, so that none can count on reading it.
    """
    from skill_eval_nb.grading.judge import questions

    parts = questions(prepared, number, cached=False)
    requests = {f"{name}{part}": question.body() for part, question in enumerate(parts)}
    return BatchedJudging(of, number, prepared, requests)


def worst_usd(judgings: Iterable[BatchedJudging[Any]], prices: PriceList) -> float:
    """The most that judgings can cost by a batch, in US dollars."""
    from skill_eval_nb.models import batches

    meter = BudgetMeter(None, prices)
    for judging in judgings:
        batches.reserve(meter, judging.requests)
    return meter.worst_usd


def bring(
    client: Any,
    judgings: Iterable[BatchedJudging[Any]],
    meter: Meter,
    batch_id: str | None,
    created: Callable[[str], None],
) -> Awaitable[Results]:
    """Submit a batch and wait for it; or wait for one that was submitted before.

    Raises:
        ModelFault: it was not taken, or has not ended within a day.
    """
    from skill_eval_nb.models import batches

    requests = {name: body for judging in judgings for name, body in judging.requests.items()}
    return batches.answers(
        client, requests, meter=meter, batch_id=batch_id, every=EVERY, created=created
    )


def judging_from(
    judging: BatchedJudging[Any], results: Results, judge: Judge, prices: Prices
) -> Judging:
    """The judging that came of a batch.

    Raises:
        NoJudging: there is none.
        Unjudged: nothing that would be asked again could be judged by.
    """
    from skill_eval_nb.grading.judge import BadAnswer, read_judging
    from skill_eval_nb.models import Reply, Usage

    case, number = judging.prepared.case, judging.number
    given = [results.get(name) for name in judging.requests]
    replies = [reply for reply in given if isinstance(reply, Reply)]
    if len(replies) < len(given):
        fault = next(reply for reply in given if not isinstance(reply, Reply))
        raise NoJudging(f"no answer by the batch: {fault or 'it is missing'}")
    try:
        return read_judging(
            judge, case, number, replies, prepared=judging.prepared, prices=prices, batch=True
        )
    except BadAnswer as error:
        usage = sum((reply.usage for reply in replies), Usage())
        raise NoJudging(f"the answer by the batch cannot be used: {error}", usage) from error


def numbers_of(requests: Iterable[str]) -> dict[str, list[int]]:
    """The judgings that ids of requests stand for, by the keys of their runs.

    >>> numbers_of(["ab12-1-0", "ab12-1-1", "ab12-2-0"])
    {'ab12': [1, 2]}
    """
    found: dict[str, list[int]] = {}
    for name in requests:
        key, number, _ = name.rsplit("-", 2)
        numbers = found.setdefault(key, [])
        if int(number) not in numbers:
            numbers.append(int(number))
    return found


class Batches:
    """Judges runs of a course by batches."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._plan, self._dispatcher, self._budget = (
            scheduler.plan,
            scheduler.dispatcher,
            scheduler.budget,
        )

    async def judge(self, run_states: list[RunState]) -> None:
        """Judge runs by a batch: as many of them as the budget allows."""
        judgings: list[BatchedJudging[RunState]] = []
        usd = cost = 0.0
        while run_states:
            more = await self._judgings(run_states[0], run_states[0].judgings)
            cost = worst_usd(more, self._plan.prices)
            left = self._budget.left_usd
            if left is not None and usd + cost > left:
                break
            judgings += more
            usd += cost
            run_states.pop(0)
        self._scheduler.for_batch += run_states
        reservation = self._budget.allot(usd) if judgings else None
        if reservation is None:
            if self._scheduler.for_batch:
                self._scheduler.give_up("batch of judgings", cost)
            return
        names = [name for judging in judgings for name in judging.requests]
        worst = reservation.cap_usd
        launch = self._dispatcher.begin("batch", "", self._plan.folder.name, worst, requests=names)
        await self._bring(launch, None, judgings, reservation)
        self._go_on(judging.of for judging in judgings)

    async def collect(self, launch: Launch, run_states: dict[str, RunState]) -> None:
        """Wait for a batch that an earlier start has submitted."""
        numbers = numbers_of(launch.event.get("requests", ()))
        judgings: list[BatchedJudging[RunState]] = []
        for cell in self._plan.cells:
            if cell.key in numbers:
                plan = self._plan
                run = Run(cell, plan.eval_of(cell), plan.folder, plan.folder_of(cell))
                judgings += await self._judgings(
                    run_states.get(cell.key) or RunState(run), numbers[cell.key]
                )
        reservation = self._budget.allot(launch.worst_usd)
        if (
            reservation is None
        ):  # the ceiling was lowered; what was submitted is billed all the same
            reservation = Budget(None, self._plan.prices).allot(launch.worst_usd)
        assert reservation is not None
        ids = ",".join(self._scheduler.journal.record.batches[launch.number])
        self._dispatcher.take_up(launch.number, "batch", self._plan.folder.name)
        await self._bring(launch.number, ids, judgings, reservation)
        self._go_on(judging.of for judging in judgings if judging.of in run_states.values())

    async def _judgings(
        self, run_state: RunState, numbers: Sequence[int]
    ) -> list[BatchedJudging[RunState]]:
        from skill_eval_nb.grading.judge import Unjudged, prepare

        judge, run = self._scheduler.judge, run_state.run
        assert judge is not None

        def prepared() -> list[BatchedJudging[RunState]]:
            ready = prepare(judge, case_of(run, self._scheduler.hidden))
            key = run.cell.key
            return [batched(run_state, ready, each, f"{key}-{each}-") for each in numbers]

        try:
            return await asyncio.to_thread(prepared)
        except Unjudged as error:
            self._scheduler.unjudged(run_state, error.reason)
            return []

    async def _bring(
        self,
        launch: int,
        ids: str | None,
        judgings: Sequence[BatchedJudging[RunState]],
        reservation: Reservation,
    ) -> None:
        """Wait for a batch, write what came, and only then close its launch."""
        from skill_eval_nb.models import ModelFault

        assert self._scheduler.judge is not None
        submitted = [ids] if ids else []

        def created(id_: str) -> None:
            submitted.append(id_)
            self._scheduler.journal.add(SUBMITTED, launch=launch, id=id_)

        try:
            client = await self._dispatcher.connected()
            results = await bring(client, judgings, reservation, ids, created)
        except asyncio.CancelledError:
            self._dispatcher.leave(launch, reservation)
            raise
        except ModelFault as fault:
            if submitted:
                self._dispatcher.leave(launch, reservation)
            else:
                self._dispatcher.close(launch, ERRORED, reservation, reason=str(fault))
            raise JobFailed(f"judging by a batch: {fault} Start the plan again to go on") from fault
        for judging in judgings:
            await self._settle(judging, results)
        self._dispatcher.close(launch, FINISHED, reservation)

    def _go_on(self, run_states: Iterable[RunState]) -> None:
        """Send runs on, those with judgings that did not come back once more."""
        for run_state in dict.fromkeys(run_states):
            if run_state.failed is not None:
                self._scheduler.unjudged(run_state, run_state.failed)
            elif run_state.judgings:
                self._scheduler.judging.append(run_state)
            else:
                self._scheduler.judged(run_state)

    async def _settle(self, batched_judging: BatchedJudging[RunState], results: Results) -> None:
        """Write what came of a judging; where asking once more may help, it is done alone."""
        from skill_eval_nb.grading.judge import Unjudged

        assert self._scheduler.judge is not None
        run_state, number = batched_judging.of, batched_judging.number
        reason = None
        try:
            # It may have been written before the job was killed.
            if not (run_state.run.place / JUDGINGS / f"{number}.json").is_file():
                given = (batched_judging, results, self._scheduler.judge, self._plan.prices)
                judging = await asyncio.to_thread(judging_from, *given)
                await asyncio.to_thread(write_judging, run_state.run, number, judging)
        except NoJudging as error:
            what = f"{error.reason}; judging {number} is done alone"
            self._scheduler.report(f"{run_state.run.cell.folder}: {what}")
            return
        except Unjudged as error:
            reason = error.reason
        if number in run_state.judgings:
            run_state.judgings.remove(number)
        run_state.failed = run_state.failed or reason
