from __future__ import annotations

import pytest

from skill_eval_nb import stats
from skill_eval_nb.charts import forest
from tests.charts.specs import marks_of, rows_of, spec_of, subtitle_of, texts_of, title_of
from tests.charts.test_deltas import rated
from tests.charts.worlds import HOSTILE, world

SIX = [
    (str(at), side, rate + more + (0.3 if side == "with_skill" else 0.0))
    for at, rate in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 1)
    for side in ("with_skill", "without_skill")
    for more in (0.0, 0.01, 0.03)
]


def _drawn(chart):
    """The rows of the forest from above to below."""
    rows = {row["row"]: row for row in rows_of(chart, "estimate", "delta", "reason")}
    return [rows[at] for at in sorted(rows)]


def test_the_lines_are_the_intervals_of_both_scopes() -> None:
    ws = world(evals=6, runs=3)
    (own,) = stats.deltas(ws).to_dicts()
    (like,) = stats.deltas(ws, scope="population").to_dicts()
    whole, *evals = _drawn(forest(ws))
    ends = [whole[end] for end in ("estimate", "low", "high", "wide_low", "wide_high", "worth")]
    figures = own["estimate"], own["low"], own["high"], like["low"], like["high"], own["worth"]
    assert ends == pytest.approx([figure * 100 for figure in figures])
    by_eval = stats.deltas_by_eval(ws).sort("estimate", descending=True)
    assert [row["estimate"] for row in evals] == pytest.approx([*by_eval["estimate"] * 100])
    assert {row["wide_low"] for row in evals} == {None}


def test_the_title_is_the_verdict() -> None:
    title = title_of(forest(rated(SIX)))
    assert title.startswith("with_skill helps on these 6 evals: +30 pp (+")
    assert title.endswith("pass rate; on tasks like these: helps (n = 18 and 18 runs)")
    few = title_of(forest(rated([row for row in SIX if row[0] < "4"])))
    assert "on tasks like these: too few evals" in few
    same = [(name, side, 0.5) for name, side, _ in SIX]
    assert title_of(forest(rated(same))).startswith("Too few runs to say whether with_skill")


@pytest.mark.parametrize(
    ("metric", "word"), [("pass_rate", "helps"), ("tokens", "uses more tokens")]
)
def test_the_colour_is_the_verdict(metric, word) -> None:
    many = [(name, side, round(value * 1000) if metric == "tokens" else value)
            for name, side, value in SIX]  # fmt: skip
    whole = _drawn(forest(rated(many, metric), metric))[0]
    assert (whole["verdict"], whole["decided"]) == (word, word)


def test_what_is_not_decided_is_grey_and_says_why() -> None:
    evals = _drawn(forest(rated(SIX)))[1:]
    assert {row["decided"] for row in evals} == {"not decided"}
    assert texts_of(forest(rated(SIX))).count("too few runs") == 6
    assert all("the smallest p is 0.1" in row["reason"] for row in evals)


def test_dimensions_have_a_row_each() -> None:
    ws = world(evals=6, runs=3, dimensions=4)
    chart = forest(ws, by="dimension")
    names = stats.deltas_by_dimension(ws)["dimension"].to_list()
    assert [row["label"] for row in _drawn(chart)] == names
    assert "of 4 rubric dimensions" in title_of(chart)
    assert "points" in str(spec_of(chart))


def test_two_iterations_are_named_above_each_configuration() -> None:
    ws = world(evals=6, runs=2, iterations=2)
    texts = texts_of(forest(ws, versus=("iteration-2", "iteration-1")))
    assert "with_skill: iteration-2 against iteration-1" in texts
    assert "without_skill: iteration-2 against iteration-1" in texts


def test_of_many_evals_those_with_the_largest_deltas_are_shown() -> None:
    chart = forest(world(evals=100, runs=2))
    assert len(_drawn(chart)) == 41
    assert "60 more evals" in subtitle_of(chart)


def test_an_interval_that_is_cut_off_has_an_arrow() -> None:
    """The axis holds the interval over all evals; those of single ones go on beyond it."""
    for rows, cut in ((SIX[:6], []), (SIX, [f"eval-{at}" for at in range(1, 7)])):
        chart = forest(rated(rows))
        arrows = {row["label"]: row for row in rows_of(chart, "cut")}
        assert sorted(arrows) == cut
        assert all(row["cut"] < row["high"] for row in arrows.values())
        assert ("Arrow: the interval goes on" in subtitle_of(chart)) == bool(cut)


def test_without_an_interval_there_is_only_the_point() -> None:
    chart = forest(rated([(name, side, 0.5) for name, side, _ in SIX[:12]]))
    assert all(row["low"] is None for row in _drawn(chart))
    assert {"point", "rect", "text"} <= marks_of(chart)


def test_by_something_else_is_an_error_that_helps() -> None:
    with pytest.raises(ValueError, match="Did you mean `dimension`"):
        forest(rated(SIX), by="dimensions")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_drawn_as_text(name: str) -> None:
    ws = world(evals=2, runs=2, names=(name, "b"))
    assert len(_drawn(forest(ws))) == 3
