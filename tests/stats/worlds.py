"""Workspaces of known make for notes: runs, verdicts and scores by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables import Workspace
from tests.stats.made import KEYS, SIDES, Row, runs_table, scores_table, table_of
from tests.stats.verdicts import verdicts_table

if TYPE_CHECKING:
    from collections.abc import Iterable


def world(
    runs: Iterable[Row] = (),
    verdicts: Iterable[Row] = (),
    scores: Iterable[Row] = (),
    backend: Any = "polars",
    **others: Iterable[Row],
) -> Workspace:
    """A workspace of these runs, verdicts and scores, and of rows of other tables."""
    named = ({"eval_name": row.get("eval_id", "1"), **row} for row in scores)
    tables = {
        "runs": runs_table(runs),
        "expectations": verdicts_table(verdicts),
        "rubric_scores": scores_table(named),
    }
    for name, rows in others.items():
        tables[name] = table_of(name, [{**KEYS, **row} for row in rows])
    return Workspace.from_tables(tables, backend=backend)


def pair(own: float | None, other: float | None, times: int = 3, **more: Any) -> list[Row]:
    """Runs of an eval on both sides, all with the same pass rate."""
    return [
        {"configuration": name, "pass_rate": rate, **more}
        for name, rate in zip(SIDES, (own, other), strict=True)
        for _ in range(times)
    ]


def scored(dimension: str, own: list[list[float]], other: list[list[float]]) -> list[Row]:
    """Scores of two evals alike: a list a run, of its judgings."""
    return [
        {"dimension": dimension, "configuration": name, "run_number": run, "eval_id": eval_id}
        | {"judging": judging, "score": score}
        for eval_id in ("1", "2")
        for name, runs in zip(SIDES, (own, other), strict=True)
        for run, judgings in enumerate(runs, 1)
        for judging, score in enumerate(judgings, 1)
    ]
