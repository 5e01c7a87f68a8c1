"""One ceiling for a whole search: what was spent, and what is kept back for its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..measuring import Measured
from ..values import Attempt
from .asking import Proposal


@dataclass
class Money:
    """What a search may spend, and has spent.

    Attributes:
        ceiling_usd: the most that all of it may cost, in US dollars; None for no ceiling.
        attempts: attempts of a round.
        last_attempts: attempts of the last measurement.
        cap_usd: what one attempt may cost at most; None where no price is known.
    """

    ceiling_usd: float | None
    attempts: int
    last_attempts: int
    cap_usd: float | None
    _measured: dict[tuple[str, bool], Measured] = field(default_factory=dict)
    _proposed: dict[str, Proposal] = field(default_factory=dict)

    def measured(self, measured: Measured, *, fresh: bool) -> None:
        """Count a measurement; its earlier starts are in it."""
        self._measured[measured.description, fresh] = measured

    def proposed(self, key: str, proposal: Proposal) -> None:
        """Count a question to the proposer; its earlier starts are in it."""
        self._proposed[key] = proposal

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent, earlier starts included; None where a price is not known."""
        costs = [one.cost_usd for one in self._measured.values()]
        costs += [one.spent_usd for one in self._proposed.values()]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def spent_usd(self) -> float:
        """The same, as far as prices are known."""
        costs = [one.cost_usd for one in self._measured.values()]
        costs += [one.spent_usd for one in self._proposed.values()]
        return sum(cost for cost in costs if cost is not None)

    def left(self, *, fresh: bool = False) -> float | None:
        """US dollars that may still be spent; None for no ceiling.

        But for the last measurement itself (`fresh`), its money is not among them.
        """
        if self.ceiling_usd is None:
            return None
        back = 0.0 if fresh else self.kept_back
        return max(self.ceiling_usd - self.spent_usd - back, 0.0)

    @property
    def kept_back(self) -> float:
        """US dollars for the last measurement.

        Its worst case, but no more than what it comes to if every attempt of it is as dear as
        the dearest so far, with one at its worst; before any was made, than its share of the
        ceiling.
        """
        if self.ceiling_usd is None:
            return 0.0
        cap, costs = self.cap_usd or 0.0, self._costs()
        worst = self.last_attempts * cap
        if not costs:
            part = self.last_attempts / (self.attempts + self.last_attempts)
            return min(worst, part * self.ceiling_usd)
        return min(worst, self.last_attempts * max(costs) + cap)

    @property
    def holds_a_round(self) -> bool:
        """Whether another round likely fits, by what attempts cost on average so far."""
        left, costs = self.left(), self._costs()
        if left is None:
            return True
        usual = sum(costs) / len(costs) if costs else 0.0
        return left >= self.attempts * usual + (self.cap_usd or 0.0)

    def _costs(self) -> list[float]:
        made: Iterable[Attempt] = (
            one for measured in self._measured.values() for one in measured.attempts
        )
        return [one.cost_usd for one in made if one.cost_usd is not None]
