"""What holds for every chart: its title, its look, whose rows it reads, and where names go."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import cache
from itertools import combinations, product

import altair as alt
import polars as pl
import pytest
import vl_convert
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skill_eval_nb import charts
from skill_eval_nb.charts.theme import (
    BASELINE,
    FURTHER,
    WITH_SKILL,
    chart_of,
    colours,
    inline_rows,
)
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.columns import to_pandas
from tests.charts.made import ASKED, FOUND, WON
from tests.charts.specs import (
    LAB,
    TAGS,
    drawn,
    fields_of,
    headings_of,
    rows_of,
    spec_of,
    tags_of,
    texts_of,
    title_of,
    walk,
)
from tests.charts.worlds import HOSTILE, models, run_keys, world
from tests.checkout import ROOT
from tests.stats.made import attempts
from tests.tables.made import workspace

TABLE = {
    charts.rubric_dimensions: "rubric_scores",
    charts.deltas: "runs",
    charts.iterations: "runs",
    charts.expectation_matrix: "expectations",
    charts.quality_against_cost: "runs",
    charts.discrimination: "expectations",
    charts.forest: "runs",
    charts.score_distributions: "rubric_scores",
    charts.variance_components: "rubric_scores",
    charts.judge_confusion: "rubric_scores",
}
"""Each chart of runs and judgings, and the table that is enough for it."""
CHOOSING = [chart for chart in TABLE if chart is not charts.iterations]
every = pytest.mark.parametrize("chart", TABLE, ids=lambda chart: chart.__name__)

WORLDS = {
    "light": world(judgings=2),
    "heavy": world(evals=12, runs=4, dimensions=8, expectations=17, judgings=2),
    "many": world(
        evals=4,
        runs=2,
        iterations=3,
        configurations=("with_skill", "old_skill", "without_skill"),
        workspaces=("tdd", "review"),
    ),
    "nobody knows the baseline": world(evals=2, configurations=("red", "blue")),
}


LIGHT = WORLDS["light"]
ODD = pl.lit(HOSTILE[0]).alias("skill"), pl.lit(HOSTILE[1]).alias("description")
ODD_TEXTS = {"query": HOSTILE[1], "instead": HOSTILE[2], "reason": HOSTILE[3]}
ODD_TEXTS |= {"tags": [HOSTILE[4]], "opened": [HOSTILE[0]]}
ODDLY_ASKED = pl.concat([ASKED, attempts((True, "tne", ODD_TEXTS))]).with_columns(ODD[1])
ODDLY_WON = WON.with_columns(
    pl.col("version", "parent").str.replace("v", HOSTILE[2], literal=True),
    reason=pl.lit(HOSTILE[0]),
)
OTHERS = {
    "trigger rates": lambda: charts.trigger_rates(ODDLY_ASKED),
    "trigger confusion": lambda: charts.trigger_confusion(ODDLY_ASKED),
    "trigger rounds": lambda: charts.trigger_rounds(FOUND.with_columns(ODD)),
    "lineage": lambda: charts.lineage(WON),
    "lineage of odd names": lambda: charts.lineage(ODDLY_WON),
    "models of odd names": lambda: charts.factors(models(**dict.fromkeys(HOSTILE[:5], 0.2))),
    "a plan": lambda: charts.plan_curve(WORLDS["heavy"], effect=0.2),
    "a plan with odd names": lambda: charts.plan_curve(
        world(7, 2, names=HOSTILE, configurations=(HOSTILE[0], "without_skill")), effect=0.3
    ),
}
"""Charts of other figures than those of runs and judgings."""


@cache
def drawing(chart, name):
    return spec_of(OTHERS[name]() if chart is None else chart(WORLDS[name]))


@pytest.mark.parametrize(
    ("chart", "name"),
    [*product(TABLE, [*WORLDS][1:]), *((None, name) for name in OTHERS)],
    ids=lambda one: one if one is None or isinstance(one, str) else one.__name__,
)
def test_a_chart_draws_in_a_notebook_without_a_warning_and_says_n(chart, name, capfd) -> None:
    spec = drawing(chart, name)
    vl_convert.vegalite_to_vega(spec, vl_version=LAB, show_warnings=True)
    assert tags_of(spec) <= TAGS
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
    if name in ("heavy", "many", *OTHERS):
        assert float(drawn(spec).attrib["width"]) <= 1000
    if chart is None:
        return
    title = title_of(spec)
    assert "n = " in title or title.startswith("No ") or "none has a baseline" in title
    assert spec["description"].replace("\xa0", " ") == title
    assert not [node for node in walk(spec) if "values" in node.get("data", {})]
    inlined = [str(rows) for rows in spec["datasets"].values()]
    assert len(inlined) == len(set(inlined))


@every
def test_nothing_is_a_small_chart_that_says_why(chart) -> None:
    empty = chart(workspace())
    assert title_of(empty).startswith("No ")
    assert rows_of(empty, "line")[0]["line"].startswith("There are no runs")
    assert float(drawn(empty).attrib["height"]) < 120
    bare = workspace(runs=[run_keys(status="errored", path=".", run_number=n) for n in (1, 2)])
    why = rows_of(chart(bare), "line")[0]["line"]
    assert "2 runs" in why or "o baseline" in why
    alone = rows_of(chart(bare.polars(TABLE[chart])), "line")[0]["line"]
    assert alone.startswith("No row of the table has a") or "o baseline" in alone


@every
def test_any_kind_of_table_draws_the_same_and_large_ones_are_aggregated(chart) -> None:
    pandas = Workspace.from_tables({name: LIGHT.polars(name) for name in TABLES}, backend="pandas")
    assert spec_of(chart(pandas)) == drawing(chart, "light")
    for given_one in (own := LIGHT.polars(TABLE[chart]), to_pandas(own)):
        assert title_of(chart(given_one)) == title_of(drawing(chart, "light"))
    rows = spec_of(chart(several("large")))["datasets"].values()
    assert sum(map(len, rows)) <= 5000


@cache
def several(name: str) -> Workspace:
    """Two iterations of which the second has nothing to draw, or very many runs."""
    if name == "large":
        return world(evals=300, runs=10, dimensions=1, expectations=1)
    bare = [run_keys(iteration="iteration-2", status="errored", path=".")]
    tables = {table: LIGHT.polars(table) for table in ("runs", "rubric_scores", "expectations")}
    tables["runs"] = tables["runs"].vstack(workspace(runs=bare).polars("runs"))
    return Workspace.from_tables(tables)


@pytest.mark.parametrize("chart", CHOOSING, ids=lambda chart: chart.__name__)
def test_the_last_iteration_with_something_to_draw_is_drawn_unless_another_is_named(chart) -> None:
    assert title_of(chart(several("bare"), iteration="iteration-2")).startswith("No ")
    assert title_of(chart(several("bare"))) == title_of(chart(LIGHT, iteration="iteration-1"))
    with pytest.raises(ValueError, match="Did you mean `iteration-1`") as raised:
        chart(LIGHT, iteration="iteration-l")
    assert "iteration-l" in str(raised.value)


@pytest.mark.parametrize(
    ("places", "iteration", "headings"),
    [
        ([("w", "s", "none")], None, set()),
        ([("w", "s", "1"), ("w", "s", "2"), ("w", "s", "none")], ["none", "1"],
         {"1", "(no iteration)"}),
        ([("a", "s", "1"), ("a", "s", "2"), ("b", "s", "1")], None, {"a · 2", "b · 1"}),
        ([("a", "s", "1"), ("a", "t", "1"), ("b", "u", "1")], None, {"a · s", "a · t", "b"}),
    ],
    ids=["one part", "several iterations", "the last of each workspace", "several skills"],
)  # fmt: skip
def test_a_part_s_heading_names_what_tells_it_from_the_others(places, iteration, headings) -> None:
    figures = {"status": "graded", "path": ".", "pass_rate": 0.5, "tokens": 9}
    keys = [dict(zip(("workspace", "skill", "iteration"), one, strict=True)) for one in places]
    ws = workspace(runs=[run_keys(**own) | figures for own in keys])
    assert set(headings_of(charts.quality_against_cost(ws, iteration=iteration))) == headings


def test_no_grammar_of_addresses_is_loaded_for_a_chart() -> None:
    program = (
        "import sys, skill_eval_nb as sen\n"
        "from importlib.util import find_spec\n"
        "chart = sen.charts.deltas(sen.load(sys.argv[1])).to_dict()\n"
        "print([name for name in ('lark', 'rfc3987_syntax', 'altair') if name in sys.modules])\n"
        "assert find_spec('rfc3987_syntax')  # which may still be imported"
    )
    command = [sys.executable, "-c", program, ROOT / "data" / "tdd-workspace"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['altair']"


def test_a_specification_is_that_of_altairs_own_charts() -> None:
    """Ours are not copied each time they stand in another, and stay as they were."""

    def together(one: alt.Chart) -> alt.VConcatChart:
        marks = one.mark_circle(size=50).encode(x="a:Q", y=alt.Y("b:Q", axis=alt.Axis(title="B")))
        rules = one.mark_rule().encode(x="a:Q")
        return alt.vconcat(alt.hconcat(alt.layer(marks, rules), alt.layer(rules, marks)), marks)

    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 5}]
    assert spec_of(together(chart_of(rows))) == spec_of(together(alt.Chart(inline_rows(rows))))
    leaf, other = (chart_of(rows).mark_point().encode(x="a:Q") for _ in range(2))
    leaf = leaf.add_params(alt.selection_point(name="it"))
    before = leaf.to_dict()
    assert "params" in alt.vconcat(alt.layer(leaf, other), other).to_dict()
    assert leaf.to_dict() == before


names = st.text(max_size=40)


def named(eval_name, configuration, dimension, iteration, text):
    """A workspace with the names in every place where a file can put one."""
    made = {"runs": [], "rubric_scores": [], "expectations": []}
    for side in (configuration, "without_skill" if configuration != "without_skill" else "x"):
        keys = run_keys(workspace=text, skill=dimension, iteration=iteration)
        keys |= {"eval_id": eval_name, "eval_name": eval_name, "configuration": side}
        known = {"pass_rate": 0.5, "time_seconds": 3.0, "tokens": 5, "path": text}
        made["runs"].append(keys | known | {"status": "graded", "rubric_normalized": 0.6})
        score = {"dimension": dimension, "score": 3.0, "weight": 1.0, "evidence": text}
        made["rubric_scores"] += [
            keys | score | {"judging": at, "judge_model": name}
            for at, name in enumerate((text, configuration), 1)
        ]
        check = {"layer": "judged", "text": text, "passed": True, "evidence": text}
        made["expectations"].append(keys | check)
    return workspace(**made)


@every
@settings(max_examples=max(settings.default.max_examples // 15, 1))  # drawing takes half a second
@given(names, names, names, names, names)
@example(*HOSTILE[:5])
@example(*HOSTILE[3:])
@example("🎉" * 37, "a" + "🎉" * 30, "𐀀" * 40, "i", "🎉" * 500)
@example("\x00\ud7ff\ufffe\uffff\x1b[0m", "￼|", "1|.2f", "9" * 5000, "]]>")
def test_any_name_can_be_drawn(chart, eval_name, configuration, dimension, iteration, text) -> None:
    spec = spec_of(chart(named(eval_name, configuration, dimension, iteration, text)))
    assert tags_of(spec) <= TAGS


PATHS = ("a.b", "a[0]", "a:Q", "a\\b", "datum.a", "toString", "<script>alert(1)</script>")


@every
def test_fields_are_ours_and_names_are_drawn_as_they_are(chart) -> None:
    """Those that look like paths or markup; long ones are cut, but not in the tooltip."""
    sides = (HOSTILE[0], "without_skill")
    hostile = world(evals=8, judgings=2, names=HOSTILE, configurations=sides)
    assert fields_of(chart(hostile)) == fields_of(chart(world(evals=8, judgings=2)))
    if chart is charts.deltas:
        long = "a-long-name-" * 6
        odd = chart(world(8, names=(*PATHS, long), configurations=("a.b[0]:Q", "without_skill")))
        written = texts_of(odd)
        assert [written.count(name) for name in (*PATHS, long)] == [1] * len(PATHS) + [0]
        assert any(text.startswith("a-long-name-") and text.endswith("…") for text in written)
        assert long in {row["eval"] for row in rows_of(odd, "eval")}
        assert {row["configuration"] for row in rows_of(odd, "configuration")} == {
            *("a.b[0]:Q", "without_skill")
        }


# Viénot, Brettel and Mollon (1999): linear RGB as a dichromat sees it.
DICHROMATS = {
    "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
}


def seen(colour, matrix):
    """The colour in CIELAB as seen through the matrix."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    red, green, blue = (sum(m * p for m, p in zip(row, linear, strict=True)) for row in matrix)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("matrix", DICHROMATS.values(), ids=DICHROMATS)
def test_colours_are_apart_for_colour_blind_readers(matrix) -> None:
    every_one = [seen(colour, matrix) for colour in (WITH_SKILL, BASELINE, *FURTHER)]
    assert math.dist(*every_one[:2]) > 60  # some 10 is what one sees at a glance
    assert min(math.dist(*pair) for pair in combinations(every_one, 2)) > 10


@given(st.lists(st.text(max_size=8), unique=True, max_size=12), st.data())
def test_a_configuration_keeps_its_colour_whichever_others_are_shown(labels, data) -> None:
    against = labels[:1]
    some = data.draw(st.lists(st.sampled_from(labels), unique=True)) if labels else []
    whole, part = colours(labels, against, labels), colours(labels, against, some)
    assert set(part) == set(some)
    assert all(whole[name] == part[name] for name in some)
    assert all(whole[name] == BASELINE for name in against)
    assert BASELINE not in [whole[name] for name in labels[1:]]
