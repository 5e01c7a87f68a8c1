"""Every document of every dialect, as the dialects' own pages describe it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from skill_eval_nb.documents import Comparison, mend
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    check,
    form_of,
    kind_of,
    read,
    recognise,
    write,
)
from skill_eval_nb.documents.dialects.recognition import walk
from skill_eval_nb.documents.results import SideRubric
from tests.documents.examples import ALL, EXAMPLES, IDS

each_document = pytest.mark.parametrize(("dialect", "kind", "raw"), ALL, ids=IDS)

ALIKE = {("codingbuddy", kind) for kind in ("grading", "timing", "feedback", "triggers")}
"""Documents that `iterations` has in just the same form: it is the first of the two."""

ONLY_THERE = {
    "test-cases:benchmark": {
        "$.created_at",
        "$.entries[*].description_hash",
        "$.entries[*].scores.median",
        "$.entries[*].total_duration_seconds",
    },
    "iterations:benchmark": {
        "$.iterations[*].configurations[*].tests[*].tokens.stddev",
        "$.iterations[*].configurations[*].tests[*].duration_seconds.stddev",
    },
}
"""What the shared document has no place for."""


def made_anew(kind: str, neutral: Any) -> Any:
    """The same document as if nobody had read it from a file."""
    plain = msgspec.to_builtins(neutral)
    if kind == "benchmark":
        return [msgspec.convert(one, NEUTRAL[kind]) for one in plain]
    return msgspec.convert(plain, NEUTRAL[kind])


def told(value: Any) -> Any:
    """A value without what is empty or as it is anyhow; a whole number is any number."""
    if isinstance(value, dict):
        inner = {key: told(item) for key, item in value.items()}
        nothing = ((None, [], {}), {"critical": False})
        return {k: v for k, v in inner.items() if v not in nothing[0] and {k: v} != nothing[1]}
    if isinstance(value, list):
        return [told(item) for item in value]
    return float(value) if type(value) is int else value


def test_there_is_an_example_of_every_document() -> None:
    base = set(DIALECTS["skill-creator"]) | {"judging"}  # in `skill-evaluator` as they are
    for dialect, forms in DIALECTS.items():
        inherited = base if dialect == "skill-evaluator" else set()
        assert set(forms) - inherited <= set(EXAMPLES[dialect]) <= set(forms)


@each_document
def test_is_recognised(dialect: str, kind: str, raw: Any) -> None:
    expected = "iterations" if (dialect, kind) in ALIKE else dialect
    assert recognise(kind, raw) == expected


@each_document
def test_has_no_faults(dialect: str, kind: str, raw: Any) -> None:
    assert check(kind, raw, dialect) == []
    faults = read(kind, raw, dialect)[1]
    only_there = ONLY_THERE.get(f"{dialect}:{kind}", set())
    assert {re.sub(r"\[\d+\]", "[*]", fault.where) for fault in faults} == only_there
    assert {fault.code for fault in faults} <= {"not-kept"}


@each_document
def test_every_field_is_known_and_shown(dialect: str, kind: str, raw: Any) -> None:
    document, _ = mend(raw, form_of(kind, dialect).wire)
    marks: dict[str, set[str]] = {}
    for mark, where in walk(document):
        marks.setdefault(re.sub(r"\[\d+\]", "[*]", where), set()).add(mark)
    assert not [where for where, found in marks.items() if "unknown" in found]
    shown_elsewhere = ".run_summary.delta."  # a delta has no rubric of its own
    absent = [where for where, found in marks.items() if "known" not in found]
    assert not [where for where in absent if shown_elsewhere not in where]


@pytest.mark.parametrize(
    ("dialect", "kind", "raw"), [one for one in ALL if f"{one[0]}:{one[1]}" not in ONLY_THERE]
)
def test_is_written_in_full_and_in_order(dialect: str, kind: str, raw: Any) -> None:
    neutral = made_anew(kind, read(kind, raw, dialect)[0])
    value, losses = write(kind, neutral, dialect)
    assert json.dumps(told(value)) == json.dumps(told(raw))
    assert losses == []


@each_document
def test_what_only_this_dialect_has_is_all_that_is_lost(dialect: str, kind: str, raw: Any) -> None:
    neutral = made_anew(kind, read(kind, raw, dialect)[0])
    value, losses = write(kind, neutral, dialect)
    assert losses == []
    for where in ONLY_THERE.get(f"{dialect}:{kind}", set()):
        assert re.sub(r".*\.", "", where) in json.dumps(raw)
    assert read(kind, value, dialect)[0] == neutral


@each_document
def test_the_kind_is_seen_from_the_content(dialect: str, kind: str, raw: Any) -> None:
    name_alone = {"metrics", "timing"}  # a few numbers: their name says what they are
    assert kind_of("notes.json", raw) == (None if kind in name_alone else kind)
    assert kind_of(f"some/where/{kind}.json", raw) == kind


def test_no_such_document() -> None:
    with pytest.raises(NoSuchDocument, match="did you mean `grading`"):
        read("gradings", {})
    with pytest.raises(NoSuchDocument, match="did you mean `codingbuddy`"):
        read("grading", {}, "codingbudy")
    with pytest.raises(NoSuchDocument, match="skill-creator, skill-evaluator"):
        write("history", None, "codingbuddy")
    with pytest.raises(NoSuchDocument, match="no iteration"):
        write("benchmark", [], "skill-creator")


def test_a_criterion_without_a_score_that_fits_is_no_row_of_test_cases():
    sides = {"A": SideRubric(content={"tone": 0.0, "depth": 3.0})}
    value, losses = write("comparison", Comparison(winner="A", rubric=sides), "test-cases")
    assert [one["criterion"] for one in value["criteria_scores"]] == ["depth"]
    assert [one.where for one in losses] == ["$.rubric.A.content.tone"]


def test_an_assertion_that_passed_in_a_part_of_the_runs_keeps_its_rate() -> None:
    verdicts = [{"text": "x", "passed": False}, {"text": "x", "passed": True}]
    runs = [{"configuration": "with_skill", "expectations": verdicts}]
    benchmark, _ = mend({"runs": runs}, NEUTRAL["benchmark"])
    value, _ = write("benchmark", [benchmark], "iterations")
    again = made_anew("benchmark", read("benchmark", value, "iterations")[0])
    assert write("benchmark", again, "iterations") == (value, [])
    (test,) = value["iterations"][0]["configurations"][0]["tests"]
    assert test["assertions"] == [{"name": "x", "pass_rate": 0.5, "details": "passed 1/2 runs"}]


def test_figures_that_are_null_are_no_figures() -> None:
    side = {"name": "with_skill", "overall": None, "tests": [{"eval_id": 1, "tokens": None}]}
    raw = {"iterations": [{"iteration": 1, "configurations": [side], "deltas": None}]}
    [benchmark], _ = read("benchmark", raw, "iterations")
    assert (len(benchmark.runs), benchmark.run_summary) == (1, {})
    [benchmark], _ = read("benchmark", {"entries": [{"scores": None}]}, "test-cases")
    assert benchmark.run_summary == {}
