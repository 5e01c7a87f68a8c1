"""Dimensions tried: judged once, kept where the loader does not look, priced without a budget."""

from __future__ import annotations

import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.improving.try_dimensions import folder_of
from skill_eval_nb.models import Connection
from skill_eval_nb.models.stand_in import JUDGE, StandIn
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.stats import deltas, deltas_by_dimension
from tests.improving.made import draft, offline, planted, tried_on
from tests.stand_in import Fault, serve

RIGOUR = {
    "name": "rigour",
    "description": "Whether each figure can be traced",
    "weight": 2.0,
    "scoring": {"1": "none can", "3": "some can", "5": "all can"},
}
MODEL = "claude-haiku-4-5"
NOBODY = Connection("http://127.0.0.1:9")
"""Nobody answers there."""


def dimension(*new, **more):
    """A draft of dimensions."""
    return draft("dimensions", *new, evals=("1", "2"), **more)


@pytest.fixture
def root(tmp_path):
    """Two evals with two runs a side."""
    return tried_on(tmp_path, planted(2, 1), evals=2, runs=2)


def kept(root):
    """The judgings that were kept."""
    return sorted((root / ".skill-eval-nb").rglob("*.json"))


def test_without_a_budget_it_is_priced_and_nobody_is_asked(root):
    made = dimension(RIGOUR)
    tried = try_out(made, sen.load(root), judge_model=MODEL, connection=NOBODY)
    assert (tried.status, tried.to_judge, tried.cost_usd) == ("priced", 8, 0)
    assert tried.price_usd > 0
    assert f"8 runs would be judged by {MODEL}, $" in tried.answer
    assert "set budget_usd" in tried.answer
    assert not kept(root)


def test_what_does_not_fit_the_budget_is_left_for_later(root):
    ws = sen.load(root)
    price = try_out(dimension(RIGOUR), ws, judge_model=MODEL).price_usd
    with serve(StandIn()) as address:
        reached = {"judge_model": MODEL, "connection": Connection(address)}
        little = try_out(dimension(RIGOUR), ws, **reached, budget_usd=price / 8 * 1.001)
        assert 0 < little.to_judge < 8
        assert 0 < little.cost_usd <= price / 8 * 1.001
        assert len(kept(root)) == 8 - little.to_judge
        assert any("the budget is too small" in note for note in little.notes)
        left = try_out(dimension(RIGOUR), ws, judge_model=MODEL)
        assert (left.status, left.to_judge) == ("priced", little.to_judge)
        rest = try_out(dimension(RIGOUR), ws, **reached, budget_usd=price)
    assert (rest.status, rest.to_judge, len(kept(root))) == ("tried", 0, 8)


def test_nothing_is_paid_for_twice_but_other_outputs_are_another_question(root):
    ws = sen.load(root)
    first = try_out(dimension(RIGOUR), ws, judge_model=JUDGE)
    again = try_out(dimension(RIGOUR), ws, judge_model=JUDGE, connection=NOBODY)
    assert again.by_run.equals(first.by_run)
    assert (again.status, again.cost_usd) == ("tried", 0)
    next(root.rglob("report.md")).write_text("# Something else")
    other = try_out(dimension(RIGOUR), sen.load(root), judge_model=JUDGE, connection=NOBODY)
    assert (other.status, other.to_judge) == ("priced", 1)


def test_it_can_be_stopped_and_gone_on_with(root):
    stop, made = threading.Event(), dimension(RIGOUR)
    stop.set()
    silent = offline(faults=(Fault("silence", calls=(8,)),))
    with pytest.raises(Stopped):
        try_out(made, sen.load(root), judge_model=JUDGE, connection=silent, stop=stop)
    assert len(kept(root)) < 8
    assert try_out(made, sen.load(root), judge_model=JUDGE).to_judge == 0
    assert len(kept(root)) == 8


def test_every_judging_is_kept_inside_and_the_difference_is_that_of_the_statistics(tmp_path):
    root = tried_on(tmp_path / "in", planted(3, 1), evals=2, runs=3)
    ws = sen.load(root)
    tried = try_out(dimension(RIGOUR, target="Q1", key="../../escape"), ws, judge_model=JUDGE)
    assert len(kept(root)) == tried.by_run["score"].count() == 12
    assert not list(tmp_path.rglob("escape"))
    scores = tried.by_run.with_columns(dimension=pl.lit("rigour"))
    new = deltas_by_dimension(scores).row(0, named=True)
    old = deltas_by_dimension(ws).filter(dimension="depth").row(0, named=True)
    for found, expected in ((tried.delta, new), (tried.replaced, old)):
        assert (found.estimate, found.p) == (pytest.approx(expected["estimate"]), expected["p"])


def test_a_dimension_goes(root):
    ws = sen.load(root)
    tried = try_out(dimension(target="depth"), ws)
    assert tried.status == "tried"
    row = tried.suite.row(0, named=True)
    before = deltas(ws, "rubric_weighted_mean")["estimate"].item()
    without = deltas(ws, "clarity")["estimate"].item()
    assert (row["estimate_before"], row["estimate_after"]) == pytest.approx((before, without))
    assert "Without depth the suite's difference" in tried.answer


def test_gated_and_errored_ones_are_told(root):
    place = root / "eval-1" / "with_skill"
    (place / "run-1" / "outputs" / "report.md").unlink()
    sen.grade_stored(root, force=True)
    (place / "run-2" / "grading.json").unlink()
    (place / "run-2" / "timing.json").write_text('{"status": "errored"}')
    tried = try_out(dimension(RIGOUR), sen.load(root), judge_model=JUDGE)
    row = tried.sides.row(0, named=True)
    assert (row["scored"], row["errored"], row["not_scored"]) == (2, 1, 1)
    assert "1 run: it was gated, so the judge is skipped." in tried.notes


def test_a_refusing_judge_gives_no_score(root):
    refusing = offline(faults=(Fault("refusal"),))
    tried = try_out(dimension(RIGOUR), sen.load(root), connection=refusing)
    assert (tried.sides["scored"].sum(), tried.to_judge) == (0, 8)
    assert tried.answer.startswith("It was scored in none of 8 runs: 8 × Not scored: the judge")
    assert not kept(root)


@given(st.text())
def test_no_key_leads_out_of_the_workspace(key):
    folder = folder_of(Path("/ws"), key)
    assert folder.parts[:4] == ("/", "ws", ".skill-eval-nb", "tries")
    assert (len(folder.parts), folder.name) == (6, "judgings")
    assert folder.parts[4] not in ("..", ".")
