"""Rates by query, drawn: from attempts whose outcomes are known."""

from __future__ import annotations

import polars as pl
import pytest
import vl_convert
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import trigger_confusion, trigger_rates
from skill_eval_nb.stats import trigger_scores
from skill_eval_nb.tables.frames import to_pandas
from tests.charts.specs import (
    LAB,
    TAGS,
    axes_of,
    headings_of,
    rows_of,
    spec_of,
    subtitle_of,
    tags_of,
    texts_of,
    title_of,
    tooltips_of,
)
from tests.charts.worlds import HOSTILE, workspace
from tests.stats.asked import attempts

ASKED = attempts(
    (True, "ttt", {"query": "fill in this form"}),
    (True, "ttn", {"query": "sign it"}),
    (True, "nnn", {"query": "read it", "instead": "answered at once"}),
    (True, "e--", {"query": "split it", "reason": "timed out"}),
    (False, "nnn", {"query": "what is a form?"}),
    (False, "ttt", {"query": "merge my branches", "tags": ["near miss"]}),
)
ZERO = attempts((True, "nnn"), (False, "nnn"))


def queries_of(chart) -> dict[str, dict]:
    """What is drawn of each query."""
    return {row["query"]: row for row in rows_of(chart, "query", "verdict")}


def test_the_title_has_f1_with_its_interval() -> None:
    row = trigger_scores(ASKED).row(0, named=True)
    ends = f"({row['f1_low']:.2f} to {row['f1_high']:.2f})"
    assert title_of(trigger_rates(ASKED)) == (
        f"F1 0.67 {ends}: 2 of 3 queries trigger that should, 1 of 2 that should not "
        "(n = 15 runs of 5 queries)"
    )


def test_each_query_is_drawn_where_its_rate_is_and_should_be() -> None:
    rows = queries_of(trigger_rates(ASKED))
    assert {name: row["rate"] for name, row in rows.items()} == {
        "fill in this form": 1.0,
        "sign it": pytest.approx(2 / 3),
        "read it": 0.0,
        "split it": None,
        "what is a form?": 0.0,
        "merge my branches": 1.0,
    }
    assert rows["sign it"]["low"] < 2 / 3 < rows["sign it"]["high"]
    wanted = {(row["from"], row["to"]) for row in rows.values()}
    assert wanted == {(0.5, 1.0), (0.0, 0.5)}
    wrong = {name for name, row in rows.items() if row["verdict"] == "not as it should"}
    assert wrong == {"read it", "merge my branches"}


def test_flips_near_misses_and_errors_stand_out() -> None:
    chart = trigger_rates(ASKED)
    rows = queries_of(chart)
    assert [name for name, row in rows.items() if row["kind"] == "flips"] == ["sign it"]
    assert rows["sign it"]["remark"] == "flips"
    assert rows["merge my branches"]["remark"] == "near miss"
    assert rows["split it"]["remark"] == "1 errored · 2 not run"
    assert rows["read it"]["instead"] == "answered at once"
    assert "In no rate: 3 runs that errored or were not made." in subtitle_of(chart)
    assert {"Should trigger", "Should not trigger", "2/3", "flips"} <= set(texts_of(chart))
    assert {"Query", "Instead", "Remarks"} <= tooltips_of(chart)
    assert set(axes_of(chart)) == {"trigger rate (%), 95% interval"}


def test_the_most_wrong_of_each_class_comes_first() -> None:
    rows = sorted(queries_of(trigger_rates(ASKED)).values(), key=lambda row: row["row"])
    expected = ["read it", "sign it", "fill in this form", "split it"]
    assert [row["query"] for row in rows] == [*expected, "merge my branches", "what is a form?"]


@pytest.mark.parametrize("chart", [trigger_rates, trigger_confusion])
def test_a_broken_measurement_is_called_so(chart) -> None:
    assert title_of(chart(ZERO)).startswith("Broken measurement. ")
    assert "No run of 1 query that should trigger did." in subtitle_of(chart(ZERO))


def test_without_negatives_there_is_no_f1_and_it_is_said() -> None:
    of_one, unlabelled = (title_of(trigger_rates(attempts((one, "tt")))) for one in (True, None))
    assert "No F1: 1 of 1 queries trigger that should (n" in of_one
    assert "no query says whether it should trigger" in unlabelled


