from __future__ import annotations

import polars as pl
import pytest

from skill_eval_nb import stats
from skill_eval_nb.charts import plan_curve
from skill_eval_nb.tables import TABLES, Workspace
from tests.charts.specs import (
    axes_of,
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
    walk,
)
from tests.charts.worlds import world

WORLD = world(evals=8, runs=3, judgings=2)
ASSUMED = {"eval": 0.64, "run": 0.25, "judge": 0.16}


def axes(chart):
    """The titles of its axes, each once."""
    return list(dict.fromkeys(axes_of(chart)))


BASE = {
    "workspace": "w",
    "skill": "s",
    "iteration": "i",
    "executor_model": None,
    "harness": None,
    "metric": "pass_rate",
    "configuration": "with_skill",
    "baseline": "without_skill",
    "scope": "population",
    "n_evals": 10,
    "n_runs": 3,
    "n_judgings": 1,
    "wanted": 0.2,
    "se": 0.06,
    "mde": 0.19,
    "price_usd": 6.0,
    "seconds": 600.0,
    "chosen": True,
    "changed": None,
    "note": "",
}
UNPAID = {"price_usd": None, "seconds": None}
CLARITY = {"metric": "rubric:Clarity"}
MEAN = CLARITY | {"mde": None, "baseline": None}
NEVER = {"chosen": False}
UNSURE = NEVER | {"mde": None}
ASSUMED_ONLY = NEVER | {"configuration": "", "baseline": ""}


def curve(*rows):
    """A plan of these rows, as `stats.plan` would give it."""
    return plan_curve(pl.DataFrame([BASE | row for row in rows], infer_schema_length=None))


@pytest.mark.parametrize(
    ("rows", "cost", "sharpness"),
    [
        ([{}], "price (US$)", "smallest detectable effect (%)"),
        ([{"price_usd": None}], "time, one run after the other (s)", None),
        ([{"price_usd": None, "seconds": 7200.0}], "time, one run after the other (h)", None),
        ([UNPAID], "runs a side (number)", None),
        ([UNPAID, UNPAID | {"changed": "judgings"}], "runs and judgings a side (number)", None),
        ([CLARITY], None, "smallest detectable effect (1–5)"),
        ([{"metric": "time_seconds"}], None, "smallest detectable effect (s)"),
        ([{"metric": None}], None, "smallest detectable effect"),
        ([{"mde": None}, {"changed": "evals"}], None, "smallest detectable effect (%)"),
        ([{"mde": None}], None, "standard error (%)"),
    ],
)
def test_axes_name_what_is_known_best(rows, cost, sharpness) -> None:
    found = axes(curve(*rows))
    assert cost in (found[0], None)
    assert sharpness in (found[1], None)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{}], "10 evals × 3 runs would find a difference of 20 pp, for $6.00 (with_skill against"),
        ([{}], "(with_skill against without_skill, n = 10 evals × 3 runs)"),
        ([MEAN], "10 evals × 3 runs would have a standard error of at most 0.20 points, for $6.00"),
        ([MEAN], "(with_skill, n = 10 evals × 3 runs)"),
        ([{"n_evals": 1}], "1 eval × 3 runs would"),
        ([{}, {"changed": "judgings"}], "10 evals × 3 runs × 1 judging would"),
        ([{"metric": "time_seconds", "wanted": 12.0}], "find a difference of 12.0 s,"),
        ([{"metric": None, "wanted": 0.12345}], "find a difference of 0.123,"),
        ([NEVER], "a difference of 20 pp; what was run finds 19 pp at the least (with_skill"),
        ([UNSURE], "error of 20 pp; what was run has 6 pp (with_skill"),
        ([ASSUMED_ONLY], "20 pp; the largest of them finds 19 pp at the least (assumed"),
        ([UNSURE, {"changed": "evals"}], "; from what was run, nothing can be claimed (with_skill"),
    ],
)
def test_the_title_says_what_a_design_finds_and_where_none_will_do_how_far_it_gets(
    rows, says
) -> None:
    title = title_of(curve(*rows))
    assert says in title
    assert title.startswith("No design within the limits would") == (
        not {**BASE, **rows[0]}["chosen"]
    )


