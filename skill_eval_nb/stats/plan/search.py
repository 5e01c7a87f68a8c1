"""The cheapest design that is sharp enough, and those around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..deltas.comparison import FEWEST, Scope
from .assumptions import Basis, Now
from .designs import FEWEST_RUNS, Designs, Variances, claimable, every

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

LEVERS = ("evals", "runs", "judgings")
AROUND = (10, 5, 4)
"""How many more of each the curve shows at least; else up to twice as many."""
AS_IT_WAS = "as it was run"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted: a standard error of a mean, or else an effect found with some power.

    `most` evals, runs of each and judgings of each output are considered.
    """

    target_se: float | None
    effect: float | None
    power: float
    level: float
    scope: Scope
    most: Now

    @property
    def n_sides(self) -> int:
        """1 for a mean, 2 for a delta."""
        return 2 if self.target_se is None else 1

    def able(self, of: Designs) -> Array:
        """Whether designs can answer at all."""
        if self.target_se is None:
            return claimable(of, self.scope, self.level)
        return of.runs >= FEWEST_RUNS if self.scope == "suite" else of.evals >= FEWEST

    def mde(self, variances: Variances, of: Designs) -> Array:
        """Their smallest detectable effects; NaN for a mean, and where no claim can be made."""
        import numpy as np

        if self.target_se is not None:
            return np.full(len(of), np.nan)
        return variances.mde(of, self.scope, self.level, self.power)

    def met(self, variances: Variances, of: Designs) -> Array:
        """Whether designs are sharp enough."""
        import numpy as np

        if self.target_se is not None:
            return self.able(of) & (variances.se(of) <= self.target_se)
        return np.nan_to_num(self.mde(variances, of), nan=np.inf) <= (self.effect or 0)

    @property
    def said(self) -> str:
        """What is wanted, after "designs that" and "would"."""
        if self.target_se is not None:
            return f"have a standard error of at most {self.target_se:g}"
        return f"find a difference of {self.effect:g} with {self.power:.0%} power"


@dataclass(frozen=True, slots=True)
class Rate:
    """What one eval, one run and one judging take, on all sides together."""

    run: float
    judging: float = 0.0
    eval: float = 0.0

    def of(self, designs: Designs) -> Array:
        """What designs take."""
        per_run = self.run + designs.judgings * self.judging
        return designs.evals * (self.eval + designs.runs * per_run)


def fixed(basis: Basis, wish: Wish) -> tuple[int | None, int | None, int | None]:
    """The numbers of evals, runs and judgings that stay as they are; None where planned.

    These evals stay these: `max_evals` of them, where no data say how many they are.
    """
    suite = basis.now[0] if basis.now else wish.most[0]
    return suite if wish.scope == "suite" else None, basis.runs, basis.judgings


def cheapest(basis: Basis, variances: Variances, wish: Wish, rate: Rate) -> Now | None:
    """The design that is sharp enough at the least cost, the smaller error first; or None."""
    import numpy as np

    axes = [
        np.arange(1, most + 1) if stays is None else np.array([stays])
        for most, stays in zip(wish.most, fixed(basis, wish), strict=True)
    ]
    designs = every(*axes)
    designs = designs[wish.met(variances, designs)]
    if not len(designs):
        return None
    cost = rate.of(designs).round(9)
    first = np.lexsort((designs.evals, variances.se(designs), cost))[0]
    return designs.row(first)


def around(base: Now, basis: Basis, wish: Wish) -> Iterator[tuple[Now, str | None]]:
    """The design, then those that differ from it in one number, and what that is."""
    yield base, None
    if basis.now not in (None, base):
        yield basis.now, AS_IT_WAS
    planned = (True, basis.runs is None, basis.judgings is None)
    for at, lever in enumerate(LEVERS):
        top = min(wish.most[at], max(2 * base[at], base[at] + AROUND[at]))
        for number in range(1, top + 1 if planned[at] else 1):
            if number != base[at]:
                evals, runs, judgings = (*base[:at], number, *base[at + 1 :])
                yield (evals, runs, judgings), lever
