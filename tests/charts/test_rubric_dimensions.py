from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import rubric_dimensions
from tests.charts.specs import (
    drawn,
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
    walk,
)
from tests.charts.worlds import run_keys, workspace, world

judgings = st.lists(
    st.fixed_dictionaries(
        {
            "eval_id": st.sampled_from("12"),
            "configuration": st.sampled_from(["with_skill", "without_skill"]),
            "run_number": st.integers(1, 3),
            "dimension": st.sampled_from(["Clarity", "Scope"]),
            "score": st.none() | st.integers(1, 5).map(float),
        }
    ),
    max_size=30,
)


def scored(rows):
    """A workspace of these judgings, numbered within their run and dimension."""
    made = [
        run_keys(**row) | {"eval_name": f"e{row['eval_id']}", "judging": at, "weight": 1.0}
        for at, row in enumerate(rows)
    ]
    runs = {(r["eval_id"], r["configuration"], r["run_number"]): r for r in made}
    status = {"status": "graded", "path": "."}
    return workspace(rubric_scores=made, runs=[row | status for row in runs.values()])


def scores_by_run(rows):
    """Each run's score by dimension and configuration: plain means, our oracle."""
    runs = defaultdict(list)
    for row in rows:
        if row["score"] is not None:
            key = (row["dimension"], row["configuration"], row["eval_id"], row["run_number"])
            runs[key].append(row["score"])
    by_lane = defaultdict(list)
    for (dimension, configuration, *_), scores in runs.items():
        by_lane[dimension, configuration].append(fmean(scores))
    return by_lane


@settings(max_examples=8)
@given(judgings)
def test_dots_are_runs_and_means_are_theirs(rows) -> None:
    chart = spec_of(rubric_dimensions(scored(rows)))
    expected = scores_by_run(rows)
    dots = defaultdict(list)
    for dot in rows_of(chart, "score", "judgings"):
        dots[dot["dimension"], dot["configuration"]].append(dot["score"])
    assert {key: sorted(dots[key]) for key in dots} == {
        key: pytest.approx(sorted(values)) for key, values in expected.items()
    }
    means = {(r["dimension"], r["configuration"]): r for r in rows_of(chart, "mean", "delta")}
    assert set(means) == set(expected)
    for key, row in means.items():
        assert row["mean"] == pytest.approx(fmean(expected[key]))
        assert row["n"] == len(expected[key])


def test_marks_tooltips_and_n_beside_each_mean() -> None:
    chart = rubric_dimensions(world(evals=3, runs=2))
    assert {"circle", "tick", "text"} <= marks_of(chart)
    asked = {"Dimension", "Configuration", "Eval", "Run", "Evidence", "Judgings", "Runs (n)"}
    assert asked <= tooltips_of(chart)
    written = texts_of(chart)
    assert written.count("6") == len(rows_of(chart, "mean", "delta")) == 6
    assert "mean" in written
    assert "n" in written


def test_the_dimension_that_differs_most_comes_first() -> None:
    rows = [
        {"eval_id": "1", "configuration": side, "run_number": 1, "dimension": name, "score": score}
        for name, both in {"Little": (3.0, 3.0), "Much": (5.0, 2.0), "Worse": (1.0, 2.0)}.items()
        for side, score in zip(("with_skill", "without_skill"), both, strict=True)
    ]
    chart = rubric_dimensions(scored(rows))
    rows_down = sorted(rows_of(chart, "mean", "delta"), key=lambda row: row["row"])
    assert [row["dimension"] for row in rows_down[::2]] == ["Much", "Worse", "Little"]
    assert [row["delta"] for row in rows_down] == ["+3.00", "", "−1.00", "", "0.00", ""]
    assert "‘Much’: with_skill scores 3.00 points above without_skill" in title_of(chart)


def test_the_title_does_not_pair_evals_that_have_one_side() -> None:
    rows = [
        {"eval_id": "1", "configuration": "with_skill", "score": 5.0},
        {"eval_id": "2", "configuration": "without_skill", "score": 1.0},
    ]
    chart = rubric_dimensions(
        scored([row | {"run_number": 1, "dimension": "Clarity"} for row in rows])
    )
    assert "points above" not in title_of(chart)


def test_dots_lie_inside_their_lanes() -> None:
    chart = rubric_dimensions(world(evals=12, runs=5))
    offsets = [node["yOffset"] for node in walk(spec_of(chart)) if "yOffset" in node]
    low, high = offsets[0]["scale"]["domain"]
    lanes = {(lane["dimension"], lane["configuration"]): lane["row"]
             for lane in rows_of(chart, "mean", "delta")}  # fmt: skip
    for dot in rows_of(chart, "score", "judgings"):
        assert dot["row"] == lanes[dot["dimension"], dot["configuration"]]
        assert low < dot["below"] < high


def test_scores_of_another_scale_are_shown_where_they_are() -> None:
    row = {"eval_id": "1", "configuration": "with_skill", "run_number": 1, "dimension": "Clarity"}
    chart = rubric_dimensions(
        scored([row | {"score": 95.0}, row | {"score": 1e6, "run_number": 2}])
    )
    assert sorted(dot["score"] for dot in rows_of(chart, "score", "judgings")) == [95.0, 1e6]
    assert drawn(chart) is not None


def test_scores_that_are_no_numbers_are_left_out() -> None:
    row = {"eval_id": "1", "configuration": "with_skill", "run_number": 1, "dimension": "Clarity"}
    odd = [row | {"score": odd, "run_number": at} for at, odd in enumerate((math.nan, math.inf), 2)]
    chart = rubric_dimensions(scored([row | {"score": 4.0}, *odd]))
    assert [dot["score"] for dot in rows_of(chart, "score", "judgings")] == [4.0]


def test_many_dimensions_show_the_most_telling() -> None:
    rows = [
        {
            "eval_id": "1",
            "configuration": side,
            "run_number": 1,
            "dimension": f"D{number}",
            "score": 3.0 + (side == "with_skill") * (number % 50) / 50,
        }
        for number in range(50)
        for side in ("with_skill", "without_skill")
    ]
    chart = rubric_dimensions(scored(rows))
    shown = {row["dimension"] for row in rows_of(chart, "mean", "delta")}
    assert shown == {f"D{number}" for number in range(10, 50)}
    assert "10 more dimensions" in subtitle_of(chart)


def test_very_many_runs_share_dots_that_count_them() -> None:
    chart = rubric_dimensions(world(evals=100, runs=30, dimensions=1, expectations=0))
    dots = rows_of(chart, "score", "runs")
    assert len(dots) <= 2 * 17
    assert sum(dot["runs"] for dot in dots) == 2 * 100 * 30
    assert "A dot counts" in subtitle_of(chart)
