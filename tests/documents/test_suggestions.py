"""eval_feedback_aggregate.json: with our further fields, and as others write it."""

from __future__ import annotations

from skill_eval_nb.documents import SuggestionAggregate, dump, mend
from tests.documents.examples import SKILL_EVALUATOR

PLAIN = SKILL_EVALUATOR["suggestions"]
SOURCE = {
    "reason": "Nothing checks the dates",
    "kind": "critique",
    "expectation": None,
    "iteration": "iteration-1",
    "eval_id": "2",
    "configuration": "with_skill",
    "run_number": 1,
}


def test_a_plain_one_states_no_threshold_and_no_sources():
    read, faults = mend(PLAIN, SuggestionAggregate)
    assert not faults
    assert (read.threshold, read.merged_by) == (None, None)
    assert all((one.kind, one.evals, one.sources) == (None, [], []) for one in read.suggestions)
    assert dump(read) == PLAIN


def test_sources_come_back_as_they_were():
    raw = PLAIN | {
        "threshold": 0.8,
        "merged_by": None,
        "suggestions": [PLAIN["suggestions"][1] | {"evals": ["2"], "sources": [SOURCE]}],
    }
    read, faults = mend(raw, SuggestionAggregate)
    assert not faults
    assert read.threshold == 0.8
    assert read.suggestions[0].sources[0].eval_id == "2"
    assert dump(read) == raw
