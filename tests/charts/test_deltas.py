"""Differences between the sides: eval by eval, as verdicts, and from iteration to iteration."""

from __future__ import annotations

from statistics import fmean

import pytest

from skill_eval_nb import stats
from skill_eval_nb.charts import deltas, forest, iterations
from skill_eval_nb.charts.theme import SOFT
from tests.charts.specs import (
    axes_of,
    headings_of,
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


def rated(rows, metric="pass_rate"):
    """A workspace of runs: (eval, configuration, figure)."""
    return workspace(
        runs=[
            run_keys(eval_id=name, eval_name=f"eval-{name}", configuration=side, run_number=at)
            | {metric: value, "status": "graded", "path": "."}
            for at, (name, side, value) in enumerate(rows, 1)
        ]
    )


def paired(*differences):
    """An eval for each difference, a run on each side."""
    both = enumerate(differences)
    return rated([(str(n), side, (0.5 + by) if side == "with_skill" else 0.5)
                  for n, by in both for side in SIDES])  # fmt: skip


def test_points_are_the_means_of_both_sides_sorted_by_their_difference() -> None:
    both = {"1": ((0.5, 0.7), (0.4,)), "2": ((0.9, None), (0.1, 0.3)), "3": ((0.2,), (0.5,))}
    both |= {"4": ((None,), (0.5,)), "5": ((0.5,), ())}
    rows = [
        (name, side, value)
        for name, given in both.items()
        for side, values in zip(SIDES, given, strict=True)
        for value in values
    ]
    chart = spec_of(deltas(rated(rows)))
    assert {
        (row["eval"], row["configuration"], round(row["mean"], 9), row["n"])
        for row in rows_of(chart, "eval", "mean")
    } == {
        *(("eval-1", "with_skill", 0.6, 2), ("eval-1", "without_skill", 0.4, 1)),
        *(("eval-2", "with_skill", 0.9, 1), ("eval-2", "without_skill", 0.2, 2)),
        *(("eval-3", "with_skill", 0.2, 1), ("eval-3", "without_skill", 0.5, 1)),
    }
    lines = sorted(rows_of(chart, "baseline_mean"), key=lambda row: row["row"])
    down = [round(row["mean"] - row["baseline_mean"], 9) for row in lines]
    assert down == [0.7, 0.2, -0.3]


@pytest.mark.parametrize(
    ("ws", "title"),
    [
        (paired(0.5, 0.25, 0.0),
         ("Pass rate: with_skill is above without_skill on 2 of 3 evals, +25 pp on average "
         "(n = 3 and 3 runs)")),
        (paired(-0.5, 0.25, -0.5),
         ("Pass rate: with_skill is below without_skill on 2 of 3 evals, −25 pp on average "
         "(n = 3 and 3 runs)")),
        (rated([("1", "with_skill", 0.1 + 0.2), ("1", "without_skill", 0.3)]),
         "Pass rate: with_skill and without_skill are equal on 1 eval (n = 1 and 1 run)"),
        (rated([("1", "with_skill", 1.0), ("2", "without_skill", 1.0)]),
         "No pass rate to compare"),
    ],
    ids=["above", "below", "equal but for rounding", "no pair"],
)  # fmt: skip
def test_the_title_says_on_how_many_evals_a_side_is_above(ws, title) -> None:
    assert title_of(deltas(ws)) == title


def test_marks_columns_and_tooltips_of_a_metric_and_a_dimension() -> None:
    ws = world(evals=3, runs=2)
    chart = deltas(ws)
    assert {"rule", "circle", "text"} <= marks_of(chart)
    assert {"Eval", "Configuration", "Mean", "Runs (n)", "Delta"} <= tooltips_of(chart)
    assert texts_of(chart).count("2 vs 2") == 3
    assert "without_skill is" in title_of(deltas(ws, baseline="with_skill"))
    score = deltas(ws, metric="Clarity")
    assert "Clarity" in title_of(score)
    assert all(1 <= row["mean"] <= 5 for row in rows_of(score, "eval", "mean"))
    with pytest.raises(ValueError, match="Did you mean `pass_rate`"):
        deltas(ws, metric="pas_rate")


@pytest.mark.parametrize(("metric", "better"), [("pass_rate", "with"), ("tokens", "without")])
def test_the_line_has_the_colour_of_the_better_side(metric, better) -> None:
    more = rated([("1", "with_skill", 1), ("1", "without_skill", 0)], metric)
    chart = deltas(more, metric=metric)
    assert [row["better"] for row in rows_of(chart, "better")] == [f"{better}_skill"]


def test_equal_sides_show_both_colours() -> None:
    below, above = rows_of(deltas(paired(0.0)), "eval", "mean", "size")
    assert (below["configuration"], above["configuration"]) == ("without_skill", "with_skill")
    assert below["size"] > above["size"]


def test_evals_without_a_pair_are_named_with_the_reason() -> None:
    both = [("1", side, 1.0) for side in SIDES]
    alone = [(name, "with_skill", 1.0) for name in "23456789"]
    note = subtitle_of(deltas(rated([*both, *alone])))
    assert "‘eval-2’ (no run of without_skill)" in note
    assert "and 4 more" in note
    none = deltas(rated([("1", "with_skill", 1.0), ("2", "without_skill", 1.0)]))
    why = rows_of(none, "line")[0]["line"]
    assert "no run of without_skill" in why
    assert "no run of with_skill" in why


def test_evals_of_the_same_name_carry_their_ids() -> None:
    rows = [
        run_keys(eval_id=name, eval_name="same", configuration=side)
        | {"pass_rate": 0.5, "status": "graded", "path": "."}
        for name in "12"
        for side in SIDES
    ]
    assert {"same (1)", "same (2)"} <= set(texts_of(deltas(workspace(runs=rows))))


def test_each_comparison_has_its_heading_with_its_mean() -> None:
    sides = {"with_skill": 1.0, "old_skill": 0.75, "without_skill": 0.5}
    chart = deltas(rated([(name, side, rate) for name in "12" for side, rate in sides.items()]))
    written = [text.replace("\xa0", " ") for text in texts_of(chart)]
    assert "with_skill against without_skill: +50 pp over 2 evals" in written
    assert "old_skill against without_skill: +25 pp over 2 evals" in written
    assert title_of(chart) == (
        "Pass rate: above the baseline on 4 of 4 evals in 2 comparisons (n = 4 and 4 runs)"
    )


def test_many_evals_show_the_largest_deltas_and_count_the_rest() -> None:
    chart = deltas(paired(*(at / 200 for at in range(99))))
    assert len(rows_of(chart, "baseline_mean")) == 40
    assert "59 more evals" in subtitle_of(chart)
    assert "98 of 99 evals" in title_of(chart)


SIX = [
    (str(at), side, rate + more + (0.3 if side == "with_skill" else 0.0))
    for at, rate in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 1)
    for side in SIDES
    for more in (0.0, 0.01, 0.03)
]
"""Six evals of three runs a side, the skill always 30 points above."""


