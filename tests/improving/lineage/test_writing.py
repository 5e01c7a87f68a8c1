"""history.json: what is in it, that it loads, and that what others wrote is not lost."""

from __future__ import annotations

import json

import jsonschema
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.schema import json_schema
from skill_eval_nb.improving import history
from skill_eval_nb.running.refused import Refused
from tests.corpus.build import lay
from tests.improving.lineage.made import iteration


@pytest.fixture
def place(tmp_path):
    return lay(tmp_path / "made-workspace", iteration(1, 0.3, evals=3) | iteration(2, 0.8, evals=3))


def test_it_is_the_document_that_people_know(place):
    written = json.loads(history(sen.load(place)).write(place).read_text())
    jsonschema.validate(written, json_schema("history", "skill-creator"))
    assert written["skill_name"] == "made"
    assert written["current_best"] == "v1"
    known = ("version", "parent", "expectation_pass_rate", "grading_result", "is_current_best")
    assert [[one[name] for name in known] for one in written["iterations"]] == [
        ["v0", None, 0.3, "baseline", False],
        ["v1", "v0", 0.8, "won", True],
    ]


def test_what_was_written_is_read_again_without_a_problem(place):
    before = sen.load(place)
    history(before).write(place)
    ws = sen.load(place)
    assert ws.problems.equals(before.problems)
    assert ws.table("history").select("version", "grading_result").rows() == [
        ("v0", "baseline"),
        ("v1", "won"),
    ]
    again = history(ws)
    assert [one.stated_result for one in again.versions] == ["baseline", "won"]
    assert again.notes == ()


def test_our_own_file_is_replaced_and_the_bytes_are_the_same(place):
    first = history(sen.load(place)).write(place).read_bytes()
    assert history(sen.load(place)).write(place / "history.json").read_bytes() == first
    assert not list(place.glob("*.bak*"))


def test_a_file_of_others_is_kept(place):
    theirs = '{"iterations": [{"version": "v0", "note": "mine"}]}'
    lay(place, {"history.json": theirs, "history.json.bak": "an older one"})
    found = history(sen.load(place))
    with pytest.raises(Refused, match=r"written by others.*history\.json\.bak"):
        found.write(place)
    assert (place / "history.json").read_text() == theirs
    found.write(place, force=True)
    assert (place / "history.json.bak").read_text() == "an older one"
    assert (place / "history.json.bak2").read_text() == theirs
    assert "reason" in (place / "history.json").read_text()


@pytest.mark.parametrize("content", ["", "no JSON", "[]", '{"iterations": []}', b"\xff\xfe"])
def test_whatever_else_lies_there_is_kept_too(place, content):
    found = history(sen.load(place))
    lay(place, {"history.json": content})
    with pytest.raises(Refused, match="written by others"):
        found.write(place)


def test_without_versions_nothing_is_written(tmp_path):
    with pytest.raises(Refused, match="no versions"):
        history(sen.Workspace.from_tables({})).write(tmp_path)
    assert not list(tmp_path.iterdir())
