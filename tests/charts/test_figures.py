"""What is drawn is what the statistics say, and lies where it can be seen."""

from __future__ import annotations

from itertools import combinations, product
from math import dist
from statistics import fmean

import pytest

from skill_eval_nb import charts, stats
from skill_eval_nb.widgets.explore.choice import suites_of
from skill_eval_nb.widgets.review.queue import ReviewChoice, scope_of
from tests.charts.made import ASKED, checks, runs_of
from tests.charts.specs import rows_of, spec_of, subtitle_of, texts_of, title_of, walk
from tests.charts.worlds import SIDES, models, world


def test_dots_of_one_place_lie_apart_around_it() -> None:
    many = checks(*((f"check {at}", (3, 3), (0, 3)) for at in range(12)))
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
    ("begun", "newest"),
    [
        # A number tells; a name without one is no newer, unless it is known to be.
        ({"iteration-2": None, "iteration-10": None, "iteration-main": None}, "iteration-10"),
        ({"iteration-1": "2026-03-01", "iteration-main": "2026-03-02"}, "iteration-main"),
        ({"iteration-1": "2026-03-02", "iteration-main": "2026-03-01"}, "iteration-1"),
        ({"iteration-1": None, "iteration-main": "2026-03-01"}, "iteration-1"),
        ({"none": None, "iteration-1": None}, "iteration-1"),
        ({"before": "2026-03-02", "after": "2026-03-01"}, "before"),
    ],
)
def test_which_iteration_is_the_newest_is_the_same_everywhere(begun, newest) -> None:
    ws = runs_of(
        *(
            {"iteration": name, "configuration": side, "tokens": 5, "overall_efficiency": 0.5}
            | ({"started_at": f"{day}T10:00:00Z"} if day else {})
            for name, day in begun.items()
            for side in SIDES
        )
    )
    (suite,) = suites_of(ws)
    assert suite.last == (newest,)
    assert scope_of(ws, ReviewChoice()).choice.iteration == newest
    assert subtitle_of(charts.quality_against_cost(ws)).startswith(f"‘{newest}’")


def test_dots_and_points_are_runs_and_means_with_n_and_no_error_bars() -> None:
    ws = world(evals=3, runs=2, iterations=3)
    of = {
        (one, side): ws.runs.filter(iteration=one, configuration=side)
        for one in ("iteration-1", "iteration-2", "iteration-3")
        for side in SIDES
    }
    chart = charts.iterations(ws)
    assert {
        (row["iteration"], row["configuration"], round(row["mean"], 9), row["n"])
        for row in rows_of(chart, "iteration", "mean")
    } == {
        (*key, round(own[column].mean(), 9), 6)
        for key, own in of.items()
        for column in ("pass_rate", "rubric_weighted_mean")
    }
    assert sum("n\xa06" in text for text in texts_of(chart)) == 2 * 2 * 3
    rows = rows_of(charts.quality_against_cost(ws), "configuration", "x", "y")
    means = {(row["configuration"], row["x"], row["y"]) for row in rows if "n" in row}
    dots = {(row["configuration"], row["x"], row["y"]) for row in rows if "run" in row}
    y = "overall_efficiency"
    for side, cost in product(SIDES, ("tokens", "time_seconds", "cost_usd")):
        own = of["iteration-3", side]
        assert {(side, *both) for both in own.select(cost, y).rows()} <= dots
        near = (side, pytest.approx(own[cost].mean()), pytest.approx(own[y].mean()))
        assert any(mean == near for mean in means)


def test_the_lines_of_a_forest_are_the_intervals_of_both_scopes() -> None:
    ws = world(evals=10, runs=3)
    (own,) = stats.deltas(ws).to_dicts()
    (like,) = stats.deltas(ws, scope="population").to_dicts()
    rows = {row["row"]: row for row in rows_of(charts.forest(ws), "estimate", "delta", "reason")}
    whole, *evals = (rows[at] for at in sorted(rows))
    ends = [whole[end] for end in ("estimate", "low", "high", "wide_low", "wide_high", "worth")]
    figures = own["estimate"], own["low"], own["high"], like["low"], like["high"], own["worth"]
    assert ends == pytest.approx([figure * 100 for figure in figures])
    by_eval = stats.deltas_by_eval(ws).sort("estimate", descending=True)
    assert [row["estimate"] for row in evals] == pytest.approx([*by_eval["estimate"] * 100])
    assert {row["wide_low"] for row in evals} == {None}


