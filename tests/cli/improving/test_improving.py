"""`skill-eval-nb improve aggregate`."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from skill_eval_nb.cli import app, improving
from skill_eval_nb.improving import write_drafts
from skill_eval_nb.improving.comparison import compare
from tests.checkout import ROOT
from tests.cli.calls import run
from tests.improving.made_comparisons import offline, workspace
from tests.improving.made_suites import draft, suite

FILE = "eval_feedback_aggregate.json"


@pytest.fixture
def tdd(tmp_path):
    return shutil.copytree(ROOT / "data" / "tdd-workspace", tmp_path / "tdd-workspace")


def test_it_prints_and_writes_where_it_belongs(tdd):
    result = run("improve", "aggregate", tdd)
    assert result.exit_code == 0
    assert "4 suggestions from 67 graded runs (testing)" in result.stdout
    assert json.loads((tdd / FILE).read_bytes())["suggestions"][0]["frequency"] == 26
    assert run("improve", "aggregate", tdd, "--threshold", 0).exit_code == 0
    assert json.loads((tdd / FILE).read_bytes())["threshold"] == 0


def test_what_something_else_made_is_replaced_only_by_force(tdd):
    file = tdd / "iteration-1" / FILE
    before = file.read_bytes()
    result = run("improve", "aggregate", tdd, "--iteration", "iteration-1")
    assert (result.exit_code, file.read_bytes()) == (2, before)
    assert "force" in result.stderr
    assert run("improve", "aggregate", tdd, "--iteration", "iteration-1", "--force").exit_code == 0
    assert json.loads(file.read_bytes())["iteration"] == 1


def test_a_dry_run_tells_the_price_and_writes_nothing(tdd):
    result = run("improve", "aggregate", tdd, "--merge-model", "claude-sonnet-4-6", "--dry-run")
    assert result.exit_code == 0
    assert "was not asked to merge further; at most that costs $0." in result.stdout
    assert not (tdd / FILE).exists()


def test_nothing_is_spent_unasked(tdd):
    result = run("improve", "aggregate", tdd, "--merge-model", "claude-sonnet-4-6")
    assert result.exit_code != 0
    assert not (tdd / FILE).exists()


# ── analysing ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def compared(tmp_path):
    path = workspace(tmp_path, evals=1, runs=1, iterations=("iteration-1",))
    compare(path, "with_skill", "without_skill", connection=offline("better"), repeat=0)
    return path


def test_a_dry_run_tells_what_is_missing_and_writes_nothing(compared):
    result = run("improve", "analyse", compared, "--dry-run")
    assert result.exit_code == 0
    assert "0 analyses are there, 1 to be made, $0.00 at most" in result.stdout
    assert not list(compared.rglob("analysis*.json"))


def test_it_prints_what_to_change_and_keeps_it(compared):
    result = run("improve", "analyse", compared)
    assert result.exit_code == 0
    assert "[high, examples] Show in the winner's skill" in result.stdout
    assert result.stderr == ""
    assert (compared / "comparisons" / "analysis-1.json").is_file()
    assert "1 of them from before" in run("improve", "analyse", compared).stdout


def test_a_model_that_costs_is_asked_after_a_yes_only(compared, key):
    result = run("improve", "analyse", compared, "--model", "claude-haiku-4-5")
    assert "This costs money, $" in result.output
    assert result.exit_code == 1
    assert not list(compared.rglob("analysis*.json"))


# ── applying ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def path(tmp_path):
    """A suite of two evals, in a folder of its own."""
    return suite(tmp_path / "skill")


@pytest.fixture
def drafts(tmp_path):
    """A file of two drafts that can be applied."""
    given = (draft("expectations", "It is dated"), draft("expectations", "It is signed"))
    return write_drafts(tmp_path / "drafts.json", given)


def test_it_shows_the_diff_and_writes_nothing_without_a_yes(path, drafts):
    before = path.read_bytes()
    result = run("improve", "apply", drafts, path)
    assert result.exit_code == 0
    assert '+        "It is dated",' in result.stdout
    assert "2 of 2 drafts in evals.json: 3 lines new, 1 line gone" in result.stdout
    assert "Nothing was written" in result.stdout
    assert path.read_bytes() == before


def test_with_a_yes_it_writes_and_says_where_the_old_file_is(path, drafts):
    before = path.read_bytes()
    result = run("improve", "apply", drafts, path.parent, "--yes")
    assert result.exit_code == 0
    assert f"the old file is {path}.1.bak" in result.stdout
    assert b"It is signed" in path.read_bytes()
    assert path.with_name("evals.json.1.bak").read_bytes() == before


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_it_asks(path, drafts, answer, monkeypatch):
    monkeypatch.setattr(improving, "_at_a_terminal", lambda: True)
    result = CliRunner().invoke(app, ["improve", "apply", str(drafts), str(path)], input=answer)
    assert "Write this?" in result.stdout
    assert (b"It is dated" in path.read_bytes()) is (answer == "y")


def test_a_draft_that_has_no_place_is_told_and_the_others_go_in(path, tmp_path):
    given = (draft("expectations", "It is dated"), draft("expectations", "New", evals=["9"]))
    drafts = write_drafts(tmp_path / "drafts.json", given)
    result = run("improve", "apply", drafts, path, "--yes")
    assert result.exit_code == 1
    assert "is refused: there is no eval `9`" in result.stderr
    assert b"It is dated" in path.read_bytes()
