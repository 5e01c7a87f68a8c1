"""The evals: every run in its place, and both means."""

from __future__ import annotations

import pytest

from skill_eval_nb import stats
from skill_eval_nb.stats.values import values_of
from skill_eval_nb.widgets.explore.figures import MANY
from tests.charts.worlds import run_keys, workspace, world
from tests.widgets.explore.made import after, bundled, clickable, explorer, labelled, words
from tests.widgets.trees import find, text

WS = bundled()


def points(panel):
    """The runs that are drawn: what a click on each would send, and where it is."""
    return [
        (one[1]["on"]["click"], one[1]["style"]["left"])
        for one in find(panel._tree, tag="button")
        if "sen-x-point" in one[1].get("class", "")
    ]


def evidence(iteration, eval_id, _, configuration, run_number):
    """What was found for the first expectation of a run, as its point names it."""
    run = {"iteration": iteration, "eval_id": eval_id, "configuration": configuration}
    return WS.expectations.filter(**run, run_number=run_number)["evidence"][0]


def test_every_run_is_drawn_once_where_its_figure_is():
    for metric, low, high in (("pass_rate", 0, 1), ("rubric:isolation", 1, 5)):
        panel = explorer(metric=metric)
        values = values_of(WS, metric).filter(iteration="iteration-2").drop_nulls("value")
        keys = values.select("eval_id", "configuration", "run_number").rows()
        wanted = [100 * (value - low) / (high - low) for value in values["value"]]
        drawn = {
            (act[3], act[5], number): float(left[:-1])
            for act, left in points(panel)
            for number in act[6:]
        }
        assert sorted(drawn) == sorted(keys)
        assert [drawn[run] for run in keys] == pytest.approx(wanted, abs=1)


def test_a_click_on_a_point_shows_the_evidence_of_its_run_or_lists_several():
    panel = explorer()
    alone = [act for act, _ in points(panel) if len(act) == 7]
    assert len(alone) > 6
    for act in alone[::3]:
        assert evidence(*act[2:]) in after(panel, *act)
        assert panel.selection.height == 1
        pressed = find(panel._tree, tabindex="-1", aria_pressed="true")
        assert [one[1]["on"]["click"] for one in pressed] == [act]

    act = next(act for act, _ in points(panel) if len(act) == 8)
    after(panel, *act)
    assert sorted(panel.selection["run_number"]) == list(act[6:])
    runs = list(clickable(panel, "open_run"))
    assert [run[-1] for run in runs] == list(act[6:])
    said = evidence(*act[2:6], runs[1][-1])
    assert said in after(panel, *runs[1])
    assert said not in after(panel, *runs[1])


def test_means_have_their_n_and_lead_to_the_runs():
    panel = explorer()
    shown = words(panel)
    for row in stats.deltas_by_eval(WS).filter(iteration="iteration-2").to_dicts():
        assert f"{100 * row['mean']:.1f}".removesuffix(".0") + f"%n {row['n_runs']}" in shown
    acts = [act for act in clickable(panel, "pick", "runs") if len(act) == 6]
    assert len(set(acts)) == 12
    after(panel, *acts[7])
    sides = panel.selection.select("eval_id", "configuration").unique().rows()
    assert sides == [(acts[7][3], acts[7][5])]


def test_what_is_missing_is_said_and_is_no_zero():
    panel = explorer(iteration="iteration-1")
    shown = words(panel)
    assert "1 errored" in shown
    assert "no run of without_skill" in shown
    assert "–n 0" in shown
    lost = [act for act, _ in points(panel) if act[4] == "waiting-list" and act[5] == "with_skill"]
    assert sorted(number for act in lost for number in act[6:]) == [1, 3]
    (mean,) = labelled(panel, "with_skill, waiting-list: mean 87.5%, 2 runs; show them")
    shown = after(panel, *mean[1]["on"]["click"])
    assert panel.selection["run_number"].to_list() == [1, 2, 3]
    assert "errored" in shown


def test_evals_are_shown_25_at_a_time_iterations_together_and_in_order_of_their_deltas():
    many = explorer(world(evals=60))
    assert "1–25 of 60 evals" in words(many)
    after(many, "turn", "evals", 2)
    assert [act[3] for act in clickable(many, "pick", "eval")] == [str(n) for n in range(50, 60)]
    after(many, "choose_evals", "3", "4")
    assert [act[3] for act in clickable(many, "pick", "eval")] == ["3", "4"]
    panel = explorer(iteration=["iteration-1", "iteration-2"])
    acts = [act[2:4] for act in clickable(panel, "pick", "eval")]
    assert acts == [(f"iteration-{n}", str(one)) for one in range(1, 7) for n in (1, 2)]
    panel = explorer()
    rows = stats.deltas_by_eval(WS).filter(iteration="iteration-2")
    for way in ("up", "down"):
        after(panel, "sort", "evals", "delta", way)
        wanted = rows.sort("estimate", descending=way == "down", maintain_order=True)
        found = [act[3] for act in clickable(panel, "pick", "eval")]
        assert found == wanted["eval_id"].to_list()


def test_many_runs_of_an_eval_are_drawn_as_one_and_it_says_so():
    alone = explorer(world(configurations=("with_skill",)))  # one side, of which few
    assert "difference" not in text(find(alone._tree, cls="sen-x-evals"))
    assert len(points(alone)) == 3
    panel = explorer(world(evals=2, runs=MANY + 5, expectations=3))
    assert f"more than {MANY} runs of a configuration (100 runs here)" in words(panel)
    strips = find(panel._tree, cls="sen-x-strip")
    assert len(strips) == 4
    after(panel, *strips[0][1]["on"]["click"])
    assert panel.selection.height == MANY + 5
    assert "1–25 of" not in words(panel)


def test_evals_with_the_same_name_are_told_apart():
    rows = [
        run_keys(eval_id=one, eval_name="twin", configuration=name)
        | {"pass_rate": 0.5, "path": one, "status": "graded"}
        for one in ("1", "2")
        for name in ("with_skill", "without_skill")
    ]
    panel = explorer(workspace(runs=rows))
    assert "eval 1" in words(panel)
    assert "eval 2" in words(panel)
    after(panel, "pick", "eval", "iteration-1", "2", "twin")
    assert panel.selection["eval_id"].to_list() == ["2", "2"]
