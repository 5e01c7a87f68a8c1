"""Where the suite is looked for that is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.improving.applying import preview
from skill_eval_nb.running.refused import Refused
from tests.corpus.build import lay
from tests.improving.applying.made_suites import suite


def test_the_file_is_found_in_the_folder_of_a_skill_or_a_workspace(tmp_path):
    skill = suite(tmp_path / "skill" / "evals")
    cases = suite(tmp_path / "ws" / "eval", name="eval_metadata.json")
    odd = suite(tmp_path / "odd" / "deep", name="my-evals.json")
    for folder, path in (("skill", skill), ("ws", cases), ("odd", odd)):
        assert preview([], tmp_path / folder).path == path


def test_a_folder_with_none_or_several_is_refused(tmp_path):
    with pytest.raises(Refused, match="does not exist"):
        preview([], tmp_path / "nowhere.json")
    suite(tmp_path / "a", name="a-evals.json")
    suite(tmp_path / "b", name="b-evals.json")
    with pytest.raises(Refused, match=r"several suites \(a/a-evals.json, b/b-evals.json\)"):
        preview([], tmp_path)


def test_a_path_with_a_tilde_is_a_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    suite(tmp_path)
    assert preview([], Path("~/evals.json")).path == tmp_path / "evals.json"


def test_of_a_workspace_without_one_it_is_that_of_the_skill_beside_it(tmp_path):
    path = suite(tmp_path / "notes" / "evals")
    run = {"iteration-1/eval-1/with_skill/run-1/timing.json": {}}
    assert preview([], lay(tmp_path / "notes-workspace", run)).path == path
    with pytest.raises(Refused, match="give the suite's file, or the skill's folder"):
        preview([], lay(tmp_path / "other-workspace", run))
