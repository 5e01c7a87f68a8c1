"""The commands that make: what they show, what they leave, how they end."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.triggers.queries import read_queries
from skill_eval_nb.workspace.jobs import read_settings
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import done, refused, run
from tests.cli.payers import OLD_DESCRIPTION as OLD
from tests.cli.payers import kites
from tests.improving.made import planted, tried_on
from tests.triggers.made import make_skill

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
    assert "at 2, 4 and 6 runs per side; the job ends when one decides" in shown
    for looks, why in (
        (["2;4"], "looks is ('2;4',); it must be two or more increasing numbers"),
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
    assert "nothing to resume in" in run(*evaluated(tmp_path / "ws", "--resume")).stderr
    lacking = refused("run", SKILL, "--executor", "messages-api", "--dry-run")
    assert "--executor-model is not given" in lacking


@bubblewrap.needed
def test_what_is_to_be_given_has_the_names_of_options(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    real = ("--executor", "messages-api", "--executor-model", "claude-sonnet-5", "--dry-run")
    limits = ("--judge-model", "claude-opus-4-8", "--budget-usd", 0.01, "--run-usd", 2)
    whole = run("run", SKILL, "--workspace", tmp_path, *real, *limits).stdout
    shown = " ".join(whole.split())
    assert "the $2.00 that one run may cost" in shown
    assert "raise --budget-usd, or lower the cap per run with --run-usd" in shown
    assert "with --allow-scripts" in shown
    assert "without --dry-run it starts; nothing is spent before" in shown
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


# ── triggers ──────────────────────────────────────────────────────────────────────────────────────


ALONE = ("--executor", "offline", "--others", "none")


def test_drafted_queries_are_printed_and_written_to_what_is_there(tmp_path):
    tidy = make_skill(tmp_path / "clean-rows", description="Sorts and cleans rows of tables.")
    notes = "Turns commits into release notes for users."
    other = make_skill(tmp_path / "release-notes", description=notes)
    file = tmp_path / "set.json"
    options = ("--model", "stand-in-judge", "--others", other, "--out", file)
    told = done("trigger-draft", tidy, "--n", 4, *options)
    assert [one.should_trigger for one in read_queries(file)] == [True, True, False, False]
    assert f"wrote {file}" in told
    assert all(one.query in told for one in read_queries(file))
    done("trigger-draft", tidy, "--n", 2, *options)
    assert len(read_queries(file)) > 4, "what was there stays"


@bubblewrap.needed
def test_measuring_shows_rates_scores_and_doubts_and_keeps_the_attempts(tmp_path):
    builds = [f"Build a kite of paper, number {n}" for n in range(3)]
    command = ("trigger", *kites(tmp_path, builds, ["Build a boat of wood, like a kite"]), *ALONE)
    result = run(*command, "--runs", 2)
    assert (result.exit_code, result.stderr) == (1, ""), "every query triggers: no measurement"
    assert re.search(r"(?s)8 runs to make.* 2 of 2 \(", result.stdout)
    assert "doubt: " in result.stdout
    ws = sen.load(tmp_path / "kites-workspace")
    assert ws.polars("triggers")["triggered"].to_list() == [2, 2, 2, 2]
    assert "nothing was missing" in run(*command, "--runs", 2).stdout


@bubblewrap.needed
def test_optimising_shows_the_change_and_writes_it_only_where_asked(tmp_path):
    who = ("Belda", "Dorka", "Finmi", "Garno", "Lumru", "Novta", "Belwen")
    known = ["Novka builds a kite of paper"]
    unknown = [f"{name} repairs a torn tail of string" for name in who]
    poems = [f"{name} writes a poem of love" for name in who[:4]]
    skill, queries = kites(tmp_path, known + unknown, poems)
    options = (*ALONE, "--runs", 1, "--held-out", 0.5)
    told = done("trigger-optimise", skill, queries, *options)
    file = skill / "SKILL.md"
    assert f"description: {OLD}\n" in file.read_text()
    for part in ("2 (chosen)", f"-description: {OLD}", "give --write to change it"):
        assert part in told
    done("trigger-optimise", skill, queries, *options, "--write")
    assert 'description: "Builds a kite of paper. Use it as well for ' in file.read_text()
