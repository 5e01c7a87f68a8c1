"""Every document of every dialect: its kind, form and schema, as the dialects' pages have it."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_eval_nb.documents import dump, mend, to_json
from skill_eval_nb.documents.base import MOST, anywhere
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    canonical,
    check,
    form_of,
    json_schema,
    kind_of,
    read_as_shared,
    recognise,
)
from skill_eval_nb.documents.repair import walk
from tests.documents.examples import ALL, EXAMPLES
from tests.documents.generated import ANY_JSON, documents

each_document = pytest.mark.parametrize(
    ("dialect", "kind", "raw"), ALL, ids=[f"{dialect}:{kind}" for dialect, kind, _ in ALL]
)

ALIKE = {("codingbuddy", kind) for kind in ("grading", "timing", "feedback", "triggers")}
"""Documents that `iterations` has in just the same form: it is the first of the two."""


def made_anew(kind: str, neutral: Any) -> Any:
    """The same document as if nobody had read it from a file."""
    return msgspec.convert(msgspec.to_builtins(neutral), NEUTRAL[kind])


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
        marks.setdefault(anywhere(where), set()).add(mark)
    assert not [where for where, found in marks.items() if "unknown" in found]
    shown_elsewhere = ".run_summary.delta."  # a delta has no rubric of its own
    absent = [where for where, found in marks.items() if "known" not in found]
    assert not [where for where in absent if shown_elsewhere not in where]


@each_document
def test_what_was_read_is_written_in_one_form_and_read_again(
    dialect: str, kind: str, raw: Any
) -> None:
    neutral = read_as_shared(kind, raw)[0]
    for one in neutral if kind == "benchmark" else [neutral]:
        again = read_as_shared(kind, canonical(made_anew(kind, one)))[0]
        assert made_anew(kind, again[0] if kind == "benchmark" else again) == made_anew(kind, one)


def test_figures_that_are_null_are_no_figures() -> None:
    side = {"name": "with_skill", "overall": None, "tests": [{"eval_id": 1, "tokens": None}]}
    raw = {"iterations": [{"iteration": 1, "configurations": [side], "deltas": None}]}
    [benchmark], _ = read_as_shared("benchmark", raw)
    assert (len(benchmark.runs), benchmark.run_summary) == (1, {})
    [benchmark], _ = read_as_shared(
        "benchmark", {"entries": [{"scores": None, "per_test_case": []}]}
    )
    assert benchmark.run_summary == {}


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────


@each_document
def test_its_schema_takes_it_and_fields_of_ones_own(dialect: str, kind: str, raw: Any) -> None:
    schema = json_schema(kind, dialect)
    assert dialect in schema["title"]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(raw, schema)
    if isinstance(raw, dict):
        jsonschema.validate({**raw, "_mine": 1}, schema)
    if kind not in ("benchmark", "comparison"):  # some dialects have other names for some fields
        shared = dump(read_as_shared(kind, raw)[0])
        free = json.dumps(json_schema(kind)).replace('"required"', '"usual"')
        jsonschema.validate(shared, json.loads(free))


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


@pytest.mark.parametrize(
    ("kind", "place", "wrong"),
    [
        ("evals", ["skill_name"], "Invoice Reader"),
        ("evals", ["evals"], []),
        ("evals", ["evals", 0, "id"], 0),
        ("evals", ["evals", 0, "id"], "one"),
        ("evals", ["evals", 0, "files"], None),
        ("eval_metadata", ["assertions", 0], "The total is right"),
        ("eval_metadata", ["assertions", 0, "name"], ...),
        ("grading", ["expectations", 0, "passed"], {}),
        ("timing", ["duration_ms"], 0.5),
        ("timing", ["total_tokens"], ...),
        ("feedback", ["reviews", 0, "run_id"], "eval-x-with_skill"),
        ("feedback", ["status"], "done"),
        ("benchmark", ["eval_results", 1, "baseline", "tokens"], -1),
        ("triggers", [1, "should_trigger"], [1]),
    ],
)
def test_a_mistake_or_a_gap_is_found_where_it_is(kind: str, place: list[Any], wrong: Any) -> None:
    raw = copy.deepcopy(EXAMPLES["codingbuddy"][kind])
    *above, key = place
    parent = raw
    for step in above:
        parent = parent[step]
    parent[key] = wrong
    if wrong is ...:
        del parent[key]
    where = "$" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place)
    assert where in [fault.where for fault in check(kind, raw, "codingbuddy")]


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
        ("eval-3-grading.json", {"assertions": [{"name": "x", "met": "no"}]}, "grading"),
        ("with_skill_a_run1.json", {"assertions_met": [], "assertions_missed": []}, "grading"),
        ("grading.json", {"grades": []}, "grading"),  # its name is all that there is
        ("comparison-2.json", {"winner": "A", "reasoning": "r"}, "comparison"),
        ("trigger_eval.json", [QUERY], "triggers"),
        ("trigger-eval-set.json", [QUERY], "triggers"),
        ("trigger_evals.json", [{"id": 1, "query": "q", "expected": "other-skill"}], "triggers"),
        ("eval_queries.json", [QUERY], "triggers"),
        ("evals.json", [QUERY], "triggers"),
        ("lifecycle-v1.json", {"query_results": [QUERY]}, "triggers"),
        ("evals.json", SUITE, "evals"),
        ("evals.json", SUITE["evals"], "evals"),
        ("evals_with_assertions.json", {"cases": [{"task": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"test_cases": [{"id": "a", "prompt": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"eval_id": 0, "prompt": "Add up"}, "eval_metadata"),
        (
            "eval_metadata.json",
            {"eval_id": 0, "prompt": "Add up", "assertions": [{"text": "x", "passed": None}]},
            "eval_metadata",
        ),
        ("assertions.json", {"case_id": "a", "assertions": [{"text": "x"}]}, "eval_metadata"),
        ("metrics.json", {"eval_id": 1, "prompt": "p", "outcome": "fine"}, "metrics"),
        ("timing.json", {"phases": {}}, "timing"),
        ("timing.json", [1], "timing"),
        ("result.json", {"best_description": "d", "iterations": []}, "optimization"),
        ("benchmark.json", {"runs": []}, "benchmark"),
        ("benchmark-summary.json", {"models": [{"with_skill_pass_rate": 1}]}, "benchmark"),
        ("summary.json", {"results": [{"with_skill": {}, "old_skill": {}}]}, "benchmark"),
        ("timing.json", {"eval-1": {"with_skill": {"tokens": 5, "ms": 100}}}, "benchmark"),
        ("timing.json", {"with_skill": {"eval-1": {"tokens": 5, "ms": 100}}}, "benchmark"),
        # Rows that name eval and configuration are runs, and others make no benchmark.
        ("eval_summary.json", {"test_cases": [{**OF_A_SIDE, "assertions": [MET]}]}, "benchmark"),
        ("grading-results.json", {"results": [{**OF_A_SIDE, "grades": [MET]}]}, "benchmark"),
        ("other.json", {"results": [{"name": "it adds", "status": "pass"}]}, "grading"),
        ("other.json", {"tests": [{"condition": "it is there", "passed": True}]}, None),
        ("other.json", {"gpt-5": {side: {"pass_rate": 1} for side in SIDES}}, None),
        ("benchmark-notes.json", {"what": "text"}, None),
        ("package.json", {"name": "x", "version": "1"}, None),
        ("results_raw.json", [{"id": 1, "top": "x"}], None),
        ("grading.json", "it went well", None),
        ("list.json", [], None),
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


@pytest.mark.parametrize("kind", NEUTRAL)
@patiently
@given(data=st.data())
def test_what_is_written_is_read_again(kind: str, data: Any) -> None:
    """Every text and number of a document stands in what is written, and is read from it.

    A document that was read is written as it was read. Drawn figures may be none that reading
    gives (a rate of 2 is read as 2 %), so it is read once before.
    """
    drawn = data.draw(documents(NEUTRAL[kind]))
    value = msgspec.json.decode(to_json(canonical(drawn)))
    document, faults = mend(value, NEUTRAL[kind])
    # what is left out because it is the default comes back when it is read
    assert _texts(drawn) <= _texts(value) | _texts(document)
    assert not [fault for fault in faults if fault.code in ("not-used", "unknown")]
    written = msgspec.json.decode(to_json(canonical(document)))
    again, _ = mend(written, NEUTRAL[kind])
    assert canonical(again) == canonical(document)


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
