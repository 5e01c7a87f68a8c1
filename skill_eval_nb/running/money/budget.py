"""Money: a ceiling that holds whatever is in flight.

A budget hands out allotments, each the most that one step may cost. What is handed out is
taken at its worst from then on, so the ceiling cannot be passed by steps that end at the same
time.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from .purse import UNIT, PriceList, Purse, Ticket, down, up

if TYPE_CHECKING:
    from skill_eval_nb.models import Usage

__all__ = ["Allotment", "Budget", "PriceList", "Purse", "Ticket"]


class Allotment(Purse):
    """A part of a budget: a purse whose spending the budget sees at once."""

    def __init__(self, budget: Budget, cap_usd: float | None) -> None:
        super().__init__(cap_usd, budget.prices)
        self._budget = budget
        self._lock = budget.lock  # one lock: what the budget sees is never half done
        self._closed = False

    @property
    def held(self) -> int:
        """What the budget must count at worst beside what is spent, in billionths."""
        if self._closed:
            return 0
        if self._cap is None:
            return sum(one.worst for one in self._open.values())
        return max(self._cap - self._spent, 0)

    def purse(self) -> Purse:
        """A purse with what is left of this one, to send to where the step runs."""
        with self._lock:
            left = self._left()
            cap = None if left is None else max(left, 0) / UNIT
            return Purse(cap, self._prices)

    def count(self, spent_usd: float) -> None:
        """Count what a step spent elsewhere, in US dollars."""
        with self._lock:
            self._spend(up(spent_usd))

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> Ticket:
        """As `Purse.reserve`; a closed allotment has nothing to give.

        Raises:
            BudgetSpent: the cap could be passed, or the allotment is closed.
        """
        from skill_eval_nb.models import BudgetSpent

        with self._lock:
            if self._closed:
                raise BudgetSpent("the step that this money was for has ended")
            return super().reserve(model, worst, batch=batch)

    def close(self) -> None:
        """Give back what was not used; calls that are still open count at their worst.

        Closing twice does no harm.
        """
        with self._lock:
            for ticket in list(self._open.values()):
                self.settle(ticket, None)
            self._closed = True
            self._budget.forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spend(self, amount: int) -> None:
        super()._spend(amount)
        self._budget.add(amount)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("an allotment belongs to its budget; send its purse() instead")


class Budget:
    """A ceiling, what was spent under it, and what is in flight.

    At any instant: spent + the worst of all open allotments ≤ ceiling. (A call that is
    billed more than its worst would break this. Its true price is counted, and nothing more
    is handed out.)
    """

    def __init__(self, ceiling_usd: float | None, prices: PriceList, spent: float = 0.0) -> None:
        """A budget.

        Args:
            ceiling_usd: the most that may be spent, in US dollars; None for no ceiling.
            prices: what calls cost.
            spent: what was spent before, in US dollars: by earlier starts of the same job.
        """
        self.prices = prices
        self.lock = RLock()
        self._ceiling = None if ceiling_usd is None else down(ceiling_usd)
        self._spent = up(spent)
        self._open: set[Allotment] = set()

    def allot(self, usd: float | None) -> Allotment | None:
        """Hand out money for one step.

        Args:
            usd: the most that the step may cost, in US dollars. None for no cap of its own,
                which a budget with a ceiling does not hand out.

        Returns:
            the allotment, or None where it does not fit with all that is in flight at its
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
            allotment = Allotment(self, usd)
            self._open.add(allotment)
            return allotment

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
            return sum(one.held for one in self._open) / UNIT

    @property
    def left_usd(self) -> float | None:
        """What can still be handed out, in US dollars; None without a ceiling."""
        with self.lock:
            if self._ceiling is None:
                return None
            return max(self._ceiling - self._committed(), 0) / UNIT

    def add(self, amount: int) -> None:
        """Count billionths that an allotment spent; for allotments alone."""
        with self.lock:
            self._spent += amount

    def forget(self, allotment: Allotment) -> None:
        """Take back what an allotment holds; for allotments alone."""
        with self.lock:
            self._open.discard(allotment)

    def _committed(self) -> int:
        return self._spent + sum(one.held for one in self._open)
