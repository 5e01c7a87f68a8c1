"""A ceiling that holds: the budget of a job, its parts for steps, and their notes.

A budget gives out parts, each the most that one step may cost. From then on a part counts at its
worst case, so steps that end at the same time cannot exceed the ceiling. Inside its part a step
reserves the worst case of each call before it is sent, and settles it with what it really used.
Internally, amounts are whole billionths of a dollar, so that sums are exact; spent amounts are
rounded up, and amounts that may be spent are rounded down.

A step may run in another process, which may be killed. So before each call, that process notes what
the step can have cost by then. The next start reads the last note: it is at most the step's part,
and never less than what was billed.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models.usage import BudgetSpent, CallReservation, Prices, Tally, Usage
from skill_eval_nb.text import dollars

UNIT = 10**9
"""Billionths of a dollar in a dollar."""


class BegunBefore(RuntimeError):
    """A step was begun a second time; it is not done twice."""


class Halted(BaseException):
    """No more calls may be made; like a cancellation, executors do not treat this as an error."""


def round_up(amount: float) -> int:
    """Dollars as billionths, rounded up, ignoring floating-point noise.

    >>> [round_up(one) for one in (0.1, 0.1 + 0.2, 1e-10, 1.001e-9, 1.0001e-9)]
    [100000000, 300000000, 1, 2, 1]
    """
    return math.ceil(round(amount * UNIT, 3))


def round_down(amount: float) -> int:
    """Dollars as billionths, rounded down, ignoring floating-point noise.

    >>> [round_down(one) for one in (0.3, 0.1 * 3, 1e-10, 1.999e-9, 1.9999e-9)]
    [300000000, 300000000, 0, 1, 2]
    """
    return math.floor(round(amount * UNIT, 3))


class Budget(Tally):
    """Money: the most that may be spent, what was spent, and the parts handed out for steps.

    The whole belongs to a job; a part is what one step may spend, and the meter of its calls.
    At any instant: spent + worst case of what is in flight ≤ cap. (A call billed above its worst
    case would break this. Its true price is then counted, and nothing more is allowed.)

    Attributes:
        prices: what calls cost.
        parts: the parts still in use.
    """

    def __init__(
        self,
        cap_usd: float | None,
        prices: Prices,
        spent: float = 0.0,
        *,
        whole: Budget | None = None,
    ) -> None:
        """Make a budget without parts.

        Args:
            cap_usd: the most that may be spent, in US dollars; None for no cap.
            prices: what calls cost.
            spent: US dollars spent before, by earlier starts of the same job.
            whole: the budget that this is a part of; it sees at once what this one spends.
        """
        super().__init__()
        self.prices = prices
        self._cap = None if cap_usd is None else round_down(cap_usd)
        self._spent = round_up(spent)
        self._whole, self.parts = whole, set[Budget]()
        self._unpriced = self._closed = False
        self._notes, self._halt = -1, Path()
        self._first = 0  # waiting steps that take precedence over later ones
        self._changed: asyncio.Event | None = None  # set up once a step waits
        if whole is not None:
            self.lock = whole.lock  # one lock, so that the whole never sees a half-done change

    def allot(self, usd: float | None) -> Budget | None:
        """Hand out a part for one step.

        Args:
            usd: the most that the step may cost, in US dollars. None for no limit, which is only
                possible if the budget has no cap.

        Returns:
            The part, or None if it does not fit next to the worst case of what is in flight.

        Raises:
            ValueError: there is a cap, and no limit was given for the step.
        """
        with self.lock:
            left = self._left()
            if left is not None:
                if usd is None:
                    raise ValueError("with a budget, each step needs its own cap in dollars")
                if round_up(usd) > left:
                    return None
            return self.take_up(usd)

    def take_up(self, usd: float | None) -> Budget:
        """A part for what an earlier start has sent: it will be billed even if it does not fit."""
        with self.lock:
            part = Budget(usd, self.prices, whole=self)
            self.parts.add(part)
            return part

    async def wait_for(self, usd: float | None, *, later: bool = False) -> Budget | None:
        """A part, as from `allot`, after waiting for what is in flight if necessary.

        Args:
            usd: the most that the step may cost, in US dollars; None without a cap.
            later: whether others that wait for money come first.

        Returns:
            The part; None if it does not fit even when nothing is in flight any more.
        """
        self._first += not later
        try:
            while True:
                part = None if later and self._first else self.allot(usd)
                if part is not None or not (self.parts or (later and self._first)):
                    return part
                self._changed = self._changed or asyncio.Event()
                await self._changed.wait()
        finally:
            if not later:
                self._first -= 1
                self.wake()

    def wake(self) -> None:
        """Let waiting steps look again; only parts call this."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def copy_rest(self) -> Budget:
        """A budget of what is left, to send to where the step runs; see `count`."""
        return Budget(self.left_usd, self.prices)

    def note_in(self, path: Path, halt: Path = Path()) -> None:
        """From now on, note the most that can have been spent, before each call is sent.

        Args:
            path: the file for the notes.
            halt: a file that stops all further calls once it exists.

        Raises:
            BegunBefore: the file exists: another worker began this step and was lost.
            OSError: it cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        try:
            self._notes, self._halt = os.open(path, flags, 0o600), halt
        except FileExistsError:
            raise BegunBefore(f"this step was started before: {path.name}") from None
        self._note()

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> CallReservation:
        """A ticket; see `Meter.reserve`. The call may be sent when this has returned.

        Raises:
            BudgetSpent: the cap could be exceeded, there is a cap and no known price, or this part
                was closed.
            Halted: the job was stopped.
        """
        if self._halt.is_file():
            raise Halted
        ticket = super().reserve(model, worst, batch=batch)
        try:
            self._note()
        except BaseException:
            super().release(ticket)
            raise
        return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count what a call used; its worst case if no answer came (None).

        Raises:
            KeyError: the ticket is not open here: it was settled or released before.
        """
        with self.lock:
            super().settle(ticket, usage)
            cost = ticket.price
            if usage is not None:
                known = self.prices.cost(usage, ticket.model, batch=ticket.batch)
                cost = cost if known is None else round_up(known)
            self.spend(cost)
        self._note()

    def release(self, ticket: Any) -> None:
        """Count nothing.

        Raises:
            KeyError: as for `settle`.
        """
        super().release(ticket)
        self._note()

    def count(self, spent_usd: float) -> None:
        """Count what a step spent elsewhere, in US dollars."""
        with self.lock:
            self.spend(round_up(spent_usd))
        self._note()

    def close(self) -> None:
        """Give back what was not used; calls that are still open count at their worst case.

        The notes stay where they are. Closing twice does no harm.
        """
        with self.lock:
            for ticket in list(self._open):
                self.settle(ticket, None)
            self._closed = True
            if self._whole is not None:
                self._whole.parts.discard(self)
                self._whole.wake()
            if self._notes >= 0:
                os.close(self._notes)
                self._notes = -1

    @property
    def cap_usd(self) -> float | None:
        """The most that may be spent, in US dollars; None for no cap."""
        return None if self._cap is None else self._cap / UNIT

    @property
    def spent_usd(self) -> float:
        """US dollars spent, without calls that have no known price."""
        with self.lock:
            return self._spent / UNIT

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent; None if a call had no known price."""
        return None if self._unpriced else self.spent_usd

    @property
    def reserved_usd(self) -> float:
        """The most that calls and steps in flight may still cost, in US dollars."""
        with self.lock:
            return self._in_flight / UNIT

    @property
    def worst_usd(self) -> float:
        """US dollars spent, plus the worst case of what is in flight."""
        with self.lock:
            return (self._spent + self._in_flight) / UNIT

    @property
    def left_usd(self) -> float | None:
        """US dollars that can still be handed out; None without a cap."""
        with self.lock:
            left = self._left()
            return None if left is None else max(left, 0) / UNIT

    @property
    def held(self) -> int:
        """What its whole must still set aside for it, in billionths."""
        if self._closed:
            return 0
        return self._in_flight if self._cap is None else max(self._cap - self._spent, 0)

    @property
    def _in_flight(self) -> int:
        return sum(call.price for call in self._open) + sum(part.held for part in self.parts)

    def _left(self) -> int | None:
        return None if self._cap is None else self._cap - self._spent - self._in_flight

    def _allow(self, model: str, worst: Usage, batch: bool) -> int:
        """The worst price of a call, if the cap allows it."""
        if self._closed:
            raise BudgetSpent("the step that this money was for has ended")
        known = self.prices.cost(worst, model, batch=batch)
        if known is None:
            if self._cap is not None:
                raise BudgetSpent(
                    f"no price is known for `{model}`, so no limit in dollars can be enforced"
                )
            self._unpriced = True
            return 0
        price, left = round_up(known), self._left()
        if left is not None and price > left:
            amounts = (price, self._cap or 0, max(left, 0))
            could, cap, rest = (dollars(amount / UNIT) for amount in amounts)
            raise BudgetSpent(
                f"the next call could cost {could}, but only {rest} of the {cap} allotted is left"
            )
        return price

    def spend(self, amount: int) -> None:
        """Count spent billionths; only parts call this from outside."""
        self._spent += amount
        if self._whole is not None:
            self._whole.spend(amount)

    def count_call(self, ticket: CallReservation, usage: Usage | None) -> None:
        """Count what a call used, here and in the whole."""
        super().count_call(ticket, usage)
        if self._whole is not None:
            self._whole.count_call(ticket, usage)

    def _note(self) -> None:
        if self._notes >= 0:
            os.write(self._notes, json.dumps(self.worst_usd).encode() + b"\n")

    def __getstate__(self) -> dict[str, Any]:
        if self._whole is not None:
            raise TypeError("a part belongs to its budget; send its copy_rest() instead")
        return super().__getstate__()


def read_noted(path: Path) -> float | None:
    """The most US dollars that a step can have cost, by its notes; None if none can be read.

    A note that was cut off is skipped: it is written before the call that it counts.
    """
    try:
        data = read_bytes(path)
        lines = data[: data.rfind(b"\n") + 1].split()
        noted = float(lines[-1]) if lines else -1.0
    except (OSError, ValueError):
        return None
    return noted if noted >= 0 else None
