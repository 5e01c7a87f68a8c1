from __future__ import annotations

from statistics import fmean

import pytest

from skill_eval_nb.charts import iterations
from tests.charts.specs import (
    axes_of,
    headings_of,
    marks_of,
    rows_of,
    subtitle_of,
    texts_of,
    title_of,
)
from tests.charts.worlds import run_keys, workspace, world


def runs(**rates):
    """A workspace of one run an iteration and side: iteration_1=(0.5, 0.25)."""
    return workspace(
        runs=[
            run_keys(iteration=name.replace("_", "-"), configuration=side)
            | {"pass_rate": rate, "status": "graded", "path": "."}
            for name, both in rates.items()
            for side, rate in zip(("with_skill", "without_skill"), both, strict=False)
            if rate is not None
        ]
    )


@pytest.mark.parametrize(
    ("column", "factor"), [("pass_rate", 1), ("rubric_weighted_mean", 1)], ids=str
)
def test_points_are_the_means_of_the_runs(column, factor) -> None:
    ws = world(evals=3, runs=2, iterations=3)
    drawn = {
        (row["configuration"], row["iteration"], round(row["mean"], 9), row["n"])
        for row in rows_of(iterations(ws), "iteration", "mean")
    }
    for step in ("iteration-1", "iteration-2", "iteration-3"):
        for side in ("with_skill", "without_skill"):
            own = ws.runs.filter(iteration=step, configuration=side)[column].to_list()
            assert (side, step, round(fmean(own) * factor, 9), 6) in drawn


def test_iterations_run_in_natural_order() -> None:
    names = {f"iteration_{at}": (at / 20, 0.5) for at in (10, 9, 2, 1)}
    rows = rows_of(iterations(runs(**names)), "iteration", "mean")
    ordered = sorted({(row["x"], row["iteration"]) for row in rows})
    assert [name for _, name in ordered] == [f"iteration-{at}" for at in (1, 2, 9, 10)]


def test_n_stands_with_each_mean_and_no_error_bars_are_drawn() -> None:
    chart = iterations(world(evals=3, runs=2, iterations=3))
    assert sum("n\xa06" in text for text in texts_of(chart)) == 2 * 2 * 3
    assert marks_of(chart) == {"line", "circle", "text"}


def test_a_side_that_an_iteration_lacks_breaks_the_line() -> None:
    chart = iterations(
        runs(iteration_1=(0.5, 0.5), iteration_2=(0.6, None), iteration_3=(0.7, 0.4))
    )
    gaps = [row for row in rows_of(chart, "iteration", "mean") if row["mean"] is None]
    assert [(row["configuration"], row["iteration"]) for row in gaps] == [
        ("without_skill", "iteration-2")
    ]
    assert sum("n\xa01" in text for text in texts_of(chart)) == 5


def test_workspaces_are_never_mixed() -> None:
    chart = iterations(world(iterations=2, workspaces=("tdd", "review")))
    assert set(headings_of(chart)) == {"tdd", "review"}
    assert "of 2 workspaces" in title_of(chart)


def test_without_a_rubric_there_is_one_panel() -> None:
    chart = iterations(world(dimensions=0, iterations=2))
    assert set(axes_of(chart)) == {"pass rate (%)"}


def test_a_rubric_alone_is_the_title() -> None:
    ws = workspace(
        runs=[
            run_keys(iteration=step, status="graded", path=".", rubric_normalized=score)
            for step, score in (("iteration-1", 0.5), ("iteration-2", 0.8))
        ]
    )
    assert "rubric score rises from 2.50 in ‘iteration-1’ to 4.00" in title_of(iterations(ws))


def test_other_evals_in_another_iteration_are_said() -> None:
    same = [
        run_keys(iteration=step, status="graded", path=".", pass_rate=0.5)
        for step in ("iteration-1", "iteration-2")
    ]
    assert "do not hold the same evals" not in subtitle_of(iterations(workspace(runs=same)))
    other = same[1] | {"eval_id": "1"}
    said = subtitle_of(iterations(workspace(runs=[same[0], other])))
    assert "do not hold the same evals" in said


def test_long_histories_show_the_last_iterations_and_say_so() -> None:
    chart = iterations(runs(**{f"iteration_{at}": (0.5, 0.4) for at in range(1, 31)}))
    shown = {row["iteration"] for row in rows_of(chart, "iteration", "mean")}
    assert shown == {f"iteration-{at}" for at in range(23, 31)}
    assert "The last 8 iterations are shown" in subtitle_of(chart)
    assert "in ‘iteration-1’" in title_of(chart)
