"""Quality against cost: a dot a run, and what a side gains for how many times the cost."""

from __future__ import annotations

from statistics import fmean

import pytest

from skill_eval_nb.charts import quality_against_cost
from skill_eval_nb.widgets.explore.choice import suites
from skill_eval_nb.widgets.review.queue import ReviewChoice, scope_of
from tests.charts.specs import (
    axes_of,
    drawn,
    headings_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
    walk,
)
from tests.charts.worlds import run_keys, workspace, world


def paid(*rows):
    """A workspace of runs with these figures, numbered."""
    return workspace(
        runs=[
            run_keys(run_number=at, status="graded", path=".") | row
            for at, row in enumerate(rows, 1)
        ]
    )


def test_dots_are_runs_and_large_marks_their_means() -> None:
    ws = world(evals=3, runs=2)
    chart = quality_against_cost(ws)
    runs = ws.runs.to_dicts()
    dots = {
        (row["eval"], row["configuration"], row["run"], row["x"], row["y"])
        for row in rows_of(chart, "eval", "x", "y")
    }
    means = {(row["configuration"], row["n"], round(row["x"], 6), round(row["y"], 6))
             for row in rows_of(chart, "configuration", "n", "x", "y")}  # fmt: skip
    for cost in ("tokens", "time_seconds", "cost_usd"):
        keys = ("eval_name", "configuration", "run_number", cost, "overall_efficiency")
        assert {tuple(run[key] for key in keys) for run in runs} <= dots
        for side in ("with_skill", "without_skill"):
            own = [run for run in runs if run["configuration"] == side]
            x, y = (fmean(run[name] for run in own) for name in (cost, "overall_efficiency"))
            assert (side, 6, round(x, 6), round(y, 6)) in means
    columns = {"Eval", "Run", "Configuration", "Overall efficiency", "Tokens", "Runs (n)"}
    assert columns <= tooltips_of(chart)
    assert [text.replace("\xa0", " ") for text in texts_of(chart)].count("n 6") >= 2


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
    ws = paid(
        *(
            {"iteration": name, "configuration": side, "tokens": 5, "overall_efficiency": 0.5}
            | ({"started_at": f"{day}T10:00:00Z"} if day else {})
            for name, day in begun.items()
            for side in ("with_skill", "without_skill")
        )
    )
    (suite,) = suites(ws)
    assert suite.last == (newest,)
    assert scope_of(ws, ReviewChoice()).choice.iteration == newest
    assert subtitle_of(quality_against_cost(ws)).startswith(f"‘{newest}’")


def test_only_costs_that_exist_are_drawn_and_the_others_named() -> None:
    chart = quality_against_cost(world(cost=False))
    assert {"tokens", "time (s)"} <= set(axes_of(chart))
    assert "cost (US$)" not in axes_of(chart)
    assert "Not known of any run: cost." in subtitle_of(chart)


def test_another_quality_can_be_asked_for_and_the_pass_rate_stands_in() -> None:
    assert "pass rate (%)" in axes_of(quality_against_cost(paid({"pass_rate": 0.5, "tokens": 10})))
    assert "score on ‘Clarity’ (1–5)" in axes_of(quality_against_cost(world(), quality="Clarity"))
    with pytest.raises(ValueError, match="Did you mean `pass_rate`"):
        quality_against_cost(world(), quality="pas_rate")


def test_n_is_of_the_runs_that_have_both_figures() -> None:
    rows = [
        {"pass_rate": 1.0, "tokens": 10, "time_seconds": 2.0},
        {"pass_rate": 0.5, "tokens": 30},
        {"tokens": 50},
    ]
    means = rows_of(quality_against_cost(paid(*rows)), "n", "x", "y", "configuration")
    assert {(row["n"], row["x"]) for row in means} == {(2, 20.0), (1, 2.0)}


SKILL = {"configuration": "with_skill", "tokens": 30, "cost_usd": 0.03, "pass_rate": 1.0}
BARE = {"configuration": "without_skill", "tokens": 10, "cost_usd": 0.0, "pass_rate": 0.5}


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([SKILL, BARE | {"run_number": 1}],
         ("with_skill against without_skill: +50 pp pass rate for 3.0 × the tokens "
         "(n = 1 and 1 run)")),
        ([{"pass_rate": 0.8, "tokens": 1500, "time_seconds": 9.0}],
         "with_skill: 80% pass rate at 1,500 tokens and 9.0 s a run (n = 1 run)"),
    ],
    ids=["both sides, of which one is free", "one side"],
)  # fmt: skip
def test_the_title_says_how_many_times_the_cost(rows, title) -> None:
    assert title_of(quality_against_cost(paid(*rows))) == title


def test_workspaces_are_rows_with_their_own_answers() -> None:
    chart = quality_against_cost(world(evals=2, workspaces=("tdd", "review")))
    answers = headings_of(chart)
    assert set(answers) == {"tdd", "review"}
    assert all("with_skill against without_skill" in answer for answer in answers.values())
    assert title_of(chart) == (
        "Overall efficiency is above the baseline in 2 of 2 comparisons (n = 4 and 4 runs)"
    )


def test_costs_of_nothing_and_of_very_different_size_can_be_drawn() -> None:
    free = quality_against_cost(paid({"pass_rate": 1.0, "tokens": 0, "cost_usd": 0.0}))
    assert drawn(free) is not None
    wide = quality_against_cost(paid(*({"pass_rate": 0.5, "tokens": 10**at} for at in range(6))))
    scales = [
        node["scale"]["type"] for node in walk(spec_of(wide)) if "type" in (node.get("scale") or {})
    ]
    assert set(scales) == {"log"}


def test_the_floor_of_the_rubric_is_told_where_it_matters() -> None:
    assert "never below 20%" in subtitle_of(quality_against_cost(world()))
    assert "never below 20%" not in subtitle_of(quality_against_cost(world(dimensions=0)))


def test_very_many_runs_share_dots_that_count_them_and_keep_their_means() -> None:
    ws = world(evals=260, runs=10, dimensions=0, expectations=2)
    chart = quality_against_cost(ws)
    dots = [row for row in rows_of(chart, "n", "x", "y") if row["n"] < 5200 // 2]
    assert sum(dot["n"] for dot in dots) == 3 * 5200
    assert len(dots) < 3 * 61 * 41
    total = sum(dot["x"] * dot["n"] for dot in dots)
    costs = [fmean(ws.runs[name]) for name in ("tokens", "time_seconds", "cost_usd")]
    assert total == pytest.approx(5200 * sum(costs), rel=1e-9)
    assert "A dot counts" in subtitle_of(chart)
