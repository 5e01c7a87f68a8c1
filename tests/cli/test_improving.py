"""The commands that compare and improve: what they print, keep, replace, and write where asked."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from skill_eval_nb.cli import improving
from skill_eval_nb.improving import write_drafts
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import TDD, done, refused, run
from tests.cli.payers import RIGOUR
from tests.improving import made
from tests.improving.made import CHECKS, NEW, OLD, ledgers

AGGREGATE = "eval_feedback_aggregate.json"


@pytest.fixture
def tdd(tmp_path):
    return shutil.copytree(TDD, tmp_path / TDD.name)


def test_comparing_prints_pairs_verdict_measures_and_price(tmp_path):
    path = ledgers(tmp_path)
    planned = json.loads(done("compare", path, NEW, OLD, "--dry-run", "--json"))
    assert (planned["n_missing"], planned["verdict"]["word"]) == (13, "nothing compared")
    told = done("compare", path, NEW, OLD)
    said = "with_skill against without_skill, compared blind by stand-in-judge: done"
    price = "13 comparisons, 0 of them from before, 0 missing; $0.00"
    for part in (said, "eval 2 (ledger-2) ", "position consistency", price):
        assert part in told
    assert "13 comparisons, 13 of them from before" in done("compare", path, NEW, OLD)
    assert "did you mean `without_skill`" in refused("compare", path, NEW, "withuot_skill")
    assert "[high, examples] Show in the winner's skill" in done("improve", "analyse", path)
    assert "6 of them from before" in done("improve", "analyse", path)


def test_aggregating_writes_where_it_belongs_and_replaces_by_force_alone(tdd):
    told = run("improve", "aggregate", tdd, "--threshold", 0).stdout
    assert " suggestions from 67 graded runs (testing)" in told
    assert json.loads((tdd / AGGREGATE).read_bytes())["threshold"] == 0
    theirs = tdd / "iteration-1" / AGGREGATE
    before = theirs.read_bytes()
    assert "force" in refused("improve", "aggregate", tdd, "--iteration", "iteration-1")
    assert theirs.read_bytes() == before
    forced = run("improve", "aggregate", tdd, "--iteration", "iteration-1", "--force")
    assert (forced.exit_code, json.loads(theirs.read_bytes())["iteration"]) == (0, 1)


def test_trying_gives_every_draft_its_answer_and_its_sides(tmp_path):
    ws = made.tried_on(tmp_path, made.planted(3, 0), evals=2, runs=3)
    check = made.draft(CHECKS, made.SOURCES, evals=["1", "2"], target="S1")
    dimension = made.draft("dimensions", RIGOUR, evals=["1", "2"])
    file = write_drafts(tmp_path / "drafts.json", [check, dimension])
    told = run("improve", "try", file, ws, "--judge-model", "claude-haiku-4-5").stdout
    assert "Its pass rate is 1 in with_skill (6 runs)" in told
    assert "Better than what it replaces" in told
    assert "12 runs would be judged by claude-haiku-4-5; $" in told
    assert "replaced  all    without_skill" in told
    assert not (ws / ".skill-eval-nb").exists()
    judged = ("--key", dimension.key, "--judge-model", "stand-in-judge")
    alone = done("improve", "try", file, ws, *judged)
    assert ("Its mean score is" in alone, "pass rate" in alone) == (True, False)


WAYS = [((), None, False), (("--yes",), None, True), ((), "y", True), ((), "n", False)]


@pytest.mark.parametrize(("options", "answer", "written"), WAYS)
def test_applying_shows_the_diff_and_writes_after_a_yes(
    tmp_path, monkeypatch, options, answer, written
):
    """A draft that has no place is said, and the others go in."""
    path = made.suite(tmp_path / "skill")
    drafts = [made.draft("expectations", f"It is {what}") for what in ("dated", "signed")]
    drafts.append(made.draft("expectations", "New", evals=["9"]))
    command = ["improve", "apply", write_drafts(tmp_path / "drafts.json", drafts), path, *options]
    before = path.read_bytes()
    monkeypatch.setattr(improving, "_is_at_terminal", lambda: answer is not None)
    result = run(*command, typed=answer)
    assert result.exit_code == 1
    assert "was refused: there is no eval `9`" in result.stderr
    assert '+        "It is dated",' in result.stdout
    assert "2 of 3 drafts in evals.json: 3 lines new, 1 line gone" in result.stdout
    assert ("Write this?" in result.stdout) is (answer is not None)
    assert ("Nothing was written" in result.stdout) is not written
    assert (b"It is signed" in path.read_bytes()) is written
    kept = path.with_name("evals.json.1.bak")
    assert (kept if written else path).read_bytes() == before
    assert (f"The old file is {kept}" in result.stdout) is written


def test_a_history_is_printed_and_one_of_others_replaced_by_force_only(tdd, tmp_path):
    before = (tdd / "history.json").read_bytes()
    elsewhere = tmp_path / "own.json"
    told = run("improve", "history", tdd, "--out", elsewhere).stdout
    assert "v1  iteration-2, with_skill: 0.875, tie, from v0 (stated)" in told
    assert json.loads(elsewhere.read_text())["current_best"] is None
    assert told.startswith(run("improve", "history", tdd).stdout)
    assert (tdd / "history.json").read_bytes() == before
    assert "not written by this tool" in run("improve", "history", tdd, "--out", tdd).stderr
    assert run("improve", "history", tdd, "--out", tdd, "--force").exit_code == 0
    assert (tdd / "history.json.1.bak").read_bytes() == before


@bubblewrap.needed
def test_from_a_skill_without_evals_to_a_report_offline(tmp_path):
    skill, out = ROOT / "data" / "release-notes", tmp_path / "mine"
    before = sorted(skill.parent.rglob("*"))
    given, mine = ("init", skill, "--out", out), out / "release-notes"
    model = ("--model", "claude-sonnet-4-6")
    assert "was not asked: it costs $" in done(*given, *model, "--dry-run")
    assert not out.exists()
    unasked = run(*given, *model)
    assert (unasked.exit_code, unasked.stderr) == (1, "")
    assert "give --budget-usd to ask it" in unasked.stdout
    shown = run(*given, "--n", 3)
    assert shown.stdout.rstrip().endswith("Nothing was written; give --yes to write it.")
    assert not (mine / "evals").exists()
    written = done(*given, "--n", 3, "--yes")
    for part in ("3 drafts", "No model wrote this", "+++ evals.json (new)", "3 of 3 drafts"):
        assert part in written
    (command,) = re.findall("Next: fill in the form, then run: skill-eval-nb (.*)", written)
    assert command == f"run {mine}"
    for again in ((*given, "--yes"), ("init", mine)):
        assert f"{mine} already has evals" in refused(*again)
    done(*command.split(), "--runs", 2)
    done("report", out / "release-notes-workspace", "--out", tmp_path / "report")
    assert "release-notes" in (tmp_path / "report" / "report.html").read_text()
    assert sorted(skill.parent.rglob("*")) == before
