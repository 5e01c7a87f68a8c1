from __future__ import annotations

from statistics import fmean

import pytest

from skill_eval_nb.charts import quality_against_cost
from tests.charts.specs import (
    axes_of,
    drawn,
    headings_of,
    rows_of,
    spec_of,
    subtitle_of,
    title_of,
    tooltips_of,
    walk,
)
from tests.charts.worlds import run_keys, workspace, world


def paid(*rows, **shared):
    """A workspace of runs with these figures, numbered."""
    return workspace(
        runs=[
            run_keys(run_number=at, status="graded", path=".") | shared | row
            for at, row in enumerate(rows, 1)
        ]
    )


@pytest.mark.parametrize("cost", ["tokens", "time_seconds", "cost_usd"])
def test_dots_are_runs_and_large_marks_their_means(cost) -> None:
    ws = world(evals=3, runs=2)
    chart = quality_against_cost(ws)
    runs = ws.runs.to_dicts()
    dots = {
        (row["eval"], row["configuration"], row["run"], row["x"], row["y"])
        for row in rows_of(chart, "eval", "x", "y")
    }
    keys = ("eval_name", "configuration", "run_number", cost, "overall_efficiency")
    assert {tuple(run[key] for key in keys) for run in runs} <= dots
    means = rows_of(chart, "configuration", "n", "x", "y")
    for side in ("with_skill", "without_skill"):
        own = [run for run in runs if run["configuration"] == side]
        assert [
            row
            for row in means
            if row["configuration"] == side
            and row["n"] == 6
            and row["x"] == pytest.approx(fmean(run[cost] for run in own))
            and row["y"] == pytest.approx(fmean(run["overall_efficiency"] for run in own))
        ]


def test_only_costs_that_exist_are_drawn_and_the_others_named() -> None:
    chart = quality_against_cost(world(cost=False))
    assert {"tokens", "time (s)"} <= set(axes_of(chart))
    assert "cost (US$)" not in axes_of(chart)
    assert "Not known of any run: cost." in subtitle_of(chart)


def test_the_pass_rate_stands_in_for_an_efficiency_that_no_run_has() -> None:
    chart = quality_against_cost(paid({"pass_rate": 0.5, "tokens": 10}))
    assert "50% pass rate at 10 tokens a run" in title_of(chart)
    assert "pass rate (%)" in axes_of(chart)


def test_another_quality_can_be_asked_for() -> None:
    chart = quality_against_cost(world(), quality="Clarity")
    assert "score on ‘Clarity’ (1–5)" in axes_of(chart)
    with pytest.raises(ValueError, match="Did you mean `pass_rate`"):
        quality_against_cost(world(), quality="pas_rate")


def test_n_is_of_the_runs_that_have_both_figures() -> None:
    chart = quality_against_cost(
        paid(
            {"pass_rate": 1.0, "tokens": 10, "time_seconds": 2.0},
            {"pass_rate": 0.5, "tokens": 30},
            {"tokens": 50},
        )
    )
    assert {(row["n"], row["x"]) for row in rows_of(chart, "n", "x", "y", "configuration")} == {
        (2, 20.0),
        (1, 2.0),
    }


def test_the_title_says_how_many_times_the_cost() -> None:
    chart = quality_against_cost(
        paid(
            {"configuration": "with_skill", "tokens": 30, "pass_rate": 1.0},
            {"configuration": "without_skill", "tokens": 10, "pass_rate": 0.5, "run_number": 1},
        )
    )
    assert title_of(chart) == (
        "with_skill against without_skill: +50 pp pass rate for 3.0 × the tokens (n = 1 and 1 run)"
    )


def test_costs_of_nothing_and_of_very_different_size_can_be_drawn() -> None:
    free = quality_against_cost(paid({"pass_rate": 1.0, "tokens": 0, "cost_usd": 0.0}))
    assert drawn(free) is not None
    wide = quality_against_cost(paid(*({"pass_rate": 0.5, "tokens": 10**at} for at in range(6))))
    scales = [
        node["scale"]["type"] for node in walk(spec_of(wide)) if "type" in (node.get("scale") or {})
    ]
    assert set(scales) == {"log"}


def test_the_floor_of_the_rubric_is_said_where_it_matters() -> None:
    assert "never below 20%" in subtitle_of(quality_against_cost(world()))
    assert "never below 20%" not in subtitle_of(quality_against_cost(world(dimensions=0)))


def test_tooltips_name_eval_and_run() -> None:
    tooltips = tooltips_of(quality_against_cost(world()))
    assert {"Eval", "Run", "Configuration", "Overall efficiency", "Tokens", "Runs (n)"} <= tooltips


def test_very_many_runs_share_dots_that_count_them() -> None:
    chart = quality_against_cost(world(evals=260, runs=10, dimensions=0, expectations=2))
    counted = rows_of(chart, "runs", "x", "y")
    assert sum(row["runs"] for row in counted) == 3 * 5200
    assert "A dot counts" in subtitle_of(chart)


def test_workspaces_are_rows_with_their_own_answers() -> None:
    chart = quality_against_cost(world(evals=2, workspaces=("tdd", "review")))
    told = headings_of(chart)
    assert set(told) == {"tdd", "review"}
    assert all("with_skill against without_skill" in story for story in told.values())