def test_judges_agree_as_far_as_agreement_says() -> None:
    ws = world(evals=4, runs=3, dimensions=3, judgings=3)
    chart = charts.judge_confusion(ws)
    written, title = texts_of(chart), title_of(chart)
    ranked = stats.agreement(ws).sort("exact").to_dicts()
    for row in ranked:
        assert f"{row['exact']:.0%} equal, {row['within_one']:.0%} within 1 point" in written
        assert f"alpha {row['alpha']:.2f}, AC2 {row['ac2']:.2f}".replace("-", "−") in written
    for row, words in ((ranked[0], "of pairs on"), (ranked[-1], "on")):
        assert f"{row['exact']:.0%} {words} ‘{row['dimension']}’" in title
    assert [text.replace("\xa0", " ") for text in written].count("n = 72 pairs of 24 outputs") == 3


def test_bars_are_the_shares_of_the_variance() -> None:
    ws = world(evals=6, runs=3, judgings=2)
    chart = spec_of(charts.variance_components(ws))
    known = stats.variance(ws).sort("dimension", "configuration", "component")
    names = {"the evals": "eval", "the runs": "run", "the judge": "judge"}
    found = sorted(
        (bar["name"], bar["configuration"], names[bar["component"]], bar["share"], bar["high"])
        for bar in rows_of(chart, "share", "component")
    )
    columns = ("dimension", "configuration", "component", "share", "share_high")
    assert found == known.select(columns).rows()
    assert "6 · 18 · 36" in texts_of(chart)


def test_curves_are_the_plan_s() -> None:
    ws = world(evals=8, runs=3, judgings=2)
    points = rows_of(charts.plan_curve(ws, effect=0.2), "more", "end", "x")
    planned = stats.plan(ws, effect=0.2).to_dicts()
    of_evals = sorted(row["price_usd"] for row in planned if row["changed"] in (None, "evals"))
    drawn_at = {point["x"] for point in points if point["more"] == "more evals"}
    assert sorted(drawn_at) == pytest.approx(of_evals)
    assert {point["y"] for point in points if point["lever"] == ""} == {planned[0]["mde"]}
    [top] = {
        node["y"]["scale"]["domain"][1]
        for node in walk(spec_of(charts.plan_curve(ws, effect=3.0)))
        if "domain" in node.get("y", {}).get("scale", {})
    }
    assert top > 3, "the line that is wanted lies inside"


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


def test_triggering_is_drawn_as_it_is_counted() -> None:
    cells: dict[tuple[str, str], list[str]] = {}
    drawn = rows_of(charts.trigger_confusion(ASKED), "should", "hue")
    for row in sorted(drawn, key=lambda row: row["by"]):
        cells.setdefault((row["should"], row["outcome"]), []).append(row["text"])
    for row in stats.trigger_confusion(ASKED).to_dicts():
        should = "should trigger" if row["should_trigger"] else "should not trigger"
        assert cells[should, row["outcome"]] == [str(row["n_queries"]), str(row["n_runs"])]
    score = stats.trigger_scores(ASKED).row(0, named=True)
    ends = f"({score['f1_low']:.2f} to {score['f1_high']:.2f})"
    assert title_of(charts.trigger_rates(ASKED)).startswith(f"F1 {score['f1']:.2f} {ends}: 2 of 3")


@pytest.mark.parametrize(
    ("factor", "column"), [("model", "executor_model"), ("harness", "harness")]
)
def test_a_row_is_a_model_or_a_harness_with_its_figures(factor, column) -> None:
    ws = models(column=column, large=0.4, middle=0.2, small=0.0)
    spec, rows = spec_of(charts.factors(ws, factor=factor)), stats.factors(ws, factor=factor)
    names = rows[column].to_list()
    assert [*dict.fromkeys(row["label"] for row in rows_of(spec, "label"))] == names
    estimates = {100 * estimate for estimate in rows["estimate"]}
    assert {row["estimate"] for row in rows_of(spec, "low")} == estimates
    assert set(names) <= set(texts_of(spec))
