"""Expectations: the matrix of what passed on each side, and which of them tell the sides apart."""

from __future__ import annotations

from itertools import combinations
from math import dist

import polars as pl
import pytest

from skill_eval_nb.charts import discrimination, expectation_matrix
from skill_eval_nb.charts.checks import MOST, SHADES
from skill_eval_nb.charts.theme import SHARES, SOFT
from skill_eval_nb.stats.expectations import CLASSES
from tests.charts.specs import (
    marks_of,
    rows_of,
    spec_of,
    subtitle_of,
    texts_of,
    title_of,
    tooltips_of,
    walk,
)
from tests.charts.worlds import run_keys, table, workspace, world

SIDES = ("with_skill", "without_skill")


def checked(*rows):
    """A workspace of these verdicts."""
    bare = {"eval_id": "1", "text": "reads", "configuration": "with_skill", "run_number": 1}
    known = [bare | row for row in rows]
    return workspace(
        expectations=[
            run_keys(eval_name=f"e{row['eval_id']}", layer="judged") | row for row in known
        ]
    )


def cells_of(chart):
    """The cells of the matrix."""
    return rows_of(chart, "verdicts", "share")


def test_cells_count_what_passed_of_what_was_scored() -> None:
    rows = [
        {"eval_id": of, "text": text, "configuration": side, "run_number": run, "passed": passed}
        for of, text, side, given in (
            ("1", "reads", SIDES[0], (True, False, None)),
            ("1", "reads", SIDES[1], (False, False)),
            ("1", "writes", SIDES[0], (None, None)),
            ("2", "reads", SIDES[0], (True,)),
        )
        for run, passed in enumerate(given, 1)
    ]
    assert {
        (row["eval"], row["expectation"], row["configuration"]): (row["verdicts"], row["unscored"])
        for row in cells_of(expectation_matrix(checked(*rows)))
    } == {
        ("e1", "reads", "with_skill"): ("1/2", 1),
        ("e1", "reads", "without_skill"): ("0/2", 0),
        ("e1", "writes", "with_skill"): ("–", 2),
        ("e2", "reads", "with_skill"): ("1/1", 0),
    }


def test_failed_not_scored_and_passed_look_different_and_stand_in_order() -> None:
    sides = {"with_skill": None, "old_skill": True, "without_skill": False}
    rows = [{"configuration": name, "passed": passed} for name, passed in sides.items()]
    chart = expectation_matrix(checked(*rows))
    assert {row["configuration"]: (row["verdicts"], row["share"], row["fill"], row["stroke"])
            for row in cells_of(chart)} == {
        "with_skill": ("–", None, "transparent", SOFT),
        "old_skill": ("1/1", 1, SHARES[2], None),
        "without_skill": ("0/1", 0, SHARES[0], None),
    }  # fmt: skip
    [order] = {
        tuple(node["x"]["sort"]) for node in walk(spec_of(chart)) if "sort" in node.get("x", ())
    }
    assert order[0] == "with_skill"
    assert order[-1] == "without_skill"
    assert {"rect", "text"} <= marks_of(chart)


def test_the_same_text_in_another_eval_or_layer_is_another_and_no_cell_is_made_up() -> None:
    rows = [
        {"eval_id": "1", "passed": True},
        {"eval_id": "2", "passed": True, "configuration": "without_skill"},
        {"eval_id": "2", "passed": True, "layer": "structural"},
    ]
    assert len(cells_of(expectation_matrix(checked(*rows)))) == 3


def test_evidence_is_that_of_a_failure_where_there_is_one() -> None:
    given_ones = [(1, True, "line 3"), (2, False, "no such line"), (3, None, "?")]
    keys = ("run_number", "passed", "evidence")
    rows = [dict(zip(keys, one, strict=True)) for one in given_ones]
    chart = expectation_matrix(checked(*rows))
    assert [row["evidence"] for row in cells_of(chart)] == ["run 2, failed: no such line"]
    columns = {"Eval", "Expectation", "Layer", "Configuration", "Passed/scored", "Not scored"}
    assert columns | {"Evidence"} <= tooltips_of(chart)
    bare = expectation_matrix(checked({"passed": False}))
    assert [row["evidence"] for row in cells_of(bare)] == ["run 1, failed: none stated"]


