"""What a change does to gates and rates is what layer 1 finds when it has been made."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.values import RUN
from tests.improving.trying.made import (
    EXISTS,
    SOURCES,
    TOTAL,
    draft,
    planted,
    suite,
    with_suite,
    world,
)

CRITICAL = {"critical": True}
OLD = [EXISTS | CRITICAL, TOTAL]


def mixed(one: str, side: str, run: int) -> str:
    """Outputs with and without a source, with and without a total."""
    return planted(3, 1)(one, side, run).replace("Total", "Sum" if run == 2 else "Total")


@pytest.mark.parametrize(
    ("made", "after"),
    [
        (draft(SOURCES), [*OLD, SOURCES]),
        (draft(SOURCES | CRITICAL), [*OLD, SOURCES | CRITICAL]),
        (draft(SOURCES | CRITICAL, target="S1"), [SOURCES | CRITICAL, TOTAL]),
        (draft(SOURCES, target="A total"), [OLD[0], SOURCES]),
        (draft(TOTAL | CRITICAL, target="S2", kind="sharpen"), [OLD[0], TOTAL | CRITICAL]),
        (draft(EXISTS, target="S1", kind="demote"), [EXISTS, TOTAL]),
        (draft(target="S2"), [OLD[0]]),
        (draft({"type": "no such type"}), [*OLD, {"type": "no such type"}]),
    ],
    ids=[
        "add",
        "add critical",
        "critical for critical",
        "by text",
        "promote",
        "demote",
        "drop",
        "?",
    ],
)
def test_after_is_what_checking_the_changed_suite_gives(tmp_path, made, after):
    root = world(tmp_path, mixed)
    tried = try_out(made, sen.load(root))
    runs = with_suite(root, after).runs
    expected = runs.select(
        *RUN,
        pl.col("gate_passed").alias("gate_passed_after"),
        pl.col("structural_pass_rate").alias("structural_pass_rate_after"),
    )
    found = tried.by_run.select(expected.columns)
    assert_frame_equal(found, expected, check_row_order=False)
    before = tried.by_run["gate_passed_before"].fill_null(value=True)
    now = expected["gate_passed_after"].fill_null(value=True)
    assert tried.gates_changed == (before.sort() != now.sort()).sum()


def test_a_run_whose_gate_closes_has_the_rate_of_its_checks(tmp_path):
    tried = try_out(draft(SOURCES | {"critical": True}), sen.load(world(tmp_path, planted(4, 0))))
    shut = tried.by_run.filter(~pl.col("gate_passed_after"))
    assert shut["configuration"].unique().to_list() == ["without_skill"]
    assert shut["pass_rate_before"].to_list() == [1.0] * 16
    assert shut["pass_rate_after"].to_list() == shut["structural_pass_rate_after"].to_list()
    assert tried.gates_changed == 16
    assert "the gate of 16 runs would change" in tried.answer


def test_a_run_whose_gate_opens_has_no_rate_before_it_is_judged(tmp_path):
    root = world(tmp_path, planted(4, 0))
    ws = with_suite(root, [SOURCES | {"id": "S1", "critical": True}])
    tried = try_out(draft(target="S1"), ws)
    opened = tried.by_run.filter(pl.col("gate_passed_before") == False)  # noqa: E712
    assert opened["gate_passed_after"].to_list() == [True] * 16
    assert opened["pass_rate_after"].to_list() == [None] * 16


def test_the_first_check_of_a_suite_makes_its_gate(tmp_path):
    root = world(tmp_path, planted(4, 0), suited=suite(structural=()), checked=False)
    tried = try_out(draft(SOURCES | {"critical": True}), sen.load(root))
    passed = tried.by_run["passed"]
    assert tried.by_run["gate_passed_after"].to_list() == passed.to_list()
    assert tried.by_run["structural_pass_rate_after"].to_list() == passed.cast(float).to_list()


def test_unchecked_runs_have_no_rate_after(tmp_path):
    tried = try_out(draft(SOURCES), sen.load(world(tmp_path, planted(4, 0), checked=False)))
    assert tried.by_run["structural_pass_rate_after"].null_count() == 32
    assert tried.by_run["gate_passed_after"].null_count() == 32


def test_the_suites_difference_is_that_of_the_changed_suite(tmp_path):
    root = world(tmp_path, mixed)
    suite = try_out(draft(SOURCES), sen.load(root)).suite
    before = deltas(sen.load(root), "structural_pass_rate").row(0, named=True)
    after = deltas(with_suite(root, [*OLD, SOURCES]), "structural_pass_rate").row(0, named=True)
    row = suite.filter(metric="structural_pass_rate").row(0, named=True)
    for name in ("estimate", "p", "verdict", "n_evals", "n_runs"):
        assert (row[f"{name}_before"], row[f"{name}_after"]) == (before[name], after[name])
