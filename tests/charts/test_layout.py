from __future__ import annotations

import altair as alt

from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.charts.theme import (
    below,
    colour,
    in_lanes,
    inline,
    interval,
    lane,
    lanes,
    scale_of,
    tips,
    words,
)
from tests.charts.specs import rows_of, spec_of


def test_a_heading_stands_once_above_its_rows() -> None:
    rows = [{"heading": heading} for heading in ("", "a", "a", "b")]
    placed, headings = in_lanes(rows)
    assert [row["row"] for row in placed] == [0, 2, 3, 5]
    assert headings == [{"text": "a", "row": 1}, {"text": "b", "row": 4}]


def test_rows_of_a_group_share_their_label() -> None:
    rows = [{"heading": "", "label": name, "group": name} for name in "aab"]
    look = {"step": 20, "width": 100, "right": 120, "what": "What"}
    chart = lanes([], *in_lanes(rows), **look)
    labels = {(row["label"], row["row"]) for row in rows_of(chart, "label")}
    assert labels == {("a", 0), ("b", 2)}


def test_an_interval_without_both_ends_is_not_drawn() -> None:
    rows = [{"low": 1.0, "high": 2.0, "row": 0}, {"low": None, "high": 2.0, "row": 1}]
    hue = colour({"a": "#000000"})
    [line] = interval(rows, "low", "high", lane(), hue, wide=2)
    assert rows_of(line, "low") == rows[:1]
    assert interval(rows[1:], "low", "high", lane(), hue, wide=2) == []


def test_words_are_values_of_our_field() -> None:
    chart = words([{"text": "a.b[0]:Q", "row": 3}], "text", 10)
    assert rows_of(alt.layer(chart), "text") == [{"text": "a.b[0]:Q", "row": 3}]
    assert chart.to_dict()["encoding"]["text"] == {"field": "text", "type": "nominal"}


def test_rows_may_be_missing_or_half_known() -> None:
    assert inline([]).is_empty()
    assert inline([{"a": 1}, {"a": None}, {"a": 2.5}])["a"].to_list() == [1, None, 2.5]


def test_tooltips_carry_titles_and_formats() -> None:
    first, second = (tip.to_dict() for tip in tips(a="A|.2f", b=("B", ".1%")))
    assert first == {"field": "a", "title": "A|.2f", "type": "nominal"}
    assert second == {"field": "b", "title": "B", "format": ".1%", "type": "quantitative"}


def test_a_legend_of_long_names_breaks() -> None:
    names = {f"{number} a configuration with a rather long name": "#000000" for number in range(9)}
    assert colour(names).to_dict()["legend"]["columns"] <= 3
    assert colour(names, legend=False).to_dict()["legend"] is None


def test_each_configuration_is_drawn_in_its_own_colour() -> None:
    scale = colour({"b": "#000001", "a": "#000002", "": "#000003"}).to_dict()["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        "b": "#000001",
        "a": "#000002",
        "(no name)": "#000003",
    }


def test_scales_show_all_that_a_metric_can_be() -> None:
    assert scale_of(metric("pass_rate")).to_dict()["domain"] == [0, 1]
    assert scale_of(metric("Clarity")).to_dict()["domain"] == [1, 5]
    assert scale_of(metric("tokens")).to_dict()["zero"] is True


def test_one_chart_needs_no_column_of_charts() -> None:
    one = alt.Chart(inline([{"a": 1}])).mark_point()
    assert below([one]) is one
    assert len(spec_of(below([one, one]))["vconcat"]) == 2
