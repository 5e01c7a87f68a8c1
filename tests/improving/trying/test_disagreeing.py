"""Where a drafted check is not of the judge's opinion."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import RunRef, try_out
from tests.improving.trying.made import (
    EVALS,
    EXISTS,
    JUDGED,
    SIDES,
    SOURCES,
    draft,
    grading,
    planted,
    world,
)

NAMED = SOURCES | {"description": "Sources are named below the table"}


def lenient(_: str, side: str, run: int) -> bool:
    """A judge who believes all runs with the skill and the first two without it."""
    return side == SIDES[0] or run <= 2


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    """Three of four runs with the skill name their source, and one without it."""
    return sen.load(world(tmp_path_factory.mktemp("judged"), planted(3, 1), judged=lenient))


def test_runs_are_listed_with_both_evidences(ws):
    tried = try_out(draft(NAMED), ws)
    assert (tried.about.text, tried.about.how) == (JUDGED, "the nearest in words")
    assert 0.5 <= tried.about.likeness <= 1
    rows = tried.disagreements.to_dicts()
    expected = {(one, "with_skill", 4) for one in EVALS} | {
        (one, "without_skill", 2) for one in EVALS
    }
    assert {(row["eval_id"], row["configuration"], row["run_number"]) for row in rows} == expected
    assert {(row["passed"], row["judged_passed"]) for row in rows} == {(False, True)}
    assert rows[0]["evidence"].startswith("No 'Source:' in report.md")
    assert rows[0]["judged_evidence"] == f"evidence on {JUDGED}"
    assert "It is not of the judge's opinion in 8 runs" in repr(tried)


def test_a_judged_target_is_what_it_is_about(ws):
    tried = try_out(draft(SOURCES, target=JUDGED.upper()), ws)
    assert (tried.about.text, tried.about.likeness) == (JUDGED, None)
    assert tried.disagreements.height == 8


def test_something_else_has_no_judge(ws):
    tried = try_out(draft(EXISTS | {"description": "A picture was drawn"}), ws)
    assert tried.about is None
    assert len(tried.disagreements) == 0
    assert any("no judge to hold it against" in note for note in tried.notes)


def test_a_suggestion_may_tell_what_it_is_about(tmp_path):
    reason = "Nobody looks whether the ledger is cited"
    said = {"suggestions": [{"assertion": JUDGED, "reason": reason}], "overall": "fine"}
    place = "iteration-1/eval-1-task-1/with_skill/run-1/grading.json"
    graded = grading(True, "with_skill", 1) | {"eval_feedback": said}
    ws = sen.load(world(tmp_path, planted(3, 1), judged=lenient, more={place: graded}))
    made = SOURCES | {"description": "The ledger is cited"}
    ref = RunRef(*ws.runs.row(0)[:7])
    assert try_out(draft(made), ws).about is None
    about = try_out(draft(made, runs=(ref,)), ws).about
    assert (about.text, "suggestion" in about.how) == (JUDGED, True)