@pytest.mark.parametrize("chart", [trigger_rates, trigger_confusion])
def test_several_descriptions_are_headed(chart) -> None:
    better = ASKED.with_columns(
        description=pl.lit("better"),
        outcome=pl.when("should_trigger").then(pl.lit("triggered")).otherwise("outcome"),
    )
    both = pl.concat([ASKED.with_columns(description=pl.lit("plain")), better], how="diagonal")
    drawing = chart(both)
    name = "better" if chart is trigger_rates else "plain"
    assert title_of(drawing).startswith(f"‘{name}’ has the ")
    assert {"better", "plain"} <= {text.split(" · ")[0] for text in texts_of(drawing)}


def of(*descriptions: str | None) -> pl.DataFrame:
    """The same queries under several descriptions."""
    return pl.concat(ZERO.with_columns(description=pl.lit(one, pl.String)) for one in descriptions)


def test_one_description_needs_no_heading_and_may_be_unknown() -> None:
    assert "Should trigger" in texts_of(trigger_rates(of(None)))
    headings = {text.split(" · ")[0] for text in texts_of(trigger_rates(of(None, "x")))}
    assert {"description not stated", "x"} <= headings


def test_of_many_descriptions_some_are_shown_and_it_is_said() -> None:
    chart = trigger_rates(of(*map(str, range(9))))
    assert len({row["heading"].split(" · ")[0] for row in rows_of(chart, "heading")}) == 6
    assert "6 of 9 descriptions are shown" in subtitle_of(chart)


def test_many_queries_are_cut_to_the_most_wrong() -> None:
    asked = attempts(*((at % 2 == 0, "tn" if at < 20 else "tt") for at in range(6000)))
    chart = trigger_rates(asked)
    assert len(queries_of(chart)) == 60
    assert "5,940 more queries that are less wrong." in subtitle_of(chart)
    assert sum(map(len, spec_of(chart)["datasets"].values())) < 1000


@pytest.mark.parametrize("chart", [trigger_rates, trigger_confusion])
def test_what_measure_gives_and_pandas_draw_the_same(chart) -> None:
    class Measured:
        def attempts_table(self) -> pl.DataFrame:
            return ASKED

    expected = spec_of(chart(ASKED))
    assert spec_of(chart(Measured())) == expected
    assert spec_of(chart(to_pandas(ASKED))) == expected


@pytest.mark.parametrize("chart", [trigger_rates, trigger_confusion])
def test_nothing_says_why(chart) -> None:
    keys = {"workspace": "w", "skill": "s", "query": "q", "should_trigger": True}
    for data, why in (
        (workspace(), "The workspace holds no trigger query."),
        (workspace(triggers=[keys]), "no file has a result of theirs."),
        (attempts(), "The table holds no trigger query."),
        (attempts((True, "--")), "none was made"),
    ):
        assert title_of(chart(data)) == "No trigger rate to show"
        assert why in " ".join(row["line"] for row in rows_of(chart(data), "line"))


@pytest.mark.parametrize("chart", [trigger_rates, trigger_confusion])
def test_a_workspace_is_drawn_without_the_sets_that_were_never_run(chart) -> None:
    keys = {"workspace": "w", "skill": "s", "should_trigger": True}
    rows = [
        keys | {"query": "q", "triggered": 2, "runs": 3},
        keys | {"query": "r", "trigger_rate": 0.25},
        keys | {"skill": "t", "query": "x"},
    ]
    drawing = chart(workspace(triggers=rows))
    assert "1 row of sets that were never run" in subtitle_of(drawing)
    assert not {"w", "s"} & set(headings_of(drawing))


def test_rates_without_counts_have_no_interval(capfd) -> None:
    keys = {"workspace": "w", "skill": "s", "should_trigger": True}
    chart = trigger_rates(workspace(triggers=[keys | {"query": "q", "trigger_rate": 0.25}]))
    assert queries_of(chart)["q"]["low"] is None
    assert texts_of(chart).count("25%") == 1
    assert title_of(chart).endswith("(n = 1 query)")
    vl_convert.vegalite_to_vega(spec_of(chart), vl_version=LAB, show_warnings=True)
    assert capfd.readouterr().err == ""


names = st.text(max_size=30)


@settings(max_examples=3, deadline=None)
@given(names, names, names)
@example(*HOSTILE[:3])
@example(*HOSTILE[3:6])
def test_any_text_can_be_drawn(query, tag, text) -> None:
    own = {"query": query, "tags": [tag], "instead": text, "reason": text, "opened": [text]}
    asked = attempts((True, "tne", own), (False, "nnn", own)).with_columns(description=pl.lit(text))
    other = asked.with_columns(description=pl.lit(text + "x"))
    for chart in (trigger_rates, trigger_confusion):
        assert tags_of(chart(pl.concat([asked, other]))) <= TAGS
