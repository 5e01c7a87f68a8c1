"""The card with the answer: its sentence is the statistics' own."""

from __future__ import annotations

import shutil

from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.running.made_jobs import until
from tests.widgets.explore.made import after, clickable, explorer, words
from tests.widgets.trees import elements, find, text


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
