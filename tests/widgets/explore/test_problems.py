"""The problems of the data, and the runs that each touches."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.explore.choice import of_path
from tests.charts.worlds import run_keys, workspace, world
from tests.checkout import ROOT
from tests.widgets.explore.made import after, bundled, clickable, explorer, words


def test_every_problem_is_there_errors_first():
    panel = explorer()
    read = after(panel, "see", "tab", "problems")
    assert "Problems (3)" in read
    for message in bundled().problems["message"]:
        assert message in read
    assert read.index("errored-run") < read.index("efficiency-of-one")
    only = after(panel, "see", "severity", "info")
    assert "errored-run" not in only
    assert "efficiency-of-one" in only


def test_a_click_shows_the_runs_it_touches_in_whichever_iteration():
    panel = explorer()
    after(panel, "see", "tab", "problems")
    problems = bundled().problems
    acts = list(clickable(panel, "pick", "problem"))
    assert [problems["code"][act[2]] for act in acts] == ["errored-run", "missing-side"]
    after(panel, *acts[0])
    assert panel.selection.select("iteration", "eval_name", "run_number").rows() == [
        ("iteration-1", "waiting-list", 2)
    ]


def test_those_of_other_workspaces_are_not_shown():
    panel = explorer(ROOT / "data", skill="recipe-scaler")
    read = after(panel, "see", "tab", "problems")
    assert "double-pancakes" in read
    assert "waiting-list" not in read


@pytest.mark.parametrize(
    ("path", "touched"),
    [
        ("ws/iteration-1/eval-1/with/run-1", [1]),
        ("ws/iteration-1/eval-1/with/run-1/grading.json", [1]),
        ("ws/iteration-1/eval-1/with/", [1, 10]),
        ("ws/iteration-1", [1, 10]),
        ("ws/iteration-1/eval-1/with/run-10", [10]),
        ("ws/iteration-1/eval-1/with/run", []),
        ("ws/evals.json", []),
        ("elsewhere", []),
    ],
)
def test_a_path_touches_the_runs_above_and_below_it(path, touched):
    rows = [
        run_keys(run_number=n) | {"path": f"ws/iteration-1/eval-1/with/run-{n}", "status": "graded"}
        for n in (1, 10)
    ]
    found = of_path(workspace(runs=rows).runs, path)
    assert found["run_number"].to_list() == touched


def test_where_all_is_well_it_says_so():
    panel = explorer(world())
    assert "Everything could be used as it is." in after(panel, "see", "tab", "problems")
    assert "Problems (" not in words(panel)
