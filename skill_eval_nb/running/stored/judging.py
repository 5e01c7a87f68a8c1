"""Stored runs judged one call after the other, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.documents import Judging
from skill_eval_nb.grading.judge import Judge, Prepared, Unjudged, prepare, worst
from skill_eval_nb.grading.judge import judge as judge_it
from skill_eval_nb.models import BudgetSpent, Connection, Prices, Tally, connect, together

from ..money.budget import Allotment, Budget
from ..money.turns import Turns
from ..refused import refuse
from ..steps.waiting import to_the_end
from .again import JudgedAgain, NotJudged
from .grading import heal, preserve, regrade, write_judging
from .work import LeftOut, Work

if TYPE_CHECKING:
    from skill_eval_nb.models import Client

NO_MONEY = "the budget does not hold its worst case"


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """How far judging is.

    Attributes:
        done: judgings that ended, those that failed included.
        total: judgings to be done.
        failed: judgings that there will be none of.
        spent_usd: US dollars spent, as far as prices are known.
        what: the run that was judged last, and the judging's number.
    """

    done: int
    total: int
    failed: int
    spent_usd: float
    what: str


@dataclass(frozen=True, slots=True)
class Order:
    """What `judge_again` was asked for."""

    home: Path
    judge: Judge
    wanted: Mapping[Path, int]
    """How many judgings each run is to have in the end, by its folder."""
    connection: Connection
    prices: Prices
    budget_usd: float | None
    concurrency: int
    progress: Callable[[JudgingProgress], None] | None = None

    def numbers(self, work: Work) -> range:
        """The numbers of the judgings that a run lacks."""
        return range(work.before.last + 1, self.wanted[work.run.folder] + 1)


@dataclass
class Books:
    """What has come of it so far, and the money."""

    order: Order
    total: int
    left_out: list[LeftOut]
    tally: Tally = field(default_factory=Tally)
    judged: list[tuple[Path, int]] = field(default_factory=list)
    failed: list[NotJudged] = field(default_factory=list)
    kept: list[LeftOut] = field(default_factory=list)
    message: str = ""

    def __post_init__(self) -> None:
        """Begin the budget; a ceiling needs prices to hold.

        Raises:
            Refused: there is a ceiling, and no known price.
        """
        order = self.order
        self.budget = Budget(order.budget_usd, order.prices)
        known = order.prices.cost(Tally().usage, order.judge.model)
        if order.budget_usd is not None and known is None:
            raise refuse(
                f"no price is known for `{order.judge.model}`, so no budget can be kept: add it "
                "to the table of prices, or leave budget_usd out"
            )
        self._turns = Turns(self.budget)

    async def allot(self, prepared: Prepared) -> Allotment | None:
        """Money for one judging at its worst; waits for what is in flight, where it must."""
        bound = worst(prepared.judge, prepared.case, prepared=prepared)
        usd = self.order.prices.cost(bound, prepared.judge.model)
        return await self._turns.allot(None if self.order.budget_usd is None else usd)

    def close(self, allotment: Allotment) -> None:
        """Give back what is left of it."""
        self._turns.close(allotment)

    def ended(self, work: Work, number: int, reason: str | None) -> None:
        """Note that a judging has ended, with the reason where there is none."""
        folder = work.run.folder
        if reason is None:
            self.judged.append((folder, number))
        else:
            self.failed.append(NotJudged(folder, number, reason))
        if self.order.progress is not None:
            done = len(self.judged) + len(self.failed)
            run = work.run
            what = f"{run.eval_name}, {run.configuration}, run {run.run_number}, judging {number}"
            self.order.progress(
                JudgingProgress(done, self.total, len(self.failed), self.budget.spent_usd, what)
            )

    def result(self) -> JudgedAgain:
        """What came of it in the end."""
        return JudgedAgain(
            status="partial" if self.failed else "done",
            judged=tuple(sorted(self.judged)),
            failed=tuple(sorted(self.failed, key=lambda one: (one.folder, one.judging))),
            left_out=tuple(self.left_out),
            kept=tuple(self.kept),
            usage=self.tally.usage,
            cost_usd=self.tally.cost(self.order.prices),
            message=self.message,
        )


async def judge_all(order: Order, work: list[Work], left: list[LeftOut]) -> JudgedAgain:
    """Judge each run until it has as many judgings as it is to have.

    Raises:
        ModelFault: there is no key.
        Refused: there is a budget and no known price.
    """
    books = Books(order, sum(len(order.numbers(item)) for item in work), left)
    places = asyncio.Semaphore(order.concurrency)

    async def one(client: Client, item: Work) -> None:
        async with places:
            await _judge_run(client, books, item)

    async with connect(order.connection) as client, asyncio.TaskGroup() as group:
        for item in work:
            if order.numbers(item):
                group.create_task(one(client, item))
    return books.result()


async def _judge_run(client: Client, books: Books, work: Work) -> None:
    """All new judgings of a run, one after the other: the first one fills the cache."""
    judge = books.order.judge
    numbers = books.order.numbers(work)
    try:
        prepared = await asyncio.to_thread(prepare, judge, work.case)
    except Unjudged as error:
        for number in numbers:
            books.ended(work, number, error.reason)
        return
    new: dict[int, Judging] = {}
    for number in numbers:
        # Numbers have no gaps: one that failed is given to the next.
        place = work.before.last + 1 + len(new)
        reason = await _judge_once(client, books, work, prepared, place, new)
        if reason is None:
            await to_the_end(asyncio.to_thread(settle, work, place, new), then_go=True)
        books.ended(work, place if reason is None else number, reason)
    if new:
        note_kept(books, work)


async def _judge_once(
    client: Client,
    books: Books,
    work: Work,
    prepared: Prepared,
    number: int,
    new: dict[int, Judging],
) -> str | None:
    """Judge once; the judging goes into `new`. Gives the reason where there is none."""
    judge, prices = books.order.judge, books.order.prices
    allotment = await books.allot(prepared)
    if allotment is None:
        return NO_MONEY
    meter = together(allotment, books.tally)
    try:
        new[number] = await judge_it(
            client, judge, work.case, number, meter, prices=prices, prepared=prepared
        )
    except Unjudged as error:
        return error.reason
    except BudgetSpent as error:
        return str(error)
    finally:
        books.close(allotment)
    return None


def settle(work: Work, number: int, new: dict[int, Judging]) -> None:
    """Write a new judging, and make the grading anew.

    The judging comes first: should this be killed in between, nothing that was paid for is
    lost, and the grading is made of it at the next judging.
    """
    preserve(work.before)
    write_judging(work.run.folder, number, new[number])
    regrade(work.before, new, work.case.expectations, work.case.dimensions)
    heal(work.run.folder)


def note_kept(books: Books, work: Work) -> None:
    """Note a grading that was not made anew."""
    if work.before.keep is not None:
        books.kept.append(LeftOut(work.run.folder, work.before.keep))
