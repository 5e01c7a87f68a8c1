"""`codingbuddy` against the constraints of its page, written down here as facts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest

from skill_eval_nb.documents.dialects import check, json_schema
from tests.documents.examples import CODINGBUDDY, EXAMPLES


def object_of(**fields: Any) -> dict[str, Any]:
    """All fields are required: so it is throughout that page."""
    return {"type": "object", "required": list(fields), "properties": fields}


def list_of(at_least: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "array", "minItems": at_least, "items": object_of(**fields)}


TEXT = {"type": "string"}
TRUTH = {"type": "boolean"}
KEBAB = {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}
RUN_ID = {"type": "string", "pattern": "^eval-[0-9]+-(?:with_skill|without_skill)$"}
STATUS = {"type": "string", "enum": ["in_progress", "complete"]}
WHOLE = {"type": "integer", "minimum": 0}
COUNT = {"type": "integer", "minimum": 1}
AMOUNT = {"type": "number", "minimum": 0}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
SIDE = object_of(pass_rate=SHARE, tokens=WHOLE, duration=AMOUNT)
SPREAD = object_of(mean=AMOUNT, stddev=AMOUNT)
FILES = {"type": "array", "items": TEXT}

FACTS: dict[str, dict[str, Any]] = {
    "evals": object_of(
        skill_name=KEBAB,
        evals=list_of(1, id=COUNT, prompt=TEXT, expected_output=TEXT, files=FILES),
    ),
    "eval_metadata": object_of(
        eval_id=WHOLE,
        eval_name=TEXT,
        prompt=TEXT,
        assertions=list_of(1, name=TEXT, description=TEXT),
    ),
    "grading": object_of(expectations=list_of(1, text=TEXT, passed=TRUTH, evidence=TEXT)),
    "timing": object_of(total_tokens=WHOLE, duration_ms=WHOLE, total_duration_seconds=AMOUNT),
    "feedback": object_of(
        reviews=list_of(run_id=RUN_ID, feedback=TEXT, timestamp=TEXT), status=STATUS
    ),
    "benchmark": object_of(
        skill_name=KEBAB,
        iteration=COUNT,
        summary=object_of(
            pass_rate=object_of(mean=SHARE, stddev=AMOUNT), tokens=SPREAD, duration_seconds=SPREAD
        ),
        eval_results=list_of(eval_id=WHOLE, with_skill=SIDE, baseline=SIDE),
    ),
    "triggers": list_of(1, query=TEXT, should_trigger=TRUTH),
}


def valid(kind: str, value: Any) -> bool:
    return jsonschema.Draft7Validator(FACTS[kind]).is_valid(value)


MISTAKES: list[tuple[str, list[Any], Any]] = [
    ("evals", ["skill_name"], "Invoice Reader"),
    ("evals", ["evals"], []),
    ("evals", ["evals", 0, "id"], 0),
    ("evals", ["evals", 0, "id"], "one"),
    ("evals", ["evals", 0, "files"], None),
    ("eval_metadata", ["eval_id"], -1),
    ("eval_metadata", ["assertions"], []),
    ("eval_metadata", ["assertions", 0], "The total is right"),
    ("grading", ["expectations", 0, "passed"], {}),
    ("grading", ["expectations"], []),
    ("timing", ["total_tokens"], -5),
    ("timing", ["duration_ms"], 0.5),
    ("feedback", ["reviews", 0, "run_id"], "eval-x-with_skill"),
    ("feedback", ["status"], "done"),
    ("benchmark", ["iteration"], 0),
    ("benchmark", ["eval_results", 1, "baseline", "tokens"], -1),
    ("triggers", [], []),
    ("triggers", [1, "should_trigger"], [1]),
]


def spoilt(kind: str, place: list[Any], wrong: Any) -> Any:
    """The example with something wrong in a place."""
    if not place:
        return wrong
    raw = copy.deepcopy(CODINGBUDDY[kind])
    parent = raw
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = wrong
    return raw


def where(path: Sequence[Any]) -> str:
    return "$" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)


def ours(kind: str) -> jsonschema.Draft202012Validator:
    """The schema that we give for it."""
    return jsonschema.Draft202012Validator(json_schema(kind, "codingbuddy"))


@pytest.mark.parametrize(("kind", "place", "wrong"), MISTAKES)
def test_a_mistake_is_found_where_it_is_and_our_schema_says_the_same(
    kind: str, place: list[Any], wrong: Any
) -> None:
    assert ours(kind).is_valid(CODINGBUDDY[kind])
    raw = spoilt(kind, place, wrong)
    assert not valid(kind, raw)
    assert not (place and ours(kind).is_valid(raw))
    assert where(place) in [fault.where for fault in check(kind, raw, "codingbuddy")]


@pytest.mark.parametrize("kind", FACTS)
def test_a_field_that_is_missing_is_found(kind: str) -> None:
    for path, key in _fields(CODINGBUDDY[kind]):
        broken = copy.deepcopy(CODINGBUDDY[kind])
        parent = broken
        for step in path:
            parent = parent[step]
        del parent[key]
        assert not valid(kind, broken)
        found = [fault.where for fault in check(kind, broken, "codingbuddy")]
        assert f"{where(path)}.{key}" in found


def _fields(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], str]]:
    items = list(enumerate(value) if isinstance(value, list) else dict.items(value))
    inner = [
        one
        for key, item in items
        if isinstance(item, list | dict)
        for one in _fields(item, (*path, key))
    ]
    return [*((path, key) for key, _ in items if isinstance(key, str)), *inner]


def test_other_dialects_documents_are_not_valid() -> None:
    """The facts above do tell dialects apart: this guards them against saying nothing."""
    assert not valid("benchmark", EXAMPLES["skill-creator"]["benchmark"])
    assert not valid("eval_metadata", {"eval_id": 1})
