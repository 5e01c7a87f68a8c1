"""The form of an analyst's answer, as structured output asks for it."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.models.looking import TEXT, a_list, an_object, one_of

PRIORITIES = ("high", "medium", "low")
CATEGORIES = ("instructions", "tools", "examples", "error_handling", "structure", "references")

_FOLLOWING = an_object(issues=a_list(TEXT), score={"type": "integer", "enum": list(range(1, 11))})

SCHEMA: dict[str, Any] = an_object(
    # What was seen stands before what is made of it, so that it is written first.
    transcript_insights=an_object(winner_execution_pattern=TEXT, loser_execution_pattern=TEXT),
    instruction_following=an_object(winner=_FOLLOWING, loser=_FOLLOWING),
    winner_strengths=a_list(TEXT),
    loser_weaknesses=a_list(TEXT),
    improvement_suggestions=a_list(
        an_object(
            suggestion=TEXT,
            category=one_of(*CATEGORIES),
            priority=one_of(*PRIORITIES),
            expected_impact=TEXT,
        )
    ),
)
