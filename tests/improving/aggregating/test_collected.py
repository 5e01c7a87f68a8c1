"""An aggregate as a table, a document and a file."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import SuggestionAggregate, mend
from skill_eval_nb.improving import Aggregate, aggregate
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT

from .made import suggestion, workspace

TDD = ROOT / "data" / "tdd-workspace"
ROWS = [suggestion("Always passes.", "S1"), suggestion("Nothing checks <b>this</b>.", run_number=2)]


@pytest.fixture
def found() -> Aggregate:
    return aggregate(workspace(ROWS))


def test_a_row_a_suggestion(found):
    table = found.table()
    assert isinstance(table, pl.DataFrame)
    assert table["frequency"].to_list() == [1, 1]
    assert table["assertion"].to_list() == ["S1", None]
    assert table["evals"].to_list() == [["1"], ["1"]]


def test_in_the_kind_of_the_workspace(found):
    table = aggregate(workspace(ROWS, backend="pandas")).table()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == found.table().columns
    assert isinstance(found.table("pandas"), pd.DataFrame)


def test_an_empty_one_has_the_same_columns(found):
    assert aggregate(workspace([])).table().schema == found.table().schema


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


def test_it_opens_as_people_know_it(found, tmp_path):
    raw = json.loads(found.write(tmp_path / "it.json").read_bytes())
    assert list(raw)[:3] == ["skill_name", "iteration", "total_runs"]
    assert list(raw["suggestions"][1])[:4] == ["frequency", "assertion", "reason", "action"]
    assert raw["suggestions"][1]["assertion"] is None


def test_a_written_one_is_loaded_and_not_counted_again(tmp_path):
    import shutil

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


def test_many_are_shown_in_part():
    rows = [suggestion(f"Nothing checks {chr(97 + n // 26) * 5}{n}.") for n in range(60)]
    found = aggregate(workspace(rows), threshold=0)
    assert "and 10 more" in repr(found)
    assert "and 10 more" in found._repr_html_()
