"""A ceiling that holds: the budget of a job, the meter of a step, and what was noted of both.

A budget hands out reservations, each the most that one step may cost. What is handed out is taken
at its worst from then on, so the ceiling cannot be passed by steps that end at the same time.
Inside its cap a step reserves each call at its worst before it is sent, and settles it by what it
really used. Amounts are whole billionths of a dollar inside, so that sums are exact; what is
spent is rounded up and what may be spent down.

A step may run in another process, which may be killed. So whoever runs it notes before each call
what the step can have cost by then. The next start reads the last note: it is less than what was
allotted to the step, and never less than what was billed.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from pathlib import Path
from threading import RLock
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models.usage import BudgetSpent, PriceList, Tally, Usage
from skill_eval_nb.text import dollars

UNIT = 10**9
"""Billionths of a dollar in a dollar."""


class BudgetMeter(Tally):
    """A meter with a cap of its own: what one step may spend, wherever it runs.

    It can be sent to another process, which then counts for itself; the reservation that it
    stands for is told what was spent when the step has ended (`Reservation.count`).
    """

    def __init__(self, cap_usd: float | None, prices: PriceList) -> None:
        """A meter.

        Args:
            cap_usd: the most that may be spent, in US dollars; None for no cap.
            prices: what calls cost.
        """
        super().__init__()
        self._cap = None if cap_usd is None else down(cap_usd)
        self._prices = prices
        self._spent = 0
        self._unpriced = False

    def _allow(self, model: str, worst: Usage, batch: bool) -> int:
        """The worst price of a call, which the cap holds.

        Raises:
            BudgetSpent: the cap could be passed, or there is a cap and no known price.
        """
        known = self._prices.cost(worst, model, batch=batch)
        if known is None:
            if self._cap is not None:
                raise BudgetSpent(
                    f"no price is known for `{model}`, so no limit in dollars can be kept"
                )
            self._unpriced = True
            return 0
        price, left = up(known), self._left()
        if left is not None and price > left:
            amounts = (price, self._cap or 0, max(left, 0))
            could, cap, rest = (dollars(amount / UNIT) for amount in amounts)
            raise BudgetSpent(
                f"the next call could cost {could}, and of the {cap} allotted {rest} is left"
            )
        return price

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count a call by what it used; by its worst where no answer came (None).

        Raises:
            KeyError: the ticket is not open here: it was settled or released before.
        """
        with self._lock:
            super().settle(ticket, usage)
            cost = ticket.price
            if usage is not None:
                known = self._prices.cost(usage, ticket.model, batch=ticket.batch)
                cost = cost if known is None else up(known)
            self._spend(cost)

    @property
    def spent_usd(self) -> float:
        """What was spent, in US dollars; calls without a known price are not in it."""
        with self._lock:
            return self._spent / UNIT

    @property
    def cost_usd(self) -> float | None:
        """What was spent, or None where a call had no known price."""
        return None if self._unpriced else self.spent_usd

    @property
    def worst_usd(self) -> float:
        """What was spent and what open calls may cost at worst."""
        with self._lock:
            return (self._spent + self._in_flight) / UNIT

    @property
    def cap_usd(self) -> float | None:
        """The most that may be spent, in US dollars; None for no cap."""
        return None if self._cap is None else self._cap / UNIT

    @property
    def _in_flight(self) -> int:
        return sum(ticket.price for ticket in self._open)

    def _left(self) -> int | None:
        return None if self._cap is None else self._cap - self._spent - self._in_flight

    def _spend(self, amount: int) -> None:
        self._spent += amount


def up(amount: float) -> int:
    """Dollars as billionths, rounded up but for the noise of floating point.

    >>> up(0.1), up(1e-10)
    (100000000, 1)
    """
    return math.ceil(round(amount * UNIT, 3))


def down(amount: float) -> int:
    """Dollars as billionths, rounded down but for the noise of floating point.

    >>> down(0.3), down(1e-10)
    (300000000, 0)
    """
    return math.floor(round(amount * UNIT, 3))


