"""What one step may spend: a meter with a cap of its own.

Inside its cap a step reserves each call at its worst before it is sent, and settles it by
what it really used. Amounts are whole billionths of a dollar inside, so that sums are exact;
what is spent is rounded up and what may be spent down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from skill_eval_nb.models import Usage

UNIT = 10**9
"""Billionths of a dollar in a dollar."""


class PriceList(Protocol):
    """What knows prices: `skill_eval_nb.models.Prices` does."""

    def cost(self, usage: Usage, model: str, *, batch: bool = False) -> float | None:
        """The price of a usage in US dollars; None where none is known for the model."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A call that was reserved: its model, whether it goes by a batch, its price at worst."""

    model: str
    batch: bool
    worst: int


class Purse:
    """A meter with a cap of its own: what one step may spend, wherever it runs.

    It can be sent to another process, which then counts for itself; the allotment that it
    stands for is told what was spent when the step has ended (`Allotment.count`).
    """

    def __init__(self, cap_usd: float | None, prices: PriceList) -> None:
        """A purse.

        Args:
            cap_usd: the most that may be spent, in US dollars; None for no cap.
            prices: what calls cost.
        """
        from skill_eval_nb.models import Usage

        self._cap = None if cap_usd is None else down(cap_usd)
        self._prices = prices
        self._lock = RLock()
        self._open: dict[int, Ticket] = {}
        self._spent = 0
        self._usage = Usage()
        self._unpriced: set[str] = set()

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> Ticket:
        """Take the worst price of a call from the cap.

        Raises:
            BudgetSpent: the cap could be passed, or there is a cap and no known price.
        """
        from skill_eval_nb.models import BudgetSpent

        known = self._prices.cost(worst, model, batch=batch)
        price = None if known is None else up(known)
        with self._lock:
            if price is None:
                if self._cap is not None:
                    raise BudgetSpent(
                        f"no price is known for `{model}`, so no limit in dollars can be kept"
                    )
                self._unpriced.add(model)
                price = 0
            left = self._left()
            if left is not None and price > left:
                raise BudgetSpent(
                    f"the next call could cost {usd(price)}, and of the {usd(self._cap or 0)} "
                    f"allotted {usd(max(left, 0))} is left"
                )
            ticket = Ticket(model, batch, price)
            self._open[id(ticket)] = ticket
            return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count a call by what it used; by its worst where no answer came (None).

        Raises:
            KeyError: the ticket is not open here: it was settled or released before.
        """
        with self._lock:
            self._take(ticket)
            cost = ticket.worst
            if usage is not None:
                self._usage += usage
                known = self._prices.cost(usage, ticket.model, batch=ticket.batch)
                cost = ticket.worst if known is None else up(known)
            self._spend(cost)

    def release(self, ticket: Any) -> None:
        """Give back what a call had reserved: it surely was not billed.

        Raises:
            KeyError: the ticket is not open here: it was settled or released before.
        """
        with self._lock:
            self._take(ticket)

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
            return (self._spent + sum(one.worst for one in self._open.values())) / UNIT

    @property
    def cap_usd(self) -> float | None:
        """The most that may be spent, in US dollars; None for no cap."""
        return None if self._cap is None else self._cap / UNIT

    @property
    def usage(self) -> Usage:
        """The tokens of all calls that were answered."""
        return self._usage

    def _left(self) -> int | None:
        if self._cap is None:
            return None
        return self._cap - self._spent - sum(one.worst for one in self._open.values())

    def _take(self, ticket: Ticket) -> None:
        if self._open.get(id(ticket)) is not ticket:
            raise KeyError("this call is not open: it was settled or released before")
        del self._open[id(ticket)]

    def _spend(self, amount: int) -> None:
        self._spent += amount

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = RLock()


def usd(amount: int) -> str:
    """Billionths as dollars, for messages.

    >>> usd(1_250_000_000), usd(420_000)
    ('$1.25', '$0.00042')
    """
    dollars = amount / UNIT
    return f"${dollars:.2f}" if dollars >= 0.1 or dollars == 0 else f"${dollars:.2g}"


def up(dollars: float) -> int:
    """Dollars as billionths, rounded up but for the noise of floating point.

    >>> up(0.1), up(1e-10)
    (100000000, 1)
    """
    return math.ceil(round(dollars * UNIT, 3))


def down(dollars: float) -> int:
    """Dollars as billionths, rounded down but for the noise of floating point.

    >>> down(0.3), down(1e-10)
    (300000000, 0)
    """
    return math.floor(round(dollars * UNIT, 3))
