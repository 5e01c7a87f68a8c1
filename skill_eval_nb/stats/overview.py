"""All figures of a page together, adjusted for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .comparison import SCOPES
from .deltas import deltas, deltas_by_eval
from .pairing import Versus
from .values import (
    headline_of,
    metrics_of,
    secondary_level,
    secondary_metrics,
)
from .verdict import Answer, Both, Row, also_beyond, say_answer

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


EXPLAINED = (
    "The {headline} is the headline. The other metrics and the rubric dimensions are corrected for "
    "multiple comparisons (Westfall and Young; p ≤ {alpha}, {others} intervals). An interval that "
    "ends at 0 excludes 0 itself where there is a verdict."
)
"""What a page says of its figures."""


def explain_adjustment(headline: str, level: float = 0.95) -> str:
    """How the figures of a page are adjusted, in a sentence or two.

    >>> explain_adjustment("pass rate")[:34]
    'The pass rate is the headline. The'
    """
    alpha = 1 - secondary_level(level)
    return EXPLAINED.format(
        headline=headline, others=f"{100 - 100 * alpha:g} %", alpha=f"{alpha:g}"
    )


def compare_scopes(
    data: Any, metric: str | Sequence[str], baseline: str | None = None, **how: Any
) -> list[Both]:
    """The rows of `deltas` of each comparison: about these evals, and about tasks like these.

    What these evals do not bear out is not claimed of tasks like these.
    """
    rows = (deltas(data, metric, baseline, scope=scope, **how).to_dicts() for scope in SCOPES)
    return [(these, also_beyond(these, beyond)) for these, beyond in zip(*rows, strict=True)]


def compare_page(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
    level: float = 0.95,
) -> list[Both]:
    """The rows of `deltas` of every metric of a page: about these evals, and tasks like these.

    Args:
        ws: what was loaded.
        baseline: as for `deltas`, and so is `versus`.
        versus: two configurations or two iterations.
        others: False for the headline alone, True for all metrics but it.
        level: of the headline; the others have `secondary_level`.

    Returns:
        Rows of `deltas`, two a comparison, each with the p that decides in `p_adjusted`. Where
        tasks like these would have a claim that these evals do not bear out, there is none.
    """
    found = (
        both
        for metrics, of in _tests(ws, others, level)
        for both in compare_scopes(ws, metrics, baseline, versus=versus, level=of)
    )
    return [
        ({"p_adjusted": row["p"], **row}, {"p_adjusted": other["p"], **other})
        for row, other in found
    ]


def overview(ws: Workspace, baseline: str | None = None, **how: Any) -> list[Row]:
    """The rows of `compare_page` one by one: these evals first, then tasks like these."""
    return [row for rows in zip(*compare_page(ws, baseline, **how), strict=True) for row in rows]


def answer_headline(ws: Workspace) -> list[Answer]:
    """What every comparison says of the headline, in sentences."""
    return [say_answer(*both) for both in compare_page(ws, others=False)]


def overview_by_eval(
    ws: Workspace,
    baseline: str | None = None,
    *,
    versus: Versus | None = None,
    others: bool | None = None,
    level: float = 0.95,
    statistic: Callable[..., Any] = deltas_by_eval,
) -> list[Row]:
    """The rows of `deltas_by_eval` of every metric of a page; as `compare_page`.

    The others allow for the number of evals and of metrics (Benjamini and Hochberg).
    """
    return [
        row
        for metrics, of in _tests(ws, others, level)
        for row in statistic(ws, metrics, baseline, versus=versus, level=of).to_dicts()
    ]


def overview_of_these(ws: Workspace, baseline: str | None = None, **how: Any) -> list[Row]:
    """The rows of `overview` about these evals alone."""
    rows = overview_by_eval(ws, baseline, statistic=deltas, **how)
    return [{"p_adjusted": row["p"], **row} for row in rows]


def _tests(ws: Workspace, others: bool | None, level: float) -> list[tuple[str | list[str], float]]:
    """Metrics that are asked about together, and at which level; also those without a figure."""
    headline = headline_of(metrics_of(ws))
    alone: list[tuple[str | list[str], float]] = [(headline, level)]
    rest = secondary_metrics(ws)
    together: list[tuple[str | list[str], float]] = [(rest, secondary_level(level))]
    return {None: alone + together, False: alone, True: together}[others]