class Reservation(BudgetMeter):
    """A part of a budget: a meter whose spending the budget sees at once."""

    def __init__(self, budget: Budget, cap_usd: float | None) -> None:
        super().__init__(cap_usd, budget.prices)
        self._within = budget.tally
        self._budget = budget
        self._lock = budget.lock  # one lock: what the budget sees is never half done
        self._closed = False

    @property
    def held(self) -> int:
        """What the budget must count at worst beside what is spent, in billionths."""
        if self._closed:
            return 0
        if self._cap is None:
            return self._in_flight
        return max(self._cap - self._spent, 0)

    def meter(self) -> BudgetMeter:
        """A meter with what is left of this one, to send to where the step runs."""
        with self._lock:
            left = self._left()
            cap = None if left is None else max(left, 0) / UNIT
            return BudgetMeter(cap, self._prices)

    def count(self, spent_usd: float) -> None:
        """Count what a step spent elsewhere, in US dollars."""
        with self._lock:
            self._spend(up(spent_usd))

    def _allow(self, model: str, worst: Usage, batch: bool) -> int:
        """As of any meter; a closed reservation has nothing to give.

        Raises:
            BudgetSpent: the cap could be passed, or the reservation is closed.
        """
        if self._closed:
            raise BudgetSpent("the step that this money was for has ended")
        return super()._allow(model, worst, batch)

    def close(self) -> None:
        """Give back what was not used; calls that are still open count at their worst.

        Closing twice does no harm.
        """
        with self._lock:
            for ticket in list(self._open):
                self.settle(ticket, None)
            self._closed = True
            self._budget.forget(self)

    def _spend(self, amount: int) -> None:
        super()._spend(amount)
        self._budget.add(amount)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a reservation belongs to its budget; send its meter() instead")


class Budget:
    """A ceiling, what was spent under it, and what is in flight.

    At any instant: spent + the worst of all open reservations ≤ ceiling. (A call that is
    billed more than its worst would break this. Its true price is counted, and nothing more
    is handed out.)

    Attributes:
        tally: the calls that its reservations were the meters of.
    """

    def __init__(self, ceiling_usd: float | None, prices: PriceList, spent: float = 0.0) -> None:
        """A budget.

        Args:
            ceiling_usd: the most that may be spent, in US dollars; None for no ceiling.
            prices: what calls cost.
            spent: what was spent before, in US dollars: by earlier starts of the same job.
        """
        self.prices = prices
        self.tally = Tally()
        self.lock = RLock()
        self._ceiling = None if ceiling_usd is None else down(ceiling_usd)
        self._spent = up(spent)
        self._open: set[Reservation] = set()

    def allot(self, usd: float | None) -> Reservation | None:
        """Hand out money for one step.

        Args:
            usd: the most that the step may cost, in US dollars. None for no cap of its own,
                which a budget with a ceiling does not hand out.

        Returns:
            the reservation, or None where it does not fit with all that is in flight at its
            worst.

        Raises:
            ValueError: there is a ceiling, and no cap was given.
        """
        with self.lock:
            if self._ceiling is not None:
                if usd is None:
                    raise ValueError("under a ceiling each step needs a cap in dollars of its own")
                if up(usd) > self._ceiling - self._committed():
                    return None
            reservation = Reservation(self, usd)
            self._open.add(reservation)
            return reservation

    @property
    def ceiling_usd(self) -> float | None:
        """The ceiling in US dollars; None where there is none."""
        return None if self._ceiling is None else self._ceiling / UNIT

    @property
    def spent_usd(self) -> float:
        """What was spent, in US dollars, earlier starts included."""
        with self.lock:
            return self._spent / UNIT

    @property
    def reserved_usd(self) -> float:
        """What is in flight may still cost at worst, in US dollars."""
        with self.lock:
            return sum(reservation.held for reservation in self._open) / UNIT

    @property
    def left_usd(self) -> float | None:
        """What can still be handed out, in US dollars; None without a ceiling."""
        with self.lock:
            if self._ceiling is None:
                return None
            return max(self._ceiling - self._committed(), 0) / UNIT

    def add(self, amount: int) -> None:
        """Count billionths that a reservation spent; for reservations alone."""
        with self.lock:
            self._spent += amount

    def forget(self, reservation: Reservation) -> None:
        """Take back what a reservation holds; for reservations alone."""
        with self.lock:
            self._open.discard(reservation)

    def _committed(self) -> int:
        return self._spent + sum(reservation.held for reservation in self._open)