def test_long_texts_are_cut_and_whole_in_the_tooltip() -> None:
    text = "The report names each test " * 12
    chart = expectation_matrix(checked({"text": text, "passed": True}))
    assert cells_of(chart)[0]["expectation"] == text.strip()
    [line] = [line for line in texts_of(chart) if "report" in line]
    assert line.endswith("…")


def test_of_many_expectations_those_that_differ_most_are_shown() -> None:
    rows = [
        {"text": f"check {at}", "configuration": side, "passed": side == SIDES[0] or at % 2 == 0}
        for at in range(60)
        for side in SIDES
    ]
    chart = expectation_matrix(checked(*rows))
    shown = {row["expectation"] for row in cells_of(chart)}
    assert len(shown) == 40
    assert {f"check {number}" for number in range(1, 60, 2)} <= shown
    assert "The 40 of 60 expectations that differ most" in subtitle_of(chart)
    assert title_of(chart) == (
        "30 of 60 expectations pass more often in with_skill than in without_skill, "
        "0 less often (n = 60 and 60 verdicts)"
    )


BOTH = [{"configuration": side, "passed": True} for side in SIDES]


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        (BOTH, ("with_skill and without_skill pass equally often on 1 expectation "
               "(n = 1 and 1 verdict)")),
        ([{"passed": True}], "1 of 1 expectation always pass, 0 never (n = 1 verdict)"),
        ([{"passed": None}], "None of 1 expectation has been scored"),
    ],
    ids=["alike", "one side", "not scored"],
)  # fmt: skip
def test_the_title_says_how_many_tell_the_sides_apart(rows, title) -> None:
    assert title_of(expectation_matrix(checked(*rows))) == title


def checks(*given, **more):
    """Expectations: text, passes and runs with the skill, passes and runs without."""
    return table(
        "expectations",
        [
            run_keys(configuration=name, run_number=number, **more)
            | {"layer": "judged", "text": text, "passed": number <= passes}
            for text, *sides in given
            for name, (passes, runs) in zip(SIDES, sides, strict=True)
            for number in range(1, runs + 1)
        ],
    )


FOUR = checks(
    ("tells", (6, 6), (0, 6)),
    ("against it", (0, 6), (6, 6)),
    ("easy", (6, 6), (6, 6)),
    ("hard", (0, 6), (0, 6)),
    ("a coin", (3, 6), (2, 6)),
    ("unknown", (1, 1), (0, 1)),
)


def dots_of(chart):
    return {row["expectation"]: row for row in rows_of(chart, "expectation", "own")}


def test_a_dot_lies_at_its_pass_rates_and_has_the_colour_of_its_class() -> None:
    chart = discrimination(FOUR)
    dots = dots_of(chart)
    assert {name: (dot["x"], dot["y"], dot["class"]) for name, dot in dots.items()} == {
        "tells": (pytest.approx(0, abs=0.03), pytest.approx(1, abs=0.03), "separates"),
        "against it": (1, 0, "hurts"),
        "easy": (1, 1, "always passes"),
        "hard": (0, 0, "always fails"),
        "a coin": (pytest.approx(1 / 3), 0.5, "flaky"),
        "unknown": (pytest.approx(0, abs=0.03), pytest.approx(1, abs=0.03), "too little data"),
    }
    assert all(dot["shade"] == SHADES[dot["class"]] for dot in dots.values())
    assert list(SHADES) == list(CLASSES)
    assert len(set(SHADES.values())) == len(CLASSES)
    written = texts_of(chart)
    for name in ("separates", "hurts", "always passes", "always fails"):
        assert written.count(name) == 1
    for name in ("separates", "flaky", "too little data"):
        assert f"{name}\xa0\xa01" in written
    assert "+100\xa0pp\xa0\xa0tells" in written


