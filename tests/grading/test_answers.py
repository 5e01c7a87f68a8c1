"""What judge, comparator and analyst say is read where it is sound, and refused with its fault."""

from __future__ import annotations

import copy
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.grading import analyst, comparator, judge
from skill_eval_nb.models.ask import BadAnswer
from tests.documents.generated import ANY_JSON
from tests.grading.made import analysing, broken, comparing, judging

EXPECTATIONS, DIMENSIONS = ["E1", "E2"], ["clarity", "depth", "care"]
SOUND = {"judge": judging(), "comparator": comparing(), "analyst": analysing()}
FORMS = {
    who: jsonschema.Draft202012Validator(schema)
    for who, schema in zip(SOUND, (judge.SCHEMA, comparator.SCHEMA, analyst.SCHEMA), strict=True)
}


def read(who: str, raw: Any) -> Any:
    """What is made of an answer."""
    if who == "judge":
        return judge.read_answer(raw, EXPECTATIONS, DIMENSIONS)
    return comparator.read_answer(raw, 2, 3) if who == "comparator" else analyst.read_answer(raw)


@pytest.mark.parametrize(
    ("who", "path", "value", "fault"),
    [
        *(
            ("judge", path, value, fault)
            for path, value, fault in (
                ("dimensions.1", ..., "dimensions not answered: depth"),
                ("dimensions.0.name", "Clarity", 'there is no dimension "Clarity"'),
                ("dimensions.1.name", "clarity", "`clarity` is there twice"),
                ("dimensions.0.evidence", " -", "dimension `clarity` has no evidence"),
                ("expectations.1.passed", "yes", 'passed` is "yes", not true or false'),
                ("dimensions.0.score", 6, "is 6, not one of 1, 2, 3, 4, 5"),
                ("claims", ..., "the answer lacks claims"),
                ("user_notes.workarounds", [1], "`user_notes.workarounds[0]` is 1, not a text"),
            )
        ),
        *(
            ("comparator", path, value, fault)
            for path, value, fault in (
                ("winner", "C", "not one of A, B, tie"),
                ("winner", "B", "the winner is B, which is scored lower"),
                ("reasoning", " … ", "has no reasoning"),
                ("scores.1.evidence_b", "", "score `C2`, B has no evidence_b"),
            )
        ),
        *(
            ("analyst", path, value, fault)
            for path, value, fault in (
                ("transcript_insights.winner_execution_pattern", " ", "has no winner_execution_p"),
                ("improvement_suggestions.0.priority", "urgent", "not one of high, medium, low"),
                ("improvement_suggestions.0.suggestion", "", "suggestion 1 has no suggestion"),
            )
        ),
    ],
)
def test_what_cannot_be_used_is_refused_and_told(who, path, value, fault) -> None:
    FORMS[who].check_schema(FORMS[who].schema)
    FORMS[who].validate(SOUND[who])
    with pytest.raises(BadAnswer, match=re.escape(fault)):
        read(who, broken(SOUND[who], path, value))
    with pytest.raises(BadAnswer, match=r"the answer is \[\], not an object"):
        read(who, [])


def test_the_winner_of_a_comparison_may_be_the_side_that_is_not_scored_lower_throughout() -> None:
    assert read("comparator", comparing(winner="tie"))["winner"] == "tie"
    split = comparing(winner="B", quality_b={"strengths": [], "weaknesses": [], "score": 9})
    assert read("comparator", split)["winner"] == "B"


def sound(told: Any) -> bool:
    """What a sound answer of a judge is, by other means: the schema, and the names counted."""
    if not FORMS["judge"].is_valid(told):
        return False
    names = [one["id"] for one in told["expectations"]], [one["name"] for one in told["dimensions"]]
    return (
        [sorted(one) for one in names] == [sorted(EXPECTATIONS), sorted(DIMENSIONS)]
        and all(
            any(map(str.isalnum, one["evidence"]))
            for one in (*told["expectations"], *told["dimensions"])
        )
        and all(type(one["score"]) is int for one in told["dimensions"])
    )


@st.composite
def nearly_sound(draw: st.DrawFn, who: str) -> Any:
    """A sound answer with some things in it changed, at any place."""
    told: Any = copy.deepcopy(SOUND[who])
    for _ in range(draw(st.integers(0, 3))):
        inner: Any = told
        while keys := list(inner) if isinstance(inner, dict) else list(range(len(inner))):
            key = draw(st.sampled_from(keys))
            below = inner[key]
            if isinstance(below, (dict, list)) and below and draw(st.booleans()):
                inner = below
                continue
            change = draw(st.sampled_from(["drop", "replace", "same", "double"]))
            if change == "drop":
                del inner[key]
            elif change == "replace":
                inner[key] = draw(ANY_JSON | st.sampled_from(["E2", "depth", 5, 1, True]))
            elif change == "double" and isinstance(inner, list):
                inner.append(copy.deepcopy(below))
            break
    return told


@pytest.mark.parametrize("who", SOUND)
@settings(max_examples=50)
@given(data=st.data())
def test_only_sound_answers_are_read_and_nothing_else_is_raised(who: str, data: Any) -> None:
    told = data.draw(nearly_sound(who))
    try:
        found = read(who, told)
    except BadAnswer:
        # What is refused beyond the schema is nothing; what the schema allows is not refused.
        assert who != "judge" or not sound(told)
        return
    assert FORMS[who].is_valid(told)
    if who == "judge":
        assert sound(told)
        stated = {one["name"]: one["score"] for one in told["dimensions"]}
        assert {name: one["score"] for name, one in found["dimensions"].items()} == stated
