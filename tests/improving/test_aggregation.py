"""Suggestions once: their frequency, table, document, file and place, whatever their order."""

from __future__ import annotations

import json
import random
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.documents import SuggestionAggregate, mend
from skill_eval_nb.improving import Aggregate, aggregate
from skill_eval_nb.improving.aggregation import place_of
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT

from .made_suggestions import suggestion, workspace

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


def test_suites_are_never_mixed():
    rows = [suggestion("Nothing checks the spelling.", skill=skill) for skill in ("a", "b")]
    found = aggregate(workspace(rows), threshold=1)
    assert [one.frequency for one in found.suggestions] == [1, 1]
    assert found.skill_name is None


def test_the_other_dialect_is_read_as_well():
    found = aggregate(sen.load(ROOT / "data" / "test-cases-workspace"))
    assert {one.frequency for one in found.suggestions} == {3}
    assert {one.kind for one in found.suggestions} >= {"vague", "suggested"}
    onions = next(one for one in found.suggestions if "onions" in one.reason)
    assert onions.action == "Add: Onions are 1.5, or rounded with a remark"


def test_the_threshold_shows_and_decides():
    rows = [suggestion("Nothing checks the spelling."), suggestion("Names lack any spelling test.")]
    apart, joined = (aggregate(workspace(rows), threshold=cut) for cut in (0.0, 1.0))
    assert [len(one.suggestions) for one in (apart, joined)] == [2, 1]
    assert joined.threshold == joined.document().threshold == 1.0


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


def test_the_workspaces_of_others_are_aggregated(corpus_loaded):
    with_some = 0
    for ws in corpus_loaded:
        found = aggregate(ws)
        said = ws.polars("suggestions").filter(~ws.polars("suggestions")["kind"].is_in(["overall"]))
        assert bool(found.suggestions) == bool(said.height)
        assert sum(len(one.sources) for one in found.suggestions) <= said.height
        assert repr(found)
        with_some += bool(found.suggestions)
    assert with_some >= 5


TDD = ROOT / "data" / "tdd-workspace"
ROWS = [suggestion("Always passes.", "S1"), suggestion("Nothing checks <b>this</b>.", run_number=2)]


@pytest.fixture
def found() -> Aggregate:
    return aggregate(workspace(ROWS))


def test_what_is_written_is_read_again(found, tmp_path):
    path = found.write(tmp_path)
    assert path == tmp_path / "eval_feedback_aggregate.json"
    read, faults = mend(json.loads(path.read_bytes()), SuggestionAggregate)
    assert not faults
    assert (read.iteration, read.threshold, read.total_runs) == (1, found.threshold, 2)
    for one, other in zip(read.suggestions, found.suggestions, strict=True):
        assert (one.reason, one.frequency, one.assertion) == (
            other.reason,
            other.frequency,
            other.assertion,
        )
        assert [each.run_number for each in one.sources] == [
            each.run.run_number for each in other.sources
        ]


def test_a_written_one_is_loaded_and_not_counted_again(tmp_path):

    shutil.copytree(TDD / "iteration-1", tmp_path / "ws" / "iteration-1")
    ws = sen.load(tmp_path / "ws")
    found = aggregate(ws)
    found.write(tmp_path / "ws" / "iteration-1", force=True)
    again = sen.load(tmp_path / "ws")
    assert (again.polars("suggestions")["kind"] == "aggregate").sum() == len(found.suggestions)
    assert aggregate(again).suggestions == found.suggestions
    assert again.polars("problems").rows() == ws.polars("problems").rows()


def test_only_what_it_made_itself_is_replaced(found, tmp_path):
    file = tmp_path / "eval_feedback_aggregate.json"
    file.write_bytes((TDD / "iteration-1" / file.name).read_bytes())
    before = file.read_bytes()
    with pytest.raises(Refused, match="states no threshold"):
        found.write(file)
    assert file.read_bytes() == before
    found.write(file, force=True)
    assert found.write(file).read_bytes() != before


@pytest.mark.parametrize("content", ["", "[]", "3", '{"suggestions": []}'])
def test_a_file_that_is_something_else_is_kept(found, tmp_path, content):
    file = tmp_path / "it.json"
    file.write_text(content)
    with pytest.raises(Refused):
        found.write(file)


def test_it_shows_itself_escaped(found):
    assert "&lt;b&gt;this" in found._repr_html_()
    assert "<b>this" not in found._repr_html_()
    assert "2 suggestions from 2 graded runs (s, iteration-1)" in repr(found)
    assert f"{found.threshold:g} apart" in found._repr_html_()


DATA = ROOT / "data"
FILE = "eval_feedback_aggregate.json"


def test_in_the_folder_of_the_iteration():
    ws = sen.load(DATA / "tdd-workspace")
    one = DATA / "tdd-workspace" / "iteration-2" / FILE
    assert place_of(ws.select(iteration="iteration-2")) == one
    assert place_of(sen.load(one.parent)) == one
    assert place_of(sen.load(one.parent / "benchmark.json")) == one
