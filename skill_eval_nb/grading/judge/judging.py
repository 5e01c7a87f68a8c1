"""One judging: ask, look through the answer, ask again where it cannot be used."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import Judging
from skill_eval_nb.models import Meter, ModelFault, Prices, Reply, Usage
from skill_eval_nb.models.asking import Unanswered, until_usable

from .answers import Answer
from .reading import answer_of, judging_of
from .requests import Prepared, calls, prepare, request
from .values import WHO, Case, Judge, Unjudged

if TYPE_CHECKING:
    from skill_eval_nb.models import Client


async def judge(
    client: Client,
    judge: Judge,
    case: Case,
    number: int,
    meter: Meter,
    *,
    prices: Prices | None = None,
    prepared: Prepared | None = None,
) -> Judging:
    """Judge one run once.

    An answer that cannot be used is asked for again, at most twice, telling what was wrong.

    Args:
        client: how calls reach the model.
        judge: who judges.
        case: the run.
        number: the judging, from 1.
        meter: what every call goes through.
        prices: what calls cost, for the record.
        prepared: the run made ready; read from the disk where it is not given.

    Raises:
        Unjudged: there is no judging, and why.
        BudgetSpent: the meter allowed no further call.
    """
    began = time.monotonic()
    ready = prepared or await asyncio.to_thread(prepare, judge, case)
    asking = _Asking(client, ready, number, meter)
    try:
        answers = await asking.all()
    except ModelFault as fault:
        if fault.kind != "refused" or not ready.showing.shown.images:
            raise Unjudged(f"the judge model gave no answer: {fault}") from fault
        # One picture that the API cannot read spoils the whole request, whatever we looked at.
        asking.ready = await asyncio.to_thread(prepare, judge, case, images=False)
        try:
            answers = await asking.all()
        except ModelFault as again:
            raise Unjudged(f"the judge model gave no answer: {again}") from again
    return judging_of(
        judge,
        case,
        number,
        answers,
        asking.usage,
        prepared=asking.ready,
        prices=prices,
        refused=asking.refused,
        seconds=time.monotonic() - began,
    )


@dataclass
class _Asking:
    """The calls of one judging, and what they used."""

    client: Client
    ready: Prepared
    number: int
    meter: Meter
    usage: Usage = field(default_factory=Usage)
    refused: list[str] = field(default_factory=list)

    async def all(self) -> list[Answer]:
        """The answers to all calls, one after the other: the first one fills the cache."""
        parts = calls(self.ready.judge, self.ready.case, self.number)
        return [await self._one(part) for part in range(len(parts))]

    async def _one(self, part: int) -> Answer:
        judge, case = self.ready.judge, self.ready.case
        wanted = calls(judge, case, self.number)[part]

        def body(fault: str | None) -> dict[str, Any]:
            return request(judge, case, self.number, part, prepared=self.ready, fault=fault)

        def read(reply: Reply) -> Answer:
            return answer_of(judge, wanted, reply)

        try:
            got = await until_usable(
                self.client, body, read, self.meter, deadline=judge.deadline, who=WHO
            )
        except Unanswered as error:
            raise Unjudged(error.reason) from None
        self.usage += got.usage
        self.refused += got.refused
        return got.value
