"""A measurement being made: attempts side by side, within a budget, each written at once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from skill_eval_nb.running.driving.journal import (
    CANCELLED,
    CLOSING,
    ERRORED,
    FINISHED,
    LAUNCHED,
    STARTED,
    Journal,
    Told,
)
from skill_eval_nb.running.driving.opening import close_interrupted
from skill_eval_nb.running.lock import sweep
from skill_eval_nb.running.money.budget import Allotment, Budget
from skill_eval_nb.running.money.spending import Noted, noted
from skill_eval_nb.running.money.turns import Turns
from skill_eval_nb.running.steps.folders import notes_of, remove
from skill_eval_nb.running.steps.waiting import to_the_end

from ..values import Attempt
from .attempting import PREFIX, Made, make_attempt, new_place
from .filing import Cell, write_attempt
from .offering import SKILLS
from .setting import Setting

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
class Going:
    """Attempts that are being made.

    Attributes:
        home: the folder of the measurement.
        setting: under what queries are asked.
        cap_usd: what one attempt may cost at most; None without a ceiling.
        budget: the ceiling.
        total: attempts in all.
        progress: called whenever an attempt has ended.
        made: the attempts that are there; those from before are put in first.
        left_out: attempts that the budget did not hold.
    """

    home: Path
    setting: Setting
    cap_usd: float | None
    budget: Budget
    total: int
    progress: Callable[[MeasuringProgress], None] | None = None
    made: dict[Cell, Attempt] = field(default_factory=dict)
    left_out: list[Cell] = field(default_factory=list)

    async def all(self, cells: Sequence[Cell], journal: Journal, concurrency: int) -> None:
        """Make attempts, so many at a time.

        Raises:
            OSError: what came of an attempt cannot be written; nothing more is begun.
        """
        self._turns, self._journal = Turns(self.budget), journal
        places = asyncio.Semaphore(concurrency)

        async def one(cell: Cell) -> None:
            async with places:
                await self._one(cell)

        try:
            async with asyncio.TaskGroup() as group:
                for cell in cells:
                    group.create_task(one(cell))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _one(self, cell: Cell) -> None:
        allotment = await self._turns.allot(self.cap_usd)
        if allotment is None:
            self.left_out.append(cell)
            return
        try:
            made = await self._made(cell, allotment)
        finally:
            self._turns.close(allotment)
        self.made[cell] = made.attempt
        if self.progress is not None:
            counts = Counter(one.outcome for one in self.made.values())
            spent = self.budget.spent_usd
            told = MeasuringProgress(len(self.made), self.total, counts, spent, made.attempt)
            self.progress(told)

    async def _made(self, cell: Cell, allotment: Allotment) -> Made:
        """Make an attempt and write it, and account for it in the journal."""
        root = new_place()
        launch = self._journal.launch(STEP, cell.key, allotment.cap_usd, folder=str(root))
        meter = Noted(allotment, notes_of(self.home, launch))
        event = CANCELLED
        try:
            made = await make_attempt(cell, self.setting, root, meter)
            if made.own_usd is not None:
                allotment.count(made.own_usd)
            kept = (made.attempt, made.execution, made.execution.usage)
            writing = asyncio.to_thread(write_attempt, self.home, self.setting, *kept)
            await to_the_end(writing)  # what was paid for is kept
            event = ERRORED if made.attempt.outcome == "errored" else FINISHED
        finally:
            allotment.close()
            meter.close()
            self._journal.add(event, launch=launch, usd=allotment.spent_usd)
            notes_of(self.home, launch).unlink(missing_ok=True)
        return made


def in_order(cells: Iterable[Cell], seed: int) -> list[Cell]:
    """Attempts in a seeded random order: the runs of a query are spread over the whole."""
    shuffled = list(cells)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 -- an order, no secret
    return shuffled


def take_up(journal: Journal, home: Path) -> None:
    """Close the attempts that a killed process left open, and take away what it left."""
    opened = [launch.told.get("folder") for launch in journal.told.open.values()]
    staged = [one.get("skills") for one in journal.told.events if one.get("event") == STARTED]
    for left in map(str, filter(None, [*opened, *staged])):
        root = Path(left)
        if root.parent == Path(gettempdir()) and root.name.startswith((PREFIX, SKILLS)):
            remove(root)
    sweep(home)
    for queried in home.glob("query-*"):
        sweep(queried, 0)
    close_interrupted(journal, home)


def spent_on(told: Told, home: Path, cells: Iterable[Cell]) -> float:
    """US dollars that attempts have cost over all starts, by the journal.

    One that nobody closed counts with what it can have cost by its notes, else at its worst.
    """
    keys = {one.key for one in cells}
    numbers = {
        event["launch"]
        for event in told.events
        if event.get("event") == LAUNCHED and event.get("key") in keys
    }
    closed = (one for one in told.events if one.get("event") in CLOSING)
    spent = sum(one.get("usd") or 0.0 for one in closed if one.get("launch") in numbers)
    for number, launch in told.open.items():
        if number in numbers:
            notes: Any = noted(notes_of(home, number))
            spent += (launch.worst_usd or 0.0) if notes is None else notes
    return spent
