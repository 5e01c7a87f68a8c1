from __future__ import annotations

import pytest

from skill_eval_nb import stats
from skill_eval_nb.charts import variance_components
from tests.charts.specs import (
    drawn,
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
)
from tests.charts.worlds import run_keys, workspace, world


def judged(scores, judgings=1, **keys):
    """Rows of scores: one list an eval, of the first judging of each of its runs."""
    return [
        run_keys(eval_id=str(at), eval_name=f"e{at}", run_number=run, **keys)
        | {"judging": judging, "dimension": "Clarity", "score": float(score), "weight": 1.0}
        for at, runs in enumerate(scores)
        for run, score in enumerate(runs, 1)
        for judging in range(1, judgings + 1)
    ]


def ws_of(rows):
    status = {"status": "graded", "path": "."}
    runs = {(r["eval_id"], r["configuration"], r["run_number"]): r for r in rows}
    return workspace(rubric_scores=rows, runs=[row | status for row in runs.values()])


def test_bars_are_the_shares_of_the_statistic() -> None:
    ws = world(evals=6, runs=3, judgings=2)
    chart = spec_of(variance_components(ws))
    bars = rows_of(chart, "share", "component")
    known = stats.variance(ws).sort("dimension", "configuration", "component")
    names = {"between evals": "eval", "between runs": "run", "the judge": "judge"}
    found = sorted(
        (bar["name"], bar["configuration"], names[bar["component"]], bar["share"], bar["high"])
        for bar in bars
    )
    columns = known.select("dimension", "configuration", "component", "share", "share_high")
    assert found == columns.rows()
    assert {"bar", "rule", "circle", "text"} <= marks_of(chart)
    assert {"Share", "From", "To", "SD", "Component", "Note"} <= tooltips_of(chart)
    assert "6 · 18 · 36" in texts_of(chart)


def factorial(of_evals, of_runs, of_judgings, n=3, **keys):
    """Scores of n evals × n runs × n judgings with steps of these sizes."""
    steps = [(at, 3.0 + at - (n - 1) / 2) for at in range(n)]
    return [
        row | {"judging": judging + 1, "score": row["score"] + of_judgings * judging, **keys}
        for judging in range(n)
        for row in judged(
            [[of_evals * one + of_runs * run for _, run in steps] for _, one in steps]
        )
    ]


def named(name, *given, **keys):
    return [row | {"dimension": name} for row in factorial(*given, **keys)]


def test_the_title_counts_where_most_of_it_lies() -> None:
    apart = [[1, 1, 1], [3, 3, 3], [5, 5, 4]]  # evals differ, runs hardly
    alike = [[1, 5, 3], [1, 5, 3], [1, 5, 3]]  # runs differ, evals do not
    rows = [row | {"dimension": name} for name in "AB" for row in judged(apart)]
    rows += [row | {"dimension": "C"} for row in judged(alike)]
    chart = variance_components(ws_of(rows))
    title = title_of(chart)
    assert title.startswith(
        "Most of the variance comes from the evals on 2 of 3 dimensions and from runs and judge "
        "together on 1"
    )
    assert title.endswith("(with_skill, n = 3 evals, 9 runs, 9 judgings)")
    assert "With 3 evals, what lies between evals is a rough guess" in subtitle_of(chart)
    many = variance_components(ws_of(judged([[1, 2], [3, 5]] * 10)))
    assert "rough guess" not in subtitle_of(many)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (factorial(4, 1, 1), "of the variance of ‘Clarity’ comes from the evals"),
        (factorial(1, 4, 1), "of the variance of ‘Clarity’ comes from the runs"),
        (factorial(1, 1, 4), "of the variance of ‘Clarity’ comes from the judge"),
        (
            factorial(1, 1, 1),
            "No one source makes most of the variance of ‘Clarity’ (with_skill, n",
        ),
        (
            named("A", 5, 5, 5) + named("B", 1, 1, 4) + named("C", 3, 1, 1),
            "the judge on 1 of 3 dimensions, from the evals on 1 and from no one source on 1 (",
        ),
        (factorial(1, 1, 4, configuration="without_skill") + factorial(4, 1, 1), "from the evals"),
        (named("A", 4, 1, 1) + named("B", 4, 1, 1, n=2), "n = 3 evals, 9 runs, 27 judgings)"),
    ],
)
def test_the_title_names_the_largest_source_of_the_with_skill_side(rows, says) -> None:
    assert says in title_of(variance_components(ws_of(rows)))


def test_one_metric_is_named_with_its_share_and_interval() -> None:
    ws = world(evals=8, runs=3)
    row = next(
        row
        for row in stats.variance(ws, "pass_rate").to_dicts()
        if row["configuration"] == "with_skill" and row["share"] > 0.5
    )
    title = title_of(variance_components(ws, "pass_rate"))
    assert title.startswith(f"{row['share']:.0%} of the variance of the pass rate comes from")
    assert f"95% interval {row['share_low']:.0%} to {row['share_high']:.0%}" in title


def test_what_cannot_be_told_apart_is_said() -> None:
    chart = variance_components(ws_of(judged([[1], [4], [5]])))
    assert title_of(chart).startswith("Variance of eval and run and judge cannot be separated")
    assert [bar["share"] for bar in rows_of(chart, "share", "component")] == [1]
    assert "rough guess" not in subtitle_of(chart)


@pytest.mark.parametrize(
    ("scores", "why"),
    [([[3, 3], [3, 3]], "No spread was seen"), ([[1, 5]], "With one eval")],
)
def test_nothing_to_take_apart_says_why(scores, why) -> None:
    chart = variance_components(ws_of(judged(scores)))
    assert title_of(chart) == "No variance to take apart"
    assert any(why in row["line"] for row in rows_of(chart, "line"))


def test_the_dimension_that_spreads_most_comes_first() -> None:
    rows = [row | {"dimension": "Little"} for row in judged([[3, 3], [3, 4], [4, 4]])]
    rows += [row | {"dimension": "Much"} for row in judged([[1, 2], [5, 4], [1, 1]])]
    chart = variance_components(ws_of(rows))
    bars = sorted(rows_of(chart, "share", "component"), key=lambda bar: bar["row"])
    assert list(dict.fromkeys(bar["name"] for bar in bars)) == ["Much", "Little"]


def test_iterations_stand_under_their_own_headings() -> None:
    chart = variance_components(
        world(evals=4, runs=2, iterations=2), iteration=["iteration-1", "iteration-2"]
    )
    assert {"iteration-1", "iteration-2"} <= set(texts_of(chart))
    assert float(drawn(chart).attrib["width"]) <= 1000


def test_many_dimensions_show_those_that_spread_most() -> None:
    rows = [
        row | {"dimension": f"D{number}", "score": row["score"] * (1 + number / 50)}
        for number in range(50)
        for row in judged([[1, 2], [5, 4], [1, 1]])
    ]
    chart = variance_components(ws_of(rows))
    assert {bar["name"] for bar in rows_of(chart, "share", "component")} == {
        f"D{number}" for number in range(10, 50)
    }
    assert "10 more rows" in subtitle_of(chart)
