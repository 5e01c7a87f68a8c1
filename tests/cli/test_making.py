"""The commands that make: what they ask before money is spent, what they leave, how they end."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.running.driving import pool
from tests.checkout import ROOT
from tests.cli.calls import TDD, run
from tests.corpus.build import lay

SKILL = ROOT / "data" / "demo-skill"
UNCONTAINED = ("--sandbox", "none")
"""What the stand-in has done is known; these tests run where there is no sandbox, too."""


ENDED = {"graded", "gated"}
"""How a run of the stand-in may end: what it writes without the skill may miss the gate."""


def evaluated(workspace: Path, *more: object) -> list[object]:
    """The command for one eval of the demo skill, one run a side."""
    given = ["--workspace", workspace, "--runs", 1, "--eval", "no-version-named", *UNCONTAINED]
    return ["run", "--skill", SKILL, *given, *more]


@pytest.fixture(scope="module")
def ran_once(tmp_path_factory) -> Path:
    """The workspace of that command."""
    workspace = tmp_path_factory.mktemp("ran") / "ws"
    assert run(*evaluated(workspace)).exit_code == 0
    return workspace


@pytest.fixture
def ran(ran_once, tmp_path) -> Path:
    """A copy of it, to do more with."""
    return shutil.copytree(ran_once, tmp_path / "ws")


class TestRun:
    def test_a_dry_run_shows_the_plan_and_writes_nothing(self, tmp_path):
        result = run(*evaluated(tmp_path / "ws", "--dry-run"))
        assert result.exit_code == 0
        assert "Estimate" in result.stdout
        assert "1 eval × 2 configurations × 1 run = 2 runs" in result.stdout
        assert list(tmp_path.iterdir()) == []

    def test_it_runs_grades_and_says_where(self, tmp_path):
        result = run(*evaluated(tmp_path / "ws", "--judgings", 2))
        assert result.exit_code == 0, result.output
        assert "done: 2 of 2 runs" in result.stdout
        assert str(tmp_path / "ws" / "iteration-1") in result.stdout
        ws = sen.load(tmp_path / "ws")
        assert ws.runs.height == 2
        assert set(ws.runs["status"]) <= ENDED
        assert set(ws.rubric_scores["judging"]) == {1, 2}

    def test_given_again_it_does_what_is_missing(self, ran):
        before = sen.load(ran).runs
        again = run(*evaluated(ran, "--resume"))
        assert again.exit_code == 0
        assert sen.load(ran).runs.equals(before)
        run(*evaluated(ran, "--resume", "--runs", 2))
        assert sen.load(ran).runs.height == 4

    def test_nothing_to_resume_is_said(self, tmp_path):
        result = run(*evaluated(tmp_path / "ws", "--resume"))
        assert result.exit_code == 2
        assert "nothing was begun" in result.stderr
        assert not (tmp_path / "ws").exists()

    def test_all_faults_come_at_once(self, tmp_path):
        result = run("run", "--skill", tmp_path / "none", "--runs", 0, "--executor", "offlin")
        assert result.exit_code == 2
        assert "things stand in the way" in result.stderr
        assert "did you mean `offline`" in result.stderr
        assert "runs is 0" in result.stderr

    def test_a_configuration_without_a_skill_is_asked_for(self, tmp_path):
        result = run(*evaluated(tmp_path / "ws", "--configuration", "old_skill"))
        assert result.exit_code == 2
        assert "old_skill=FOLDER" in result.stderr

    def test_another_version_of_the_skill_is_a_side(self, tmp_path):
        sides = ("--configuration", "with_skill", "--configuration", f"old_skill={SKILL}")
        result = run(*evaluated(tmp_path / "ws", *sides))
        assert result.exit_code == 0, result.output
        assert set(sen.load(tmp_path / "ws").runs["configuration"]) == {"with_skill", "old_skill"}

    def test_money_is_spent_with_a_ceiling_or_a_yes(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody's")
        real = ("--executor", "messages-api", "--executor-model", "claude-sonnet-5")
        judge = ("--judge-model", "claude-opus-4-8")
        result = run(*evaluated(tmp_path / "ws", *real, *judge))
        assert result.exit_code != 0
        assert "This costs money and has no --budget-usd" in result.output
        assert not (tmp_path / "ws").exists()

    @pytest.mark.slow
    def test_a_dask_cluster_needs_no_address(self, tmp_path, monkeypatch):
        pytest.importorskip("distributed")
        monkeypatch.setattr(pool, "local_dask", partial(pool.local_dask, workers=1))
        result = run(*evaluated(tmp_path / "ws", "--dask"))
        assert result.exit_code == 0, result.output
        assert set(sen.load(tmp_path / "ws").runs["status"]) <= ENDED


class TestGrade:
    def test_verdicts_are_written_beside_the_outputs(self, ran):
        found = sorted(ran.rglob("structural.json"))
        before = [json.loads(path.read_text()) for path in found]
        for path in found:
            path.unlink()
        result = run("grade", ran, "--layer", "structural", *UNCONTAINED)
        assert result.exit_code == 0, result.output
        assert [json.loads(path.read_text()) for path in found] == before

    def test_what_differs_is_told_and_kept(self, ran):
        first = min(ran.rglob("structural.json"))
        other = json.loads(first.read_text())
        other["expectations"][0]["passed"] = False
        first.write_text(json.dumps(other))
        result = run("grade", ran, *UNCONTAINED)
        assert result.exit_code == 1
        assert json.loads(first.read_text()) == other
        assert run("grade", ran, "--force", *UNCONTAINED).exit_code == 0
        assert json.loads(first.read_text())["expectations"][0]["passed"] is True


class TestJudge:
    def test_stored_outputs_are_judged_anew(self, ran):
        result = run("judge", ran, "--again", 2, "--judge-model", "stand-in-judge")
        assert result.exit_code == 0, result.output
        assert set(sen.load(ran).rubric_scores["judging"]) == {1, 2, 3}

    def test_it_asks_before_it_spends(self, ran):
        result = run("judge", ran, "--judge-model", "claude-opus-4-8")
        assert result.exit_code != 0
        assert "This costs money" in result.output

    def test_a_folder_of_something_else(self, tmp_path):
        lay(tmp_path / "notes", {"notes.txt": "hello"})
        result = run("judge", tmp_path / "notes", "--judge-model", "stand-in-judge")
        assert result.exit_code == 2
        assert "nothing to load" in result.stderr.lower()

    def test_a_workspace_without_a_judge(self):
        result = run("judge", TDD, "--again", 0, "--yes")
        assert result.exit_code == 2
        assert "at least" in result.stderr or "must be" in result.stderr
