"""The commands that make: what they show, what they leave, how they end."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.workspace.jobs import read_settings
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import done, refused, run
from tests.improving.made import planted, tried_on

SKILL = ROOT / "data" / "release-notes"
UNCONTAINED = ("--sandbox", "none")
"""What the stand-in has done is known; these tests run where there is no sandbox, too."""
ENDED = {"graded", "gated"}
"""How a run of the stand-in may end: what it writes without the skill may miss the gate."""


def evaluated(workspace: Path, *more: object) -> list[object]:
    """The command for one eval of the demo skill."""
    given = ["--workspace", workspace, "--runs", 1, "--eval", "no-version-named", *UNCONTAINED]
    return ["run", SKILL, *given, *more]


def test_looks_are_numbers_between_commas_and_stand_instead_of_the_runs(tmp_path):
    given = ["run", SKILL, "--workspace", tmp_path / "ws", "--dry-run", *UNCONTAINED]
    shown = run(*given, "--looks", "2,4,6").stdout
    assert "= 72 runs at most" in shown
    assert "at 2, 4 and 6 runs a side; the job ends where one decides" in shown
    for looks, why in (
        (["2;4"], "looks is ('2;4',); it is two or more growing numbers of runs"),
        (["2,4", "--runs", 3], "runs is 3, and the last look is at 4: leave --runs out"),
    ):
        assert why in " ".join(refused(*given, "--looks", *looks).replace("│", " ").split())


def test_it_runs_grades_says_where_and_the_command_of_a_next_step_does_only_what_is_new(tmp_path):
    """It names what the journal does; in a report, folders by their names alone."""
    home = tmp_path / "ws"
    told = done(*evaluated(home, "--seed", 3, "--judgings", 2))
    assert "done: 2 of 2 runs" in told
    assert str(home / "iteration-1") in told
    ws = sen.load(home)
    assert (ws.runs.height, set(ws.runs["status"]) <= ENDED) == (2, True)
    assert set(ws.rubric_scores["judging"]) == {1, 2}
    settings = read_settings(home / "iteration-1")
    before = {path: path.read_bytes() for path in home.rglob("run-1/**/*") if path.is_file()}
    command = settings.word_command(2, ["1", "2"], named=False)
    assert command.startswith(f"skill-eval-nb run {SKILL} --workspace {home} --runs 2 ")
    named = settings.word_command(2, ["1", "2"], named=True)
    assert named.startswith("skill-eval-nb run release-notes --workspace ws --runs 2 ")
    assert named.endswith(" --judgings 2 --seed 3 --sandbox none")
    fields = json.loads(run(*shlex.split(command)[1:], "--resume", "--json").stdout)
    assert (fields["cells"], fields["finished"], fields["status"]) == (4, 4, "done")
    assert {row["verdict"] for row in fields["answers"]} == {None}, "the stand-in made them"
    assert fields["paths"] == [str(home / "iteration-1")]
    assert before == {path: path.read_bytes() for path in before}
    lines = (home / "iteration-1" / "journal.jsonl").read_text().splitlines()
    launched = [one for one in map(json.loads, lines) if one["event"] == "launched"]
    times = Counter((one["step"], one["key"]) for one in launched)
    assert [one for one in times if times[one] != 1 + (one[0] == "judge")] == []
    assert {path.parent.name for path in home.rglob("outputs")} == {"run-1", "run-2"}


@pytest.mark.parametrize("given", [["--dask", "--skill"], ["--skill"], ["--skill="], []])
def test_the_skill_is_named_with_or_without_its_old_option(tmp_path, given):
    named = [*given, SKILL] if given != ["--skill="] else [f"--skill={SKILL}"]
    shown = done("run", *named, "--workspace", tmp_path / "ws", "--dry-run", *UNCONTAINED)
    assert "6 evals × 2 configurations" in shown


def test_all_faults_come_at_once_in_the_words_of_the_shell(tmp_path):
    told = refused("run", "--skill", tmp_path / "none", "--runs", 0, "--executor", "offlin")
    for fault in (" problems:", "did you mean `offline`", "runs is 0"):
        assert fault in told
    old = evaluated(tmp_path / "ws", "--configuration", "old_skill")
    assert "old_skill=FOLDER" in refused(*old)
    assert "nothing was begun in" in run(*evaluated(tmp_path / "ws", "--resume")).stderr
    lacking = refused("run", SKILL, "--executor", "messages-api", "--dry-run")
    assert "--executor-model is not given" in lacking


@bubblewrap.needed
def test_what_is_to_be_given_has_the_names_of_options(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    real = ("--executor", "messages-api", "--executor-model", "claude-sonnet-5", "--dry-run")
    limits = ("--judge-model", "claude-opus-4-8", "--budget-usd", 0.01, "--run-usd", 2)
    shown = run("run", SKILL, "--workspace", tmp_path, *real, *limits).stdout
    assert "the $2.00 that one run may cost" in shown
    assert "raise --budget-usd, or lower what a run may cost with --run-usd" in shown
    assert "with --allow-scripts" in shown
    assert "without --dry-run it begins; nothing is spent before" in shown
    assert not re.search(r"plan\.start|Limits\(|budget_usd|allow_scripts|%env", shown)


def test_outputs_are_judged_and_graded_anew_and_what_differs_is_said_and_kept(tmp_path):
    ran = tried_on(tmp_path, planted(1, 1), evals=1, runs=1)
    done("judge", ran, "--again", 2, "--judge-model", "stand-in-judge")
    assert set(sen.load(ran).rubric_scores["judging"]) == {1, 2, 3}
    found = sorted(ran.rglob("structural.json"))
    before = [json.loads(path.read_text()) for path in found]
    for path in found:
        path.unlink()
    done("grade", ran, "--layer", "structural", *UNCONTAINED)
    assert [json.loads(path.read_text()) for path in found] == before
    other = json.loads(found[0].read_text())
    other["expectations"][0]["passed"] = False
    found[0].write_text(json.dumps(other))
    assert run("grade", ran, *UNCONTAINED).exit_code == 1
    assert json.loads(found[0].read_text()) == other
    done("grade", ran, "--force", *UNCONTAINED)
    assert json.loads(found[0].read_text())["expectations"][0]["passed"] is True
