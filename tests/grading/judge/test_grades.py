"""k judgings become one grading."""

from __future__ import annotations

import json
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents import (
    Dimension,
    GradedExpectation,
    Judging,
    Metrics,
    RubricScore,
    Timing,
    dump,
)
from skill_eval_nb.documents.dialects import check, read_as_shared
from skill_eval_nb.documents.run import UserNotesSummary
from skill_eval_nb.grading import grade


def judging(number: int, scores: dict[str, float], **verdicts: bool | None) -> Judging:
    return Judging(
        judging=number,
        judge_model="judge-1",
        rubric_scores={
            name: RubricScore(score, evidence=f"{number}: {name}", weight=float(len(name)))
            for name, score in scores.items()
        },
        expectations=[
            GradedExpectation(text=name, id=name, passed=passed, evidence=f"{number} {passed}")
            for name, passed in verdicts.items()
        ],
        seconds=1.5,
        timestamp=f"2026-01-0{number}T00:00:00Z",
    )


@given(
    st.lists(
        st.fixed_dictionaries({"a": st.integers(1, 5), "bb": st.integers(1, 5)}),
        min_size=1,
        max_size=5,
    )
)
def test_the_weighted_mean_is_that_of_the_means(scores: list[dict[str, int]]) -> None:
    made = grade(None, [judging(n, dict(one)) for n, one in enumerate(scores, 1)])
    a, b = fmean(one["a"] for one in scores), fmean(one["bb"] for one in scores)
    assert made.rubric_summary is not None
    assert made.rubric_summary.weighted_mean == pytest.approx((a + 2 * b) / 3, abs=1e-3)
    assert made.rubric_summary.max_possible == 5.0
    other = [Dimension(name="a", weight=3.0), Dimension(name="bb", weight=1.0)]
    weighed = grade(None, [judging(1, dict(scores[0]))], dimensions=other)
    assert weighed.rubric_summary is not None
    assert weighed.rubric_summary.weighted_mean == pytest.approx(
        (3 * scores[0]["a"] + scores[0]["bb"]) / 4, abs=1e-3
    )


@pytest.mark.parametrize(
    ("votes", "passed", "confidence"),
    [
        ([True], True, None),
        ([False], False, None),
        ([True, True], True, "high"),
        ([False, False, False], False, "high"),
        ([True, False, True], True, "medium"),
        ([False, False, True], False, "medium"),
        ([True, False], False, "low"),
        ([True, False, False, True], False, "low"),
        ([None], None, None),
        ([None, True], True, None),
    ],
)
def test_verdicts_are_of_the_majority_and_a_tie_has_failed(
    votes: list[bool | None], passed: bool | None, confidence: str | None
) -> None:
    made = grade(None, [judging(n, {}, x=vote) for n, vote in enumerate(votes, 1)])
    (one,) = made.expectations
    assert (one.passed, one.confidence) == (passed, confidence)
    if confidence == "low":
        assert "For: 1 True" in (one.evidence or "")
        assert "Against: 2 False" in (one.evidence or "")
    elif passed is not None:
        assert (one.evidence or "").endswith(str(passed))
    assert made.summary is not None
    assert made.summary.total == 1
    assert (made.summary.passed, made.summary.failed) == (passed is True, passed is False)


def test_what_is_written_is_clean_and_reads_back() -> None:
    judgings = [judging(n, {"a": n, "bb": 5}, x=True, y=n == 1) for n in (1, 2)]
    for one, words in zip(judgings, ("Is it  so?", "is it so?"), strict=True):
        one.user_notes_summary = UserNotesSummary(uncertainties=[words])
    made = grade(None, judgings, Metrics(total_steps=4), Timing(total_duration_seconds=9.0))
    assert made.user_notes_summary == UserNotesSummary(uncertainties=["Is it  so?"])  # once
    again, faults = read_as_shared("grading", json.loads(json.dumps(dump(made))))
    assert again == made
    assert not faults
    assert not check("grading", dump(made), "skill-evaluator")
