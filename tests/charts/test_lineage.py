"""The versions of a skill, drawn: from tables as `sen.improving.history` makes them."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import lineage
from skill_eval_nb.tables import Workspace
from tests.charts.specs import (
    TAGS,
    axes_of,
    drawn,
    headings_of,
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    tags_of,
    texts_of,
    title_of,
    tooltips_of,
)
from tests.charts.worlds import HOSTILE, run_keys, workspace


def version(name, mean, parent=None, result="tie", **more):
    """A row of the table of versions; a tie with an interval of ten points unless told."""
    number = int(name[1:]) + 1
    known = {"workspace": "w", "skill": "s", "metric": "pass_rate", "n_evals": 6, "n_runs": 18}
    known |= {"version": name, "iteration": f"iteration-{number}", "parent": parent}
    known |= {"mean": mean, "expectation_pass_rate": mean, "estimate": None, "low": None}
    known |= {"high": None, "grading_result": result, "reason": "as planted"}
    changed = {"what_changed": "SKILL.md +3 −1 lines", "lines_added": 3, "lines_removed": 1}
    known |= {"is_current_best": False} | (changed if parent else dict.fromkeys(changed))
    return known | more


def against(parent, estimate, spread=0.05):
    """What a version has against its parent."""
    ends = {"low": estimate - spread, "high": estimate + spread}
    return {"parent": parent, "estimate": estimate} | ends


def table(*rows):
    return pl.DataFrame(list(rows), infer_schema_length=None)


WON = table(
    version("v0", 0.3, result="baseline"),
    version("v1", 0.8, result="won", is_current_best=True, **against("v0", 0.5)),
    version("v2", 0.82, result="tie", **against("v1", 0.02)),
    version("v3", 0.4, result="lost", **against("v1", -0.4)),
)


def with_later(number):
    first = version("v0", 0.5, result="baseline", is_current_best=True)
    others = [version(f"v{n}", 0.6, **against("v0", 0.1, 0.2)) for n in range(1, number + 1)]
    return table(first, *others)


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        (WON, "‘v1’ is the best of 4 versions: +50 pp against ‘v0’, pass rate 80% (n = 18 runs of"),
        (with_later(0), "There is one version, ‘v0’: pass rate 50%"),
        (with_later(1), "The later version does not beat ‘v0’: pass rate 50%"),
        (with_later(3), "None of 3 later versions beats ‘v0’: pass rate 50%"),
    ],
)
def test_the_title_names_the_best_or_says_that_none_is_better(versions, says):
    assert title_of(lineage(versions)).startswith(says)


def test_points_bars_and_dashes_are_where_the_figures_say():
    rows = {row["key"]: row for row in rows_of(lineage(WON), "before", "low", "value")}
    one = rows["v1"]
    assert (one["value"], one["before"]) == (0.8, pytest.approx(0.3))
    assert (one["low"], one["high"]) == (pytest.approx(0.75), pytest.approx(0.85))
    places = [rows[name]["x"] for name in ("v0", "v1", "v2", "v3")]
    assert places == sorted(set(places))


def test_lines_lead_from_parents():
    links = {(row["value"], row["end"]) for row in rows_of(lineage(WON), "to", "end")}
    assert links == {(0.3, 0.8), (0.8, 0.82), (0.8, 0.4)}


def test_an_interval_is_cut_off_where_the_metric_ends():
    first = version("v0", 0.9, result="baseline")
    chart = lineage(table(first, version("v1", 0.95, **against("v0", 0.05, 0.3))))
    (one,) = [row for row in rows_of(chart, "low", "high", "key") if row["low"] is not None][:1]
    assert (one["low"], one["high"]) == (pytest.approx(0.65), 1.0)


def test_results_are_told_by_shape_and_colour_and_word():
    chart = lineage(WON)
    assert marks_of(chart) >= {"point", "rule", "tick", "text"}
    written = texts_of(chart)
    assert [written.count(word) for word in ("baseline", "won", "tie", "lost", "best")] == [1] * 5
    assert {"v0", "v3", "+50 pp", "+3 −1 lines", "n 18", "iteration-2"} <= {
        one.replace("\xa0", " ") for one in written
    }
    assert axes_of(chart) == ["pass rate (%)"] * len(axes_of(chart))
    assert {"What changed", "Why", "Made from"} <= tooltips_of(chart)


def test_a_version_without_a_figure_is_named_and_not_drawn():
    rows = [
        version("v0", 0.5, result="baseline", is_current_best=True),
        version("v1", None, "v0", None),
    ]
    chart = lineage(table(*rows))
    assert {"no figure", "not compared"} <= set(texts_of(chart))
    assert not rows_of(chart, "to", "end")
    assert not [one for one in rows_of(chart, "key", "low") if one["low"] is not None]


def test_many_versions_are_cut_to_the_last():
    rows = [version("v0", 0.1, result="baseline", is_current_best=True)]
    rows += [version(f"v{n}", 0.2, **against(f"v{n - 1}", 0.1)) for n in range(1, 30)]
    chart = lineage(table(*rows))
    written = texts_of(chart)
    assert "v29" in written
    assert "v5" not in written
    assert "The last 8 versions are shown." in subtitle_of(chart)
    assert float(drawn(chart).attrib["width"]) <= 1000


def test_several_skills_are_panels():
    other = WON.with_columns(workspace=pl.lit("x"))
    chart = lineage(pl.concat([WON, other]))
    assert set(headings_of(chart)) == {"w", "x"}
    assert title_of(chart) == "A version that won is the best in 2 of 2 skills"


def test_what_a_history_states_is_drawn_and_said_to_be_stated():
    stated = WON.select(
        "workspace", "skill", "version", "parent", "grading_result", "is_current_best",
        expectation_pass_rate="mean",
    )  # fmt: skip
    ws = Workspace.from_tables({"history": stated})
    assert title_of(lineage(ws)) == "‘v1’ is the best of 4 versions: pass rate 80%"
    assert subtitle_of(lineage(ws)).startswith("As history.json states it")
    assert marks_of(lineage(ws)).isdisjoint({"tick"})
    assert title_of(lineage(ws.table("history"))) == title_of(lineage(ws))


def test_pandas_and_polars_draw_the_same():
    assert spec_of(lineage(WON.to_pandas())) == spec_of(lineage(WON))


def test_nothing_says_why():
    assert title_of(lineage(WON.clear())) == "No version to show"
    assert rows_of(lineage(workspace()), "line")[0]["line"].startswith("There are no runs")
    bare = workspace(runs=[run_keys(status="graded", path=".")])
    assert rows_of(lineage(bare), "line")[0]["line"].startswith("There is no history.json")


names = st.text(max_size=30)


@settings(max_examples=8, deadline=None)
@given(names, names, names, st.none() | st.floats(-1, 2))
@example(*HOSTILE[:3], math.nan)
@example(*HOSTILE[3:6], 0.5)
def test_any_name_and_figure_can_be_drawn(one, other, text, mean):
    rows = [
        version("v0", 0.5, version=one, skill=text, result="baseline"),
        version("v1", mean, **against(one, 0.1) | {"version": other, "what_changed": text}),
    ]
    chart = lineage(table(*rows).with_columns(pl.lit(text).alias("reason")))
    assert tags_of(chart) <= TAGS
