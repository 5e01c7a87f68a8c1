from __future__ import annotations

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


def test_curves_are_the_plan_s() -> None:
    chart = plan_curve(WORLD, effect=0.2)
    planned = stats.plan(WORLD, effect=0.2).to_dicts()
    points = rows_of(chart, "more", "end", "x")
    of_evals = sorted(row["price_usd"] for row in planned if row["changed"] in (None, "evals"))
    drawn_at = {point["x"] for point in points if point["more"] == "more evals"}
    assert sorted(drawn_at) == pytest.approx(of_evals)
    base = planned[0]
    starts = [point for point in points if point["lever"] == ""]
    assert {point["y"] for point in starts} == {base["mde"]}
    assert {"line", "circle", "point", "rule", "text"} <= marks_of(chart)
    assert {"Design", "price (US$)"} <= tooltips_of(chart)


def test_the_title_names_the_design_and_its_price() -> None:
    base = stats.plan(WORLD, effect=0.2).to_dicts()[0]
    title = title_of(plan_curve(WORLD, effect=0.2))
    runs = "run" if base["n_runs"] == 1 else "runs"
    assert title == (
        f"{base['n_evals']} evals × {base['n_runs']} {runs} would find a difference of 20 pp, for "
        f"${base['price_usd']:,.2f} (with_skill against without_skill, n = 8 evals × 3 runs)"
    )
    assert "chosen" in " ".join(texts_of(plan_curve(WORLD, effect=0.2)))


def test_the_subtitle_says_what_one_more_buys() -> None:
    planned = stats.plan(WORLD, effect=0.2).to_dicts()
    base = planned[0]
    more = next(
        row
        for row in planned
        if row["changed"] == "evals" and row["n_evals"] == base["n_evals"] + 1
    )
    said = subtitle_of(plan_curve(WORLD, effect=0.2))
    assert f"one more eval to {more['mde']:.1%}".replace("%", " pp").replace(".0 pp", " pp") in said
    assert f"(+${more['price_usd'] - base['price_usd']:.2f})" in said
    assert "a rough guess" in said


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


def test_axes_name_what_is_known_best() -> None:
    assert axes(plan_curve(WORLD, effect=0.2)) == [
        "price (US$)",
        "smallest detectable effect (%)",
    ]
    assert axes(plan_curve(WORLD, "Clarity", effect=1.0)) == [
        "runs and judgings a side (number)",
        "smallest detectable effect (1–5)",
    ]
    timed = plan_curve(WORLD, "Clarity", target_se=0.3, seconds_per_judging=10)
    assert axes(timed) == ["time, one run after the other (s)", "standard error (1–5)"]
    assert title_of(timed).startswith("2 of 2 plans")


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
