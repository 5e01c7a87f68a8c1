"""Planned looks: how often they claim, after how many runs, and what one look or many would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.stats import deltas, sequential

from .metrics import Array
from .ours import CLAIMS, table
from .scenarios import even
from .worlds import CEILING, ONE_CHECK, PLAIN, World, draw_evals

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

LOOKS = (2, 4, 6, 10)
GAIN = 0.25
METRIC = "pass_rate"
PLANNED, ONE, AGAIN, RUNS = "planned", "one look", "after each run", "runs"
CHUNK = 200


@dataclass(frozen=True)
class Looked:
    """A cell: where evals come from, how many there are, and what the skill does to them."""

    world: World
    n: int
    effect: float = 0.0

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 300 * self.n


def cells() -> list[Looked]:
    plain, easy = PLAIN[0], CEILING[0]
    nothing = [(even(plain), n) for n in (3, 6, 8)] + [(even(easy), 6), (even(ONE_CHECK), 6)]
    return [Looked(*cell) for cell in nothing] + [Looked(plain, n, GAIN) for n in (3, 6)]


def measure(cell: Looked, size: int, random: np.random.Generator) -> dict[str, float]:
    """The share of data sets with a claim, and the runs a side that planned looks take.

    `planned` by `sequential`; `one look` at the last of them; `after each run`, from the second
    on, until `deltas` claims something at 0.05.
    """
    effect = cell.world.effect_for(cell.effect) if cell.effect else 0.0
    found = dict.fromkeys((PLANNED, ONE, AGAIN, RUNS), 0.0)
    for at in range(0, size, CHUNK):
        evals = draw_evals(cell.world, effect, cell.n, min(CHUNK, size - at), random)
        values = evals.run(random, LOOKS[-1])
        looks = sequential(table(values, METRIC), LOOKS)
        ended = looks.filter("decides")
        found[PLANNED] += ended.filter(_claims(ended)).height
        found[RUNS] += ended["look"].sum() + LOOKS[-1] * (len(values) - ended.height)
        claimed = [_claimed(values, runs) for runs in range(LOOKS[0], LOOKS[-1] + 1)]
        found[ONE] += len(claimed[-1])
        found[AGAIN] += len(set[str]().union(*claimed))
    return {name: number / size for name, number in found.items()}


def _claimed(values: Array, runs: int) -> set[str]:
    """The data sets of whose first runs `deltas` claims something."""
    found = deltas(table(values[..., :runs], METRIC))
    return set(found.filter(_claims(found))["iteration"])


def _claims(rows: pl.DataFrame) -> pl.Series:
    return rows["verdict"].is_in(list(CLAIMS))
