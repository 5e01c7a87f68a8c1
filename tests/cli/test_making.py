"""The commands that make: what they ask before money is spent, what they leave, how they end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import skill_eval_nb as sen
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import run

SKILL = ROOT / "data" / "release-notes"
UNCONTAINED = ("--sandbox", "none")
"""What the stand-in has done is known; these tests run where there is no sandbox, too."""


ENDED = {"graded", "gated"}
"""How a run of the stand-in may end: what it writes without the skill may miss the gate."""


def evaluated(workspace: Path, *more: object) -> list[object]:
    """The command for one eval of the demo skill, one run a side."""
    given = ["--workspace", workspace, "--runs", 1, "--eval", "no-version-named", *UNCONTAINED]
    return ["run", "--skill", SKILL, *given, *more]


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

    def test_given_again_it_does_what_is_missing(self, tmp_path):
        run(*evaluated(tmp_path / "ws"))
        before = sen.load(tmp_path / "ws").runs
        again = run(*evaluated(tmp_path / "ws", "--resume"))
        assert again.exit_code == 0
        assert sen.load(tmp_path / "ws").runs.equals(before)
        run(*evaluated(tmp_path / "ws", "--resume")[:-5], "--runs", 2, *UNCONTAINED)
        assert sen.load(tmp_path / "ws").runs.height > 2

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

    def test_money_is_spent_with_a_ceiling_or_a_yes(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody's")
        real = ("--executor", "messages-api", "--executor-model", "claude-sonnet-5")
        judge = ("--judge-model", "claude-opus-4-8")
        result = run(*evaluated(tmp_path / "ws", *real, *judge))
        assert result.exit_code != 0
        assert "This costs money and has no --budget-usd" in result.output
        assert not (tmp_path / "ws").exists()

    @bubblewrap.needed
    def test_what_is_to_be_given_has_the_names_of_options(self, tmp_path, no_key):
        real = ("--executor", "messages-api", "--executor-model", "claude-sonnet-5", "--dry-run")
        limits = ("--judge-model", "claude-opus-4-8", "--budget-usd", 0.01, "--run-usd", 2)
        told = run("run", "--skill", SKILL, "--workspace", tmp_path, *real, *limits).stdout
        assert "the $2.00 that one run may cost" in told
        assert "raise --budget-usd, or lower what a run may cost with --run-usd" in told
        assert "with --allow-scripts" in told
        assert "without --dry-run it begins; nothing is spent before" in told
        for python in ("plan.start", "Limits(", "budget_usd", "allow_scripts", "%env"):
            assert python not in told
        lacking = run("run", "--skill", SKILL, "--executor", "messages-api", "--dry-run").stderr
        assert "--executor-model is not given" in lacking


class TestGrade:
    def test_verdicts_are_written_beside_the_outputs(self, tmp_path):
        run(*evaluated(tmp_path / "ws"))
        found = sorted((tmp_path / "ws").rglob("structural.json"))
        before = [json.loads(path.read_text()) for path in found]
        for path in found:
            path.unlink()
        result = run("grade", tmp_path / "ws", "--layer", "structural", *UNCONTAINED)
        assert result.exit_code == 0, result.output
        assert [json.loads(path.read_text()) for path in found] == before

    def test_what_differs_is_told_and_kept(self, tmp_path):
        run(*evaluated(tmp_path / "ws"))
        first = min((tmp_path / "ws").rglob("structural.json"))
        other = json.loads(first.read_text())
        other["expectations"][0]["passed"] = False
        first.write_text(json.dumps(other))
        result = run("grade", tmp_path / "ws", *UNCONTAINED)
        assert result.exit_code == 1
        assert json.loads(first.read_text()) == other
        assert run("grade", tmp_path / "ws", "--force", *UNCONTAINED).exit_code == 0
        assert json.loads(first.read_text())["expectations"][0]["passed"] is True


class TestJudge:
    def test_stored_outputs_are_judged_anew(self, tmp_path):
        run(*evaluated(tmp_path / "ws"))
        result = run("judge", tmp_path / "ws", "--again", 2, "--judge-model", "stand-in-judge")
        assert result.exit_code == 0, result.output
        assert set(sen.load(tmp_path / "ws").rubric_scores["judging"]) == {1, 2, 3}

    def test_it_asks_before_it_spends(self, tmp_path, key):
        run(*evaluated(tmp_path / "ws"))
        result = run("judge", tmp_path / "ws", "--judge-model", "claude-opus-4-8")
        assert result.exit_code != 0
        assert "This costs money" in result.output


@bubblewrap.needed
def test_the_skill_that_teaches_this_shell_is_run_by_it(tmp_path):
    skill = ROOT / "skills" / "evaluate-a-skill"
    checked = run("check", skill)
    assert (checked.exit_code, "0 errors, 0 warnings" in checked.stdout) == (0, True)
    done = run("run", "--skill", skill, "--workspace", tmp_path / "ws", "--runs", 1)
    assert (done.exit_code, "done: 6 of 6 runs" in done.stdout) == (0, True)
    assert set(sen.load(tmp_path / "ws").runs["status"]) <= {"graded", "gated"}
    body = (skill / "SKILL.md").read_text()
    told = re.findall(r"`skill-eval-nb ([a-z-]+(?: [a-z]+\b)?)[^`]*?( --[a-z-]+)?`", body)
    assert len(told) > 5
    for command, option in told:
        assert option.strip() in run(*command.split(), "-h").stdout
