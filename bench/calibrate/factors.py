"""Several models: how often an effect is said to differ between them, where it does and does not.

What draws the data shares no code with what is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skill_eval_nb.stats import factors

from .metrics import Array, PassRate
from .scenarios import even
from .worlds import PLAIN, draw_evals

SAME, NOTHING, UNLIKE = "same effect", "no effect", "unlike noise"
OVER_TASKS, LESS = "same over tasks", "30 pp less with one"
ABOUT = {
    NOTHING: "the skill does nothing, with any model",
    SAME: "the skill helps by 20 pp on average, more on some evals, and with each model alike",
    UNLIKE: "the skill does nothing; runs of one model scatter little, those of the others widely",
    OVER_TASKS: "the skill helps with one model more on some evals, with the other on others, "
    "and over all tasks alike",
    LESS: "the skill helps by 30 pp, but with one of the models by nothing",
}
"""The worlds, and what is true in them."""
WORLD = PLAIN[0]
SPREAD = 0.6
"""SD of what an eval's effect is with one model, in logits, where it differs by model."""
SCATTER = (0.3, 2.5)
"""SD of the runs of the first model and of the others where they are unlike, in logits."""
DIFFERS = {"suite": "differs, these evals", "population": "differs, tasks like these"}
CLAIMS = {"suite": "some model, these evals", "population": "some model, tasks like these"}
TRUE: dict[str, set[str]] = {
    SAME: {*CLAIMS.values()},
    OVER_TASKS: {DIFFERS["suite"], *CLAIMS.values()},
    LESS: {*DIFFERS.values(), *CLAIMS.values()},
}
"""What is true in a world, so that to say it is no fault."""
CHUNK = 100_000
"""Runs of a table, about."""


@dataclass(frozen=True)
class Models:
    """A cell: a world, so many models, evals, and runs a side."""

    world: str
    models: int
    n: int
    runs: int

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 20 * self.models * self.n * self.runs


def cells() -> list[Models]:
    designs = {
        NOTHING: [(2, 3, 3), (3, 6, 1), (3, 8, 3), (3, 12, 1)],
        SAME: [
            *((2, n, 3) for n in (3, 5, 6, 8, 12, 20)),
            *((2, 3, 2), (2, 8, 1), (2, 8, 10), (4, 3, 2), (4, 8, 3), (4, 12, 1)),
        ],
        UNLIKE: [(2, 3, 2), (2, 3, 3), (2, 8, 3), (3, 12, 3)],
        OVER_TASKS: [(2, 6, 3), (2, 8, 1), (2, 12, 3), (2, 20, 3), (4, 8, 3)],
        LESS: [(2, 5, 3), (2, 6, 3), (2, 8, 3), (2, 12, 3), (2, 8, 10)],
    }
    return [Models(world, *design) for world, each in designs.items() for design in each]


def measure(cell: Models, size: int, random: np.random.Generator) -> dict[str, float]:
    """The shares of data sets in which the effect is said to differ, or some model helped or hurt.

    NaN where it cannot be told in any.
    """
    values = draw(cell, size, random)
    each = max(1, CHUNK // values[0].size)
    found: dict[str, float] = {}
    for scope in ("suite", "population"):
        told: list[Any] = []
        claims = 0
        for at in range(0, size, each):
            rows = factors(_table(values[at : at + each]), scope=scope)
            sets = rows.group_by("iteration").agg("differs", "verdict")
            told += [own[0] for own in sets["differs"]]
            claims += sum(bool({*own} & {"helps", "hurts"}) for own in sets["verdict"])
        known = any(differs is not None for differs in told)
        found[DIFFERS[scope]] = told.count(True) / size if known else float("nan")
        found[CLAIMS[scope]] = claims / size
    return found


def draw(cell: Models, size: int, random: np.random.Generator) -> Array:
    """So many data sets: data set × model × side × eval × run."""
    nothing = cell.world in (NOTHING, UNLIKE)
    world = even(WORLD) if nothing else WORLD
    effect = 0.0 if nothing else world.effect_for(0.3 if cell.world == LESS else 0.2)
    evals = draw_evals(world, effect, cell.n, size, random)
    each = []
    for model in range(cell.models):
        own = evals.moved(np.full(size, -effect)) if model and cell.world == LESS else evals
        if cell.world == OVER_TASKS:
            more = SPREAD * random.standard_normal((size, 1, cell.n)) * np.array([[[1], [0]]])
            own = own._replace(place=own.place + more)
        if cell.world == UNLIKE:
            own = own._replace(metric=PassRate(run=SCATTER[min(model, 1)]))
        each.append(own.run(random, cell.runs))
    return np.stack(each, axis=1)


def _table(values: Array) -> Any:
    import polars as pl

    data_set, model, side, eval_, run = (place.ravel() for place in np.indices(values.shape))
    return pl.DataFrame(
        {
            "iteration": pl.select(pl.format("iteration-{}", pl.Series(data_set))).to_series(),
            "executor_model": pl.Series(model).cast(pl.String),
            "configuration": np.array(["with_skill", "without_skill"])[side],
            "eval_id": pl.Series(eval_).cast(pl.String),
            "run_number": run + 1,
            "pass_rate": values.ravel(),
        }
    )
