"""`overview`: all figures of a page together, so that the page as a whole keeps its promise.

With a dozen metrics, each with a verdict of its own on these evals and on tasks like these, two of
five pages say something false where nothing differs. So one metric is the headline and decides at
alpha; all others are adjusted together and held to a fifth of it, and nothing is claimed beyond
these evals that is not clear on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .comparison import SCOPES
from .deltas import deltas, deltas_by_eval
from .names import natural
from .pairing import Versus
from .values import GROUP, METRICS, MODEL, runs_of, scores_of
from .verdict import Row, also_beyond

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

HEADLINE = "pass_rate"
"""The metric that a page is about, where it is known."""
STRICTER = 5
"""By so much is alpha smaller for all metrics that are not the headline."""
EXPLAINED = (
    "The {headline} is the headline. The other metrics and the rubric dimensions are adjusted "
    "together (Westfall and Young) and held to p ≤ {alpha}, with intervals of {others}: else two "
    "of five pages would claim something false where nothing differs. An interval that ends at 0 "
    "beside a claim leaves 0 itself out."
)
"""What a page says of its figures."""
KEYS = [*GROUP, *MODEL, "configuration", "baseline", "metric"]


def metrics_of(ws: Workspace) -> list[str]:
    """The metrics of a page: those of runs that have a figure, and every rubric dimension."""
    runs = runs_of(ws)
    dimensions = set(scores_of(ws).drop_nulls("value")["metric"])
    return [*(name for name in METRICS if runs[name].count()), *sorted(dimensions, key=natural)]


def headline_of(metrics: Sequence[str]) -> str:
    """The pass rate, or the first metric where that is not known.

    >>> headline_of(["tokens", "pass_rate"]), headline_of(["tokens"])
    ('pass_rate', 'tokens')
    """
    return HEADLINE if HEADLINE in metrics else next(iter(metrics), HEADLINE)


def explained(headline: str, level: float = 0.95) -> str:
    """How the figures of a page are adjusted, in a sentence or two.

    >>> explained("pass rate")[:34]
    'The pass rate is the headline. The'
    """
    alpha = (1 - level) / STRICTER
    return EXPLAINED.format(
        headline=headline, others=f"{100 - 100 * alpha:g} %", alpha=f"{alpha:g}"
    )


def overview(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
    level: float = 0.95,
) -> list[Row]:
    """The rows of `deltas` of every metric of a page: these evals first, then tasks like these.

    Args:
        ws: what was loaded.
        baseline: as for `deltas`, and so is `versus`.
        versus: two configurations or two iterations.
        others: False for the headline alone, True for all metrics but it.
        level: of the headline; the others have 1 - (1 - level) / STRICTER.

    Returns:
        Rows of `deltas`, each with the p that decides in `p_adjusted`. Where tasks like these
        would have a claim that these evals do not bear out, there is none.
    """
    rows: dict[str, list[Row]] = {}
    for scope in SCOPES:
        found = [
            row
            for metrics, of in _tests(ws, others, level)
            for row in deltas(
                ws, metrics, baseline, versus=versus, scope=scope, level=of
            ).to_dicts()
        ]
        rows[scope] = [{"p_adjusted": row["p"], **row} for row in found]
    these = {tuple(row[name] for name in KEYS): row for row in rows["suite"]}
    wide = [
        also_beyond(these[tuple(row[name] for name in KEYS)], row) for row in rows["population"]
    ]
    return [*rows["suite"], *wide]


def overview_by_eval(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
    level: float = 0.95,
) -> list[Row]:
    """The rows of `deltas_by_eval` of every metric of a page; as `overview`.

    The others allow for the number of evals and of metrics (Benjamini and Hochberg).
    """
    return [
        row
        for metrics, of in _tests(ws, others, level)
        for row in deltas_by_eval(ws, metrics, baseline, versus=versus, level=of).to_dicts()
    ]


def _tests(ws: Workspace, others: bool | None, level: float) -> list[tuple[str | list[str], float]]:
    """Metrics that are asked about together, and at which level; also those without a figure."""
    known = metrics_of(ws)
    headline = headline_of(known)
    rest = [name for name in dict.fromkeys([*METRICS, *known]) if name != headline]
    alone: list[tuple[str | list[str], float]] = [(headline, level)]
    together: list[tuple[str | list[str], float]] = [(rest, 1 - (1 - level) / STRICTER)]
    return {None: alone + together, False: alone, True: together}[others]
