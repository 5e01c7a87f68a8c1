"""The documents of a workspace besides its runs: reviews, comparisons, versions, triggers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from skill_eval_nb.documents import (
    Analysis,
    Comparison,
    Feedback,
    History,
    Optimization,
    SuggestionAggregate,
    TriggerSet,
)
from skill_eval_nb.workspace import UNSTATED, EvalIndex, EvalKey, Problems, side_of
from skill_eval_nb.workspace.names import eval_parts

from .keys import Side
from .rows import Rows


class Home(NamedTuple):
    """Where a document belongs: its workspace's folder, name and skill, and its iteration.

    `configurations` are those of the runs there.
    """

    folder: str
    workspace: str
    skill: str
    iteration: str
    configurations: frozenset[str]


def add_remark(
    kind: str,
    path: str,
    home: Home,
    document: Any,
    index: EvalIndex,
    rows: Rows,
    problems: Problems,
) -> None:
    """Add the rows of a document of any of these kinds."""
    if kind == "feedback":
        _add_feedback(path, home, document, index, rows, problems)
    elif kind == "comparison":
        _add_comparison(path, home, document, rows)
    elif kind == "analysis":
        _add_analysis(path, home, document, rows)
    elif kind == "history":
        _add_history(home, document, rows)
    elif kind == "triggers":
        _add_triggers(home, document, rows)
    elif kind == "optimization":
        _add_optimization(home, document, rows)
    elif kind == "suggestions":
        _add_aggregate(home, document, rows)
    else:
        raise ValueError(f"no table holds documents of kind {kind!r}")


def _add_feedback(
    path: str,
    home: Home,
    document: Feedback,
    index: EvalIndex,
    rows: Rows,
    problems: Problems,
) -> None:
    """Add the reviews; a run id that names no known run is kept, and is a problem."""
    for position, review in enumerate(document.reviews):
        text, number = review.run_id, 1
        if run := re.fullmatch(r"(.+)[-_/]run[-_]?(\d+)", text):
            text, number = run[1], int(run[2])
        named, side = side_of(text, home.configurations)
        key = index.find(home.folder, home.iteration, eval_parts(named)[0], named)
        if key is None or side is None:
            problems.add(
                "warning",
                "unknown-run",
                path,
                f"run id {review.run_id!r} names no run that was found here",
                where=f"$.reviews[{position}].run_id",
            )
        key = key or EvalKey(named, named)
        rows["feedback"].append(
            (
                rows.key(
                    Side(home.workspace, home.skill, home.iteration, *key, side or UNSTATED),
                    number,
                ),
                review.feedback,
                review.timestamp,
                document.status,
            )
        )


def _add_comparison(path: str, home: Home, one: Comparison, rows: Rows) -> None:
    """Add a comparison's scores, one row a side and criterion."""
    sides = {"A": (one.configuration_a, one.version_a), "B": (one.configuration_b, one.version_b)}
    for side, (configuration, version) in sides.items():
        scores: list[tuple[str, str, float | None]] = []
        if rubric := one.rubric.get(side):
            scores += [("content", name, score) for name, score in rubric.content.items()]
            scores += [("structure", name, score) for name, score in rubric.structure.items()]
            scores += [
                ("overall", name, getattr(rubric, name))
                for name in ("content_score", "structure_score", "overall_score")
            ]
        if quality := one.output_quality.get(side):
            scores.append(("overall", "output_quality", quality.score))
        rows["comparisons"].extend(
            (
                home.workspace,
                home.skill,
                one.comparison_id or path,
                None if one.eval_id is None else str(one.eval_id),
                one.winner,
                side,
                configuration,
                None if version is None else str(version),
                group,
                name,
                score,
                one.reasoning,
            )
            for group, name, score in scores or [("overall", "overall_score", None)]
            if score is not None or not scores
        )


def _add_analysis(path: str, home: Home, document: Analysis, rows: Rows) -> None:
    """Add an analysis' suggestions."""
    rows["analyses"].extend(
        (
            home.workspace,
            home.skill,
            path,
            one.priority,
            one.category,
            one.suggestion,
            one.expected_impact,
        )
        for one in document.improvement_suggestions
    )


def _add_history(home: Home, document: History, rows: Rows) -> None:
    """Add the versions."""
    rows["history"].extend(
        (
            home.workspace,
            home.skill,
            one.version,
            one.parent,
            one.expectation_pass_rate,
            one.grading_result,
            document.current_best == one.version
            if one.is_current_best is None and document.current_best
            else one.is_current_best,
        )
        for one in document.iterations
    )


def _add_triggers(home: Home, document: TriggerSet, rows: Rows) -> None:
    """Add the queries."""
    rows["triggers"].extend(
        (
            home.workspace,
            home.skill,
            one.query,
            one.should_trigger,
            one.triggered,
            one.runs,
            one.trigger_rate
            if one.trigger_rate is not None or not one.runs or one.triggered is None
            else one.triggered / one.runs,
            one.split,
            document.description,
        )
        for one in document.queries
    )


def _add_optimization(home: Home, document: Optimization, rows: Rows) -> None:
    """Add the descriptions that were tried."""
    rows["optimizations"].extend(
        (
            home.workspace,
            home.skill,
            index if one.iteration is None else one.iteration,
            one.description,
            one.train_score,
            one.test_score,
            one.description == document.best_description,
        )
        for index, one in enumerate(document.iterations, 1)
    )


def _add_aggregate(home: Home, document: SuggestionAggregate, rows: Rows) -> None:
    """Add the suggestions that were collected over runs; they belong to no single one."""
    key = rows.key(
        Side(home.workspace, home.skill, home.iteration, UNSTATED, UNSTATED, UNSTATED), 0
    )
    rows["suggestions"].extend(
        (
            key,
            one.assertion,
            "aggregate",
            f"{one.reason} (said {'once' if one.frequency == 1 else f'{one.frequency} times'})"
            + (f" Proposed: {one.action}" if one.action else ""),
        )
        for one in document.suggestions
    )
