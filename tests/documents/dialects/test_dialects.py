"""Every document of every dialect, as the dialects' own pages describe it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from skill_eval_nb.documents import mend
from skill_eval_nb.documents.base import anywhere
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    canonical,
    check,
    form_of,
    kind_of,
    read_as_shared,
    recognise,
)
from skill_eval_nb.documents.repair import walk
from tests.documents.examples import ALL, EXAMPLES, IDS

each_document = pytest.mark.parametrize(("dialect", "kind", "raw"), ALL, ids=IDS)

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


def test_no_such_document() -> None:
    with pytest.raises(NoSuchDocument, match="did you mean `grading`"):
        check("gradings", {})
    with pytest.raises(NoSuchDocument, match="did you mean `codingbuddy`"):
        check("grading", {}, "codingbudy")
    with pytest.raises(NoSuchDocument, match="skill-creator, skill-evaluator"):
        form_of("history", "codingbuddy")


def test_figures_that_are_null_are_no_figures() -> None:
    side = {"name": "with_skill", "overall": None, "tests": [{"eval_id": 1, "tokens": None}]}
    raw = {"iterations": [{"iteration": 1, "configurations": [side], "deltas": None}]}
    [benchmark], _ = read_as_shared("benchmark", raw)
    assert (len(benchmark.runs), benchmark.run_summary) == (1, {})
    [benchmark], _ = read_as_shared(
        "benchmark", {"entries": [{"scores": None, "per_test_case": []}]}
    )
    assert benchmark.run_summary == {}
