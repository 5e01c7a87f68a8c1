"""The whole panel: choosing, landing runs, what is drawn where, and what goes wrong."""

from __future__ import annotations

import json
import random
import shutil

import hypothesis.strategies as st
import pandas as pd
from hypothesis import given, settings

import skill_eval_nb as sen
from skill_eval_nb.widgets.explore import Explore, explore, quality
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.charts.worlds import HOSTILE, run_keys, workspace, world
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.running.made_jobs import until
from tests.widgets.explore.made import TDD, after, clickable, explorer, words
from tests.widgets.trees import elements, find, text


def test_what_compares_something_is_looked_at_first_whatever_the_order(tmp_path):
    """The first skill and the last iteration are not graded; the others are."""
    files = {"a/iteration-1/eval-1/with_skill/run-1/outputs/x.md": "x"}
    for at in (1, 2):
        for side, marks in (("with_skill", "pp"), ("without_skill", "pf")):
            files[f"b/iteration-{at}/eval-1/{side}/run-1/grading.json"] = graded(marks)
    files["b/iteration-3/eval-1/with_skill/run-1/outputs/x.md"] = "x"
    panel = explore(sen.load(lay(tmp_path, files)))
    assert (panel.choice.workspace, panel.choice.iterations) == ("b", ("iteration-2",))


def test_an_expectation_with_two_texts_for_its_id_is_one():
    check = {"layer": "structural", "expectation_id": "S1", "passed": True}
    texts = ("a file is there", "the file is there", "something else")
    every = [
        run_keys(run_number=1),
        run_keys(run_number=2),
        run_keys(eval_id="1", eval_name="other"),
    ]
    checks = [run | check | {"text": text} for run, text in zip(every, texts, strict=True)]
    runs = [run | {"path": "x", "status": "graded"} for run in every]
    panel = explorer(workspace(runs=runs, expectations=checks))
    after(panel, "see", "tab", "checks")
    after(panel, "pick", "check", "iteration-1", "structural", "a file is there")
    assert panel.selection["run_number"].to_list() == [1, 2]
    assert panel.selection["eval_id"].to_list() == ["0", "0"]


def test_the_selection_is_in_the_backend_of_the_workspace():
    panel = explorer(sen.load(TDD, "pandas"))
    after(panel, "pick", "runs", "iteration-2", "1", "lend-a-book", "with_skill", 2)
    assert isinstance(panel.selection, pd.DataFrame)
    assert list(panel.selection["run_number"]) == [2]
    after(panel, "clear")
    assert len(panel.selection) == 36


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
        acts = [act for act in clickable(panel) if act[0] not in ("export", "save_chart")]
        after(panel, *chance.choice(acts))
        assert set(panel.selection.rows()) <= every
        json.dumps(panel._tree).encode()


def card(panel):
    (found,) = find(panel._tree, key="verdict")
    return found


def single_runs(home):
    """A workspace of four evals that were run once a side, each the better with the skill."""
    sides = {"with_skill": "ppppp", "without_skill": "pffff"}
    return lay(
        home,
        {
            f"iteration-1/eval-{n}-e{n}/{side}/grading.json": graded(verdicts)
            for n in range(1, 5)
            for side, verdicts in sides.items()
        },
    )


def test_beside_the_verdict_stand_the_lean_and_the_way_to_the_runs_that_decide(tmp_path):
    """The run panel is filled in; where there is no skill to run it says what is missing."""
    panel = explorer(single_runs(tmp_path / "kites-workspace"))
    (lean,) = find(card(panel), cls="sen-x-lean")
    assert "with_skill leans up: +80 pp (+" in text(lean)
    runs, evals = find(card(panel), cls="sen-x-next")
    assert text(runs).startswith("Next: 1 more run of each eval a side")
    assert "No skill with evals is in or next to these runs" in text(runs)
    assert text(evals).startswith("For tasks like these: 2 more evals")
    assert list(clickable(panel, "run_more")) == []

    shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "kites")
    panel = explorer(tmp_path / "kites-workspace")
    (act,) = clickable(panel, "run_more")
    assert act == ("run_more", "iteration-1", 2)
    shown = after(panel, *act)
    until(lambda: "2 configurations × 2 runs" in words(panel))
    assert "Run kites" in shown
    number = next(act for act in changes(panel) if act[:3] == ("in_runs", "set", "runs"))
    panel.do(*number, 4)
    until(lambda: "2 configurations × 4 runs" in words(panel))
    assert "Too few runs to say" in after(panel, "leave_runs")


def changes(panel):
    """What can be chosen or typed, as the page would send it."""
    return [tuple(one[1]["on"]["change"]) for one in elements(panel._tree)
            if "change" in one[1].get("on", {})]  # fmt: skip
