"""What is drawn is what the statistics say, and lies where it can be seen."""

from __future__ import annotations

from itertools import combinations
from math import dist
from statistics import fmean

import pytest

from skill_eval_nb import charts, stats
from skill_eval_nb.report.measured import list_slices
from skill_eval_nb.widgets.explore.choice import suites_of
from skill_eval_nb.widgets.review.queue import ReviewChoice, scope_of
from tests.charts.made import checked, runs_of
from tests.charts.specs import rows_of, spec_of, subtitle_of, walk
from tests.charts.worlds import SIDES, world


def test_dots_of_one_place_lie_apart_around_it() -> None:
    marks = dict(zip(SIDES, ("ppp", "fff"), strict=True))
    many = checked(*(f"1 {at} {side} {marks[side]}" for at in range(12) for side in SIDES))
    dots = rows_of(charts.discrimination(many), "expectation", "own")
    apart = [dist(*pair) for pair in combinations([(d["x"] * 317, d["y"] * 317) for d in dots], 2)]
    assert len(dots) == 12
    assert 7 < min(apart) < max(apart) < 60


def test_very_many_runs_share_dots_that_count_them_and_keep_their_means() -> None:
    ws = world(evals=260, runs=10, dimensions=0, expectations=2)
    dots = rows_of(charts.quality_against_cost(ws), "n", "x", "y")
    dots = [row for row in dots if row["n"] < 5200 // 2]
    assert sum(dot["n"] for dot in dots) == 3 * 5200
    assert len(dots) < 3 * 61 * 41
    costs = [fmean(ws.runs[name]) for name in ("tokens", "time_seconds", "cost_usd")]
    assert sum(dot["x"] * dot["n"] for dot in dots) == pytest.approx(5200 * sum(costs), rel=1e-9)


@pytest.mark.parametrize(
    ("begun", "order"),
    [
        # A number tells; a name without one is no newer, unless it is known to be.
        ({"iteration-10": None, "iteration-9": None}, ["iteration-9", "iteration-10"]),
        ({"iteration-2": None, "iteration-main": None}, ["iteration-main", "iteration-2"]),
        ({"iteration-1": None, "iteration-main": "03-01"}, ["iteration-main", "iteration-1"]),
        ({"iteration-1": "03-01", "iteration-main": "04-01"}, ["iteration-1", "iteration-main"]),
        ({"iteration-1": "03-01", "iteration-main": "02-01"}, ["iteration-main", "iteration-1"]),
        ({"after": "02-01", "before": "01-01"}, ["before", "after"]),
        ({"none": None, "iteration-1": None}, ["none", "iteration-1"]),
    ],
)
def test_the_newest_iteration_is_last_in_figures_and_the_one_that_is_shown(begun, order) -> None:
    ws = runs_of(
        *(
            {"iteration": name, "configuration": side, "tokens": 5, "overall_efficiency": 0.5}
            | {"pass_rate": 1.0, "started_at": day and f"2026-{day}T10:00:00Z"}
            for name, day in begun.items()
            for side in SIDES
        )
    )
    for figures in (stats.summarize, stats.deltas, stats.deltas_by_eval, stats.pass_at_k):
        assert [*dict.fromkeys(figures(ws)["iteration"])] == order
    assert [place.iteration for place in list_slices(ws)] == order
    (suite,) = suites_of(ws)
    assert suite.last == (order[-1],)
    assert scope_of(ws, ReviewChoice()).choice.iteration == order[-1]
    assert subtitle_of(charts.quality_against_cost(ws)).startswith(f"‘{order[-1]}’")


def test_scores_lie_inside_their_lanes_and_never_on_each_other() -> None:
    chart = charts.rubric_dimensions(world(evals=12, runs=5))
    offsets = [node["yOffset"] for node in walk(spec_of(chart)) if "yOffset" in node]
    low, high = offsets[0]["scale"]["domain"]
    means = rows_of(chart, "mean", "delta")
    lanes = {(row["dimension"], row["configuration"]): row["row"] for row in means}
    dots = rows_of(chart, "score", "judgings")
    for dot in dots:
        assert dot["row"] == lanes[dot["dimension"], dot["configuration"]]
        assert low < dot["below"] < high
    places = {(dot["row"], round(dot["score"], 1), dot["right"], dot["below"]) for dot in dots}
    assert len(places) == len(dots)
