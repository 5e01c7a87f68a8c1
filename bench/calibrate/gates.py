"""A gate: how often it ends how, and whether it says how large a loss it may have missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.report.gate import read_comparison
from skill_eval_nb.stats.overview import compare_scopes

from .bounds import Range
from .ours import table
from .scenarios import even
from .worlds import PLAIN, draw_evals

if TYPE_CHECKING:
    import numpy as np

LOSS = -0.25
METRIC = "pass_rate"
SIZES = ((3, 1), (5, 1), (5, 3), (8, 3), (12, 3), (8, 10), (20, 1))
"""n and K."""
ENDS, UNSAID = {0: "passes", 1: "fails", 3: "cannot tell"}, "unsaid"
"""What the ends are called; passed though the loss is larger than the gate says it may be."""
FAILS, FINDS = Range(0.0, 0.05), Range(0.75, 1.0)
"""What is wanted of it where nothing differs, and of the loss over 8 evals and 3 runs."""
CHUNK = 500


@dataclass(frozen=True)
class Gated:
    """A cell: so many evals and runs a side; what the skill does to the pass rate."""

    n: int
    runs: int
    effect: float = 0.0

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 20 * self.n * self.runs


def cells() -> list[Gated]:
    return [Gated(n, runs, effect) for effect in (0.0, LOSS) for n, runs in SIZES]


def measure(cell: Gated, size: int, random: np.random.Generator) -> dict[str, float]:
    """The share of data sets by the gate's end; `unsaid`: passed, with a larger loss than said.

    The loss is that on the evals drawn, or over all of them where the gate is about tasks like
    these.
    """
    world = PLAIN[0] if cell.effect else even(PLAIN[0])
    effect = world.effect_for(cell.effect) if cell.effect else 0.0
    found: dict[str, float] = dict.fromkeys((*ENDS.values(), UNSAID), 0.0)
    for at in range(0, size, CHUNK):
        evals = draw_evals(world, effect, cell.n, min(CHUNK, size - at), random)
        truth = evals.truth()
        for pair in compare_scopes(table(evals.run(random, cell.runs), METRIC), METRIC):
            finding = read_comparison(*pair)
            of, data_set = finding.figures, pair[0]["iteration"].removeprefix("iteration-")
            true = truth[int(data_set)] if of["scope"] == "suite" else world.truth(effect)
            found[ENDS[finding.end]] += 1
            larger = -true > (of["missed"] or 0.0) + 1e-9
            found[UNSAID] += int(larger and not finding.end)
    return {name: number / size for name, number in found.items()}
