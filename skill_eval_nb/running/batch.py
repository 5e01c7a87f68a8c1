"""Judge by batches: the runs of a job, and what `judge_again` needs for that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .budget import Budget
from .engine import Engine
from .files import write_judging
from .journal import SUBMITTED, Ended, Launch
from .pool import JobFailed
from .spec import JUDGE, JUDGINGS, Run
from .steps import case_of
from .threads import run_several

if TYPE_CHECKING:
    from skill_eval_nb.documents import Judging
    from skill_eval_nb.grading.judge import Prepared
    from skill_eval_nb.models import Meter, Prices, Usage
    from skill_eval_nb.models.batches import Results


EVERY = 5.0
"""Seconds between looks at a batch."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchedJudging(Generic[T]):
    """A judging in a batch: of what, its number, what is shown, and its requests by id."""

    of: T
    number: int
    prepared: Prepared
    requests: Mapping[str, dict[str, Any]]


class NoJudging(Exception):
    """A batch gave no judging; `answered` is the usage if the answer cannot be used."""

    def __init__(self, reason: str, answered: Usage | None = None) -> None:
        super().__init__(reason)
        self.reason, self.answered = reason, answered


def batch_judging(of: T, prepared: Prepared, number: int, name: str) -> BatchedJudging[T]:
    """A judging with its requests, whose ids are `name` with a number.

    None is marked for the cache: writing to it costs more, and a batch has no order, so no request
    can count on reading it.
    """
    from skill_eval_nb.grading.judge import questions

    parts = questions(prepared, number, cached=False)
    requests = {f"{name}{part}": question.body() for part, question in enumerate(parts)}
    return BatchedJudging(of, number, prepared, requests)


def worst_usd(judgings: Iterable[BatchedJudging[Any]], prices: Prices) -> float:
    """The most that judgings can cost in a batch, in US dollars."""
    from skill_eval_nb.models import batches

    meter = Budget(None, prices)
    for judging in judgings:
        batches.reserve_batch(meter, judging.requests)
    return meter.worst_usd


def bring_results(
    client: Any,
    judgings: Iterable[BatchedJudging[Any]],
    meter: Meter,
    batch_id: str | None,
    created: Callable[[str], None],
) -> Awaitable[Results]:
    """Submit a batch and wait for it, or wait for one that was submitted before.

    Raises:
        ModelFault: it was not accepted, or has not ended within a day.
    """
    from skill_eval_nb.models import batches

    requests = {name: body for judging in judgings for name, body in judging.requests.items()}
    return batches.answers(
        client, requests, meter=meter, batch_id=batch_id, every=EVERY, created=created
    )


def judging_from(judging: BatchedJudging[Any], results: Results, prices: Prices) -> Judging:
    """The judging in a batch's results.

    Raises:
        NoJudging: there is none, but asking again may help.
        Unjudged: there is none, and asking again would not help.
    """
    from skill_eval_nb.grading.judge import read_judging
    from skill_eval_nb.models import Reply, Usage
    from skill_eval_nb.models.ask import BadAnswer

    given = [results.get(name) for name in judging.requests]
    replies = [reply for reply in given if isinstance(reply, Reply)]
    if len(replies) < len(given):
        fault = next(reply for reply in given if not isinstance(reply, Reply))
        raise NoJudging(f"the batch has no answer: {fault or 'it is missing'}")
    try:
        return read_judging(judging.prepared, judging.number, replies, prices)
    except BadAnswer as error:
        usage = sum((reply.usage for reply in replies), Usage())
        raise NoJudging(f"the batch's answer is unusable: {error}", usage) from error


