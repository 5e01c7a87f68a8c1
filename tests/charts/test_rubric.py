"""Scores of the rubric: each run on each dimension, and how near to the ceiling judgings are."""

from __future__ import annotations

import math

import pytest

from skill_eval_nb.charts import rubric_dimensions, score_distributions
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

SIDES = ("with_skill", "without_skill")


def scored(rows):
    """A workspace of these judgings, numbered within their run and dimension."""
    bare = {"eval_id": "1", "configuration": "with_skill", "run_number": 1, "dimension": "Clarity"}
    known = [bare | row for row in rows]
    made = [
        run_keys(**row) | {"eval_name": f"e{row['eval_id']}", "judging": at, "weight": 1.0}
        for at, row in enumerate(known)
    ]
    runs = {(row["eval_id"], row["configuration"], row["run_number"]): row for row in made}
    status = {"status": "graded", "path": "."}
    return workspace(rubric_scores=made, runs=[row | status for row in runs.values()])


def of_sides(**both):
    """A judging of each side on each dimension."""
    return [
        {"configuration": side, "dimension": name, "score": float(score)}
        for name, scores in both.items()
        for side, score in zip(SIDES, scores, strict=True)
    ]


def test_dots_are_runs_and_means_are_theirs() -> None:
    """A run's dot is the mean of its judgings that are figures; runs without any have none."""
    runs = [("1", 1, (3.0, 4.0, None)), ("1", 2, (math.nan, math.inf)), ("2", 1, (5.0,))]
    rows = [
        {"eval_id": of, "run_number": run, "score": score}
        for of, run, scores in runs
        for score in scores
    ]
    rows += [{"configuration": SIDES[1], "score": 2.0}, {"dimension": "Scope", "score": 1.0}]
    chart = rubric_dimensions(scored(rows))
    assert sorted(
        (dot["dimension"], dot["configuration"], dot["score"], dot["judgings"])
        for dot in rows_of(chart, "score", "judgings")
    ) == [
        ("Clarity", "with_skill", 3.5, 2),
        ("Clarity", "with_skill", 5.0, 1),
        ("Clarity", "without_skill", 2.0, 1),
        ("Scope", "with_skill", 1.0, 1),
    ]
    assert sorted(
        (row["dimension"], row["configuration"], row["mean"], row["n"])
        for row in rows_of(chart, "mean", "delta")
    ) == [
        ("Clarity", "with_skill", 4.25, 2),
        ("Clarity", "without_skill", 2.0, 1),
        ("Scope", "with_skill", 1.0, 1),
    ]


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        (of_sides(Clarity=(4, 3.2), Scope=(2, 3.25)),
         ("The sides differ most on ‘Scope’: with_skill scores 1.25 points below without_skill "
         "(n = 1 and 1 run of 1 eval)")),
        (of_sides(Clarity=(3, 3)),
         ("with_skill and without_skill score alike on every dimension "
         "(n = 1 and 1 run of 1 eval)")),
        ([{"run_number": run, "dimension": name, "score": score}
          for name, both in (("Clarity", (4.0, 4.0)), ("Scope", (3.0, 5.0)))
          for run, score in enumerate(both)],
         ("Runs differ most on ‘Scope’: with_skill has a mean of 4.00 and a standard deviation of "
         "1.41 (n = 2 runs)")),
        ([{"score": 4.0}], "with_skill scores 4.00 on ‘Clarity’ (n = 1 run)"),
        ([{"score": 5.0}, {"eval_id": "2", "configuration": "without_skill", "score": 1.0}],
         "with_skill scores 5.00 on ‘Clarity’ (n = 1 run)"),
    ],
    ids=["differ", "alike", "one side", "one run", "no eval with both"],
)  # fmt: skip
def test_the_title_says_where_the_sides_differ_most(rows, title) -> None:
    assert title_of(rubric_dimensions(scored(rows))) == title


def test_marks_tooltips_and_n_beside_each_mean() -> None:
    chart = rubric_dimensions(world(evals=3, runs=2))
    assert {"circle", "tick", "text"} <= marks_of(chart)
    columns = {"Dimension", "Configuration", "Eval", "Run", "Evidence", "Judgings", "Runs (n)"}
    assert columns <= tooltips_of(chart)
    written = texts_of(chart)
    assert written.count("6") == len(rows_of(chart, "mean", "delta")) == 6
    assert {"mean", "n"} <= set(written)


def test_the_dimension_that_differs_most_comes_first() -> None:
    chart = rubric_dimensions(scored(of_sides(Little=(3, 3), Much=(5, 2), Worse=(1, 2))))
    down = sorted(rows_of(chart, "mean", "delta"), key=lambda row: row["row"])
    assert [row["dimension"] for row in down[::2]] == ["Much", "Worse", "Little"]
    assert [row["delta"] for row in down] == ["+3.00", "", "−1.00", "", "0.00", ""]


