"""The form of a comparator's answer, as structured output asks for it.

It is the same for every eval, so that the API compiles it once. That the ids are those that
were asked for, each exactly once, is looked at in `answers`.
"""

from __future__ import annotations

from typing import Any

from skill_eval_nb.models.looking import TEXT, YES_OR_NO, a_list, an_object, one_of

_SCORE: dict[str, Any] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
_QUALITY = an_object(
    strengths=a_list(TEXT),
    weaknesses=a_list(TEXT),
    score={"type": "integer", "enum": list(range(1, 11))},
)

SCHEMA: dict[str, Any] = an_object(
    # The evidence stands before what rests on it, so that it is written first.
    expectations=a_list(
        an_object(id=TEXT, evidence_a=TEXT, passed_a=YES_OR_NO, evidence_b=TEXT, passed_b=YES_OR_NO)
    ),
    scores=a_list(
        an_object(id=TEXT, evidence_a=TEXT, score_a=_SCORE, evidence_b=TEXT, score_b=_SCORE)
    ),
    quality_a=_QUALITY,
    quality_b=_QUALITY,
    key_differentiators=a_list(TEXT),
    reasoning=TEXT,
    winner=one_of("A", "B", "tie"),
)
