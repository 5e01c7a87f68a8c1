"""The evals: every run in its place, and both means."""

from __future__ import annotations

import pytest

from skill_eval_nb.stats.values import values_of
from tests.widgets.explore.made import after, bundled, explorer
from tests.widgets.trees import find

WS = bundled()


def points(panel):
    """The runs that are drawn: what a click on each would send, and where it is."""
    return [
        (one[1]["on"]["click"], one[1]["style"]["left"])
        for one in find(panel._tree, tag="button")
        if "sen-x-point" in one[1].get("class", "")
    ]


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


def test_a_point_of_a_dimension_selects_its_run_and_stays_pressed():
    panel = explorer()
    after(panel, "see", "tab", "dimensions")
    act, _ = next(point for point in points(panel) if len(point[0]) == 6)
    after(panel, *act)
    (run,) = panel.selection.iter_rows(named=True)
    name = f"{run['eval_name']} {run['configuration']} run {run['run_number']}"
    assert act[2:] == [run["iteration"], "behaviour_focus", run["configuration"], name]
    (pressed,) = find(panel._tree, aria_pressed="true", cls="sen-x-point")
    assert pressed[1]["on"]["click"] == act
