"""The comparison of `test-cases`: two versions of a description, criterion by criterion."""

from __future__ import annotations

from typing import Annotated, Literal

from ..document import Document, Score, says
from .figures import Plain, when, without_none
from .wire import Form


class CriterionScore(Document, kw_only=True):
    """Both sides on one criterion."""

    criterion: Annotated[str, says("what was scored")]
    score_a: Annotated[Score | None, says("score of A, 1 to 5")] = None
    score_b: Annotated[Score | None, says("score of B, 1 to 5")] = None
    justification_a: Annotated[str | None, says("why A got it")] = None
    justification_b: Annotated[str | None, says("why B got it")] = None


class Comparison(Document, kw_only=True):
    """A comparator's verdict on a test case under two versions of the description."""

    comparison_id: Annotated[str | None, says("its id")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    version_a: Annotated[int | str | None, says("version behind A")] = None
    version_b: Annotated[int | str | None, says("version behind B")] = None
    test_case_id: Annotated[str | None, says("the test case")] = None
    criteria_scores: Annotated[list[CriterionScore], says("by criterion")]
    total_score_a: Annotated[float | None, says("score of A over all criteria")] = None
    total_score_b: Annotated[float | None, says("score of B over all criteria")] = None
    winner: Annotated[Literal["A", "B", "tie"], says("who won")]
    key_differentiators: Annotated[list[str], says("what made the difference")] = []
    summary: Annotated[str | None, says("why")] = None


def _to_neutral(wire: Plain) -> Plain:
    shared = (
        "comparison_id",
        "timestamp",
        "version_a",
        "version_b",
        "winner",
        "key_differentiators",
    )
    return {
        **{name: wire[name] for name in shared if name in wire},
        "eval_id": wire.get("test_case_id"),
        "reasoning": wire.get("summary"),
        "rubric": {side: _side(wire, side.lower()) for side in ("A", "B")},
    }


def _side(wire: Plain, side: str) -> Plain:
    def column(name: str) -> Plain:
        rows = (one for one in wire.get("criteria_scores", []) if "criterion" in one)
        return without_none({one["criterion"]: one.get(f"{name}_{side}") for one in rows})

    return without_none(
        {
            "content": column("score"),
            "justifications": column("justification"),
            "overall_score": wire.get(f"total_score_{side}"),
        }
    )


def _to_wire(plain: Plain) -> Plain:
    rubric = plain.get("rubric", {})
    a, b = (_scores_of(rubric.get(side, {})) for side in ("A", "B"))
    why_a, why_b = (rubric.get(side, {}).get("justifications", {}) for side in ("A", "B"))
    return without_none(
        {
            **plain,
            "test_case_id": when(plain.get("eval_id"), str),
            "criteria_scores": [
                without_none(
                    {
                        "criterion": name,
                        "score_a": a.get(name),
                        "score_b": b.get(name),
                        "justification_a": why_a.get(name),
                        "justification_b": why_b.get(name),
                    }
                )
                for name in dict.fromkeys([*a, *b])
            ],
            "total_score_a": rubric.get("A", {}).get("overall_score"),
            "total_score_b": rubric.get("B", {}).get("overall_score"),
            "summary": plain.get("reasoning"),
        }
    )


def _scores_of(side: Plain) -> Plain:
    """The scores that this dialect can hold; a criterion with no other is no row of it."""
    scores = {**side.get("content", {}), **side.get("structure", {})}
    return {name: score for name, score in scores.items() if 1 <= score <= 5}


COMPARISON = Form(Comparison, _to_wire, _to_neutral)