def in_order(chart):
    """The rows of a forest from above to below."""
    rows = {row["row"]: row for row in rows_of(chart, "estimate", "delta", "reason")}
    return [rows[at] for at in sorted(rows)]


def test_the_lines_of_a_forest_are_the_intervals_of_both_scopes() -> None:
    ws = world(evals=10, runs=3)
    (own,) = stats.deltas(ws).to_dicts()
    (like,) = stats.deltas(ws, scope="population").to_dicts()
    whole, *evals = in_order(forest(ws))
    ends = [whole[end] for end in ("estimate", "low", "high", "wide_low", "wide_high", "worth")]
    figures = own["estimate"], own["low"], own["high"], like["low"], like["high"], own["worth"]
    assert ends == pytest.approx([figure * 100 for figure in figures])
    by_eval = stats.deltas_by_eval(ws).sort("estimate", descending=True)
    assert [row["estimate"] for row in evals] == pytest.approx([*by_eval["estimate"] * 100])
    assert {row["wide_low"] for row in evals} == {None}
    few = in_order(forest(world(evals=6, runs=3)))[0]  # 4 of which move
    assert (few["wide_low"], few["wide_high"]) == (None, None)


def test_what_single_runs_lean_to_is_dashed_and_never_in_the_colour_of_a_verdict() -> None:
    ws = workspace(
        runs=[
            run_keys(eval_id=str(n), eval_name=f"eval-{n}", configuration=side, run_number=1)
            | {"pass_rate": passed / 5, "passed": passed, "failed": 5 - passed, "total": 5}
            | {"status": "graded", "path": "."}
            for n in range(4)
            for side, passed in zip(SIDES, (5, 1), strict=True)
        ]
    )
    chart = forest(ws)
    whole, *evals = in_order(chart)
    (row,) = stats.deltas(ws).to_dicts()
    assert (whole["lean_low"], whole["lean_high"]) == pytest.approx(
        (100 * row["lean_low"], 100 * row["lean_high"])
    )
    assert [one["lean"].split(" (")[0] for one in [whole, *evals]] == ["leans up"] * 5
    assert "; leans up by borrowed noise" in title_of(chart)
    assert "Dashed line: what too few runs lean to" in subtitle_of(chart)
    (dashed,) = [
        node
        for node in walk(spec_of(chart))
        if isinstance(node.get("mark"), dict) and node["mark"].get("strokeDash") == [4, 3]
    ]
    assert dashed["encoding"]["color"] == {"value": SOFT}
    assert "Dashed" not in subtitle_of(forest(rated(SIX)))


