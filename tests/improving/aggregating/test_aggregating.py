"""`aggregate`: the same thing once, with its frequency, whatever the order of the rows."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.improving import aggregate
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT

from .made import checks, suggestion, workspace

TDD = ROOT / "data" / "tdd-workspace"


@pytest.mark.parametrize("iteration", ["iteration-1", "iteration-2"])
def test_the_stored_aggregates_of_the_bundled_data_are_found(iteration):
    stored = json.loads((TDD / iteration / "eval_feedback_aggregate.json").read_bytes())
    found = aggregate(sen.load(TDD).select(iteration=iteration))
    assert {(one.frequency, one.assertion, one.reason) for one in found.suggestions} == {
        (one["frequency"], one["assertion"], one["reason"]) for one in stored["suggestions"]
    }
    assert found.total_runs == stored["total_runs"]
    assert (found.skill_name, found.iteration) == (stored["skill_name"], iteration)


def test_iterations_are_collected_together():
    found = aggregate(sen.load(TDD))
    apart = [aggregate(sen.load(TDD).select(iteration=f"iteration-{n}")) for n in (1, 2)]
    assert found.iteration is None
    assert found.suggestions[0].frequency == sum(
        next(one.frequency for one in each.suggestions if one.assertion == "S4") for each in apart
    )


def test_the_most_frequent_stands_first_then_what_was_said_first():
    rows = [suggestion("The sum is far too strict.", "S2", run_number=n) for n in (2, 3)]
    rows += [suggestion("No spelling.", run_number=10), suggestion("A name is missing.", "S1")]
    found = aggregate(workspace(rows)).suggestions
    assert [(one.frequency, one.assertion) for one in found] == [(2, "S2"), (1, "S1"), (1, None)]


def test_a_run_that_says_it_twice_counts_once():
    rows = [
        suggestion("Nothing checks the spelling of names."),
        suggestion("No assertion checks the spelling of the names."),
        suggestion("Nobody checks how names are spelled: the spelling.", run_number=2),
    ]
    (one,) = aggregate(workspace(rows)).suggestions
    assert (one.frequency, len(one.sources)) == (2, 3)


def test_every_source_is_kept_word_for_word():
    rows = [
        suggestion("Trivial: each run passes.", "S1: A file was written", run_number=1),
        suggestion("Always passes.", "A file was written", run_number=2),
    ]
    (one,) = aggregate(workspace(rows)).suggestions
    said = [(each.run.run_number, each.expectation, each.reason) for each in one.sources]
    assert said == [(n, r["expectation"], r["reason"]) for n, r in enumerate(rows, 1)]


def test_different_expectations_are_different_suggestions():
    rows = [suggestion("Always passes.", name) for name in ("S1", "S2", None, "nobody knows it")]
    found = aggregate(workspace(rows), threshold=1).suggestions
    assert [one.assertion for one in found] == [None, "S1", "S2", None]


def test_an_id_means_nothing_outside_of_its_eval():
    rows = [suggestion("Always passes.", "S1", eval_id=own) for own in ("1", "2", "3")]
    known = [*checks("1"), *checks("2"), *checks("3", {"S1": "The head is bold"})]
    found = aggregate(workspace(rows, known)).suggestions
    assert [(one.frequency, one.evals) for one in found] == [(2, ("1", "2")), (1, ("3",))]


def test_an_expectation_with_several_ids_is_named_by_its_text():
    rows = [
        suggestion("Always passes.", "S1"),
        suggestion("Always passes.", "S4", eval_id="2"),
    ]
    known = [*checks(), *checks("2", {"S4": "A file was written"})]
    (one,) = aggregate(workspace(rows, known)).suggestions
    assert (one.assertion, one.frequency) == ("A file was written", 2)


def test_suites_are_never_mixed():
    rows = [suggestion("Nothing checks the spelling.", skill=skill) for skill in ("a", "b")]
    found = aggregate(workspace(rows), threshold=1)
    assert [one.frequency for one in found.suggestions] == [1, 1]
    assert found.skill_name is None


def test_what_is_no_suggestion_for_a_change_is_left_out():
    rows = [suggestion("Fine.", kind=kind) for kind in ("overall", "aggregate")]
    assert aggregate(workspace(rows)).suggestions == ()


def test_a_vague_expectation_is_what_it_is_about():
    text = "The size of the pots is thought of"
    (one,) = aggregate(workspace([suggestion(text, kind="vague")])).suggestions
    assert (one.assertion, one.kind) == (text, "vague")
    assert "vague" in one.reason


def test_a_suggested_expectation_is_to_be_added():
    (one,) = aggregate(workspace([suggestion("The sum is in euros", kind="suggested")])).suggestions
    assert (one.assertion, one.action) == (None, "Add: The sum is in euros")


def test_the_other_dialect_is_read_as_well():
    found = aggregate(sen.load(ROOT / "data" / "test-cases-workspace"))
    assert {one.frequency for one in found.suggestions} == {3}
    assert {one.kind for one in found.suggestions} >= {"vague", "suggested"}
    onions = next(one for one in found.suggestions if "onions" in one.reason)
    assert onions.action == "Add: Onions are 1.5, or rounded with a remark"


@pytest.mark.parametrize("name", ["codingbuddy-workspace", "iterations-workspace"])
def test_none_is_said_to_be_none(name):
    found = aggregate(sen.load(ROOT / "data" / name))
    assert found.suggestions == ()
    assert "12 graded runs made none" in repr(found)


def test_the_threshold_shows_and_decides():
    rows = [suggestion("Nothing checks the spelling."), suggestion("Names lack any spelling test.")]
    apart, joined = (aggregate(workspace(rows), threshold=cut) for cut in (0.0, 1.0))
    assert [len(one.suggestions) for one in (apart, joined)] == [2, 1]
    assert joined.threshold == joined.document().threshold == 1.0


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_a_threshold_that_is_none_is_refused(threshold):
    with pytest.raises(Refused, match="from 0"):
        aggregate(workspace([]), threshold=threshold)


WORDS = "sum head month file name spelling passes never strict vague every run `use client`".split()
ROWS = st.lists(
    st.builds(
        suggestion,
        st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join)),
        st.sampled_from([None, "S1", "S2: The sum is right", "The head names a month", "??"]),
        run_number=st.integers(1, 3),
        eval_id=st.sampled_from(["1", "2"]),
        kind=st.sampled_from(["critique", "vague", "suggested", "missing_coverage", "overall"]),
    ),
    max_size=12,
)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows, chance: random.Random):
    shuffled = chance.sample(rows, len(rows))
    one, other = (aggregate(workspace(each)).suggestions for each in (rows, shuffled))
    assert one == other


@given(ROWS)
def test_every_suggestion_is_in_one_group_and_counts_runs(rows):
    found = aggregate(workspace(rows)).suggestions
    wanted = {
        (one["run_number"], one["eval_id"], one["kind"], one["reason"])
        for one in rows
        if one["kind"] not in ("overall", "vague")
    }
    sources = [each for one in found for each in one.sources]
    got = {
        (each.run.run_number, each.run.eval_id, each.kind, each.reason)
        for each in sources
        if each.kind != "vague"
    }
    assert got == wanted
    assert len(sources) == len(set(sources))
    assert all(one.frequency == len({each.run for each in one.sources}) for one in found)
    assert len({one.key for one in found}) == len(found)


def test_the_workspaces_of_others_are_aggregated(corpus_workspaces):
    with_some = 0
    for path in corpus_workspaces:
        try:
            ws = sen.load(path)
        except sen.NothingToLoad:
            continue
        found = aggregate(ws)
        said = ws.polars("suggestions").filter(~ws.polars("suggestions")["kind"].is_in(["overall"]))
        assert bool(found.suggestions) == bool(said.height)
        assert sum(len(one.sources) for one in found.suggestions) <= said.height
        assert repr(found)
        with_some += bool(found.suggestions)
    assert with_some >= 5
