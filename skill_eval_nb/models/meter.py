"""What every call goes through: it is asked beforehand, and told what the call used."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Hashable
from typing import Any, Protocol

from .prices import Prices
from .usage import Usage


class BudgetSpent(Exception):
    """A call was not made, because its worst case could pass the ceiling."""


class Meter(Protocol):
    """Counts calls, and may forbid them.

    Each attempt at a call reserves its worst case, and then settles or releases it, exactly
    once. The three may be called from any thread.
    """

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        """A ticket for a call that uses at most `worst`, at the price of batches if `batch`.

        Raises:
            BudgetSpent: where the ceiling could be passed; nothing is then reserved.
        """
        ...

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """The call used `usage`. None: no answer came, but it may be billed; the worst counts."""
        ...

    def release(self, ticket: Any) -> None:
        """The call is surely not billed: it was refused before an answer began, or not sent."""
        ...


class Tally:
    """A meter without a ceiling: it only counts. Picklable, and safe among threads.

    >>> tally = Tally()
    >>> ticket = tally.reserve("stand-in", Usage(input_tokens=900, output_tokens=100, calls=1))
    >>> tally.settle(ticket, Usage(input_tokens=200, output_tokens=40, calls=1))
    >>> tally.usage.total, tally.calls
    (240, 1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[str, bool, Usage]] = {}
        self._known: dict[tuple[str, bool], Usage] = {}
        self._assumed: dict[tuple[str, bool], Usage] = {}

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> Hashable:
        """A ticket; see `Meter.reserve`. Never raises."""
        with self._lock:
            ticket = next(self._numbers)
            self._open[ticket] = (model, batch, worst)
        return ticket

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        """Count the usage; without one, the worst case, as `assumed`.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self._lock:
            model, batch, worst = self._open.pop(ticket)
            counts = self._assumed if usage is None else self._known
            used = worst if usage is None else usage
            counts[model, batch] = counts.get((model, batch), Usage()) + used

    def release(self, ticket: Any) -> None:
        """Count nothing.

        Raises:
            KeyError: for a ticket that is not open.
        """
        with self._lock:
            del self._open[ticket]

    @property
    def usage(self) -> Usage:
        """What the calls used that were answered."""
        with self._lock:
            return sum(self._known.values(), Usage())

    @property
    def assumed(self) -> Usage:
        """The worst case of calls that were not answered but may be billed."""
        with self._lock:
            return sum(self._assumed.values(), Usage())

    @property
    def open(self) -> Usage:
        """The worst case of calls in flight."""
        with self._lock:
            return sum((worst for _, _, worst in self._open.values()), Usage())

    @property
    def calls(self) -> int:
        """Calls that were answered or may be billed."""
        return self.usage.calls + self.assumed.calls

    def cost(self, prices: Prices) -> float | None:
        """US dollars of `usage` and `assumed`; None where a model's price is not known."""
        with self._lock:
            costs = [
                prices.cost(usage, model, batch=batch)
                for counts in (self._known, self._assumed)
                for (model, batch), usage in counts.items()
            ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def add(self, other: Tally) -> None:
        """Count also what `other` counted, such as one that came from another process."""
        with other._lock:
            theirs = dict(other._known), dict(other._assumed)
        with self._lock:
            for ours, counts in zip((self._known, self._assumed), theirs, strict=True):
                for key, usage in counts.items():
                    ours[key] = ours.get(key, Usage()) + usage

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {"open": dict(self._open), "next": next(self._numbers)}
            return state | {"known": dict(self._known), "assumed": dict(self._assumed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(state["next"])
        self._open = state["open"]
        self._known = state["known"]
        self._assumed = state["assumed"]


class _Together:
    def __init__(self, meters: tuple[Meter, ...]) -> None:
        self._meters = meters

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        tickets: list[object] = []
        try:
            for meter in self._meters:
                # Said only where it is so: most meters are never asked for the price of batches.
                ticket = (
                    meter.reserve(model, worst, batch=True)
                    if batch
                    else meter.reserve(model, worst)
                )
                tickets.append(ticket)
        except BaseException:
            for meter, ticket in zip(self._meters, tickets, strict=False):
                meter.release(ticket)
            raise
        return tuple(tickets)

    def settle(self, ticket: Any, usage: Usage | None) -> None:
        for meter, own in zip(self._meters, ticket, strict=True):
            meter.settle(own, usage)

    def release(self, ticket: Any) -> None:
        for meter, own in zip(self._meters, ticket, strict=True):
            meter.release(own)


def together(*meters: Meter) -> Meter:
    """Several meters as one: a call is made only if each allows it, and each counts it.

    >>> tally, all_runs = Tally(), Tally()
    >>> both = together(tally, all_runs)
    >>> both.settle(both.reserve("stand-in", Usage(calls=1)), Usage(9, calls=1))
    >>> tally.usage == all_runs.usage == Usage(9, calls=1)
    True
    """
    return _Together(meters)
