"""The rounds of a search for a better description, drawn from made-up scores."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import trigger_rounds
from skill_eval_nb.tables import TABLES
from skill_eval_nb.tables.frames import to_pandas, to_polars
from tests.charts.specs import (
    TAGS,
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


def rounds(*scores, best=None) -> pl.DataFrame:
    """Rounds of train and held-out scores, each with an interval of 20 points."""
    rows = [
        {"round": n, "description": f"description {n}", "is_best": n == best}
        | {f"{side}_{end}": value for side, score in (("train", train), ("test", test))
           for end, value in (("score", score), ("low", score - 0.1), ("high", score + 0.1))}
        for n, (train, test) in enumerate(scores, 1)
    ]  # fmt: skip
    return pl.DataFrame(rows)


FOUND = rounds((0.5, 0.4), (0.7, 0.8), (0.9, 0.7), best=2)


def points_of(chart) -> dict[tuple[str, str], dict]:
    return {(row["round"], row["side"]): row for row in rows_of(chart, "side", "score")}


def test_the_title_says_which_round_is_chosen_and_why() -> None:
    assert title_of(trigger_rounds(FOUND)) == (
        "Of 3 rounds, round 2 is chosen: held-out score 80% (70% to 90%), against 40% of the first"
    )


@pytest.mark.parametrize(
    ("best", "says"),
    [
        (1, "The first description is kept after 2 rounds: held-out score 40% (30% to 50%)"),
        (None, "No description is chosen in 2 rounds"),
    ],
)
def test_the_title_says_that_none_is_better(best, says) -> None:
    assert title_of(trigger_rounds(rounds((0.5, 0.4), (0.7, 0.3), best=best))) == says


def test_points_and_intervals_are_where_the_figures_say() -> None:
    chart = trigger_rounds(FOUND)
    points = points_of(chart)
    assert {key: point["score"] for key, point in points.items()} == {
        ("1", "held-out"): 0.4,
        ("1", "train"): 0.5,
        ("2", "held-out"): 0.8,
        ("2", "train"): 0.7,
        ("3", "held-out"): 0.7,
        ("3", "train"): 0.9,
    }
    one = points["2", "held-out"]
    assert (one["low"], one["high"]) == (pytest.approx(0.7), pytest.approx(0.9))
    assert [key for key, point in points.items() if point["best"]] == [("2", "held-out")]
    assert {"chosen", "held-out", "train", "80%"} <= set(texts_of(chart))
    assert {"Description", "Characters"} <= tooltips_of(chart)


def test_what_optimise_gives_and_pandas_draw_the_same() -> None:
    class Optimised:
        def rounds_table(self) -> pl.DataFrame:
            return FOUND

    expected = spec_of(trigger_rounds(FOUND))
    assert spec_of(trigger_rounds(Optimised())) == expected
    assert spec_of(trigger_rounds(FOUND.to_pandas())) == expected


def test_a_workspace_has_no_intervals_and_any_number_of_skills() -> None:
    keys = {"workspace": "w", "skill": "s", "is_best": False}
    rows = [
        keys | {"iteration": 1, "description": "a", "train_score": 0.5, "test_score": 0.5},
        keys | {"iteration": 2, "description": "b", "train_score": 0.6, "is_best": True},
        keys | {"iteration": 3, "description": "c"},
    ]
    one = trigger_rounds(workspace(optimizations=rows))
    assert (
        title_of(one) == "Of 2 rounds, round 2 is chosen: train score 60%, against 50% of the first"
    )
    assert "1 round without a score" in subtitle_of(one)
    assert "interval" not in subtitle_of(one)
    two = workspace(optimizations=[*rows, *(row | {"workspace": "x"} for row in rows)])
    assert title_of(trigger_rounds(two)) == "A later description is chosen in 2 of 2 searches"
    assert set(headings_of(trigger_rounds(two))) == {"w", "x"}
    names = TABLES["optimizations"].names
    table = to_polars(
        TABLES["optimizations"], {name: [r.get(name) for r in rows] for name in names}
    )
    for data in (table, to_pandas(table)):
        assert title_of(trigger_rounds(data)) == title_of(one)


def test_many_rounds_are_cut_and_the_chosen_one_stays() -> None:
    chart = trigger_rounds(rounds(*((0.5, 0.5) for _ in range(40)), best=3))
    shown = {number for number, _ in points_of(chart)}
    assert shown == {"3", *map(str, range(30, 41))}
    assert "12 at most" in subtitle_of(chart)


def test_nothing_says_why() -> None:
    assert title_of(trigger_rounds(FOUND.clear())) == "No round to show"
    [row] = rows_of(trigger_rounds(workspace()), "line")
    assert row["line"].startswith("The workspace holds no round with a score.")


names = st.text(max_size=30)


@settings(max_examples=3, deadline=None)
@given(names, names, st.none() | st.floats(-1, 2))
@example(*HOSTILE[:2], math.nan)
@example(*HOSTILE[3:5], 0.5)
def test_any_text_and_figure_can_be_drawn(text, skill, score) -> None:
    hostile = FOUND.with_columns(
        description=pl.lit(text), skill=pl.lit(skill), test_score=pl.lit(score, pl.Float64)
    )
    assert tags_of(trigger_rounds(hostile)) <= TAGS