def test_the_title_of_a_forest_is_the_verdict_and_its_colour_too() -> None:
    title = title_of(forest(rated(SIX)))
    assert title.startswith("with_skill helps on these 6 evals: +30 pp (+")
    assert title.endswith("pass rate; on tasks like these: helps (n = 18 and 18 runs)")
    few = title_of(forest(rated([row for row in SIX if row[0] < "4"])))
    assert "on tasks like these: too few evals" in few
    same = [(name, side, 0.5) for name, side, _ in SIX]
    assert title_of(forest(rated(same))).startswith("Too few runs to say whether with_skill")
    spent = [(name, side, round(value * 1000)) for name, side, value in SIX]
    for rows, metric, word in ((SIX, "pass_rate", "helps"), (spent, "tokens", "uses more tokens")):
        whole = in_order(forest(rated(rows, metric), metric))[0]
        assert (whole["verdict"], whole["decided"]) == (word, word)


def test_what_is_not_decided_is_grey_and_says_why() -> None:
    chart = forest(rated(SIX))
    evals = in_order(chart)[1:]
    assert {row["decided"] for row in evals} == {"not decided"}
    assert texts_of(chart).count("too few runs") == 6
    assert all("comes by luck in 10 %" in row["reason"] for row in evals)


def test_dimensions_have_a_row_each() -> None:
    ws = world(evals=6, runs=3, dimensions=4)
    chart = forest(ws, by="dimension")
    names = stats.deltas_by_dimension(ws)["dimension"].to_list()
    assert [row["label"] for row in in_order(chart)] == names
    assert "of 4 rubric dimensions" in title_of(chart)
    assert "points" in str(spec_of(chart))
    with pytest.raises(ValueError, match="Did you mean `dimension`"):
        forest(ws, by="dimensions")  # type: ignore[arg-type]


def test_two_iterations_are_named_above_each_configuration() -> None:
    ws = world(evals=6, runs=2, iterations=2)
    texts = texts_of(forest(ws, versus=("iteration-2", "iteration-1")))
    assert {f"{side}: iteration-2 against iteration-1" for side in SIDES} <= set(texts)


def test_of_many_evals_a_forest_shows_those_with_the_largest_deltas() -> None:
    chart = forest(world(evals=100, runs=2))
    assert len(in_order(chart)) == 41
    assert "60 more evals" in subtitle_of(chart)


def test_an_interval_that_is_cut_off_has_an_arrow() -> None:
    """The axis holds the interval over all evals; those of single ones go on beyond it."""
    for rows, cut in ((SIX[:6], []), (SIX, [f"eval-{at}" for at in range(1, 7)])):
        chart = forest(rated(rows))
        arrows = {row["label"]: row for row in rows_of(chart, "cut")}
        assert sorted(arrows) == cut
        assert all(row["cut"] < row["high"] for row in arrows.values())
        assert ("Arrow: the interval goes on" in subtitle_of(chart)) == bool(cut)


def steps(*rates, workspaces=("w",), names=None):
    """A workspace of a run an iteration and side: (0.5, 0.25), (0.6, None)."""
    names = names or [f"iteration-{at}" for at in range(1, len(rates) + 1)]
    return workspace(
        runs=[
            run_keys(workspace=place, iteration=name, configuration=side)
            | {"pass_rate": rate, "status": "graded", "path": "."}
            for place in workspaces
            for name, both in zip(names, rates, strict=True)
            for side, rate in zip(SIDES, both, strict=True)
            if rate is not None
        ]
    )


