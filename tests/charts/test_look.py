from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.charts.theme import BASELINE, FURTHER, WITH_SKILL, baselines, colours, nothing
from tests.charts.specs import rows_of, title_of
from tests.charts.worlds import run_keys, table

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
def test_the_pair_is_apart_for_colour_blind_readers(matrix) -> None:
    apart = math.dist(seen(WITH_SKILL, matrix), seen(BASELINE, matrix))
    assert apart > 60  # some 10 is what one sees at a glance


@pytest.mark.parametrize("matrix", DICHROMATS.values(), ids=DICHROMATS)
def test_further_colours_are_told_apart_too(matrix) -> None:
    every = [seen(colour, matrix) for colour in (WITH_SKILL, BASELINE, *FURTHER)]
    assert min(math.dist(*pair) for pair in combinations(every, 2)) > 10


@given(st.lists(st.text(max_size=8), unique=True, max_size=12), st.data())
def test_a_configuration_keeps_its_colour_whichever_others_are_shown(names, data) -> None:
    against = names[:1]
    some = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    whole, part = colours(names, against, names), colours(names, against, some)
    assert set(part) == set(some)
    assert all(whole[name] == part[name] for name in some)
    assert all(whole[name] == BASELINE for name in against)
    assert BASELINE not in [whole[name] for name in names[1:]]


def test_with_skill_is_blue_and_first_among_many() -> None:
    names = ["without_skill", "a", "with_skill"]
    shades = colours(names, ["without_skill"], names)
    assert list(shades)[-1] == "without_skill"
    assert shades["with_skill"] == WITH_SKILL


def test_each_workspace_has_its_own_baseline() -> None:
    frame = table(
        "runs",
        [
            run_keys(workspace=place, configuration=name, status="graded", path=".")
            for place, other in (("a", "old_skill"), ("b", "baseline"), ("c", "also_with_skill"))
            for name in ("with_skill", other)
        ],
    )
    assert baselines(frame) == {"old_skill", "baseline"}


def test_nothing_says_what_and_why() -> None:
    chart = nothing("No rubric scores", "None of the 12 runs has a score. " * 9)
    assert title_of(chart) == "No rubric scores"
    lines = rows_of(chart, "line", "row")
    assert " ".join(row["line"] for row in lines).count("12 runs") == 9
    assert [row["row"] for row in lines] == list(range(len(lines)))
