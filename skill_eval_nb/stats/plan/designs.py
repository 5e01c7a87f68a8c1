"""What a design of evals × runs × judgings can tell, from the variances that stand in its way.

Of a configuration's mean over E evals, R runs each and J judgings of each output,

    Var(mean) = eval / E + run / (E R) + judge / (E R J).

A paired delta is the same with two sides. How hard the evals are cancels; what stays between
evals is that the *effect* differs from one to the next:

    Var(delta) = effect / E + (run + run') / (E R) + (judge + judge') / (E R J),

a prime for the baseline. For these evals (scope `suite`) the first term is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..deltas.comparison import FEWEST, Scope
from ..inference.power import FLIPPED, POWER, detectable, flipped

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

FEWEST_RUNS = 2
"""Runs below which the noise of these evals cannot be seen."""


@dataclass(frozen=True, slots=True)
class Designs:
    """Designs, a number each: evals, runs of each eval, judgings of each output."""

    evals: Array
    runs: Array
    judgings: Array

    def __getitem__(self, which: Any) -> Designs:
        return Designs(self.evals[which], self.runs[which], self.judgings[which])

    def __len__(self) -> int:
        return len(self.evals)

    def row(self, at: int) -> tuple[int, int, int]:
        """One of them as plain numbers."""
        return int(self.evals[at]), int(self.runs[at]), int(self.judgings[at])


@dataclass(frozen=True, slots=True)
class Variances:
    """The variances behind a mean (one side) or a paired delta (two).

    Attributes:
        between: between evals, of their level or of the effect on them.
        sides: for each side that of runs and that of judgings.
    """

    between: float
    sides: tuple[tuple[float, float], ...]

    @property
    def none(self) -> bool:
        """Whether there is no noise at all to plan from."""
        return not self.between > 0 and not any(part > 0 for side in self.sides for part in side)

    def se(self, of: Designs) -> Array:
        """The standard error of the mean, or of the delta.

        >>> import numpy as np
        >>> worked = Variances(between=0.64, sides=((0.25, 0.16),))
        >>> worked.se(Designs(*np.array([[6, 6, 20], [3, 3, 3], [1, 3, 1]]))).round(3).tolist()
        [0.36, 0.351, 0.197]
        """
        import numpy as np

        within = sum(run + judge / of.judgings for run, judge in self.sides)
        return np.sqrt(self.between / of.evals + within / (of.evals * of.runs))

    def freedom(self, of: Designs, scope: Scope) -> Array:
        """Degrees of freedom of the test of a delta: paired t, or Welch's over all cells."""
        import numpy as np

        if scope == "population":
            return of.evals - 1.0
        noise = np.array([run + judge / of.judgings for run, judge in self.sides])
        cells = of.evals * (of.runs - 1.0)
        return noise.sum(axis=0) ** 2 / (noise**2).sum(axis=0) * cells

    def mde(self, of: Designs, scope: Scope, level: float, power: float = POWER) -> Array:
        """The smallest effect that is found with that power; NaN where no claim can be made.

        By the noncentral t (see `detectable`), of few evals by their sign flip (see `flipped`).
        """
        import numpy as np

        able = claimable(of, scope, level)
        found = np.full(len(of), np.nan)
        mine = of[able]
        df, place = np.unique(self.freedom(mine, scope), return_inverse=True)
        found[able] = self.se(mine) * detectable(1.0, df, level, power)[place]
        for n in FLIPPED if scope == "population" else ():
            few, factor = able & (of.evals == n), flipped(n, level, power)
            if factor is not None:
                found[few] = self.se(of[few]) * n**0.5 * factor
        return found


def claimable(of: Designs, scope: Scope, level: float) -> Array:
    """Whether a design can reach a verdict at all.

    Tasks like these need 6 evals, these evals two runs a side; and the exact test must be
    able to reach p <= 1 - level: among C(2 m, m) arrangements of each eval's labels, m runs
    (or one mean) a side, the most extreme two have to be rare enough.
    """
    import numpy as np
    from scipy import special

    m = of.runs if scope == "suite" else np.ones_like(of.runs)
    arrangements = special.gammaln(2 * m + 1.0) - 2 * special.gammaln(m + 1.0)
    enough = of.runs >= FEWEST_RUNS if scope == "suite" else of.evals >= FEWEST
    rare = of.evals * arrangements >= np.log(2 / (1 - level)) - 1e-9  # rounding
    return enough & rare


def every(evals: Array, runs: Array, judgings: Array) -> Designs:
    """Every combination of these numbers."""
    import numpy as np

    return Designs(*(axis.ravel() for axis in np.meshgrid(evals, runs, judgings, indexing="ij")))
