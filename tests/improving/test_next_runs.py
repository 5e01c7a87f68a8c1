"""A changed suite is what the next runs go by, wherever the change was made from."""

from __future__ import annotations

import json
import shutil

import skill_eval_nb as sen
from skill_eval_nb.improving import apply, preview
from tests.checkout import ROOT
from tests.improving.made import CHECKS, draft

CHECK = {"type": "file_contains", "pattern": "*.md", "match": "# "}
BARE = {"executor": "offline", "sandbox": "none", "runs": 1, "judgings": 1}


def test_the_next_runs_go_by_the_changed_suite_in_an_iteration_of_their_own(tmp_path):
    skill = shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "release-notes")
    sen.plan_runs(skill, evals_only=[2], **BARE).start().wait()
    home = skill.with_name("release-notes-workspace")
    kept = home / "evals" / "evals.json"
    before = kept.read_bytes()
    one = draft(CHECKS, CHECK, evals=[sen.load(home).polars("evals")["eval_id"][1]])
    # The skill's suite is changed, not the copy that tells what was run.
    assert preview(one, skill).path == skill / "evals" / "evals.json"
    change = apply(one, home)
    assert change.path == skill / "evals" / "evals.json"
    assert kept.read_bytes() == before
    plan = sen.plan_runs(skill, evals_only=[2], **BARE)
    assert (plan.iteration, plan.why_iteration) == (2, "new: in iteration-1 evals differed")
    end = plan.start().wait()
    assert (end.status, end.problems) == ("done", ())
    assert kept.read_bytes() == change.after
    checks = sen.load(home).polars("expectations").filter(iteration="iteration-2")
    new = json.loads(change.after)["evals"][1][CHECKS][-1]["id"]
    assert new in checks["expectation_id"].to_list()


def test_a_suite_of_a_workspaces_own_is_the_one_to_change(tmp_path):
    """Nothing that ran here has put it there, or what ran here was given another one."""
    skill = shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "release-notes")
    own = tmp_path / "release-notes-workspace" / "evals" / "evals.json"
    own.parent.mkdir(parents=True)
    shutil.copy(skill / "evals" / "evals.json", own)
    assert preview([], own.parent.parent).path == own
    shutil.rmtree(own.parent)
    shutil.copytree(skill / "evals", tmp_path / "other")
    given = {"evals": tmp_path / "other" / "evals.json", "evals_only": [2]}
    sen.plan_runs(skill, **given, **BARE).start().wait()
    assert preview([], own.parent.parent).path == own
