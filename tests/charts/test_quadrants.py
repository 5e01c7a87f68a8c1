"""The square of pass rates: where dots lie, and what stands beside them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import dist
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts.checks import (
    MOST,
    NAMED,
    PLOT,
    ROOM,
    SHADES,
    STEP,
    _counted,
    _packed,
    square,
)
from skill_eval_nb.stats.expectations import CLASSES, HURTS, SEPARATES
from tests.charts.specs import axes_of, drawn, headings_of, rows_of, texts_of
from tests.charts.worlds import HOSTILE

if TYPE_CHECKING:
    import altair as alt

Row = dict[str, Any]
PIXELS = PLOT / (1 + 2 * ROOM)
"""Pixels of a whole pass rate."""
shares = st.sampled_from([0.0, 1 / 3, 0.5, 1.0])


def dot(kind: str = "flaky", x: float = 0.5, y: float = 0.5, name: str = "is right") -> Row:
    about = dict.fromkeys(("eval", "own", "other", "p", "lacking"), "-")
    place = {"x": x, "y": y, "class": kind, "expectation": name, "estimate": "+10 pp"}
    return place | about


def shown(rows: list[Row], heading: str = "") -> alt.LayerChart:
    return square(rows, "with_skill", "without_skill", heading)


many = st.lists(st.builds(dot, st.sampled_from(CLASSES), shares, shares), max_size=60)


@given(many)
def test_dots_of_a_place_lie_around_it_and_never_on_each_other(rows: list[Row]) -> None:
    packed = _packed(rows)
    assert len(packed) == len(rows)
    for one, other in combinations(packed, 2):
        assert dist((one["x"], one["y"]), (other["x"], other["y"])) * PIXELS > STEP
    reach = STEP * len(rows) ** 0.5 / PIXELS
    for row in packed:
        away = min(dist((row["x"], row["y"]), (own["x"], own["y"])) for own in rows)
        assert away <= reach


def test_a_dot_alone_lies_where_its_pass_rates_are() -> None:
    packed = _packed([dot(x=0.0, y=1.0), dot(x=1 / 3, y=0.5)])
    assert [(row["x"], row["y"]) for row in packed] == [(0, 1), (1 / 3, 0.5)]


def test_the_middle_is_for_what_is_proven() -> None:
    packed = _packed([dot(kind) for kind in reversed(CLASSES)])
    away = {row["class"]: dist((row["x"], row["y"]), (0.5, 0.5)) for row in packed}
    assert sorted(away, key=away.__getitem__) == list(CLASSES)


@given(many)
def test_counts_lose_nobody_and_keep_classes_apart(rows: list[Row]) -> None:
    bubbles = _counted(rows)
    sizes: Counter[str] = Counter()
    for bubble in bubbles:
        sizes[bubble["class"]] += bubble["n"]
        assert bubble["shade"] == SHADES[bubble["class"]]
    assert sizes == Counter(row["class"] for row in rows)
    assert [b["n"] for b in bubbles] == sorted((b["n"] for b in bubbles), reverse=True)
    places = [(b["class"], b["x"], b["y"]) for b in bubbles]
    assert len(set(places)) == len(places)


def test_near_places_share_a_dot_and_far_ones_do_not() -> None:
    near = [dot(x=x) for x in (0.48, 0.5, 0.52)]
    assert [bubble["n"] for bubble in _counted([*near, dot(x=0.56)])] == [3, 1]


@pytest.mark.parametrize(("number", "counted"), [(MOST, 0), (MOST + 1, 1)])
def test_dots_are_counted_only_where_there_are_very_many(number: int, counted: int) -> None:
    chart = shown([dot()] * number)
    assert len(rows_of(chart, "n", "shade")) == counted
    assert len(rows_of(chart, "expectation", "p")) == (0 if counted else number)


def test_every_class_has_a_shade_of_its_own() -> None:
    assert list(SHADES) == list(CLASSES)
    assert len(set(SHADES.values())) == len(CLASSES)


def test_the_baseline_lies_across_and_the_other_side_up() -> None:
    assert set(axes_of(shown([dot()]))) == {
        "pass rate of without_skill (%)",
        "pass rate of with_skill (%)",
    }


def test_a_heading_stands_above_it() -> None:
    assert "iteration-2" in headings_of(shown([dot()], "iteration-2"))


def test_classes_are_numbered_and_name_their_first_expectations() -> None:
    rows = [dot(SEPARATES, name=f"check {at}") for at in range(NAMED + 2)]
    rows += [dot("flaky", name="a coin")]
    chart = shown(rows)
    heads = [row["text"] for row in rows_of(chart, "text", "shade")]
    classes = {f"separates\xa0\xa0{NAMED + 2}", "flaky\xa0\xa01"}
    assert classes == {text for text in heads if text.startswith(("separates", "flaky"))}
    named = {row["full"]: row["text"] for row in rows_of(chart, "full")}
    assert list(named) == [f"check {at}" for at in range(NAMED)] + ["a coin"]
    assert named["check 0"] == "+10 pp\xa0\xa0check 0"
    assert named["a coin"] == "a coin"


def test_all_classes_together_stand_line_by_line_inside_the_picture() -> None:
    chart = shown([dot(kind, name=f"{kind} {at}") for kind in CLASSES for at in range(9)])
    lines = [row["row"] for row in rows_of(chart, "text", "row")]
    assert sorted(lines) == list(range(len(CLASSES) * NAMED))


def test_nothing_to_draw_is_an_empty_square() -> None:
    written = texts_of(shown([]))
    assert {SEPARATES, HURTS} <= set(written)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
def test_names_from_files_are_drawn_as_text(name: str, side: str) -> None:
    chart = square([dot(name=name)], side, "without_skill")
    assert drawn(chart) is not None
    assert [row["full"] for row in rows_of(chart, "full")] == [name]