def numbers_of(requests: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of the judgings that request ids stand for, by the keys of their runs.

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
    """Judges the runs of a job by batches, and collects those that an earlier start submitted.

    Attributes:
        held: the runs that wait for a batch of an earlier start, by their keys.
    """

    def __init__(self, engine: Engine, submitted: Iterable[Launch], runs: Iterable[Run]) -> None:
        self._engine = engine
        self._submitted = [
            (launch, numbers_of(launch.event.get("requests", ()))) for launch in submitted
        ]
        keys = {key for _, numbers in self._submitted for key in numbers}
        self.held = {run.cell.key: run for run in runs if run.cell.key in keys}

    async def make_all(self, runs: Iterable[Run]) -> None:
        """Make runs, and judge those by a batch that need it."""
        engine = self._engine
        alone = [run for run in runs if run.cell.key not in self.held]
        await run_several([self._collect(), engine.make_all(alone)], 2)
        if engine.for_batch and not engine.stopping:
            await self._judge(engine.for_batch)

    async def _collect(self) -> None:
        """Wait for the batches that an earlier start submitted."""
        plan, ledger = self._engine.plan, self._engine.ledger
        while self._submitted:
            launch, numbers = self._submitted.pop(0)
            reservation = ledger.budget.take_up(launch.worst_usd)
            judgings: list[BatchedJudging[Run]] = []
            for run in (plan.run_of(cell) for cell in plan.cells if cell.key in numbers):
                judgings += await self._prepare_run(run, numbers[run.cell.key])
            ends = await self._bring_batch(judgings, reservation, launch)
            await self._end_runs({key: ends[key] for key in ends if key in self.held})

    async def _judge(self, runs: list[Run]) -> None:
        """Judge runs by batches, as many as the budget allows."""
        engine, budget = self._engine, self._engine.ledger.budget
        while runs:
            judgings: list[BatchedJudging[Run]] = []
            usd = cost = 0.0
            while runs:
                more = await self._prepare_run(runs[0], engine.missing(runs[0]).judgings)
                cost = worst_usd(more, engine.plan.prices)
                if budget.left_usd is not None and usd + cost > budget.left_usd:
                    break
                judgings += more
                usd += cost
                runs.pop(0)
            reservation = await budget.wait_for(usd) if judgings else None
            if reservation is None:
                if runs:
                    engine.short = engine.short or ("batch of judgings", cost)
                return
            await self._end_runs(await self._bring_batch(judgings, reservation))

    async def _prepare_run(self, run: Run, numbers: Sequence[int]) -> list[BatchedJudging[Run]]:
        from skill_eval_nb.grading.judge import Unjudged, prepare

        judge, plan = self._engine.judge, self._engine.plan
        assert judge is not None

        def prepare_judgings() -> list[BatchedJudging[Run]]:
            ready, key = prepare(judge, case_of(run, plan)), run.cell.key
            return [batch_judging(run, ready, each, f"{key}-{each}-") for each in numbers]

        try:
            return await asyncio.to_thread(prepare_judgings)
        except Unjudged as error:
            self._engine.end_ungraded(run, JUDGE, error.reason)
            return []

    async def _bring_batch(
        self, judgings: list[BatchedJudging[Run]], reservation: Budget, before: Launch | None = None
    ) -> dict[str, tuple[Run, str | None]]:
        """Wait for a batch, write its judgings, and only then close its launch.

        It was submitted before if its launch is given.

        Returns:
            The runs by their keys, each with the reason if it cannot be judged.
        """
        from skill_eval_nb.models import ModelFault

        engine, ledger = self._engine, self._engine.ledger
        folder, number = engine.plan.folder.name, before.number if before is not None else None
        ids = ",".join(ledger.journal.record.batches[number]) if number is not None else None
        names = [name for judging in judgings for name in judging.requests]
        data = {"requests": names} if number is None else {}
        ends: dict[str, tuple[Run, str | None]] = {}
        async with ledger.step("batch", "", folder, reservation, number, **data) as step:
            step.stays = ids is not None

            def note_submitted(id_: str) -> None:
                step.stays = True  # from now on, the next start can collect it
                ledger.journal.add(SUBMITTED, launch=step.number, id=id_)

            try:
                client = await engine.connected()
                results = await bring_results(client, judgings, reservation, ids, note_submitted)
            except ModelFault as fault:
                again = "Start the plan again to continue"
                raise JobFailed(f"judging by a batch: {fault} {again}") from fault
            for judging in judgings:
                reason, key = await self._keep_judging(judging, results), judging.of.cell.key
                ends[key] = (judging.of, ends.get(key, (None, None))[1] or reason)
            step.ended, step.stays = Ended(), False
        return ends

    async def _end_runs(self, ends: Mapping[str, tuple[Run, str | None]]) -> None:
        """Continue with runs; judgings that did not come back are made by single calls."""
        await run_several(
            (self._end_run(*end) for end in ends.values()), self._engine.plan.concurrency
        )

    async def _end_run(self, run: Run, reason: str | None) -> None:
        engine = self._engine
        if reason is not None:
            engine.end_ungraded(run, JUDGE, reason)
        elif not (lacks := engine.missing(run).judgings) or await engine.judge_alone(run, lacks):
            await engine.end_run(run)

    async def _keep_judging(
        self, batched_judging: BatchedJudging[Run], results: Results
    ) -> str | None:
        """Write a judging; None if that worked, or if a single call may still help."""
        from skill_eval_nb.grading.judge import Unjudged

        engine, run, number = self._engine, batched_judging.of, batched_judging.number
        try:
            # It may have been written before the job was killed.
            if not (run.place / JUDGINGS / f"{number}.json").is_file():
                prices = engine.plan.prices
                judging = await asyncio.to_thread(judging_from, batched_judging, results, prices)
                await asyncio.to_thread(write_judging, run.place, number, judging)
        except NoJudging as error:
            engine.report(f"{run.cell.folder}: {error.reason}; judging {number} is done on its own")
        except Unjudged as error:
            return error.reason
        return None
