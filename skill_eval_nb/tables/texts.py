"""The rows of runs in the tables that hold texts: what was checked, scored, claimed, remarked.

They are made a column at a time over a few hundred runs at once: with a row a text, that is
what keeps reading everything nearly as fast as reading the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skill_eval_nb.documents import Grading, Metrics
from skill_eval_nb.workspace import RunDocuments

from .runs import scores_of


class Texts(NamedTuple):
    """A run whose texts are to become rows: its key, its documents, its rubric's weights."""

    key: int
    documents: RunDocuments
    weights: Mapping[str, float]


Columns = list[list[Any]]


def text_columns(chunk: list[Texts]) -> dict[str, Columns]:
    """The columns of each table, the key first, over a chunk of runs."""
    graded = [
        (one.key, one.documents.grading) for one in chunk if one.documents.grading is not None
    ]
    return {
        "expectations": _expectations(chunk),
        "rubric_scores": _rubric_scores(chunk),
        "claims": _claims(graded),
        "notes": _columns([row for key, grading in graded for row in _notes(key, grading)], 3),
        "suggestions": _columns(
            [row for key, grading in graded for row in _suggestions(key, grading)], 4
        ),
        "tool_calls": _columns([row for one in chunk for row in _tool_calls(one)], 3),
    }


def _columns(rows: list[tuple[Any, ...]], width: int) -> Columns:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


def _expectations(chunk: list[Texts]) -> Columns:
    found = [
        (one.key, layer, expectation)
        for one in chunk
        for layer, document in (
            ("structural", one.documents.structural),
            ("judged", one.documents.grading),
        )
        if document is not None
        for expectation in document.expectations
    ]
    ones = [one for _, _, one in found]
    return [
        [key for key, _, _ in found],
        [layer for _, layer, _ in found],
        [one.id for one in ones],
        [one.text for one in ones],
        [one.type for one in ones],
        [one.passed for one in ones],
        [one.critical for one in ones],
        [one.confidence for one in ones],
        [one.evidence for one in ones],
    ]


def _rubric_scores(chunk: list[Texts]) -> Columns:
    found = [
        (run, judging, model, dimension, one)
        for run in chunk
        for judging, model, scores in scores_of(run.documents)
        for dimension, one in scores.items()
    ]
    ones = [row[4] for row in found]
    return [
        [row[0].key for row in found],
        [row[1] for row in found],
        [row[2] for row in found],
        [row[3] for row in found],
        [one.score for one in ones],
        [
            run.weights.get(dimension, 1.0 if one.weight is None else one.weight)
            for run, _, _, dimension, one in found
        ],
        [one.evidence for one in ones],
    ]


def _claims(graded: list[tuple[int, Grading]]) -> Columns:
    found = [(key, claim) for key, grading in graded for claim in grading.claims]
    claims = [claim for _, claim in found]
    return [
        [key for key, _ in found],
        [claim.claim for claim in claims],
        [claim.type for claim in claims],
        [claim.verified for claim in claims],
        [claim.evidence for claim in claims],
    ]


def _notes(key: int, grading: Grading) -> Iterator[tuple[Any, ...]]:
    notes = grading.user_notes_summary
    if notes is not None:
        for text in notes.uncertainties:
            yield key, "uncertainty", text
        for text in notes.needs_review:
            yield key, "needs_review", text
        for text in notes.workarounds:
            yield key, "workaround", text
    for text in grading.factual_issues:
        yield key, "factual_issue", text


def _suggestions(key: int, grading: Grading) -> Iterator[tuple[Any, ...]]:
    feedback, critique = grading.eval_feedback, grading.eval_critique
    if feedback is not None:
        for one in feedback.suggestions:
            yield key, one.assertion, "critique", one.reason
        if feedback.overall:
            yield key, None, "overall", feedback.overall
    if critique is not None:
        for text in critique.vague_assertions:
            yield key, None, "vague", text
        for text in critique.missing_coverage:
            yield key, None, "missing_coverage", text
        for text in critique.suggested_assertions:
            yield key, None, "suggested", text


def _tool_calls(one: Texts) -> Iterator[tuple[Any, ...]]:
    metrics = _metrics(one.documents)
    if metrics is not None and isinstance(metrics.tool_calls, dict):
        for tool, number in metrics.tool_calls.items():
            if number is not None:
                yield one.key, tool, number


def _metrics(documents: RunDocuments) -> Metrics | None:
    if documents.metrics is not None:
        return documents.metrics
    return documents.grading.execution_metrics if documents.grading is not None else None
