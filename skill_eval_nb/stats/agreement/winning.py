"""Who wins: the answers to one pair of outputs settled, and wins counted over many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FIRST, LAST, TIE = "A", "B", "tie"
OUTCOMES = ("wins", "losses", "ties")
RATES = ("win_rate", "low", "high", "p")
LEVEL = 0.95

Orders = tuple[Counter[str], Counter[str]]
"""How often a pair's comparisons said A, B or tie: one side seen first, and seen last."""


def said(seen: Counter[str]) -> str | None:
    """What was said most often in one order: a tie where several were, None where nothing was.

    >>> said(Counter("AAB")), said(Counter("AB")), said(Counter())
    ('A', 'tie', None)
    """
    most = [one for one, times in seen.items() if times == max(seen.values())]
    return None if not most else most[0] if len(most) == 1 else TIE


def settled(orders: Orders) -> str | None:
    """`A` where the side wins that `orders` tells of, `B` where the other does, else a tie.

    A side wins where both orders name it. None where one of them was not seen: nobody can then
    tell the side from its place.

    >>> settled((Counter("A"), Counter("B"))), settled((Counter("A"), Counter("A")))
    ('A', 'tie')
    """
    forth, back = map(said, orders)
    if forth is None or back is None:
        return None
    return forth if (forth, back) in {(FIRST, LAST), (LAST, FIRST)} else TIE


def majority(winners: Iterable[str]) -> str:
    """Who won more of several pairs; a tie where both won as many.

    >>> majority(["A", "tie", "tie"]), majority(["A", "B", "tie"])
    ('A', 'tie')
    """
    counts = Counter(winners)
    difference = counts[FIRST] - counts[LAST]
    return TIE if not difference else FIRST if difference > 0 else LAST


@dataclass(frozen=True, slots=True)
class Wins:
    """Wins, losses and ties; figures are of what was decided, ties are left out of them."""

    wins: int
    losses: int
    ties: int

    @classmethod
    def of(cls, winners: Iterable[str]) -> Wins:
        """The wins of `A` over `B`."""
        counts = Counter(winners)
        return cls(counts[FIRST], counts[LAST], counts[TIE])

    @property
    def rate(self) -> float | None:
        """Wins of all that was decided; None where nothing was."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    @property
    def p(self) -> float | None:
        """Exact two-sided binomial test of wins against losses; None without either."""
        from scipy import special

        n = self.wins + self.losses
        if not n:
            return None
        return min(1.0, 2 * float(special.bdtr(min(self.wins, self.losses), n, 0.5)))

    def interval(self, level: float = LEVEL) -> tuple[float | None, float | None]:
        """The exact interval of the rate (Clopper and Pearson, 1934); None without a rate.

        >>> low, high = Wins(5, 0, 2).interval()
        >>> round(low, 4), high
        (0.4782, 1.0)
        """
        from scipy import special

        if not self.wins + self.losses:
            return None, None
        tail = (1 - level) / 2
        low = special.betaincinv(self.wins, self.losses + 1, tail) if self.wins else 0.0
        high = special.betaincinv(self.wins + 1, self.losses, 1 - tail) if self.losses else 1.0
        return float(low), float(high)

    def columns(self, prefix: str = "") -> dict[str, Any]:
        """All of it, as columns of a table."""
        counted = (self.wins, self.losses, self.ties)
        figures = zip(
            (*OUTCOMES, *RATES), (*counted, self.rate, *self.interval(), self.p), strict=True
        )
        return {f"{prefix}{name}": figure for name, figure in figures}
