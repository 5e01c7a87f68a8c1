"""The form of a judge's answer, as structured output asks for it.

It is the same for every rubric and every judging: a schema of its own would have to be
compiled by the API each time, and would end what the prompt's cache holds. That the names are
those of the rubric at hand, each exactly once, is looked at in `answers`.
"""

from __future__ import annotations

from typing import Any


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_TEXT = {"type": "string"}
_YES_OR_NO = {"type": "boolean"}
_TEXTS = _list(_TEXT)

SCHEMA: dict[str, Any] = _object(
    # The evidence stands before what rests on it, so that it is written first.
    expectations=_list(_object(id=_TEXT, evidence=_TEXT, passed=_YES_OR_NO)),
    dimensions=_list(
        _object(name=_TEXT, evidence=_TEXT, score={"type": "integer", "enum": [1, 2, 3, 4, 5]})
    ),
    claims=_list(_object(claim=_TEXT, type=_TEXT, evidence=_TEXT, verified=_YES_OR_NO)),
    user_notes=_object(uncertainties=_TEXTS, needs_review=_TEXTS, workarounds=_TEXTS),
    eval_feedback=_object(
        suggestions=_list(_object(assertion={"anyOf": [_TEXT, {"type": "null"}]}, reason=_TEXT)),
        overall=_TEXT,
    ),
)
