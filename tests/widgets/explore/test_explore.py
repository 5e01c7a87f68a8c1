"""The whole panel: choosing, landing runs, nothing to look at, and what goes wrong."""

from __future__ import annotations

import json
import random
import shutil

import hypothesis.strategies as st
from hypothesis import given, settings

from skill_eval_nb.widgets.explore import Explore, quality
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.charts.worlds import HOSTILE, world
from tests.checkout import ROOT
from tests.widgets.explore.made import TDD, after, explorer, words
from tests.widgets.trees import elements


def test_skill_and_workspace_can_be_chosen_where_there_are_several():
    panel = explorer(ROOT / "data")
    names = [(suite.workspace, suite.skill) for suite in panel.counted.suites]
    assert len(names) == 6
    for at, (place, skill) in enumerate(names):
        shown = after(panel, "choose_suite", str(at))
        assert (panel.choice.workspace, panel.choice.skill) == (place, skill)
        assert skill in shown
        assert set(panel.selection["skill"]) <= {skill}
    assert "nothing was run yet" in shown


def test_runs_are_shown_as_they_land_and_what_was_chosen_stays(tmp_path):
    place = tmp_path / "ws"
    panel = explorer(place)
    assert "Nothing to look at yet" in words(panel)
    assert panel.selection.height == 0
    shutil.copytree(TDD, place, ignore=shutil.ignore_patterns("iteration-2", "feedback.json"))
    tell_landed(place)
    assert panel.settle()
    assert (panel.choice.iterations, panel.selection.height) == (("iteration-1",), 33)
    after(panel, "choose_metric", "tokens")
    chosen = explorer(place, iteration="iteration-1")
    after(chosen, "pick", "eval", "iteration-1", "1", "lend-a-book")
    before = chosen.selection.height
    shutil.copytree(TDD / "iteration-2", place / "iteration-2")
    tell_landed(place / "iteration-2")
    assert panel.settle()
    assert (panel.choice.iterations, panel.choice.metric) == (("iteration-2",), "tokens")
    assert "Tokens: +4,660" in words(panel)
    assert chosen.settle()
    assert (chosen.choice.iterations, chosen.selection.height) == (("iteration-1",), before)
    assert "iteration-2" in chosen.suite.iterations
    assert "is not there any more" not in words(chosen)
    place.rename(tmp_path / "away")
    assert "ws is not there any more" in after(chosen, "see", "tab", "checks")


def test_all_evals_are_those_that_come_later_too(tmp_path):
    place = tmp_path / "ws"
    shutil.copytree(
        TDD, place, ignore=shutil.ignore_patterns("iteration-2", "eval-6*", "benchmark.json")
    )
    ticked, pressed = explorer(place), explorer(place)
    after(ticked, "tick", "evals", "1", False)
    after(ticked, "tick", "evals", "1", True)
    after(pressed, "choose_evals", *pressed.suite.evals)
    shutil.copytree(TDD / "iteration-2", place / "iteration-2")
    tell_landed(place / "iteration-2")
    for panel in (ticked, pressed):
        assert panel.settle()
        assert (len(panel.suite.evals), panel.choice.evals) == (6, ())


def test_a_fault_in_one_view_leaves_the_others(monkeypatch):
    def fail(*_):
        raise RuntimeError("the disk is full")

    fail.__name__ = "checks"
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
@settings(max_examples=12)
def test_whatever_is_clicked_nothing_breaks_and_the_selection_is_of_what_is_there(
    name, chance: random.Random, data
):
    ws = WORLDS[name]
    panel = explorer(ws)
    every = set(ws.runs.rows())
    for _ in range(data.draw(st.integers(1, 6))):
        tab = chance.choice([one for one in Explore.TABS if one != "charts"])
        after(panel, "see", "tab", tab)
        acts = [
            tuple(one[1]["on"]["click"])
            for one in elements(panel._tree)
            if "click" in one[1].get("on", {})
        ]
        acts = [act for act in acts if act[0] not in ("export", "save_chart")]
        after(panel, *chance.choice(acts))
        assert set(panel.selection.rows()) <= every
        json.dumps(panel._tree).encode()
