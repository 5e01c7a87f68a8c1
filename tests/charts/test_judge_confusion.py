from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest

from skill_eval_nb.charts import judge_confusion
from skill_eval_nb.charts.theme import SHARES
from skill_eval_nb.stats import agreement
from skill_eval_nb.stats.agreement import HUMAN, ITSELF, JUDGE
from skill_eval_nb.tables import Workspace
from tests.charts.specs import rows_of, subtitle_of, texts_of, title_of
from tests.charts.worlds import run_keys, workspace, world


def judged(rows) -> Workspace:
    made = [run_keys(**{"judging": 1, "dimension": "Clarity", "weight": 1.0} | row) for row in rows]
    runs = {row["run_number"]: row | {"status": "graded", "path": "."} for row in made}
    return workspace(rubric_scores=made, runs=list(runs.values()))


def counted(chart) -> dict[tuple, int]:
    """Pairs by dimension, first and second score."""
    found: Counter[tuple] = Counter()
    for cell in rows_of(chart, "fill", "pairs"):
        found[cell["title"], cell["across"], cell["up"]] += cell["pairs"]
    return +found


TWO = [
    {"run_number": run, "judge_model": name, "score": float(score)}
    for run, scores in enumerate([(5, 4), (3, 3), (4, 2)], 1)
    for name, score in zip("ab", scores, strict=True)
]
HUMANS = pl.DataFrame({"run_number": [1, 2], "dimension": ["Clarity"] * 2, "score": [5, 1]})


def test_cells_count_the_pairs_of_judgings_of_an_output() -> None:
    given = [
        (1, "a", (5, 4, None)),
        (1, "b", (3,)),
        (2, "a", (2,)),
        (2, "b", (2, 1)),
        (3, "b", (4,)),
    ]
    rows = [
        {"run_number": run, "judge_model": judge, "judging": at, "score": score and float(score)}
        for run, judge, scores in given
        for at, score in enumerate(scores, 1)
    ]
    rows += [row | {"dimension": "Scope"} for row in rows[:2]]
    expected = {
        ITSELF: {("Clarity", 5, 4): 1, ("Clarity", 2, 1): 1, ("Scope", 5, 4): 1},
        JUDGE: {("Clarity", *pair): 1 for pair in ((5, 3), (4, 3), (2, 2), (2, 1))},
    }
    for kind, pairs in expected.items():
        assert counted(judge_confusion(judged(rows), kind=kind)) == pairs


def test_equal_scores_have_a_shade_of_their_own_and_a_frame() -> None:
    for cell in rows_of(judge_confusion(judged(TWO)), "fill", "pairs"):
        equal = cell["across"] == cell["up"]
        shade = SHARES[2 if equal else 0] if cell["pairs"] else SHARES[1]
        assert (cell["fill"], cell["stroke"] is not None) == (shade, equal)


def test_what_stands_above_a_panel_is_what_agreement_says() -> None:
    ws = world(evals=4, runs=3, dimensions=3, judgings=3)
    written = texts_of(judge_confusion(ws))
    for row in agreement(ws).to_dicts():
        assert f"{row['exact']:.0%} equal, {row['within_one']:.0%} within 1 point" in written
        assert f"alpha {row['alpha']:.2f}, AC2 {row['ac2']:.2f}".replace("-", "−") in written
    assert [text.replace("\xa0", " ") for text in written].count("n = 72 pairs of 24 outputs") == 3
    assert {"earlier judging", "later judging"} <= set(written)


def test_the_title_says_where_least_and_where_most() -> None:
    ws = world(evals=4, runs=3, dimensions=3, judgings=3)
    ranked = agreement(ws).sort("exact")
    least, most = ranked.row(0, named=True), ranked.row(-1, named=True)
    title = title_of(judge_confusion(ws))
    assert f"{least['exact']:.0%} of pairs on ‘{least['dimension']}’" in title
    assert f"{most['exact']:.0%} on ‘{most['dimension']}’" in title
    assert "n = 24 outputs" in title


def test_judges_that_agree_everywhere_are_not_ranked() -> None:
    rows = [
        {"run_number": 1, "judging": at, "dimension": name, "score": 4.0}
        for name in ("Clarity", "Scope")
        for at in (1, 2)
    ]
    title = title_of(judge_confusion(judged(rows)))
    assert "in 100% of pairs on every dimension (n = 1 output)" in title


def test_the_last_kind_that_there_is_is_shown_unless_told() -> None:
    twice = [row | {"judging": at} for row in TWO for at in (1, 2)]
    assert title_of(judge_confusion(judged(twice[:2]))).startswith(
        "a gives an output the same score again"
    )
    both = judge_confusion(judged(twice))
    assert title_of(both).startswith("a and b give an output the same score in 33% of pairs")
    assert title_of(both).endswith("on ‘Clarity’ a scores 1.00 points above b")
    human = judge_confusion(judged(twice), HUMANS)
    assert title_of(human).startswith("Judge and human give")
    assert {"a and human", "b and human"} <= set(texts_of(human))
    itself = judge_confusion(judged(twice), HUMANS, kind=ITSELF)
    assert title_of(itself).startswith("A judge gives an output the same score again")


def test_scores_that_are_not_whole_or_not_on_the_scale_are_told() -> None:
    rows = [{"judging": at, "score": score} for at, score in enumerate([3.5, 9.0, 4.0], 1)]
    chart = judge_confusion(judged(rows))
    assert counted(chart) == {("Clarity", 4, 4): 1}
    assert "counts as the nearest" in subtitle_of(chart)
    assert "outside 1–5" in subtitle_of(chart)


def test_nothing_to_compare_says_why() -> None:
    once = judge_confusion(judged(TWO[:1]))
    assert title_of(once) == "No judgings to compare"
    said = rows_of(once, "line")[0]["line"]
    assert said.startswith("The only run has no output judged twice by one judge")
    assert rows_of(judge_confusion(workspace()), "line")[0]["line"].startswith("There are no runs")
    none = judge_confusion(judged(TWO), kind=HUMAN)
    assert "scored by a judge and a human" in rows_of(none, "line")[0]["line"]


def test_a_kind_that_is_not_there_is_an_error_that_helps() -> None:
    with pytest.raises(ValueError, match="Did you mean `judge against human`"):
        judge_confusion(judged(TWO), kind="judge against humans")


def test_many_panels_show_the_least_agreement() -> None:
    rows = [
        {"run_number": run, "judging": at, "dimension": f"D{number}"}
        | {"score": 3.0 + (at == 2 and run <= number)}
        for number in range(20)
        for run in range(1, 21)
        for at in (1, 2)
    ]
    chart = judge_confusion(judged(rows))
    assert {cell["title"] for cell in rows_of(chart, "fill")} == {f"D{at}" for at in range(8, 20)}
    assert "8 more panels with more agreement" in subtitle_of(chart)


def test_a_table_made_by_hand_may_lack_names() -> None:
    scores = pl.Series([3.0, math.nan])
    bare = HUMANS.with_columns(run_number=1, score=scores, judging=pl.Series([1, 2]))
    assert title_of(judge_confusion(bare)).startswith("No ")
    assert counted(judge_confusion(bare.with_columns(score=pl.lit(4.0)))) == {("Clarity", 4, 4): 1}
