"""Where an aggregate is written."""

from __future__ import annotations

import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.aggregating import place_of
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT

DATA = ROOT / "data"
FILE = "eval_feedback_aggregate.json"


def test_in_the_folder_of_the_iteration():
    ws = sen.load(DATA / "tdd-workspace")
    one = DATA / "tdd-workspace" / "iteration-2" / FILE
    assert place_of(ws.select(iteration="iteration-2")) == one
    assert place_of(sen.load(one.parent)) == one
    assert place_of(sen.load(one.parent / "benchmark.json")) == one


def test_in_the_workspace_where_there_are_several_or_none():
    assert place_of(sen.load(DATA / "tdd-workspace")) == DATA / "tdd-workspace" / FILE
    without = DATA / "test-cases-workspace"
    assert place_of(sen.load(without)) == without / "eval" / FILE


def test_below_a_folder_of_workspaces(tmp_path):
    for name in ("tdd-workspace", "skill-creator-workspace"):
        shutil.copytree(DATA / name, tmp_path / name)
    ws = sen.load(tmp_path)
    with pytest.raises(Refused, match="there are 2"):
        place_of(ws)
    one = ws.select(workspace="tdd-workspace", iteration="iteration-1")
    assert place_of(one) == tmp_path / "tdd-workspace" / "iteration-1" / FILE
