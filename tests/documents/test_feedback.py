"""A human's scores, which no dialect has: they are read, kept, and only between 1 and 5."""

from skill_eval_nb.documents import Feedback, dump, mend
from skill_eval_nb.documents.dialects import check, read

RAW = {
    "reviews": [
        {"run_id": "eval-0-with_skill", "feedback": "x", "timestamp": "t", "scores": {"tone": 4}}
    ],
    "status": "complete",
}


def test_scores_are_read_given_back_as_they_were_and_no_fault():
    for document, faults in (mend(RAW, Feedback), read("feedback", RAW)):
        assert (document.reviews[0].scores, faults) == ({"tone": 4.0}, [])
    dumped = dump(mend(RAW, Feedback)[0])
    assert dumped == RAW
    assert isinstance(dumped["reviews"][0]["scores"]["tone"], int)
    assert [check("feedback", RAW, name) for name in ("codingbuddy", "iterations")] == [[], []]


def test_a_score_beyond_the_scale_is_no_score():
    raw = {"reviews": [{**RAW["reviews"][0], "scores": {"tone": 6, "order": 1}}]}
    document, faults = mend(raw, Feedback)
    assert document.reviews[0].scores == {"order": 1.0}
    assert [fault.where for fault in faults] == ["$.reviews[0].scores.tone"]
