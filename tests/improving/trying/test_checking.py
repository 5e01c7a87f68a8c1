"""Checks of many runs: scripts run in the sandbox where they are allowed, and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.documents import StructuralExpectation
from skill_eval_nb.improving import try_out
from skill_eval_nb.improving.trying.checking import checks_of, together, verdict
from tests.bubblewrap import needed
from tests.improving.trying.made import draft, planted, world

SCRIPT = {"type": "custom_script", "script": "grep -q Source: report.md"}


def test_a_script_is_not_run_unless_allowed(tmp_path):
    tried = try_out(draft(SCRIPT), sen.load(world(tmp_path, planted(3, 1))))
    assert tried.sides["not_scored"].to_list() == [16, 16]


@needed
def test_an_allowed_script_runs_in_the_sandbox(tmp_path):
    root = world(tmp_path, planted(2, 1), evals=["1"], runs=2)
    told = []
    tried = try_out(
        draft(SCRIPT, evals=["1"]), sen.load(root), allow_scripts=True, progress=told.append
    )
    assert tried.sides["passed"].to_list() == [2, 1]
    assert (told[-1].done, told[-1].total) == (4, 4)


def test_the_transcript_is_looked_at_where_a_check_asks_for_it(tmp_path):
    place = "iteration-1/eval-1-task-1/with_skill/run-1/transcript.md"
    more = {place: "Traceback (most recent call last):\n  boom\nValueError: bad\n"}
    root = world(tmp_path, planted(1, 1), evals=["1"], runs=1, more=more)
    tried = try_out(draft({"type": "no_errors"}, evals=["1"]), sen.load(root))
    assert tried.by_run["passed"].to_list() == [False, None]


@given(st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.integers(), st.text())))
def test_whatever_a_person_wrote_is_a_check(fields):
    (check,) = checks_of(draft(fields))
    assert isinstance(check, StructuralExpectation)


@given(st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=3)))
def test_all_of_several_checks_must_pass(runs):
    width = min(map(len, runs), default=1)
    columns = [[verdict(run[at], str(run[at])) for run in runs] for at in range(width)]
    for run, one in zip(runs, together(columns), strict=True):
        marks = run[:width]
        assert one.passed is (False if False in marks else None if None in marks else True)
        assert one.evidence == "; ".join([str(one.passed)] * marks.count(one.passed))
