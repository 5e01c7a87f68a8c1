"""The whole panel: choosing, landing runs, what is drawn where, and what goes wrong."""

from __future__ import annotations

import json
import random

import hypothesis.strategies as st
import pandas as pd
from hypothesis import given, settings

import skill_eval_nb as sen
from skill_eval_nb.widgets.explore import Explore, quality
from tests.charts.worlds import HOSTILE, world
from tests.widgets.explore.made import TDD, after, explorer, words
from tests.widgets.trees import elements


def test_the_selection_is_in_the_backend_of_the_workspace():
    panel = explorer(sen.load(TDD, "pandas"))
    after(panel, "pick", "runs", "iteration-2", "1", "lend-a-book", "with_skill", 2)
    assert isinstance(panel.selection, pd.DataFrame)
    assert list(panel.selection["run_number"]) == [2]
    after(panel, "clear")
    assert len(panel.selection) == 36


def test_a_fault_in_one_view_leaves_the_others(monkeypatch):
    def fail(*_):
        raise RuntimeError("the disk is full")

    panel = explorer()
    monkeypatch.setattr(quality, "count_checks", fail)
    panel.do("see", "tab", "checks")
    assert panel.settle()
    shown = words(panel)
    assert "This could not be shown. RuntimeError: the disk is full" in shown
    assert "with_skill helps" in shown
    monkeypatch.undo()
    assert "always passes" in after(panel, "see", "tab", "checks")


WORLDS = {
    "plain": world(runs=2),
    "hostile": world(evals=8, names=HOSTILE, runs=2, configurations=HOSTILE[:2]),
    "three sides": world(configurations=("with_skill", "old_skill", "without_skill")),
    "one side": world(configurations=("with_skill",), iterations=3),
    "two workspaces": world(workspaces=("a", "b"), iterations=2),
    "nothing scored": world(dimensions=0, expectations=0),
}


@given(st.sampled_from(list(WORLDS)), st.randoms(use_true_random=False), st.data())
@settings(max_examples=8)
def test_whatever_is_clicked_nothing_breaks_and_the_selection_is_of_what_is_there(
    name, chance: random.Random, data
):
    ws = WORLDS[name]
    panel = explorer(ws)
    every = set(ws.runs.rows())
    for _ in range(data.draw(st.integers(1, 6))):
        tab = chance.choice([one for one in Explore.TABS if one != "charts"])
        after(panel, "see", "tab", tab)
        clicks = (one[1]["on"].get("click") for one in elements(panel._tree) if "on" in one[1])
        acts = [act for act in clicks if act and act[0] not in ("export", "save_chart")]
        after(panel, *chance.choice(acts))
        assert set(panel.selection.rows()) <= every
        json.dumps(panel._tree).encode()
