"""Judging by batches: in the course of a job, and those that an earlier start submitted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from ..money.budget import Allotment, Budget
from ..steps.orders import Run
from . import batching
from .course import Course
from .going import Going
from .journal import ERRORED, FINISHED, SUBMITTED, Launch
from .sending import JobFailed


class Batches:
    """Judges runs of a course by batches."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._plan, self._sender, self._budget = course.plan, course.sender, course.budget

    async def judge(self, goings: list[Going]) -> None:
        """Judge runs by a batch: as many of them as the budget allows."""
        asked: list[batching.Asked] = []
        usd = cost = 0.0
        while goings:
            more = await self._asked(goings[0], goings[0].judgings)
            cost = batching.worst_usd(more, self._plan.prices)
            left = self._budget.left_usd
            if left is not None and usd + cost > left:
                break
            asked += more
            usd += cost
            goings.pop(0)
        self._course.for_batch += goings
        allotment = self._budget.allot(usd) if asked else None
        if allotment is None:
            if self._course.for_batch:
                self._course.give_up("batch of judgings", cost)
            return
        names = [name for one in asked for name in one.requests]
        worst = allotment.cap_usd
        launch = self._sender.begin("batch", "", self._plan.folder.name, worst, requests=names)
        await self._bring(launch, None, asked, allotment)
        self._go_on(one.going for one in asked)

    async def collect(self, launch: Launch, goings: dict[str, Going]) -> None:
        """Wait for a batch that an earlier start has submitted."""
        told = batching.numbers_of(launch.told.get("requests", ()))
        asked: list[batching.Asked] = []
        for cell in self._plan.cells:
            if cell.key in told:
                plan = self._plan
                run = Run(cell, plan.eval_of(cell), plan.folder, plan.folder_of(cell))
                asked += await self._asked(goings.get(cell.key) or Going(run), told[cell.key])
        allotment = self._budget.allot(launch.worst_usd)
        if allotment is None:  # the ceiling was lowered; what was submitted is billed all the same
            allotment = Budget(None, self._plan.prices).allot(launch.worst_usd)
        assert allotment is not None
        ids = ",".join(self._course.journal.told.batches[launch.number])
        self._sender.take_up(launch.number, "batch", self._plan.folder.name)
        await self._bring(launch.number, ids, asked, allotment)
        self._go_on(one.going for one in asked if one.going in goings.values())

    async def _asked(self, going: Going, numbers: Sequence[int]) -> list[batching.Asked]:
        from skill_eval_nb.grading.judge import Unjudged

        assert self._course.judge is not None
        given = (going, tuple(numbers), self._course.judge, self._course.hidden)
        try:
            return await asyncio.to_thread(batching.ask, *given)
        except Unjudged as error:
            self._course.unjudged(going, error.reason)
            return []

    async def _bring(
        self, launch: int, ids: str | None, asked: Sequence[batching.Asked], allotment: Allotment
    ) -> None:
        """Wait for a batch, write what came, and only then close its launch."""
        from skill_eval_nb.models import ModelFault

        assert self._course.judge is not None
        submitted = [ids] if ids else []

        def created(id_: str) -> None:
            submitted.append(id_)
            self._course.journal.add(SUBMITTED, launch=launch, id=id_)

        try:
            client = await self._sender.connected()
            results = await batching.bring(client, asked, allotment, ids, created)
        except asyncio.CancelledError:
            self._sender.leave(launch, allotment)
            raise
        except ModelFault as fault:
            if submitted:
                self._sender.leave(launch, allotment)
            else:
                self._sender.close(launch, ERRORED, allotment, reason=str(fault))
            raise JobFailed(f"judging by a batch: {fault} Start the plan again to go on") from fault
        for one in asked:
            given = (one, results, self._course.judge, self._plan.prices)
            came = await asyncio.to_thread(batching.write, *given)
            self._came(one.going, one.number, came)
        self._sender.close(launch, FINISHED, allotment)

    def _go_on(self, goings: Iterable[Going]) -> None:
        """Send runs on, those with judgings that did not come back once more."""
        for going in dict.fromkeys(goings):
            if going.failed is not None:
                self._course.unjudged(going, going.failed)
            elif going.judgings:
                self._course.judging.append(going)
            else:
                self._course.judged(going)

    def _came(self, going: Going, number: int, came: batching.Came) -> None:
        """What came of one judging of a batch; those that may help are asked once more, alone."""
        if came.reason is None or not came.again:
            if number in going.judgings:
                going.judgings.remove(number)
            going.failed = going.failed or came.reason
        else:
            told = f"{going.run.cell.folder}: {came.reason}; judging {number} is done alone"
            self._course.tell(told)