class BegunBefore(RuntimeError):
    """A step that was sent out once was begun twice; it is not done a second time."""


class Halted(BaseException):
    """No more calls are to be made; like a cancellation, no executor takes it for a fault."""


class PersistedMeter:
    """A meter that notes the most that its step can have cost, before each call is sent."""

    def __init__(self, meter: BudgetMeter, path: Path, *, halt: Path | None = None) -> None:
        """Begin the notes of a step in a file of its own.

        Args:
            meter: what the step may spend.
            path: the file.
            halt: a file that, once it is there, lets no call through.

        Raises:
            BegunBefore: the file is there: another worker has begun this step, and was lost.
            OSError: it cannot be written.
        """
        self.meter = meter
        self._halt = halt
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        try:
            self._file = os.open(path, flags, 0o600)
        except FileExistsError:
            raise BegunBefore(f"this step was begun before: {path.name}") from None
        self._note()

    def reserve(self, model: str, worst: Usage, **options: Any) -> Any:
        """As the meter within; the call may be sent when this has returned.

        Raises:
            BudgetSpent: as the meter within.
            Halted: the job was stopped.
        """
        if self._halt is not None and self._halt.exists():
            raise Halted
        ticket = self.meter.reserve(model, worst, **options)
        try:
            self._note()
        except BaseException:
            self.meter.release(ticket)
            raise
        return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """As the meter within."""
        self.meter.settle(ticket, usage)
        self._note()

    def release(self, ticket: Any) -> None:
        """As the meter within."""
        self.meter.release(ticket)
        self._note()

    def close(self) -> None:
        """End the notes; they stay where they are. Closing twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _note(self) -> None:
        if self._file >= 0:
            os.write(self._file, json.dumps(self.meter.worst_usd).encode() + b"\n")


def noted(path: Path) -> float | None:
    """US dollars that a step can have cost by its notes; None where there are none.

    A note that was cut short is passed over: it is written before the call that it counts.
    """
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    lines = data[: data.rfind(b"\n") + 1].split()
    return float(lines[-1]) if lines else None


class BudgetQueue:
    """Hands out a budget's reservations to the tasks of one event loop."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._flying = 0
        self._first = 0  # steps that wait, and that later ones wait for
        self._ended = asyncio.Event()  # a new one each time that something has changed

    async def allot(self, usd: float | None, *, later: bool = False) -> Reservation | None:
        """Money for one step at its worst; waits for what is in flight, where it must.

        Args:
            usd: the most that the step may cost, in US dollars; None without a ceiling.
            later: whether it waits for all others that wait for money, too.

        Returns:
            the reservation; None where it does not fit with nothing in flight any more.
        """
        self._first += not later
        try:
            while True:
                if not (later and self._first):
                    if (reservation := self._budget.allot(usd)) is not None:
                        self._flying += 1
                        return reservation
                    if not self._flying:
                        return None
                await self._ended.wait()
        finally:
            if not later:
                self._first -= 1
                self._wake()

    def take_up(self, usd: float | None) -> Reservation:
        """Money for what an earlier start has sent: it is billed, also where the ceiling is lower.

        Args:
            usd: the most that it may cost, in US dollars.
        """
        self._flying += 1
        reservation = self._budget.allot(usd) or Budget(None, self._budget.prices).allot(usd)
        assert reservation is not None
        return reservation

    def close(self, reservation: Reservation) -> None:
        """Give back what is left of it.

        It does not wait: what was just answered is not lost to a cancellation here.
        """
        reservation.close()
        self._flying -= 1
        self._wake()

    def _wake(self) -> None:
        self._ended.set()
        self._ended = asyncio.Event()
