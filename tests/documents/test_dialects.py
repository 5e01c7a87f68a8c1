"""Every document of every dialect: its kind, form and schema, as the dialects' pages have it."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from skill_eval_nb.documents import dump, mend
from skill_eval_nb.documents.base import MOST, mask_positions
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    check,
    form_of,
    json_schema,
    kind_of,
    read_as_shared,
    recognise,
)
from skill_eval_nb.documents.repair import walk
from tests.documents.examples import ALL, EXAMPLES
from tests.documents.generated import ANY_JSON

each_document = pytest.mark.parametrize(
    ("dialect", "kind", "raw"), ALL, ids=[f"{dialect}:{kind}" for dialect, kind, _ in ALL]
)

ALIKE = {("codingbuddy", kind) for kind in ("grading", "timing", "feedback", "triggers")}
"""Documents that `iterations` has in just the same form: it is the first of the two."""


def test_there_is_an_example_of_every_document() -> None:
    base = set(DIALECTS["skill-creator"]) | {"judging"}  # in `skill-evaluator` as they are
    for dialect, forms in DIALECTS.items():
        inherited = base if dialect == "skill-evaluator" else set()
        assert set(forms) - inherited <= set(EXAMPLES[dialect]) <= set(forms)


@each_document
def test_is_recognised_and_has_no_faults(dialect: str, kind: str, raw: Any) -> None:
    """The kind is seen from the content, but where it is a few numbers: there the name says it."""
    assert recognise(kind, raw) == ("iterations" if (dialect, kind) in ALIKE else dialect)
    assert kind_of("notes.json", raw) == (None if kind in ("metrics", "timing") else kind)
    assert kind_of(f"some/where/{kind}.json", raw) == kind
    assert check(kind, raw, dialect) == []
    faults = read_as_shared(kind, raw)[1]
    assert {fault.severity for fault in faults} <= {"info", "warning"}
    assert {fault.code for fault in faults} <= {"converted"}  # `pass` is true


@each_document
def test_every_field_is_known_and_shown(dialect: str, kind: str, raw: Any) -> None:
    document, _ = mend(raw, form_of(kind, dialect).wire)
    marks: dict[str, set[str]] = {}
    for mark, where, _ in walk(document):
        marks.setdefault(mask_positions(where), set()).add(mark)
    assert not [where for where, found in marks.items() if "unknown" in found]
    shown_elsewhere = ".run_summary.delta."  # a delta has no rubric of its own
    absent = [where for where, found in marks.items() if "known" not in found]
    assert not [where for where in absent if shown_elsewhere not in where]


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────


@each_document
def test_its_schema_takes_it_and_fields_of_ones_own(dialect: str, kind: str, raw: Any) -> None:
    schema = json_schema(kind, dialect)
    assert dialect in schema["title"]
    jsonschema.Draft202012Validator.check_schema(schema)
    more = {**raw, "_mine": 1} if isinstance(raw, dict) else raw
    jsonschema.Draft202012Validator(schema).validate(more)


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
    with pytest.raises(NoSuchDocument, match="did you mean `benchmark`"):
        json_schema("benchmarks")
    with pytest.raises(NoSuchDocument, match="did you mean `codingbuddy`"):
        check("grading", {}, "codingbudy")
    with pytest.raises(NoSuchDocument, match=r"`history`; .* one: skill-creator, skill-evaluator"):
        form_of("history", "codingbuddy")


# ── `codingbuddy`, whose page has constraints ────────────────────────────────────────────────────

TEXT = {"type": "string"}
TRUTH = {"type": "boolean"}
KEBAB = {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}
RUN_ID = {"type": "string", "pattern": "^eval-[0-9]+-(?:with_skill|without_skill)$"}
WHOLE = {"type": "integer", "minimum": 0}
COUNT = {"type": "integer", "minimum": 1}
AMOUNT = {"type": "number", "minimum": 0}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
SIDE = {"pass_rate": SHARE, "tokens": WHOLE, "duration": AMOUNT}
SPREAD = {"mean": AMOUNT, "stddev": AMOUNT}
EVAL = {"id": COUNT, "prompt": TEXT, "expected_output": TEXT, "files": [0, TEXT]}

PAGE: dict[str, Any] = {
    "evals": {"skill_name": KEBAB, "evals": [1, EVAL]},
    "eval_metadata": {
        "eval_id": WHOLE,
        "eval_name": TEXT,
        "prompt": TEXT,
        "assertions": [1, {"name": TEXT, "description": TEXT}],
    },
    "grading": {"expectations": [1, {"text": TEXT, "passed": TRUTH, "evidence": TEXT}]},
    "timing": {"total_tokens": WHOLE, "duration_ms": WHOLE, "total_duration_seconds": AMOUNT},
    "feedback": {
        "reviews": [0, {"run_id": RUN_ID, "feedback": TEXT, "timestamp": TEXT}],
        "status": {"enum": ["complete", "in_progress"]},
    },
    "benchmark": {
        "skill_name": KEBAB,
        "iteration": COUNT,
        "summary": {
            "pass_rate": {"mean": SHARE, "stddev": AMOUNT},
            "tokens": SPREAD,
            "duration_seconds": SPREAD,
        },
        "eval_results": [0, {"eval_id": WHOLE, "with_skill": SIDE, "baseline": SIDE}],
    },
    "triggers": [1, {"query": TEXT, "should_trigger": TRUTH}],
}
"""What it says: the fields of an object, all of them required; of a list how many it has at least,
and of what; limits."""


def in_short(part: dict[str, Any], parts: dict[str, Any]) -> Any:
    """A schema as `PAGE` has it."""
    part = parts[part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
    if part.get("type") == "object":
        assert part["required"] == [*part["properties"]]
        return {name: in_short(one, parts) for name, one in part["properties"].items()}
    if part.get("type") == "array":
        return [part.get("minItems", 0), in_short(part["items"], parts)]
    said = part.keys() - {"title", "description"}
    return {name: part[name] for name in said if part[name] != MOST}


@pytest.mark.parametrize("kind", PAGE)
def test_schema_says_what_the_page_says(kind: str) -> None:
    schema = json_schema(kind, "codingbuddy")
    assert in_short(schema, schema.get("$defs", {})) == PAGE[kind]


# ── which document a file is ─────────────────────────────────────────────────────────────────────

VERDICT = {"text": "It runs", "passed": True}
QUERY = {"query": "add up", "should_trigger": True}
MET = {"text": "It runs", "met": True}
SIDES = ("with_skill", "old_skill")
OF_A_SIDE = {"id": "a", "config": "with_skill"}
SUITE = {"evals": [{"id": 1, "prompt": "Add up"}]}


@pytest.mark.parametrize(
    ("name", "raw", "kind"),
    [
        ("grading_with_skill.json", {"expectations": [VERDICT]}, "grading"),
        ("with_skill_a_run1.json", {"assertions_met": [], "assertions_missed": []}, "grading"),
        ("grading.json", {"grades": []}, "grading"),  # its name is all that there is
        ("comparison-2.json", {"winner": "A", "reasoning": "r"}, "comparison"),
        ("trigger_eval.json", [QUERY], "triggers"),
        ("trigger_evals.json", [{"id": 1, "query": "q", "expected": "other-skill"}], "triggers"),
        ("evals.json", [QUERY], "triggers"),
        ("lifecycle-v1.json", {"query_results": [QUERY]}, "triggers"),
        ("evals.json", SUITE, "evals"),
        ("evals_with_assertions.json", {"cases": [{"task": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"test_cases": [{"id": "a", "prompt": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"eval_id": 0, "prompt": "Add up"}, "eval_metadata"),
        ("assertions.json", {"case_id": "a", "assertions": [{"text": "x"}]}, "eval_metadata"),
        ("metrics.json", {"eval_id": 1, "prompt": "p", "outcome": "fine"}, "metrics"),
        ("timing.json", {"phases": {}}, "timing"),
        ("result.json", {"best_description": "d", "iterations": []}, "optimization"),
        ("benchmark-summary.json", {"models": [{"with_skill_pass_rate": 1}]}, "benchmark"),
        ("summary.json", {"results": [{"with_skill": {}, "old_skill": {}}]}, "benchmark"),
        ("timing.json", {"eval-1": {"with_skill": {"tokens": 5, "ms": 100}}}, "benchmark"),
        # Rows that name eval and configuration are runs, and others make no benchmark.
        ("eval_summary.json", {"test_cases": [{**OF_A_SIDE, "assertions": [MET]}]}, "benchmark"),
        ("grading-results.json", {"results": [{**OF_A_SIDE, "grades": [MET]}]}, "benchmark"),
        ("other.json", {"results": [{"name": "it adds", "status": "pass"}]}, "grading"),
        ("other.json", {"tests": [{"condition": "it is there", "passed": True}]}, None),
        ("other.json", {"gpt-5": {side: {"pass_rate": 1} for side in SIDES}}, None),
        ("benchmark-notes.json", {"what": "text"}, None),
        ("grading.json", "it went well", None),
    ],
)
def test_kind_of(name: str, raw: Any, kind: str | None) -> None:
    assert kind_of(name, raw) == kind
    assert kind_of(f"C:\\some where\\{name}", raw) == kind


# ── whatever it holds ────────────────────────────────────────────────────────────────────────────

patiently = settings(
    max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("kind", NEUTRAL)
@patiently
@given(raw=ANY_JSON)
def test_any_json_is_read_and_given_back(kind: str, raw: Any) -> None:
    document, faults = mend(raw, NEUTRAL[kind])
    assert all(fault.message and fault.where.startswith("$") for fault in faults)
    if isinstance(raw, dict):
        assert dump(document) == raw
    assert kind_of("something.json", raw) in {None, *NEUTRAL}
    read_as_shared(kind, raw)
    for dialect, forms in DIALECTS.items():
        if kind in forms:
            check(kind, raw, dialect)


def _texts(value: Any) -> set[str]:
    """Every text and number anywhere in a value: a second, simpler look at what is there."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        return {one for item in value.values() for one in _texts(item)}
    if isinstance(value, list):
        return {one for item in value for one in _texts(item)}
    if value in (None, "") or isinstance(value, bool):
        return set()
    plain = int(value) if isinstance(value, float) and value.is_integer() else value
    return {f"{plain!s:.12}"}
