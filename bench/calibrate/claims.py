"""Claims that a benchmark makes of its own runs: what a second opinion says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.stats import second_opinion
from skill_eval_nb.stats.second_opinion import OPINIONS
from skill_eval_nb.tables import Workspace

from .ours import table
from .scenarios import EFFECTS, even
from .worlds import PLAIN, draw_evals

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

METRIC = "pass_rate"
EFFECT = EFFECTS[METRIC][1]
NS, KS = (4, 8, 12), (1, 3, 10)
"""n and K."""
CHUNK = 500


@dataclass(frozen=True)
class Claimed:
    """A cell: so many evals and runs a side; what the skill does to the pass rate."""

    n: int
    runs: int
    effect: float = 0.0

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 20 * self.n * self.runs


def cells() -> list[Claimed]:
    return [Claimed(n, runs, effect) for effect in (0.0, EFFECT) for n in NS for runs in KS]


def measure(cell: Claimed, size: int, random: np.random.Generator) -> dict[str, float]:
    """The share of data sets by the opinion on what was seen, stated with four places."""
    import polars as pl

    world = PLAIN[0] if cell.effect else even(PLAIN[0])
    effect = world.effect_for(cell.effect) if cell.effect else 0.0
    found = dict.fromkeys(OPINIONS, 0.0)
    for at in range(0, size, CHUNK):
        evals = draw_evals(world, effect, cell.n, min(CHUNK, size - at), random)
        runs = table(evals.run(random, cell.runs), METRIC)
        runs = runs.with_columns(workspace=pl.lit("w"), skill=pl.lit("s"))
        ws = Workspace.from_tables({"runs": runs, "stated": _state(runs)})
        for opinion in second_opinion(ws)["opinion"]:
            found[opinion] += 1
    return {name: number / size for name, number in found.items()}


def _state(runs: pl.DataFrame) -> pl.DataFrame:
    """What a benchmark.json of each data set states: the difference of the two means."""
    import polars as pl

    means = (
        pl.col(METRIC).filter(configuration=side).mean() for side in ("with_skill", "without_skill")
    )
    return (
        runs.group_by("workspace", "skill", "iteration")
        .agg(value=next(means) - next(means))
        .with_columns(
            configuration=pl.lit("delta"),
            metric=pl.lit(METRIC),
            statistic=pl.lit("value"),
            value=pl.col("value").round(4),
            printed=pl.col("value").round(4).cast(pl.String),
            path=pl.format("{}/benchmark.json", "iteration"),
        )
    )
