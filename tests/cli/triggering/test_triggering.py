"""`skill-eval-nb trigger-draft`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.triggers.queries import read_queries
from tests import bubblewrap
from tests.cli.calls import run
from tests.triggers.measuring.made import make_skill
from tests.triggers.querying.made import skill


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    """The skill that is drafted for."""
    return skill(tmp_path, "clean-rows")


def test_queries_are_printed_and_written(tidy: Path, tmp_path: Path) -> None:
    other = skill(tmp_path, "release-notes", "Turns commits into release notes for users.")
    file = tmp_path / "trigger-eval-set.json"
    options = ("--model", "stand-in-judge", "--n", 4, "--others", other, "--out", file)
    result = run("trigger-draft", tidy, *options)
    assert result.exit_code == 0
    found = read_queries(file)
    assert [one.should_trigger for one in found] == [True, True, False, False]
    assert "near miss, for release-notes" in result.output
    assert "few" in result.output
    assert f"wrote {file}" in result.output


def test_a_file_that_is_there_gets_more(tidy: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    rows = [{"query": "sort it", "should_trigger": True, "note": "mine"}]
    file.write_text(json.dumps({"queries": rows}))
    options = ("--model", "stand-in-judge", "--n", 2, "--others", "none", "--out", file)
    assert run("trigger-draft", tidy, *options, "--dry-run").exit_code == 0
    assert json.loads(file.read_text())["queries"] == rows
    assert run("trigger-draft", tidy, *options).exit_code == 0
    told = json.loads(file.read_text())["queries"]
    assert told[0] == rows[0]
    assert len(told) == 3


def test_a_model_that_costs_is_not_asked_without_a_budget(tidy: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    dear = ("trigger-draft", tidy, "--model", "claude-sonnet-4-6", "--out", file)
    unasked, dry = run(*dear), run(*dear, "--dry-run")
    assert "give --budget-usd" in unasked.output
    assert "at worst" in dry.output
    assert (unasked.exit_code, dry.exit_code) == (1, 0)
    assert not file.exists()


# ── measuring ──────────────────────────────────────────────────────────────────────────────────

YES = [f"Build a kite of paper, number {n}" for n in range(3)]
NO = ["Build a boat of wood, like a kite"]


@pytest.fixture
def given(tmp_path):
    """A skill and its trigger set."""
    skill = make_skill(tmp_path / "kites", description="Builds a kite of paper and string.")
    queries = [{"query": one, "should_trigger": True} for one in YES]
    queries += [{"query": one, "should_trigger": False} for one in NO]
    (skill / "trigger-eval-set.json").write_text(json.dumps(queries))
    return skill, skill / "trigger-eval-set.json"


@bubblewrap.needed
def test_a_dry_run_shows_the_price_and_writes_nothing(tmp_path, given):
    result = run("trigger", *given, "--model", "claude-haiku-4-5", "--dry-run")
    assert result.exit_code == 0
    assert "12 attempts to be made, 72 calls at most; about $" in result.stdout
    assert "beside 6 other skills" in result.stdout
    assert [one.name for one in tmp_path.iterdir()] == ["kites"]


@bubblewrap.needed
def test_it_shows_rates_scores_and_doubts_and_keeps_the_attempts(tmp_path, given):
    result = run("trigger", *given, "--executor", "offline", "--others", "none", "--runs", 2)
    assert result.exit_code == 1, "every query triggers, which is no measurement"
    assert result.stdout.index("8 attempts to be made") < result.stdout.index("2 of 2 (")
    assert "recall 1.00" in result.stdout
    assert "doubt: " in result.stdout
    assert result.stderr == ""
    ws = sen.load(tmp_path / "kites-workspace")
    assert ws.polars("triggers")["triggered"].to_list() == [2, 2, 2, 2]
    again = run("trigger", *given, "--executor", "offline", "--others", "none", "--runs", 2)
    assert again.stderr == ""
    assert "all of it was there already" in again.stdout


@bubblewrap.needed
def test_without_a_budget_it_asks_first(given, key):
    result = run("trigger", *given, "--model", "claude-haiku-4-5")
    assert result.exit_code == 1
    assert "This costs money, $" in result.output
