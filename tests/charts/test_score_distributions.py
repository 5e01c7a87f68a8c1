from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import score_distributions
from tests.charts.specs import rows_of, subtitle_of, texts_of, title_of, tooltips_of
from tests.charts.test_rubric_dimensions import scored

odd = st.sampled_from([math.nan, math.inf, 9.0])
judgings = st.lists(
    st.fixed_dictionaries(
        {
            "eval_id": st.sampled_from("12"),
            "configuration": st.sampled_from(["with_skill", "without_skill"]),
            "run_number": st.integers(1, 3),
            "dimension": st.sampled_from(["Clarity", "Scope"]),
            "score": st.none() | odd | st.integers(1, 5).map(float),
        }
    ),
    max_size=30,
)


def given_to(side: str, *scores: float, dimension: str = "Clarity") -> list[dict]:
    run = {"eval_id": "1", "configuration": side, "run_number": 1, "dimension": dimension}
    return [run | {"score": score} for score in scores]


@settings(max_examples=10, deadline=None)
@given(judgings)
def test_bars_are_shares_of_the_judgings(rows) -> None:
    found = {
        (bar["dimension"], bar["configuration"], bar["score"]): bar
        for bar in rows_of(score_distributions(scored(rows)), "given", "share")
    }
    known = [row for row in rows if row["score"] is not None and math.isfinite(row["score"])]
    every = Counter((row["dimension"], row["configuration"]) for row in known)
    expected = Counter(
        (row["dimension"], row["configuration"], row["score"]) for row in known if row["score"] <= 5
    )
    assert {key: bar["given"] for key, bar in found.items()} == expected
    for key, bar in found.items():
        assert bar["n"] == every[key[:2]]
        assert bar["share"] == pytest.approx(bar["given"] / bar["n"])


def test_the_ceiling_is_said_in_the_title() -> None:
    near = [*given_to("with_skill", 5, 5, 5, 4), *given_to("without_skill", 3, 5)]
    chart = score_distributions(scored(near))
    assert title_of(chart) == (
        "Little room above: with_skill has a 5 in 75% of judgings on ‘Clarity’ (n = 4 judgings)"
    )
    room = score_distributions(scored(given_to("with_skill", 5, 4, 4, 4)))
    assert title_of(room).startswith("There is room above on every dimension: at most 25% are a 5")
    none = score_distributions(scored(given_to("with_skill", 4, 1, dimension="Scope")))
    assert title_of(none) == "No judging gives a 5 (n = 2 judgings)"


def test_the_dimension_nearest_to_the_ceiling_comes_first() -> None:
    rows = [
        *given_to("with_skill", 4, 5, dimension="Half"),
        *given_to("with_skill", 1, 2, dimension="Low"),
        *given_to("without_skill", 5, 5, dimension="Full"),
    ]
    bars = rows_of(score_distributions(scored(rows)), "given")
    order = {bar["dimension"]: bar["lane"] for bar in bars}
    assert sorted(order, key=lambda name: order[name]) == ["Full", "Half", "Low"]


def test_n_and_shares_are_written() -> None:
    written = texts_of(
        score_distributions(
            scored([*given_to("with_skill", 5, 5, 4), *given_to("without_skill", 1)])
        )
    )
    assert {"n = 3 vs 1", "67%", "33%", "100%"} <= set(written)
    asked = {"Dimension", "Configuration", "Score", "Judgings with it", "Share", "Judgings (n)"}
    assert asked <= tooltips_of(score_distributions(scored(given_to("with_skill", 5))))


def test_many_configurations_have_their_figures_in_tooltips() -> None:
    rows = [row for at in range(6) for row in given_to(f"c{at}", *[3.0] * (at + 1))]
    written = texts_of(score_distributions(scored(rows)))
    assert "n = 1–6" in written
    assert "100%" not in written


def test_many_dimensions_show_those_nearest_to_the_ceiling() -> None:
    rows = [
        row
        for number in range(20)
        for row in given_to(
            "with_skill", *[5] * number, *[1] * (20 - number), dimension=f"D{number}"
        )
    ]
    chart = score_distributions(scored(rows))
    shown = {bar["dimension"] for bar in rows_of(chart, "given")}
    assert shown == {f"D{number}" for number in range(4, 20)}
    assert "4 more dimensions with fewer scores of 5" in subtitle_of(chart)


def test_scores_that_have_no_place_are_told() -> None:
    chart = score_distributions(scored(given_to("with_skill", 3.5, 9, 0)))
    [bar] = rows_of(chart, "given")
    assert (bar["score"], bar["given"], bar["n"]) == (4, 1, 3)
    assert "counts as the nearest" in subtitle_of(chart)
    assert "2 scores outside 1–5" in subtitle_of(chart)
    assert title_of(score_distributions(scored(given_to("with_skill", 9.0)))).startswith(
        "No judging"
    )
