"""The command `compare`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calls import run
from tests.improving.made_comparisons import workspace

SIDES = ("with_skill", "without_skill")


@pytest.fixture
def made(tmp_path) -> Path:
    return workspace(tmp_path, evals=3, runs=2)


def test_it_prints_pairs_verdict_measures_and_price(made) -> None:
    result = run("compare", made, *SIDES)
    assert result.exit_code == 0
    assert "with_skill against without_skill, compared blind by stand-in-judge: done" in (
        result.stdout
    )
    assert "eval 2 (ledger-2) " in result.stdout
    assert "position consistency" in result.stdout
    assert "13 comparisons, 0 of them from before, 0 missing; $0.00" in result.stdout
    assert result.stderr == ""
    again = run("compare", made, *SIDES)
    assert "13 comparisons, 13 of them from before" in again.stdout
    assert again.stderr == ""


def test_a_dry_run_asks_nobody(made) -> None:
    result = run("compare", made, "iteration-1", "iteration-2", "--dry-run", "--repeat", 0)
    assert result.exit_code == 0
    assert "6 pairs; 0 comparisons are there, 12 to be made, $0.00 at most" in result.stdout
    assert not (made / "comparisons").exists()


def test_nothing_is_spent_without_a_budget_or_a_yes(made, monkeypatch, key) -> None:
    model = ("--model", "claude-haiku-4-5", "--eval", "ledger-1")
    result = run("compare", made, *SIDES, *model)
    assert "This costs money, $" in result.stdout
    assert result.exit_code == 1
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    keyless = run("compare", made, *SIDES, *model, "--yes")
    assert keyless.exit_code == 2
    assert "There is no API key" in keyless.stderr
    assert not list(made.glob("comparisons/*"))


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (("with_skill", "withuot_skill"), "did you mean `without_skill`"),
        (("with_skill", "with_skill"), "both sides are with_skill of iteration-2"),
        (("with_skill", "iteration-1/old"), "there is no configuration `old`"),
    ],
)
def test_what_cannot_be_done_is_a_line_and_exit_code_2(made, sides, said) -> None:
    result = run("compare", made, *sides)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
