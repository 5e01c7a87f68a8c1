"""Pages of many metrics: how often something false stands anywhere on one.

A page is a benchmark of eight metrics and three rubric dimensions that hang together. Nothing
here is shared with what is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import special

from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.comparison import SCOPES
from skill_eval_nb.stats.overview import overview
from skill_eval_nb.stats.values import metrics_of
from skill_eval_nb.tables import Workspace

SIZES = ((5, 10), (8, 3), (12, 1))
"""n and K."""
LONGER = 0.3
"""What the skill adds to the logarithm of each effort, where it adds any: 35 %."""
DIMENSIONS = ("clarity", "depth", "form")
TOGETHER, ALONE = "together", "each alone"
CLAIMS = ("helps", "hurts")
CHUNK = 100


@dataclass(frozen=True)
class Page:
    """A cell: so many evals and runs a side; how much longer the skill makes a run."""

    n: int
    runs: int
    effect: float = 0.0

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return 400 * self.n


def cells() -> list[Page]:
    return [Page(n, runs, effect) for effect in (0.0, LONGER) for n, runs in SIZES]


def measure(cell: Page, size: int, random: np.random.Generator) -> dict[str, float]:
    """The share of pages with some claim, by how they are made: `together` and `each alone`.

    Where the skill makes runs longer, the share of those that say so of the tokens, on these evals.
    """
    found = dict.fromkeys((TOGETHER, ALONE), 0)
    for at in range(0, size, CHUNK):
        ws = pages(min(CHUNK, size - at), cell.n, cell.runs, cell.effect, random)
        rows = {
            TOGETHER: overview(ws),
            ALONE: [
                row
                for metric in metrics_of(ws)
                for scope in SCOPES
                for row in deltas(ws, metric, scope=scope).to_dicts()
            ],
        }
        for how, each in rows.items():
            wanted = (
                row
                for row in each
                if row["verdict"] in CLAIMS
                and (not cell.effect or (row["metric"], row["scope"]) == ("tokens", "suite"))
            )
            found[how] += len({row["iteration"] for row in wanted})
    return {how: number / size for how, number in found.items()}


def pages(size: int, n: int, runs: int, effect: float, random: np.random.Generator) -> Workspace:
    """So many of them, an iteration each; the skill changes nothing but the effort."""
    shape = size, 2, n, runs
    hard, well, length = random.normal(0, 1, (size, 1, n, 1)), *random.normal(0, 1, (2, *shape))

    def share(of: int, own: float) -> np.ndarray:
        place = 0.3 + hard + own * random.normal(0, 1, shape) + 0.6 * well
        return random.binomial(of, special.expit(place)) / of

    def taken(level: float, own: float) -> np.ndarray:
        noise = own * random.normal(0, 1, shape)
        more = np.array([effect, 0.0])[None, :, None, None]
        return np.exp(level + 0.4 * hard + 0.3 * length + noise + more)

    scores = {name: 1.0 + 4 * share(4, 0.5) for name in DIMENSIONS}
    figures = {
        "pass_rate": share(6, 0.6),
        "structural_pass_rate": share(5, 0.9),
        "rubric_normalized": sum(scores.values()) / 15,
        "time_seconds": taken(4, 0.25),
        "tokens": np.round(taken(8.5, 0.15)).astype(int),
        "cost_usd": taken(-2, 0.2),
        "tool_calls": random.poisson(taken(2, 0.0)),
        "errors": random.poisson(0.7, shape),
    }
    page, side, eval_, run = (place.ravel() for place in np.indices(shape))
    keys = pl.select(
        iteration=pl.format("iteration-{}", pl.Series(page)),
        eval_id=pl.Series(eval_).cast(pl.String),
        eval_name=pl.format("eval {}", pl.Series(eval_)),
        configuration=pl.Series(np.array(["with_skill", "without_skill"])[side]),
        run_number=pl.Series(run + 1),
    ).with_columns(workspace=pl.lit("w"), skill=pl.lit("s"))
    columns = {name: pl.Series(values.ravel()) for name, values in figures.items()}
    scored = [
        keys.with_columns(judging=1, dimension=pl.lit(name), score=pl.Series(values.ravel()))
        for name, values in scores.items()
    ]
    tables = {"runs": keys.with_columns(status=pl.lit("graded"), **columns)}
    return Workspace.from_tables(tables | {"rubric_scores": pl.concat(scored)})
