"""Dimensions tried: kept where the loader does not look, and what difference they make."""

from __future__ import annotations

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.models.stand_in import JUDGE
from skill_eval_nb.stats import deltas, deltas_by_dimension
from tests.improving.made import draft, offline, planted, tried_on
from tests.stand_in import Fault

RIGOUR = {
    "name": "rigour",
    "description": "Whether each figure can be traced",
    "weight": 2.0,
    "scoring": {"1": "none can", "3": "some can", "5": "all can"},
}


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


def test_gated_errored_and_refused_ones_are_told(root):
    place = root / "eval-1" / "with_skill"
    (place / "run-1" / "outputs" / "report.md").unlink()
    sen.grade_stored(root, force=True)
    (place / "run-2" / "grading.json").unlink()
    (place / "run-2" / "timing.json").write_text('{"status": "errored"}')
    ws = sen.load(root)
    refusing = offline(faults=(Fault("refusal"),))
    none = try_out(dimension(RIGOUR), ws, connection=refusing)
    assert (none.sides["scored"].sum(), none.to_judge) == (0, 6)
    assert none.answer.startswith("It was scored in none of 8 runs: 6 × Not scored: the judge")
    assert not kept(root)
    tried = try_out(dimension(RIGOUR), ws, judge_model=JUDGE)
    row = tried.sides.row(0, named=True)
    assert (row["scored"], row["errored"], row["not_scored"]) == (2, 1, 1)
    assert "1 run: it was gated, so the judge is skipped." in tried.notes
