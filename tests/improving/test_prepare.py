"""The next iteration is prepared for a changed suite, and nothing of it is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import apply
from tests.checkout import ROOT
from tests.improving.made import CHECKS, draft

CHECK = {"type": "file_contains", "pattern": "*.md", "match": "# "}
BARE = {"executor": "offline", "sandbox": "none", "runs": 1, "judgings": 1}


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    """A folder with the bundled demo skill and a workspace in which an eval of it was run."""
    folder = tmp_path_factory.mktemp("ran")
    shutil.copytree(ROOT / "data" / "release-notes", folder / "release-notes")
    sen.plan_runs(folder / "release-notes", evals_only=[2], **BARE).start().wait()
    return folder


@pytest.fixture
def skill(ran, tmp_path) -> Path:
    """The demo skill, with the workspace beside it."""
    shutil.copytree(ran, tmp_path / "here")
    return tmp_path / "here" / "release-notes"


def test_a_plan_takes_the_prepared_iteration_and_runs_in_it(skill):
    home = skill.with_name("release-notes-workspace")
    one = draft(CHECKS, CHECK, evals=[sen.load(home).polars("evals")["eval_id"][1]])
    change = apply(one, skill)
    assert change.written.iteration == home / "iteration-2"
    plan = sen.plan_runs(skill, evals_only=[2], **BARE)
    assert (plan.iteration, plan.why_iteration) == (2, "prepared, and nothing was run in it so far")
    end = plan.start().wait()
    assert (end.status, end.problems) == ("done", ())
    checks = sen.load(home).polars("expectations").filter(iteration="iteration-2")
    new = json.loads(change.after)["evals"][1][CHECKS][-1]["id"]
    assert new in checks["expectation_id"].to_list()
    assert sen.plan_runs(skill, evals_only=[2], **BARE).why_iteration.startswith("continued")


NEW = {"prompt": "Write notes of nothing", "name": "nothing at all", "expected_output": "none"}


def test_the_suite_that_the_workspace_keeps_follows_and_what_was_not_run_is_prepared_anew(skill):
    kept = skill.with_name("release-notes-workspace") / "evals" / "evals.json"
    changes = []
    for one in (draft("evals", NEW), draft("evals", target="nothing at all")):
        changes.append(apply(one, skill))
        assert kept.read_bytes() == changes[-1].after
    first, second = (one.written.iteration for one in changes)
    assert first == second
    assert not (second / "eval-7-nothing-at-all").exists()
    assert [one.name for one in second.parent.iterdir() if one.name.startswith(".")] == []


def test_runs_that_somebody_put_there_stay(skill):
    first = apply(draft("expectations", "One is new"), skill).written
    run = first.iteration / "eval-2-breaking-change" / "with_skill" / "run-1"
    run.mkdir(parents=True)
    (run / "transcript.md").write_text("# Done")
    second = apply(draft("expectations", "Two is new"), skill).written
    assert second.iteration == first.iteration.with_name("iteration-3")
    assert (run / "transcript.md").is_file()
