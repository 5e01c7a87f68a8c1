"""`codingbuddy` against the constraints of its page, written down here as facts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest

from skill_eval_nb.documents import (
    Benchmark,
    BenchmarkMetadata,
    BenchmarkRun,
    ConfigurationSummary,
    Eval,
    EvalMetadata,
    Evals,
    Expectation,
    Feedback,
    GradedExpectation,
    Grading,
    Review,
    RunResult,
    Stats,
    Timing,
    TriggerQuery,
    TriggerSet,
)
from skill_eval_nb.documents.dialects import check, read, write
from skill_eval_nb.documents.dialects.recognition import json_schema
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


def run(eval_id: int | str, configuration: str, rate: float, number: int = 1) -> BenchmarkRun:
    result = RunResult(pass_rate=rate, tokens=1000 + number, time_seconds=10.0)
    return BenchmarkRun(
        eval_id=eval_id, configuration=configuration, run_number=number, result=result
    )


FULL: dict[str, Any] = {
    "evals": Evals(
        skill_name="Invoice Reader", evals=[Eval(id=0, prompt="a"), Eval(id=1, prompt="b")]
    ),
    "eval_metadata": EvalMetadata(
        eval_id="eval-3-march", prompt="a", assertions=[Expectation(text="It adds up")]
    ),
    "grading": Grading(
        expectations=[
            GradedExpectation(text="It adds up", passed=True),
            GradedExpectation(text="It is nice", passed=None),
        ]
    ),
    "timing": Timing(total_tokens=7, total_duration_seconds=1.25),
    "feedback": Feedback(
        reviews=[Review(run_id="eval-0-with_skill", timestamp="2026-02-03T10:00:00Z")],
        status="complete",
    ),
    "benchmark": [
        Benchmark(
            metadata=BenchmarkMetadata(skill_name="invoice-reader", iteration="iteration-2"),
            runs=[
                run("march", "with_skill", 0.5),
                run("march", "with_skill", 1.0, 2),
                run("march", "old_skill", 0.25),
                run("april", "with_skill", 1.0),
                run("april", "old_skill", 1.0),
            ],
            run_summary={
                "with_skill": ConfigurationSummary(
                    pass_rate=Stats(mean=0.875, stddev=0.2),
                    tokens=Stats(mean=1001.0, stddev=0.5),
                    time_seconds=Stats(mean=10.0, stddev=0.0),
                )
            },
        )
    ],
    "triggers": TriggerSet(
        queries=[
            TriggerQuery(query="add up", should_trigger=True),
            TriggerQuery(query="who knows", should_trigger=None),
        ]
    ),
}
"""Shared documents that hold everything `codingbuddy` demands, in other forms than it has."""


@pytest.mark.parametrize("kind", FACTS)
def test_what_we_write_is_valid(kind: str) -> None:
    value, losses = write(kind, FULL[kind], "codingbuddy")
    jsonschema.validate(value, FACTS[kind], cls=jsonschema.Draft7Validator)
    assert not [loss for loss in losses if loss.severity == "error"]


def test_names_and_numbers_as_it_wants_them_and_verdicts_that_were_given() -> None:
    suite, _ = write("evals", FULL["evals"], "codingbuddy")
    assert suite["skill_name"] == "invoice-reader"
    assert [one["id"] for one in suite["evals"]] == [1, 2]  # it counts from 1
    metadata, losses = write("eval_metadata", FULL["eval_metadata"], "codingbuddy")
    assert (metadata["eval_id"], [loss.where for loss in losses]) == (3, ["$.eval_id"])
    value, losses = write("grading", FULL["grading"], "codingbuddy")
    assert [one["text"] for one in value["expectations"]] == ["It adds up"]
    assert [loss.where for loss in losses] == ["$.expectations[1]"]


def test_runs_of_an_eval_are_averaged() -> None:
    value, losses = write("benchmark", FULL["benchmark"], "codingbuddy")
    assert value["iteration"] == 2
    assert value["eval_results"][0] == {
        "eval_id": 0,
        "with_skill": {"pass_rate": 0.75, "tokens": 1002, "duration": 10.0},
        "baseline": {"pass_rate": 0.25, "tokens": 1001, "duration": 10.0},
    }
    assert any("part of a mean" in loss.message for loss in losses)


def test_the_summary_is_of_the_runs_with_the_skill() -> None:
    [benchmark], _ = read("benchmark", CODINGBUDDY["benchmark"], "codingbuddy")
    assert list(benchmark.run_summary) == ["with_skill"]
    assert benchmark.run_summary["with_skill"].pass_rate == Stats(mean=0.8333, stddev=0.1443)
    assert [one.configuration for one in benchmark.runs[:2]] == ["with_skill", "without_skill"]


def test_what_is_demanded_and_not_known_is_absent_and_said() -> None:
    value, losses = write("timing", Timing(total_duration_seconds=1.25), "codingbuddy")
    assert value == {"duration_ms": 1250, "total_duration_seconds": 1.25}
    assert [(loss.severity, loss.where) for loss in losses] == [("error", "$.total_tokens")]


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
