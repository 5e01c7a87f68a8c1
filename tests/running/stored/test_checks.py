"""Stored outputs are checked anew, and nothing that is there is lost."""

from __future__ import annotations

import json
import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import recognise
from skill_eval_nb.grading import sandbox, structural
from skill_eval_nb.running.stored_runs import grade_stored
from tests.checkout import ROOT
from tests.corpus.build import lay

RUN = "iteration-1/eval-1-it/with_skill/run-1"
CHECKS = [
    {"id": "S1", "type": "file_exists", "pattern": "*.md", "critical": True},
    {"id": "S2", "type": "file_contains", "pattern": "*.md", "match": "yes"},
    {"id": "S3", "type": "custom_script", "script": "test -f a.md"},
]


def workspace(folder, files=None, checks=None):
    evals = [{"id": 1, "prompt": "Write", "structural_expectations": checks or CHECKS}]
    own = {f"{RUN}/outputs/a.md": "yes", f"{RUN}/timing.json": {"duration_ms": 1}}
    return lay(folder, {"evals.json": {"evals": evals}, **(own if files is None else files)})


@pytest.mark.skipif(sandbox.available() is not None, reason="no sandbox for the scripts here")
def test_every_stored_verdict_is_found_again_and_written_with_the_same_keys(tmp_path):
    """They were made with the outputs, by code that is not ours."""
    bundled = shutil.copytree(ROOT / "data" / "tdd-workspace", tmp_path / "tdd-workspace")
    result = grade_stored(bundled, allow_scripts=True)
    assert [run.outcome for run in result.runs] == ["same"] * 68
    marks = [one.passed for run in result.runs for one in run.structural.expectations]
    assert (len(marks), marks.count(None)) == (385, 0)
    assert [run.structural.gate_passed for run in result.runs].count(False) == 1

    stored = sorted(bundled.rglob("structural.json"))
    before = {path: json.loads(path.read_text()) for path in stored}
    for path in stored:
        path.unlink()
    result = grade_stored(bundled, allow_scripts=True)
    assert [run.outcome for run in result.runs].count("written") == len(stored)
    for path, old in before.items():
        new = json.loads(path.read_text())
        for one in old["expectations"] + new["expectations"]:
            del one["evidence"]
        assert new == old
        assert recognise("structural", new) == "skill-evaluator"


def test_a_structural_json_that_differs_is_kept_and_told_unless_forced(tmp_path):
    ws = workspace(tmp_path)
    file = tmp_path / RUN / "structural.json"
    assert "1 structural.json written" in str(grade_stored(ws))
    (tmp_path / RUN / "outputs/a.md").write_text("no")
    before = file.read_bytes()
    result = grade_stored(ws)
    assert file.read_bytes() == before
    assert len(result.kept) == 1
    [told] = result.problems
    assert told.code == "differs"
    assert "checking now gives: S2 (there passed, now failed);" in told.message
    forced = grade_stored(ws, force=True)
    assert [run.outcome for run in forced.runs] == ["written"]
    found = json.loads(file.read_text())["expectations"]
    assert [one["passed"] for one in found] == [True, False, None]
    assert [run.outcome for run in grade_stored(ws).runs] == ["same"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({f"{RUN}/timing.json": {"duration_ms": 1}}, "no-outputs"),
        (
            {f"{RUN}/timing.json": {"status": "errored"}, f"{RUN}/outputs/a.md": "yes"},
            "errored-run",
        ),
        ({"iteration-1/eval-7-other/with_skill/run-1/outputs/a.md": "yes"}, "no-definition"),
    ],
)
def test_runs_that_cannot_be_checked_are_told(tmp_path, files, code):
    result = grade_stored(workspace(tmp_path, files))
    assert not result.runs
    assert [one.code for one in result.problems] == [code]
    assert not list(tmp_path.rglob("structural.json"))


@pytest.mark.corpus
def test_other_people_s_workspaces_are_gone_through(corpus, tmp_path):
    copy = shutil.copytree(corpus, tmp_path / "corpus")
    result = grade_stored(copy)
    assert len(result.runs) + len(result.problems) > 0
    assert all(run.outcome == "written" for run in result.runs)


def test_what_one_output_breaks_is_told_and_the_other_runs_are_graded(tmp_path, monkeypatch):
    other = RUN.replace("run-1", "run-2")
    files = {f"{RUN}/outputs/a.csv": "break", f"{other}/outputs/a.csv": "a\n1\n"}
    checks = [{"id": "S1", "type": "csv_valid", "pattern": "a.csv"}]
    own = structural.read_table

    def read_table(name, content):
        if content.text == "break":
            raise ZeroDivisionError
        return own(name, content)

    monkeypatch.setattr(structural, "read_table", read_table)
    folder = workspace(tmp_path, files, checks)
    result = grade_stored(folder)
    assert [run.outcome for run in result.runs] == ["written"] * 2
    [told] = [one for one in result.problems if one.code == "check-failed"]
    assert told.path.endswith("run-1")
    assert "S1: Not scored: the check itself failed (ZeroDivisionError)" in told.message
    [loaded] = sen.load(folder).problems.filter(code="check-failed").to_dicts()
    assert loaded["message"] == told.message
