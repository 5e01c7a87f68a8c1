"""With which models does the skill help, and does its effect differ between them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.stats.comparison import SCOPES
from skill_eval_nb.stats.confounds import OFFLINE
from skill_eval_nb.stats.factors import FACTORS
from skill_eval_nb.stats.values import ITERATION, none_stated

from .. import stats
from . import answers
from .deltas import draw_forest, forest_row, join_scopes
from .metrics import metric as metric_of
from .pick import as_polars, model_keys, pick, why_none
from .theme import draw_nothing, finish

if TYPE_CHECKING:
    from altair.typing import ChartType


def factors(
    ws: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    iteration: str | Sequence[str] | None = None,
    *,
    factor: Literal["model", "harness"] = "model",
    level: float = 0.95,
) -> ChartType:
    """What the skill changes with each model, and whether that differs between models.

    It looks like `forest`, with one row per model. The figures come from `stats.factors`, whose
    sentences are below the title.

    Args:
        ws: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by its name.
        baseline: the configuration to compare against; chosen by name if not given.
        iteration: name of the iteration, or several; None for each workspace's last one.
        factor: `model` or `harness`.
        level: of the intervals; verdicts need p of at most 1 - level.

    Raises:
        ValueError: for a metric, baseline, iteration or factor that is not there.
    """
    import polars as pl

    meant = metric_of(metric)
    how = {"factor": factor, "level": level}
    scopes = [stats.factors(ws, metric, baseline, scope=scope, **how) for scope in SCOPES]
    these, beyond = map(as_polars, scopes)
    column, of = FACTORS[factor]
    own = pl.col(column).fill_null(none_stated(column)).alias("of")
    wide = beyond.select(wide_differs="differs", wide_interaction="interaction")
    rows = join_scopes(these, beyond).hstack(wide).with_columns(own).drop(column)
    known = rows.drop_nulls("estimate")
    apart = [*ITERATION, *model_keys(known), "configuration", "baseline"]
    picked = pick(known.filter(pl.len().over(apart) > 1), iteration, ws)
    if not picked.parts:
        why = known["interaction"].first() or why_none(ws, meant.name, iteration)
        return draw_nothing(f"No {of} to compare", str(why))
    each, drawn, groups = [], [], {}
    for part in picked.parts:
        for row in part.of(known).to_dicts():
            above = part.above(row["configuration"], row["baseline"])
            each.append(row)
            drawn.append(forest_row(row, row["of"], above, meant))
            groups[above] = row
    sentences = ("interaction", "wide_interaction") if len(groups) == 1 else ()
    differs = sum(row["differs"] is True for row in groups.values())
    notes = [
        *picked.notes,
        *(each[0][name] for name in sentences),
        "" if sentences else f"The effect differs in {differs} of {len(groups):,} comparisons.",
        "Thick line: these evals; thin line: tasks like these; grey: no worthwhile difference.",
        f"p allows for the number of {of}; it must be at most {1 - level:.2g}.",
        OFFLINE if any(row["stand_in"] for row in each) else "",
    ]
    title = answers.forests(each, factor, f"{meant.title}: ")
    return finish(draw_forest(drawn, meant), title, notes)