def test_dots_lie_inside_their_lanes_and_never_on_each_other() -> None:
    chart = rubric_dimensions(world(evals=12, runs=5))
    offsets = [node["yOffset"] for node in walk(spec_of(chart)) if "yOffset" in node]
    low, high = offsets[0]["scale"]["domain"]
    lanes = {(row["dimension"], row["configuration"]): row["row"]
             for row in rows_of(chart, "mean", "delta")}  # fmt: skip
    dots = rows_of(chart, "score", "judgings")
    for dot in dots:
        assert dot["row"] == lanes[dot["dimension"], dot["configuration"]]
        assert low < dot["below"] < high
    places = {(dot["row"], round(dot["score"], 1), dot["right"], dot["below"]) for dot in dots}
    assert len(places) == len(dots)


def test_scores_of_another_scale_are_shown_where_they_are() -> None:
    chart = rubric_dimensions(scored([{"score": 95.0}, {"score": 1e6, "run_number": 2}]))
    assert sorted(dot["score"] for dot in rows_of(chart, "score", "judgings")) == [95.0, 1e6]
    assert drawn(chart) is not None


def test_many_dimensions_show_the_most_telling() -> None:
    rows = of_sides(**{f"D{number}": (3 + number / 50, 3) for number in range(50)})
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


def given_to(side: str, *scores: float, dimension: str = "Clarity") -> list[dict]:
    return [{"configuration": side, "dimension": dimension, "score": score} for score in scores]


def test_bars_are_shares_of_the_judgings() -> None:
    rows = given_to(SIDES[0], 5, 5, 4, math.nan, math.inf) + given_to(SIDES[1], 2)
    rows += [{"score": None}, *given_to(SIDES[0], 1, 3, dimension="Scope")]
    assert sorted(
        (bar["dimension"], bar["configuration"], bar["score"], bar["given"], bar["n"], bar["share"])
        for bar in rows_of(score_distributions(scored(rows)), "given", "share")
    ) == [
        ("Clarity", "with_skill", 4, 1, 3, pytest.approx(1 / 3)),
        ("Clarity", "with_skill", 5, 2, 3, pytest.approx(2 / 3)),
        ("Clarity", "without_skill", 2, 1, 1, 1),
        ("Scope", "with_skill", 1, 1, 2, 0.5),
        ("Scope", "with_skill", 3, 1, 2, 0.5),
    ]


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([*given_to("with_skill", 5, 5, 5, 4), *given_to("without_skill", 3, 5)],
         "Little room above: with_skill has a 5 in 75% of judgings on ‘Clarity’ (n = 4 judgings)"),
        (given_to("with_skill", 5, 4, 4, 4),
         "There is room above on every dimension: at most 25% are a 5"),
        (given_to("with_skill", 4, 1, dimension="Scope"), "No judging gives a 5 (n = 2 judgings)"),
        (given_to("with_skill", 9.0), "No judging"),
    ],
    ids=["near", "room", "none", "off the scale"],
)  # fmt: skip
def test_the_ceiling_is_named_in_the_title(rows, title) -> None:
    assert title_of(score_distributions(scored(rows))).startswith(title)


def test_the_dimensions_nearest_to_the_ceiling_come_first() -> None:
    rows = [
        row
        for number in range(20)
        for row in given_to(
            "with_skill", *[5] * number, *[1] * (20 - number), dimension=f"D{number}"
        )
    ]
    chart = score_distributions(scored(rows))
    order = {bar["dimension"]: bar["lane"] for bar in rows_of(chart, "given")}
    assert sorted(order, key=order.__getitem__) == [f"D{number}" for number in range(19, 3, -1)]
    assert "4 more dimensions with fewer scores of 5" in subtitle_of(chart)


def test_n_and_shares_are_written_where_there_is_room_for_them() -> None:
    two = [*given_to("with_skill", 5, 5, 4), *given_to("without_skill", 1)]
    chart = score_distributions(scored(two))
    assert {"n = 3 vs 1", "67%", "33%", "100%"} <= set(texts_of(chart))
    columns = {"Dimension", "Configuration", "Score", "Judgings with it", "Share", "Judgings (n)"}
    assert columns <= tooltips_of(chart)
    six = [row for at in range(6) for row in given_to(f"c{at}", *[3.0] * (at + 1))]
    written = texts_of(score_distributions(scored(six)))
    assert "n = 1–6" in written
    assert "100%" not in written


def test_each_score_has_the_nearest_place_or_none_and_it_is_told() -> None:
    odd = (1, 5, 2.5, 3.49, 0.5, 5.49, 0.4, 5.5, -9)
    chart = score_distributions(scored(given_to("with_skill", *odd)))
    bars = {bar["score"]: bar["given"] for bar in rows_of(chart, "given")}
    assert bars == {1: 2, 3: 2, 5: 2}
    assert {bar["n"] for bar in rows_of(chart, "given")} == {9}
    assert "counts as the nearest" in subtitle_of(chart)
    assert "3 scores outside 1–5 not shown" in subtitle_of(chart)
    plain = subtitle_of(score_distributions(scored(given_to("with_skill", 3))))
    assert "nearest" not in plain
    assert "outside" not in plain
