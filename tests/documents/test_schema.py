"""The JSON Schemas that are made from the types."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from skill_eval_nb.documents.base import dump
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    json_schema,
    read_as_shared,
)
from tests.documents.examples import ALL, IDS


@pytest.mark.parametrize(("dialect", "kind", "raw"), ALL, ids=IDS)
def test_each_dialects_own_documents_are_valid(dialect: str, kind: str, raw: Any) -> None:
    schema = json_schema(kind, dialect)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(raw, schema)
    if isinstance(raw, dict):
        jsonschema.validate({**raw, "_mine": 1}, schema)  # fields of one's own are allowed


@pytest.mark.parametrize("kind", NEUTRAL)
def test_shared_schema_describes_every_field(kind: str) -> None:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    told = [schema, *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
    for one in told:
        for name, field in one.get("properties", {}).items():
            assert field.get("description"), name


def test_names() -> None:
    assert json_schema("grading.json") == json_schema("grading")
    assert json_schema("trigger_eval.json", "codingbuddy")["type"] == "array"
    for dialect, forms in DIALECTS.items():
        for kind in forms:
            assert dialect in json_schema(kind, dialect)["title"]
    with pytest.raises(NoSuchDocument, match="did you mean `benchmark`"):
        json_schema("benchmarks")
    with pytest.raises(NoSuchDocument, match="has no document `history`"):
        json_schema("history", "iterations")


def test_shared_documents_fit_their_schema() -> None:
    for _, kind, raw in ALL:
        if kind not in ("benchmark", "comparison"):
            jsonschema.validate(dump(read_as_shared(kind, raw)[0]), _any_names(json_schema(kind)))


def _any_names(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that demands no field: dialects have other names for some."""
    if isinstance(schema, list):
        return [_any_names(item) for item in schema]  # type: ignore[return-value]
    if not isinstance(schema, dict):
        return schema
    return {key: _any_names(value) for key, value in schema.items() if key != "required"}
