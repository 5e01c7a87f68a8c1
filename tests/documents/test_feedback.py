"""A human's scores, which no dialect has: they are read, kept, and only between 1 and 5."""

from skill_eval_nb.documents import Feedback, dump, mend
from skill_eval_nb.documents.dialects import check, read

RAW = {
    "reviews": [
        {"run_id": "eval-0-with_skill", "feedback": "x", "timestamp": "t", "scores": {"tone": 4}}
    ],
    "status": "complete",
}


def test_scores_are_read_and_given_back_as_they_were():
    document, faults = mend(RAW, Feedback)
    assert (document.reviews[0].scores, faults) == ({"tone": 4.0}, [])
    assert dump(document) == RAW
    assert isinstance(dump(document)["reviews"][0]["scores"]["tone"], int)


def test_no_dialect_finds_fault_with_them():
    assert [check("feedback", RAW, name) for name in ("codingbuddy", "iterations")] == [[], []]
    document, faults = read("feedback", RAW)
    assert (document.reviews[0].scores, faults) == ({"tone": 4.0}, [])


def test_a_score_beyond_the_scale_is_no_score():
    raw = {"reviews": [{**RAW["reviews"][0], "scores": {"tone": 6, "order": 1}}]}
    document, faults = mend(raw, Feedback)
    assert document.reviews[0].scores == {"order": 1.0}
    assert [fault.where for fault in faults] == ["$.reviews[0].scores.tone"]
