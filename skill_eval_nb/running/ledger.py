"""The ledger: each step from its launch to its end, in the journal and in money.

Steps that a killed job left open are closed with the cost that their notes allow, and its staging
folder is deleted: it contains nothing finished.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from skill_eval_nb.models.client import ON_RETRY, Retry

from .budget import Budget
from .files import clear
from .job import InFlight
from .journal import CANCELLED, ERRORED, FINISHED, INTERRUPTED, LOST, Journal, Launch, notes_of
from .protocol import ON_EVENTS
from .spec import Ended
from .threads import is_exiting

LATEST = 12
"""The number of events of a run in flight that observers get."""


class Lost(Exception):
    """A step was lost with its worker."""


class Interrupted(Exception):
    """The interpreter is exiting: a failure now is not the run's, and the step is repeated."""


@dataclass
class Launched:
    """A step in flight.

    Attributes:
        name: what is done.
        folder: the run's folder in the workspace.
        number: the number of its launch in the journal.
        reservation: the money for it; None for a step that costs nothing.
        notes: the file that notes what it can have cost.
        since: when it began, by a monotonic clock.
        ended: how it ended; None until then, and if it was cut off.
        stays: whether its launch stays open in the journal, for the next start to continue.
        retry: why and when a call is retried; None if none is.
        events: what has happened in the run so far; None if its executor does not say.
    """

    name: str
    folder: str
    number: int
    reservation: Budget | None
    notes: Path
    since: float = field(default_factory=monotonic)
    ended: Ended | None = None
    stays: bool = False
    retry: Retry | None = None
    events: Sequence[Mapping[str, Any]] | None = None

    def look(self) -> InFlight:
        """Its current state; may be called from any thread."""
        money = self.reservation
        return InFlight(
            self.name,
            self.folder,
            monotonic() - self.since,
            str(self.retry or ""),
            money.spent_usd if money is not None and money.cost_usd is not None else None,
            None if self.events is None else tuple(self.events[-LATEST:]),
        )

    def meter(self) -> Budget:
        """The meter for its calls."""
        assert self.reservation is not None
        self.reservation.note_in(self.notes)
        return self.reservation


class Ledger:
    """Accounts for the steps of a job or a measurement.

    Attributes:
        home: the folder of the journal.
        budget: hands out money.
        took: the total seconds and the number of the steps that ended well, by name.
        done: how many steps ended, by name.
        tokens: that all steps used.
        priced: whether every call had a known price.
    """

    def __init__(
        self, home: Path, journal: Journal, budget: Budget, changed: Callable[[], None]
    ) -> None:
        self.home, self.journal, self.budget = home, journal, budget
        self.took = dict(journal.record.seconds)
        self.done: Counter[str] = Counter()
        self.tokens, self.priced = 0, True
        self._changed = changed
        self._flying: dict[int, Launched] = {}

    @property
    def flying(self) -> tuple[InFlight, ...]:
        """The steps in flight; may be called from any thread."""
        return tuple(step.look() for step in tuple(self._flying.values()))

    @asynccontextmanager
    async def step(
        self,
        name: str,
        key: str,
        folder: str,
        reservation: Budget | None,
        taken_up: int | None = None,
        **data: Any,
    ) -> AsyncIterator[Launched]:
        """A step: launched before anything is spent, closed with its cost, however it ends.

        Args:
            name: what is done.
            key: the key of its run.
            folder: the folder of its run, in the workspace.
            reservation: the money for it; None for a step that costs nothing.
            taken_up: the number of an earlier start's launch that is continued.
            data: further values for its line in the journal.
        """
        number = taken_up
        if number is None:
            worst = reservation.cap_usd if reservation is not None else None
            number = self.journal.launch(name, key, worst, folder=folder, **data)
        step = self._flying[number] = Launched(
            name, folder, number, reservation, notes_of(self.home, number)
        )
        ON_RETRY.set(partial(self._note_retry, step))
        ON_EVENTS.set(partial(setattr, step, "events"))
        self._changed()
        event, told = CANCELLED, dict[str, Any]()
        try:
            yield step
            if step.ended is not None:
                event, told = self._count_end(name, step.ended)
        except Lost as error:
            event, told = LOST, {"reason": str(error)}
            raise
        except Exception as error:
            if not is_exiting():
                event, told = ERRORED, {"reason": str(error), "traceback": traceback.format_exc()}
            raise
        finally:
            usd = self._close_money(reservation)
            if not step.stays:
                self.journal.add(event, launch=number, usd=usd, **told)
                step.notes.unlink(missing_ok=True)
            self._flying.pop(number, None)
            self._changed()

    def _note_retry(self, step: Launched, retry: Retry | None) -> None:
        """Keep the retry of a step's call, until it is over."""
        if retry != step.retry:
            step.retry = retry
            self._changed()

    def _count_end(self, name: str, ended: Ended) -> tuple[str, dict[str, Any]]:
        """Count a step that was not cut off; returns its event and values for the journal."""
        self.done[name] += 1
        told: dict[str, Any] = {"seconds": round(ended.seconds, 3)}
        if ended.reason is None:
            total, count = self.took.get(name, (0.0, 0))
            self.took[name] = (total + ended.seconds, count + 1)
            return FINISHED, told
        trace = {} if ended.trace is None else {"traceback": ended.trace}
        return ERRORED, {**told, "reason": ended.reason, **trace}

    def _close_money(self, reservation: Budget | None) -> float | None:
        """Give back the rest of a step's money; returns its cost in US dollars."""
        if reservation is None:
            return None
        reservation.close()
        self.tokens += reservation.usage.total
        self.priced = self.priced and reservation.cost_usd is not None
        return reservation.spent_usd


def close_interrupted(journal: Journal, iteration: Path) -> tuple[list[str], dict[int, Launch]]:
    """Close the steps that were never closed, and delete what they left.

    Returns:
        A message for the user, and the launches still to be collected: submitted batches that
        continue at the provider.
    """
    batches: dict[int, Launch] = {}
    closed: list[float] = []
    for number, launch in journal.record.open.items():
        if number in journal.record.batches:
            batches[number] = launch
            continue
        by = "worst" if launch.noted_usd is None else "notes"
        journal.add(INTERRUPTED, launch=number, usd=launch.usd, by=by)
        closed.append(launch.usd or 0.0)
    clear(iteration)
    note = (
        f"{len(closed)} step(s) of an earlier start were interrupted and are repeated; what they "
        f"may have cost, ${sum(closed):.4f}, still counts"
    )
    return [note] if closed else [], batches
