"""The form of a judge's answer, as structured output asks for it.

It is the same for every rubric and every judging: a schema of its own would have to be
compiled by the API each time, and would end what the prompt's cache holds. That the names are
those of the rubric at hand, each exactly once, is looked at in `answers`.
"""

from __future__ import annotations

from typing import Any

from skill_eval_nb.models.looking import TEXT, YES_OR_NO, a_list, an_object, or_null

_TEXTS = a_list(TEXT)

SCHEMA: dict[str, Any] = an_object(
    # The evidence stands before what rests on it, so that it is written first.
    expectations=a_list(an_object(id=TEXT, evidence=TEXT, passed=YES_OR_NO)),
    dimensions=a_list(
        an_object(name=TEXT, evidence=TEXT, score={"type": "integer", "enum": [1, 2, 3, 4, 5]})
    ),
    claims=a_list(an_object(claim=TEXT, type=TEXT, evidence=TEXT, verified=YES_OR_NO)),
    user_notes=an_object(uncertainties=_TEXTS, needs_review=_TEXTS, workarounds=_TEXTS),
    eval_feedback=an_object(
        suggestions=a_list(an_object(assertion=or_null(TEXT), reason=TEXT)),
        overall=TEXT,
    ),
)
