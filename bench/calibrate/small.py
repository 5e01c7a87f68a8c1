"""Benchmarks run once: what they lean to by borrowed noise, and what their next step decides.

A run's checks hang together: its own rate is beta-distributed around the eval's, so that checks of
a run correlate as much as the cell says (beta-binomial). Nothing is shared with what is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skill_eval_nb.stats import deltas, next_step

from .metrics import Array

if TYPE_CHECKING:
    import polars as pl

NS = (3, 4, 5, 8)
CORRELATIONS = (0.0, 0.1, 0.2, 0.45)
USUAL = 0.1
"""The correlation where there is an effect."""
EFFECTS = (0.25, 0.5)
CHECKS = (4, 9)
"""The fewest and the most checks of an eval."""
SPREAD = 0.15
"""Of the true effects, where there is one."""
SIDES = ("with_skill", "without_skill")
NEAR = 0.05
"""So near to the true effect is what was seen, where the truth is what was seen."""
FEWEST = 30
"""Data sets below which a share says little."""
KEPT = 150
"""Data sets, at most, whose next step is taken."""


@dataclass(frozen=True)
class Small:
    """A cell: so many evals, the correlation between the checks of a run, the mean effect."""

    n: int
    correlation: float
    effect: float

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 200 if self.effect else 20


def cells() -> list[Small]:
    alike = [Small(n, of, 0.0) for n in NS for of in CORRELATIONS]
    return alike + [Small(n, USUAL, effect) for effect in EFFECTS for n in NS]


@dataclass(frozen=True)
class Drawn:
    """Evals of each data set: their rates on either side (data set, side, eval), and checks."""

    rates: Array
    checks: Array

    def run(self, cell: Small, runs: int, random: np.random.Generator) -> Array:
        """Checks that passed: data set, side, eval, run."""
        rates = np.repeat(self.rates[..., None], runs, axis=-1)
        if cell.correlation:
            whole = 1 / cell.correlation - 1
            rates = random.beta(rates * whole, (1 - rates) * whole)
        return random.binomial(self.checks[:, None, :, None], rates)


def draw(cell: Small, size: int, n: int, random: np.random.Generator) -> Drawn:
    """Evals at random, of which the baseline passes 10 to 90 %, less where the skill helps."""
    base = random.uniform(0.1, 0.9 - cell.effect, (size, n))
    spread = SPREAD if cell.effect else 0.0
    own = np.clip(base + random.normal(cell.effect, spread, (size, n)), 0.01, 0.99)
    checks = random.integers(CHECKS[0], CHECKS[1] + 1, (size, n))
    return Drawn(np.stack([own, base], axis=1), checks)


def measure(cell: Small, size: int, random: np.random.Generator) -> dict[str, float]:
    """Shares of data sets: `up` and `down`, that lean so; `runs` and `evals`, decided by them."""
    drawn = draw(cell, size, cell.n, random)
    passed = drawn.run(cell, 1, random)
    first = table(passed, drawn.checks)
    leans = deltas(first).sort("workspace")["lean"]
    words = {"up": "leans up", "down": "leans down"}
    found = {name: float((leans == word).mean()) for name, word in words.items()}
    found |= dict.fromkeys(("runs", "evals"), float("nan"))
    rates = passed / drawn.checks[:, None, :, None]
    seen = np.abs((rates[:, 0] - rates[:, 1]).mean(axis=(1, 2)) - cell.effect) < NEAR
    kept = np.flatnonzero(seen)[:KEPT] if cell.effect else []
    if len(kept):
        part = Drawn(drawn.rates[kept], drawn.checks[kept])
        found |= _take_next_steps(cell, part, passed[kept], random)
    return found


def _take_next_steps(
    cell: Small, drawn: Drawn, passed: Array, random: np.random.Generator
) -> dict[str, float]:
    """How often the designs for the difference that was seen decide, of those that are proposed."""
    steps = next_step(table(passed, drawn.checks)).filter(difference="as seen")
    found = {}
    for what, scope in (("runs", "suite"), ("evals", "population")):
        column = {"runs": "n_runs", "evals": "n_evals"}[what]
        proposed = steps.filter(what=what).select("workspace", column).rows()
        decided = []
        for name, number in proposed:
            at = int(name)
            own = Drawn(drawn.rates[at : at + 1], drawn.checks[at : at + 1])
            if what == "runs":
                more = own.run(cell, number - 1, random)
                data = table(np.concatenate([passed[at : at + 1], more], axis=3), own.checks)
            else:
                other = draw(cell, 1, number - cell.n, random)
                both = [passed[at : at + 1], other.run(cell, 1, random)]
                checks = np.concatenate([own.checks, other.checks], axis=1)
                data = table(np.concatenate(both, axis=2), checks)
            decided.append(deltas(data, scope=scope)["verdict"].item() in ("helps", "hurts"))
        found[what] = float(np.mean(decided)) if len(decided) >= FEWEST else float("nan")
    return found


def table(passed: Array, checks: Array) -> pl.DataFrame:
    """The table of runs: each data set is a workspace of its own."""
    import polars as pl

    data_set, side, eval_, run = (place.ravel() for place in np.indices(passed.shape))
    of = checks[data_set, eval_]
    columns: dict[str, Any] = {
        "workspace": [str(at) for at in data_set],
        "eval_id": [str(at) for at in eval_],
        "configuration": [SIDES[at] for at in side],
        "run_number": run,
        "pass_rate": passed.ravel() / of,
        "passed": passed.ravel(),
        "failed": of - passed.ravel(),
    }
    return pl.DataFrame(columns)
