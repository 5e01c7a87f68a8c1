"""Bytes to documents: strictly, else tolerantly, and always with the reason why not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb import disk
from skill_eval_nb.disk import TooLarge, read_bytes
from skill_eval_nb.documents import Grading, Timing
from skill_eval_nb.workspace import Problems
from skill_eval_nb.workspace.read import (
    load_document,
    load_if_there,
    load_raw,
    mend_document,
    nearest_metadata,
)
from tests.corpus.build import lay


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 3_000_000])
def test_every_byte_is_read(tmp_path, size):
    data = os.urandom(size)
    path = tmp_path / "x"
    path.write_bytes(data)
    assert read_bytes(str(path)) == data


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="no regular file"):
        read_bytes(str(path))


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST", 70_000)
    path = tmp_path / "grading.json"
    path.write_bytes(b" " * 70_001)
    with pytest.raises(TooLarge):
        read_bytes(str(path))
    problems = Problems()
    assert load_raw(str(path), problems) is None
    assert [one.code for one in problems] == ["too-large"]


def test_what_the_document_describes_is_no_problem(tmp_path):
    lay(tmp_path, {"timing.json": {"total_tokens": 5}})
    problems = Problems()
    timing = load_document(str(tmp_path / "timing.json"), Timing, problems)
    assert (timing, problems) == (Timing(total_tokens=5), [])


@pytest.mark.parametrize(
    ("content", "code"),
    [("{", "not-json"), (b"\xff\xfe\xff", "not-json"), ("null", "empty"), (None, "unreadable")],
)
def test_what_cannot_be_used_says_why(tmp_path, content, code):
    if content is not None:
        lay(tmp_path, {"timing.json": content})
    problems = Problems()
    assert load_document(str(tmp_path / "timing.json"), Timing, problems) is None
    assert [(one.severity, one.code) for one in problems] == [("error", code)]
    assert problems[0].path == str(tmp_path / "timing.json")


@pytest.mark.parametrize("text", ['{"total_tokens": 5,}', '\ufeff{"total_tokens": 5}'])
def test_what_has_one_reasonable_reading_is_read_and_told(tmp_path, text):
    lay(tmp_path, {"timing.json": text})
    problems = Problems()
    timing = load_document(str(tmp_path / "timing.json"), Timing, problems)
    assert timing is not None
    assert timing.total_tokens == 5
    assert problems


def test_other_names_and_types_are_repaired_and_told(tmp_path):
    lay(tmp_path, {"timing.json": {"tokens": "7"}})
    problems = Problems()
    timing = load_document(str(tmp_path / "timing.json"), Timing, problems)
    assert timing is not None
    assert timing.total_tokens == 7
    assert {one.path for one in problems} == {str(tmp_path / "timing.json")}


def test_a_file_that_need_not_be_there(tmp_path):
    problems = Problems()
    assert load_if_there(str(tmp_path / "timing.json"), Timing, problems) is None
    assert problems == []
    lay(tmp_path, {"timing.json": "{"})
    assert load_if_there(str(tmp_path / "timing.json"), Timing, problems) is None
    assert [one.code for one in problems] == ["not-json"]


def test_the_nearest_metadata_up_to_the_iteration_as_people_wrote_them(tmp_path):
    run, iteration = tmp_path / "iteration-1/eval-1/with_skill", tmp_path / "iteration-1"
    about = {"task": "theirs", "assertions": ["one", {"text": "two"}]}
    beyond = {"eval_id": 1, "prompt": "beyond"}
    lay(tmp_path, {"iteration-1/eval-1/eval_metadata.json": about, "eval_metadata.json": beyond})
    found = nearest_metadata(run, iteration)
    assert found is not None
    assert (found.prompt, [one.text for one in found.assertions]) == ("theirs", ["one", "two"])
    lay(iteration, {"eval-1/eval_metadata.json": "{"})
    assert nearest_metadata(run, iteration) is None


def test_one_fault_in_many_elements_is_one_problem():
    problems = Problems()
    raw = {"expectations": [{"name": f"check {n}", "passed": True} for n in range(50)]}
    grading = mend_document(raw, "grading.json", Grading, problems)
    assert len(grading.expectations) == 50
    assert len(problems) == 1
    assert "50 times" in problems[0].message


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_reason(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "grading.json"
    path.write_bytes(data)
    problems = Problems()
    value = load_document(str(path), Grading, problems)
    assert value is not None or any(one.severity == "error" for one in problems)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none(), max_size=4))
def test_any_object_is_read_as_plain_json(tmp_path_factory, value):
    path = Path(tmp_path_factory.mktemp("raw")) / "x.json"
    path.write_text(json.dumps(value))
    assert load_raw(str(path), Problems()) == value
