"""Names from files may contain anything: they are only ever values, and always drawn as text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skill_eval_nb import charts
from tests.charts.specs import drawn, fields_of, rows_of, spec_of, texts_of
from tests.charts.test_face import every
from tests.charts.worlds import HOSTILE, run_keys, workspace, world

names = st.text(max_size=40)
SMALL = settings(max_examples=settings.default.max_examples // 5)  # drawing takes half a second


def ws_of(eval_name, configuration, dimension, iteration, text):
    """A workspace with the names in every place where a file can put one."""
    sides = (configuration, "without_skill" if configuration != "without_skill" else "x")
    made = {"runs": [], "rubric_scores": [], "expectations": []}
    for side in sides:
        keys = run_keys(
            workspace=text,
            skill=dimension,
            iteration=iteration,
            eval_id=eval_name,
            eval_name=eval_name,
            configuration=side,
        )
        known = {"pass_rate": 0.5, "time_seconds": 3.0, "tokens": 5, "path": text}
        made["runs"].append(keys | known | {"status": "graded", "rubric_normalized": 0.6})
        score = {"judging": 1, "dimension": dimension, "score": 3.0, "weight": 1.0}
        made["rubric_scores"].append(keys | score | {"evidence": text})
        check = {"layer": "judged", "text": text, "passed": True, "evidence": text}
        made["expectations"].append(keys | check)
    return workspace(**made)


@every
@SMALL
@given(names, names, names, names, names)
@example(*HOSTILE[:5])
@example(*HOSTILE[3:])
@example("🎉" * 37, "a" + "🎉" * 30, "𐀀" * 40, "i", "🎉" * 500)
@example("\x00\ud7ff\ufffe\uffff\x1b[0m", "￼|", "1|.2f", "9" * 5000, "]]>")
def test_any_name_can_be_drawn(chart, eval_name, configuration, dimension, iteration, text) -> None:
    drawing = spec_of(chart(ws_of(eval_name, configuration, dimension, iteration, text)))
    tags = {node.tag.rsplit("}", 1)[-1] for node in drawn(drawing).iter()}
    assert tags <= {
        "svg",
        "g",
        "path",
        "text",
        "rect",
        "line",
        "tspan",
        "defs",
        "clipPath",
        "style",
    }


@every
def test_fields_are_ours_whatever_the_names(chart) -> None:
    plain = world(evals=len(HOSTILE))
    hostile = world(evals=len(HOSTILE), names=HOSTILE, configurations=(HOSTILE[0], "without_skill"))
    assert fields_of(chart(hostile)) == fields_of(chart(plain))


@pytest.mark.parametrize("name", ["a.b", "a[0]", "a:Q", "a\\b", "datum.a", "it's", "toString"])
def test_names_that_look_like_field_paths_are_drawn_as_they_are(name) -> None:
    drawing = charts.deltas(world(evals=1, names=(name,), configurations=(name, "without_skill")))
    written = texts_of(drawing)
    assert written.count(name) == 2
    assert {row["configuration"] for row in rows_of(drawing, "configuration")} == {
        name,
        "without_skill",
    }


def test_markup_is_text() -> None:
    drawing = charts.deltas(world(evals=1, names=("<script>alert(1)</script>",)))
    assert "<script>alert(1)</script>" in texts_of(drawing)


def test_long_names_are_cut_where_they_are_drawn_and_not_in_the_tooltip() -> None:
    name = "a-long-name-" * 6
    drawing = charts.deltas(world(evals=1, names=(name,)))
    assert name not in texts_of(drawing)
    assert any(text.startswith("a-long-name-") and text.endswith("…") for text in texts_of(drawing))
    assert name in {row["eval"] for row in rows_of(drawing, "eval")}
