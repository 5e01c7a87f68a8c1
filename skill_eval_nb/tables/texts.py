"""The rows of a run in the tables that hold texts: what was checked, scored, claimed, remarked."""

from __future__ import annotations

from collections.abc import Mapping

from skill_eval_nb.documents import Grading
from skill_eval_nb.workspace import RunDocuments

from .rows import Rows
from .runs import scores_of


def add_texts(key: int, documents: RunDocuments, weights: Mapping[str, float], rows: Rows) -> None:
    """Add a run's rows to the tables of expectations, scores, claims, notes, suggestions, tools."""
    grading, structural = documents.grading, documents.structural
    for layer, graded in (("structural", structural), ("judged", grading)):
        if graded is not None:
            rows["expectations"].extend(
                [
                    (
                        key,
                        layer,
                        one.id,
                        one.text,
                        one.type,
                        one.passed,
                        one.critical,
                        one.confidence,
                        one.evidence,
                    )
                    for one in graded.expectations
                ]
            )
    for judging, model, scores in scores_of(documents):
        rows["rubric_scores"].extend(
            [
                (
                    key,
                    judging,
                    model,
                    dimension,
                    one.score,
                    weights.get(dimension, 1.0 if one.weight is None else one.weight),
                    one.evidence,
                )
                for dimension, one in scores.items()
            ]
        )
    if grading is not None:
        _add_remarks(key, grading, rows)
    metrics = documents.metrics or (grading.execution_metrics if grading else None)
    if metrics is not None and isinstance(metrics.tool_calls, dict):
        rows["tool_calls"].extend(
            [
                (key, tool, number)
                for tool, number in metrics.tool_calls.items()
                if number is not None
            ]
        )


def _add_remarks(key: int, grading: Grading, rows: Rows) -> None:
    rows["claims"].extend(
        [(key, one.claim, one.type, one.verified, one.evidence) for one in grading.claims]
    )
    notes = grading.user_notes_summary
    if notes is not None:
        for kind, texts in (
            ("uncertainty", notes.uncertainties),
            ("needs_review", notes.needs_review),
            ("workaround", notes.workarounds),
        ):
            rows["notes"].extend([(key, kind, text) for text in texts])
    rows["notes"].extend([(key, "factual_issue", text) for text in grading.factual_issues])
    feedback, critique = grading.eval_feedback, grading.eval_critique
    if feedback is not None:
        rows["suggestions"].extend(
            [(key, one.assertion, "critique", one.reason) for one in feedback.suggestions]
        )
        if feedback.overall:
            rows["suggestions"].append((key, None, "overall", feedback.overall))
    if critique is not None:
        for kind, texts in (
            ("vague", critique.vague_assertions),
            ("missing_coverage", critique.missing_coverage),
            ("suggested", critique.suggested_assertions),
        ):
            rows["suggestions"].extend([(key, None, kind, text) for text in texts])
