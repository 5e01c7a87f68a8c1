"""Figures part by part: the same as the statistics give of the whole."""

from __future__ import annotations

import math

import polars as pl
import pytest

from skill_eval_nb import stats
from skill_eval_nb.stats.summary import overview, overview_by_eval
from skill_eval_nb.stats.values import values_of
from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.explore import figures
from skill_eval_nb.widgets.explore.choice import Part, within
from tests.charts.worlds import world
from tests.widgets.explore.made import bundled

WS = bundled()
PARTS = [
    Part("tdd-workspace", "testing", (f"iteration-{n}",), "with_skill", "without_skill", ())
    for n in (1, 2)
]
parts = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.iteration)
METRICS = ["pass_rate", "tokens", "rubric:small_steps"]


def whole(rows, part):
    """The rows of a statistic over everything that are of a part."""
    return rows.filter(iteration=part.iteration).to_dicts()


def alike(one, other):
    """Whether two rows say the same, but for rounding."""
    return one.keys() == other.keys() and all(
        math.isclose(value, other[name], rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(value, float) and isinstance(other[name], float)
        else value == other[name]
        for name, value in one.items()
    )


def same(rows, others):
    return len(rows) == len(others) and all(map(alike, rows, others))


@parts
def test_an_iteration_alone_has_the_figures_that_it_has_among_others(part):
    own = within(WS, [part])

    def stated(rows):
        return [row for row in rows if row["iteration"] == part.iteration]

    for found, rows in (
        (figures.headline, overview(WS, others=False)),
        (figures.others, overview(WS, others=True)),
        (figures.headline_by_eval, overview_by_eval(WS, others=False)),
        (figures.others_by_eval, overview_by_eval(WS, others=True)),
    ):
        assert same(found(own, [part], "")[0], stated(rows)), found.__name__
    assert same(figures.dimension_sources(own, [part], "")[0], whole(stats.variance(WS), part))
    assert same(figures.checks(own, [part], "")[0], whole(stats.discrimination(WS), part))
    assert same(figures.summary(own, [part], "")[0], whole(stats.summarize(WS), part))
    assert same(figures.notes(own, [part], "")[0], whole(stats.notes(WS), part))


@parts
@pytest.mark.parametrize("metric", METRICS)
def test_cells_hold_every_run_that_has_the_figure(part, metric):
    own = within(WS, [part])
    found = figures.cells(own, [part], metric)[0]
    every = values_of(own, metric).drop_nulls("value")
    drawn = {
        (*key, name, number): value
        for (key, name), cell in found.items()
        for number, value in cell.runs
    }
    keys = ("eval_id", "eval_name", "configuration", "run_number")
    assert drawn == {tuple(row[key] for key in keys): row["value"] for row in every.to_dicts()}
    assert same(figures.sources(own, [part], metric)[0], whole(stats.variance(WS, metric), part))


def test_many_runs_of_a_cell_are_drawn_as_one():
    ws = world(evals=1, runs=figures.MANY + 1, expectations=5)
    part = Part("tdd-workspace", "tdd", ("iteration-1",), "with_skill", "without_skill", ())
    found = figures.cells(within(ws, [part]), [part], "tokens")[0]
    key = ("0", "writes-the-failing-test-first")
    tokens = sorted(ws.runs.filter(configuration="with_skill")["tokens"])
    cell = found[key, "with_skill"]
    assert cell.runs == ()
    assert cell.n == 21
    assert cell.ends == (tokens[0], tokens[5], tokens[15], tokens[20])
    few = world(evals=1, runs=figures.MANY, expectations=5)
    assert (
        len(figures.cells(within(few, [part]), [part], "tokens")[0][key, "with_skill"].runs) == 20
    )


def test_a_dimension_that_an_iteration_was_not_scored_on_has_no_figures():
    part = PARTS[0]
    own = within(world(dimensions=0), [part])
    for count in (figures.others, figures.others_by_eval):
        assert "rubric:small_steps" not in {row["metric"] for row in count(own, [part], "")[0]}
    assert figures.sources(own, [part], "rubric:small_steps")[0] == []
    assert figures.cells(own, [part], "rubric:small_steps")[0] == {}


def test_parts_counted_together_have_the_figures_that_each_has_alone():
    every = within(WS, PARTS)
    of_metric = [(figures.sources, metric) for metric in METRICS]
    for count, metric in (
        *of_metric,
        (figures.others, ""),
        (figures.checks, ""),
        (figures.notes, ""),
    ):
        alone = [count(within(WS, [part]), [part], metric)[0] for part in PARTS]
        assert all(map(same, count(every, PARTS, metric), alone)), (count, metric)
    for metric in METRICS:
        alone = [figures.cells(within(WS, [part]), [part], metric)[0] for part in PARTS]
        assert figures.cells(every, PARTS, metric) == alone


def test_a_part_without_a_run_of_the_baseline_says_so_among_others():
    sides = pl.col("configuration") == "with_skill"
    tables = {name: WS.polars(name) for name in ("runs", "expectations", "rubric_scores")}
    tables = {
        name: table.filter((pl.col("iteration") != "iteration-1") | sides)
        for name, table in tables.items()
    }
    ws = within(Workspace.from_tables(tables), PARTS)
    first, second = figures.headline_by_eval(ws, PARTS, "")
    assert {row["baseline"] for row in first} == {None}
    assert {row["unpaired"] for row in first} == {
        "no baseline among the configurations: with_skill"
    }
    assert same(second, whole(stats.deltas_by_eval(WS), PARTS[1]))
    verdicts = figures.headline(ws, PARTS, "")
    assert verdicts[0] == []
    assert [row["scope"] for row in verdicts[1]] == ["suite", "population"]