@pytest.mark.parametrize(
    ("frame", "title"),
    [
        (FOUR,
         ("1 of 6 expectations pass more often in with_skill than in without_skill beyond chance, "
         "1 less often; 2 always pass or always fail (n = 31 and 31 verdicts)")),
        (checks(("hard", (0, 6), (6, 6))), "1 of 1 expectation pass less often in with_skill"),
        (checks(("a", (3, 3), (0, 3))),
         ("None of 1 expectation separates with_skill from without_skill beyond chance "
         "(n = 3 and 3 verdicts)")),
    ],
    ids=["both", "less", "none"],
)  # fmt: skip
def test_the_title_says_what_is_proven(frame, title) -> None:
    assert title_of(discrimination(frame)).startswith(title)


def test_a_tooltip_names_the_evals_and_counts_both_sides() -> None:
    frames = [checks(("tells", (1, 2), (0, 1)), eval_id=name, eval_name=name) for name in "abcdef"]
    three, six = pl.concat(frames[:3]), pl.concat(frames)
    dot = dots_of(discrimination(three))["tells"]
    assert (dot["own"], dot["other"]) == ("3 of 6\xa0runs", "0 of 3\xa0runs")
    assert dot["eval"] == "a, b and c"
    assert dots_of(discrimination(six))["tells"]["eval"] == "a, b, c, d and 2 more"
    named = ("Class", "Expectation", "Eval", "Passed", "Baseline passed", "Exact p")
    assert {*named, "Without a verdict"} <= tooltips_of(discrimination(FOUR))
    unscored = three.with_columns(passed=pl.when(pl.arange(pl.len()) > 0).then("passed"))
    assert dot["lacking"] == "none"
    assert dots_of(discrimination(unscored))["tells"]["lacking"] == "1 not scored"


def test_dots_of_one_place_lie_apart_around_it() -> None:
    many = checks(*((f"check {at}", (3, 3), (0, 3)) for at in range(12)))
    places = [(dot["x"] * 317, dot["y"] * 317) for dot in dots_of(discrimination(many)).values()]
    apart = [dist(*pair) for pair in combinations(places, 2)]
    assert len(places) == 12
    assert min(apart) > 7
    assert max(apart) < 60


@pytest.mark.parametrize(("number", "counted"), [(MOST, False), (MOST + 1, True)])
def test_very_many_share_dots_that_count_them(number, counted) -> None:
    many = checks(*((f"check {at}", (at % 3, 3), (at % 2, 3)) for at in range(number)))
    chart = discrimination(many)
    bubbles = rows_of(chart, "n", "shade")
    assert sum(dot["n"] for dot in bubbles) == (number if counted else 0)
    assert len(bubbles) <= 12
    assert len(dots_of(chart)) == (0 if counted else number)
    assert ("A dot counts" in subtitle_of(chart)) == counted


def test_comparisons_and_workspaces_stand_below_each_other() -> None:
    sides = ("with_skill", "old_skill", "without_skill")
    chart = discrimination(world(runs=2, configurations=sides, workspaces=("tdd", "review")))
    heads = {f"{at} · {side} against without_skill" for at in ("review", "tdd") for side in sides}
    assert set(texts_of(chart)) & heads == {head for head in heads if "· without" not in head}
    assert "the skill's side" in title_of(chart)


def test_expectations_of_one_side_are_counted_and_not_drawn() -> None:
    chart = discrimination(checks(("both", (1, 2), (1, 2)), ("one side", (2, 2), (0, 0))))
    assert set(dots_of(chart)) == {"both"}
    assert "1 more expectation scored on one side only" in subtitle_of(chart)


def test_without_a_baseline_it_says_why() -> None:
    chart = discrimination(world(configurations=("red", "blue")))
    assert title_of(chart) == "No expectations to compare"
    assert "no baseline among the configurations: blue, red" in rows_of(chart, "line")[0]["line"]


def test_a_level_and_a_baseline_may_be_given() -> None:
    assert "separates\xa0\xa01" not in texts_of(discrimination(FOUR, level=0.9999))
    turned = discrimination(FOUR, baseline="with_skill")
    assert dots_of(turned)["against it"]["class"] == "separates"
    with pytest.raises(ValueError, match="Did you mean `with_skill`"):
        discrimination(FOUR, baseline="withskill")
