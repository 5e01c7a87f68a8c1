"""What judge, comparator and analyst say is read where it is sound, and refused with its fault."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest

from skill_eval_nb.grading import analyst, comparator, judge
from skill_eval_nb.models.ask import BadAnswer
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