MORE = [
    {},
    {"changed": "evals", "n_evals": 11, "mde": 0.18, "price_usd": 6.6},
    {"changed": "evals", "n_evals": 12, "mde": 0.17, "price_usd": 7.2},
    {"changed": "runs", "n_runs": 2, "mde": 0.25, "price_usd": 4.0},
    {"changed": "judgings", "n_judgings": 2, "mde": 0.185, "price_usd": 6.25},
]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            MORE,
            "The smallest detectable effect goes from 19 pp with one more eval to 18 pp (+$0.60)",
        ),
        (MORE, "to 18 pp (+$0.60) and one more judging of each output to 18.5 pp (+$0.25)."),
        ([UNPAID, MORE[1] | UNPAID], "one more eval to 18 pp (+3 runs)."),
        (MORE[:1], None),
        ([UNSURE, MORE[1]], None),
    ],
)
def test_the_subtitle_says_what_one_more_of_each_adds(rows, says) -> None:
    said = subtitle_of(curve(*rows))
    assert says in said if says else "one more" not in said


def test_curves_are_the_plan_s() -> None:
    chart = plan_curve(WORLD, effect=0.2)
    planned = stats.plan(WORLD, effect=0.2).to_dicts()
    points = rows_of(chart, "more", "end", "x")
    of_evals = sorted(row["price_usd"] for row in planned if row["changed"] in (None, "evals"))
    drawn_at = {point["x"] for point in points if point["more"] == "more evals"}
    assert sorted(drawn_at) == pytest.approx(of_evals)
    starts = [point for point in points if point["lever"] == ""]
    assert {point["y"] for point in starts} == {planned[0]["mde"]}
    assert {"line", "circle", "point", "rule", "text"} <= marks_of(chart)
    assert {"Design", "price (US$)"} <= tooltips_of(chart)
    assert "chosen" in " ".join(texts_of(chart))
    timed = plan_curve(WORLD, "Clarity", target_se=0.3, seconds_per_judging=10)
    assert axes(timed) == ["time, one run after the other (s)", "standard error (1–5)"]
    assert title_of(timed).startswith("2 of 2 plans")


def test_what_no_design_reaches_is_said() -> None:
    chart = plan_curve(WORLD, effect=0.001)
    title = title_of(chart)
    assert title.startswith("No design within the limits would find a difference of 0.1 pp")
    assert "what was run finds" in title
    assert not any("chosen:" in text for text in texts_of(chart))
    coarse = plan_curve(WORLD, effect=3.0)
    [top] = {
        node["y"]["scale"]["domain"][1]
        for node in walk(spec_of(coarse))
        if "domain" in node.get("y", {}).get("scale", {})
    }
    assert top > 3, "the line that is wanted lies inside"
    written = " ".join(texts_of(chart)).replace("\xa0", " ")
    assert "as it was run: 8 evals × 3 runs" in written


def test_a_plan_s_own_table_will_do() -> None:
    table = stats.plan(WORLD, effect=0.2)
    assert spec_of(plan_curve(table)) == spec_of(plan_curve(WORLD, effect=0.2))
    assumed = plan_curve(stats.plan(components=ASSUMED, target_se=0.2, max_evals=20))
    assert title_of(assumed).endswith("(assumed variances)")
    assert axes(assumed)[1] == "standard error"
    never = plan_curve(stats.plan(components=ASSUMED, target_se=0.01, max_evals=20))
    assert "the largest of them has" in title_of(never)


def test_several_plans_stand_below_each_other() -> None:
    chart = plan_curve(WORLD, None, effect=1.0)
    assert title_of(chart).startswith("3 of 3 plans reach what is wanted")
    written = " ".join(texts_of(chart))
    assert all(f"score on ‘{name}’" in written for name in ("Test first", "Clarity", "Edge cases"))
    many = world(evals=6, runs=2, iterations=3, dimensions=0)
    both = plan_curve(many, effect=0.5, iteration=["iteration-1", "iteration-2"])
    assert {"iteration-1", "iteration-2"} <= {text.split(" · ")[0] for text in texts_of(both)}


@pytest.mark.parametrize("sides", [("with_skill",), ("red", "blue")])
def test_nothing_to_plan_says_why(sides) -> None:
    chart = plan_curve(world(configurations=sides))
    assert title_of(chart) == "No design to show"
    assert "Nothing to compare" in rows_of(chart, "line")[0]["line"]
    empty = plan_curve(Workspace.from_tables({}))
    assert rows_of(empty, "line")[0]["line"].startswith("There are no runs")


def test_pandas_and_polars_draw_the_same() -> None:
    pandas = Workspace.from_tables({name: WORLD.polars(name) for name in TABLES}, backend="pandas")
    assert spec_of(plan_curve(pandas, effect=0.2)) == spec_of(plan_curve(WORLD, effect=0.2))
    with pytest.raises(ValueError, match="Did you mean `iteration-1`"):
        plan_curve(WORLD, iteration="iteration-l")