def test_points_are_the_means_of_an_iteration_s_runs_with_n_and_no_error_bars() -> None:
    ws = world(evals=3, runs=2, iterations=3)
    chart = iterations(ws)
    points = {
        (row["configuration"], row["iteration"], round(row["mean"], 9), row["n"])
        for row in rows_of(chart, "iteration", "mean")
    }
    assert points == {
        (side, f"iteration-{step}", round(fmean(own[column]), 9), 6)
        for side in SIDES
        for step in (1, 2, 3)
        for column in ("pass_rate", "rubric_weighted_mean")
        if (own := ws.runs.filter(iteration=f"iteration-{step}", configuration=side)).height
    }
    assert sum("n\xa06" in text for text in texts_of(chart)) == 2 * 2 * 3
    assert marks_of(chart) == {"line", "circle", "text"}


@pytest.mark.parametrize(
    ("ws", "title"),
    [
        (steps((0.5, 0.5), (0.9, 0.5), (0.75, 0.5)),
         ("with_skill: the pass rate rises from 50% in ‘iteration-1’ to 75% in ‘iteration-3’ "
         "(n = 1 and 1 run)")),
        (steps((0.5, 0.5), (0.9, 0.5), (0.25, 0.5)),
         ("with_skill: the pass rate falls from 50% in ‘iteration-1’ to 25% in ‘iteration-3’ "
         "(n = 1 and 1 run)")),
        (steps((0.5, 0.5), (0.5, 0.5)),
         ("with_skill: the pass rate is 50% in ‘iteration-2’ as it was in ‘iteration-1’ "
         "(n = 1 and 1 run)")),
        (steps((0.5, 0.5)),
         "with_skill has a pass rate of 50% in its only iteration (n = 1 run)"),
        (steps((0.5, 0.5), (0.6, 0.5), workspaces="ab"),
         ("The pass rate rises in 2 of 2 workspaces from the first to the last iteration "
         "(n = 2 runs in the last)")),
        (steps((0.5, 0.5), workspaces="ab"),
         "2 workspaces with a pass rate in one iteration each (n = 2 runs)"),
        (workspace(runs=[
            run_keys(iteration=step, status="graded", path=".", rubric_normalized=score)
            for step, score in (("a", 0.5), ("b", 0.8))]),
         "with_skill: the rubric score rises from 2.50 in ‘a’ to 4.00 in ‘b’ (n = 1 and 1 run)"),
    ],
    ids=["rises", "falls", "stays", "one", "workspaces", "workspaces of one", "a rubric alone"],
)  # fmt: skip
def test_the_title_leads_from_the_first_iteration_to_the_last(ws, title) -> None:
    assert title_of(iterations(ws)) == title


def test_iterations_run_in_natural_order_and_a_lacking_side_breaks_the_line() -> None:
    names = [f"iteration-{at}" for at in (10, 9, 2, 1)]
    chart = iterations(steps((0.5, 0.5), (0.6, None), (0.7, 0.4), (0.7, 0.4), names=names))
    rows = rows_of(chart, "iteration", "mean")
    ordered = sorted({(row["x"], row["iteration"]) for row in rows})
    assert [name for _, name in ordered] == [f"iteration-{at}" for at in (1, 2, 9, 10)]
    gaps = [(row["configuration"], row["iteration"]) for row in rows if row["mean"] is None]
    assert gaps == [("without_skill", "iteration-9")]
    assert sum("n\xa01" in text for text in texts_of(chart)) == 7
    assert set(axes_of(chart)) == {"pass rate (%)"}  # no panel of a rubric that nobody has


def test_workspaces_are_never_mixed() -> None:
    assert set(headings_of(iterations(steps((0.5, 0.4), workspaces="ab")))) == {"a", "b"}


def test_other_evals_in_another_iteration_are_named() -> None:
    rows = steps((0.5, None), (0.5, None)).runs.to_dicts()
    assert "do not hold the same evals" not in subtitle_of(iterations(workspace(runs=rows)))
    rows[1] |= {"eval_id": "1"}
    assert "do not hold the same evals" in subtitle_of(iterations(workspace(runs=rows)))


def test_long_histories_show_the_last_iterations_and_say_so() -> None:
    chart = iterations(steps(*[(0.5, 0.4)] * 30))
    shown = {row["iteration"] for row in rows_of(chart, "iteration", "mean")}
    assert shown == {f"iteration-{at}" for at in range(23, 31)}
    assert "The last 8 iterations are shown" in subtitle_of(chart)
    assert "in ‘iteration-1’" in title_of(chart)
