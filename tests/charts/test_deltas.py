from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import deltas
from tests.charts.specs import (
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
)
from tests.charts.worlds import run_keys, workspace, world

rates = st.lists(
    st.tuples(
        st.sampled_from("123456"),
        st.sampled_from(["with_skill", "without_skill"]),
        st.none() | st.floats(0, 1),
    ),
    max_size=40,
)


def rated(rows, metric="pass_rate"):
    """A workspace of runs: (eval, configuration, figure)."""
    return workspace(
        runs=[
            run_keys(eval_id=name, eval_name=f"eval-{name}", configuration=side, run_number=at)
            | {metric: value, "status": "graded", "path": "."}
            for at, (name, side, value) in enumerate(rows, 1)
        ]
    )


@settings(max_examples=8)
@given(rates)
def test_points_are_the_means_of_both_sides(rows) -> None:
    chart = spec_of(deltas(rated(rows)))
    sides = defaultdict(list)
    for name, side, value in rows:
        if value is not None:
            sides[f"eval-{name}", side].append(value)
    paired = [
        name
        for name in {name for name, _ in sides}
        if (name, "with_skill") in sides and (name, "without_skill") in sides
    ]
    points = {(row["eval"], row["configuration"]): row for row in rows_of(chart, "eval", "mean")}
    assert {name for name, _ in points} == set(paired)
    for key, row in points.items():
        assert row["mean"] == pytest.approx(fmean(sides[key]))
        assert row["n"] == len(sides[key])


@settings(max_examples=8)
@given(rates)
def test_evals_are_sorted_by_delta(rows) -> None:
    lines = rows_of(deltas(rated(rows)), "baseline_mean")
    down = [row["mean"] - row["baseline_mean"] for row in sorted(lines, key=lambda row: row["row"])]
    assert down == sorted(down, reverse=True)


def test_marks_columns_and_tooltips() -> None:
    chart = deltas(world(evals=3, runs=2))
    assert {"rule", "circle", "text"} <= marks_of(chart)
    assert {"Eval", "Configuration", "Mean", "Runs (n)", "Delta"} <= tooltips_of(chart)
    assert texts_of(chart).count("2 vs 2") == 3


@pytest.mark.parametrize(("metric", "better"), [("pass_rate", "with"), ("tokens", "without")])
def test_the_line_has_the_colour_of_the_better_side(metric, better) -> None:
    high, low = (1, 0) if metric == "pass_rate" else (1000, 10)
    chart = deltas(
        rated([("1", "with_skill", high), ("1", "without_skill", low)], metric), metric=metric
    )
    assert [row["better"] for row in rows_of(chart, "better")] == [f"{better}_skill"]


def test_equal_sides_show_both_colours() -> None:
    chart = deltas(rated([("1", "with_skill", 0.5), ("1", "without_skill", 0.5)]))
    below, above = rows_of(chart, "eval", "mean", "size")
    assert (below["configuration"], above["configuration"]) == ("without_skill", "with_skill")
    assert below["size"] > above["size"]
    assert "equal" in title_of(chart)


def test_evals_without_a_pair_are_named_with_the_reason() -> None:
    both = [("1", side, 1.0) for side in ("with_skill", "without_skill")]
    alone = [(name, "with_skill", 1.0) for name in "23456789"]
    said = subtitle_of(deltas(rated([*both, *alone])))
    assert "‘eval-2’ (no run of without_skill)" in said
    assert "and 4 more" in said


def test_where_no_eval_is_paired_the_reason_is_said() -> None:
    chart = deltas(rated([("1", "with_skill", 1.0), ("2", "without_skill", 1.0)]))
    assert title_of(chart) == "No pass rate to compare"
    said = rows_of(chart, "line")[0]["line"]
    assert "no run of without_skill" in said
    assert "no run of with_skill" in said


def test_evals_of_the_same_name_carry_their_ids() -> None:
    keys = [(name, side) for name in "12" for side in ("with_skill", "without_skill")]
    rows = [
        run_keys(eval_id=name, eval_name="same", configuration=side)
        | {"pass_rate": 0.5, "status": "graded", "path": "."}
        for name, side in keys
    ]
    assert {"same (1)", "same (2)"} <= set(texts_of(deltas(workspace(runs=rows))))


def test_each_comparison_has_its_heading_with_its_mean() -> None:
    sides = {"with_skill": 1.0, "old_skill": 0.75, "without_skill": 0.5}
    chart = deltas(rated([(name, side, rate) for name in "12" for side, rate in sides.items()]))
    written = [text.replace("\xa0", " ") for text in texts_of(chart)]
    assert "with_skill against without_skill: +50 pp over 2 evals" in written
    assert "old_skill against without_skill: +25 pp over 2 evals" in written
    assert "above the baseline on 4 of 4 evals in 2 comparisons" in title_of(chart)


def test_a_baseline_can_be_chosen() -> None:
    chart = deltas(world(evals=2), baseline="with_skill")
    assert "without_skill is" in title_of(chart)


def test_a_rubric_dimension_can_be_drawn() -> None:
    chart = deltas(world(evals=3, runs=2), metric="Clarity")
    assert "Clarity" in title_of(chart)
    assert all(1 <= row["mean"] <= 5 for row in rows_of(chart, "eval", "mean"))


def test_a_metric_that_is_not_there_is_an_error_that_helps() -> None:
    with pytest.raises(ValueError, match="Did you mean `pass_rate`"):
        deltas(world(), metric="pas_rate")


def test_many_evals_show_the_largest_deltas_and_count_the_rest() -> None:
    rows = [
        (str(at), side, (at / 99) * (side == "with_skill"))
        for at in range(99)
        for side in ("with_skill", "without_skill")
    ]
    chart = deltas(rated(rows))
    assert len(rows_of(chart, "baseline_mean")) == 40
    assert "59 more evals" in subtitle_of(chart)
    assert "98 of 99 evals" in title_of(chart)


def test_sides_that_differ_by_rounding_alone_are_equal() -> None:
    rows = [("1", "with_skill", 0.1 + 0.2), ("1", "without_skill", 0.3)]
    assert rows[0][2] != rows[1][2]
    assert "are equal on 1 eval" in title_of(deltas(rated(rows)))
