"""What documents say of each other, broken in one place at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.workspace import check
from tests.corpus.build import graded, lay
from tests.workspace.made import codingbuddy, copy, laid

METADATA = "iteration-1/eval-1/with_skill/eval_metadata.json"


def told(path: Path) -> list[tuple[str, str, str, str | None]]:
    """Severity, code, file below the path and JSON path of all but the dialects."""
    return [
        (one.severity, one.code, str(Path(one.path).relative_to(path)), one.where)
        for one in check(path)
        if one.code != "dialect"
    ]


def broken(root: Path, name: str, change) -> list[tuple[str, str, str, str | None]]:
    """What is told of a sound workspace after a change of one document."""
    files = codingbuddy()
    document = copy(files[name])
    change(document)
    return told(laid(root, files, {name: document}))


def test_two_evals_with_one_id(tmp_path):
    found = broken(tmp_path, "evals.json", lambda one: one["evals"][1].update(id=1))
    assert ("error", "duplicate-id", "evals.json", "$.evals[*].id") in found


def test_metadata_of_another_eval_than_its_folder(tmp_path):
    def change(one: dict[str, Any]) -> None:
        one["eval_id"] = 7

    found = broken(tmp_path, METADATA, change)
    assert ("error", "other-id", METADATA, "$.eval_id") in found


def test_metadata_with_another_prompt_than_the_suite(tmp_path):
    found = broken(tmp_path, METADATA, lambda one: one.update(prompt="Do something else"))
    assert found == [("warning", "other-prompt", METADATA, "$.prompt")]


@pytest.mark.parametrize("run_id", ["eval-7-with_skill", "eval-2-without_skill"])
def test_feedback_on_a_run_that_is_not_there(tmp_path, run_id):
    path = "iteration-1/feedback.json"
    found = broken(tmp_path, path, lambda one: one["reviews"][2].update(run_id=run_id))
    assert found == [("error", "unknown-run", path, "$.reviews[2].run_id")]


def test_a_run_id_of_another_form_is_a_fault_of_the_document_too(tmp_path):
    path = "iteration-1/feedback.json"
    found = broken(tmp_path, path, lambda one: one["reviews"][0].update(run_id="the first"))
    assert {code for _, code, _, _ in found} == {"outside-limits", "unknown-run"}


def test_feedback_on_an_iteration_looks_at_its_own_runs(tmp_path):
    """eval-1 was run in iteration-1 alone."""
    files = {name: one for name, one in codingbuddy(2).items() if "iteration-2/eval-1/" not in name}
    laid(tmp_path, files)
    unknown = {(path, where) for _, code, path, where in told(tmp_path) if code == "unknown-run"}
    assert unknown == set()  # its benchmark still states them
    benchmark = copy(files["iteration-2/benchmark.json"])
    del benchmark["eval_results"][1]
    laid(tmp_path, files, {"iteration-2/benchmark.json": benchmark})
    unknown = {(path, where) for _, code, path, where in told(tmp_path) if code == "unknown-run"}
    assert unknown == {
        ("iteration-2/feedback.json", "$.reviews[2].run_id"),
        ("iteration-2/feedback.json", "$.reviews[3].run_id"),
    }


# ── the dialects that prescribe less ─────────────────────────────────────────────────────────


def skill_creator(*run_ids: str, sides: tuple[str, ...] = ("with_skill", "old_skill")):
    """Two evals counted from 0, with two runs a side; feedback with these run ids."""
    files: dict[str, Any] = {
        "evals/evals.json": {
            "skill_name": "x",
            "evals": [{"id": n, "prompt": f"P{n}", "expectations": ["e"]} for n in range(2)],
        },
        "iteration-1/feedback.json": {
            "reviews": [{"run_id": run_id, "feedback": "x"} for run_id in run_ids],
            "status": "complete",
        },
    }
    for n in range(2):
        for side in sides:
            for run in (1, 2):
                path = f"iteration-1/eval-{n}-name{n}/{side}/run-{run}/grading.json"
                files[path] = graded("p", summary={"passed": 1, "failed": 0, "total": 1})
    return files


@pytest.mark.parametrize(
    "run_id",
    [
        "eval-0-with_skill",
        "eval-1-old_skill",
        "eval-0-name0-with_skill",
        "eval-0-name0-with_skill-run-2",
        "eval-0-with_skill-run_1",
    ],
)
def test_run_ids_in_every_form_that_names_a_run(tmp_path, run_id):
    lay(tmp_path, skill_creator(run_id))
    assert [one for one in told(tmp_path) if one[1] == "unknown-run"] == []


@pytest.mark.parametrize(
    "run_id", ["eval-0-with_skill-run-3", "eval-0-without_skill", "eval-2-with_skill", "eval-0", ""]
)
def test_run_ids_that_name_none(tmp_path, run_id):
    lay(tmp_path, skill_creator("eval-0-with_skill", run_id))
    found = [one for one in told(tmp_path) if one[1] == "unknown-run"]
    assert found == [("warning", "unknown-run", "iteration-1/feedback.json", "$.reviews[1].run_id")]


def test_an_eval_that_was_not_run_is_worth_knowing(tmp_path):
    files = {name: one for name, one in skill_creator().items() if "eval-1-name1/old" not in name}
    lay(tmp_path, files)
    found = [one for one in check(tmp_path) if one.code == "missing-runs"]
    assert [(one.severity, one.where) for one in found] == [("info", "$.evals[1]")]
    assert "old_skill" in found[0].message
    assert "iteration-1" in found[0].message


def test_a_suite_in_the_skill_beside_is_held_against_the_runs(tmp_path):
    files = skill_creator()
    lay(tmp_path / "x", {"evals/evals.json": files.pop("evals/evals.json")})
    del files["iteration-1/eval-0-name0/old_skill/run-1/grading.json"]
    del files["iteration-1/eval-0-name0/old_skill/run-2/grading.json"]
    lay(tmp_path / "x-workspace", files)
    found = [one for one in check(tmp_path) if one.code == "missing-runs"]
    assert [(Path(one.path).parts[-3:], one.where) for one in found] == [
        (("x", "evals", "evals.json"), "$.evals[0]")
    ]


def test_a_prompt_that_one_of_several_suites_has_is_fine(tmp_path):
    files = skill_creator()
    files["iteration-1/eval-0-name0/eval_metadata.json"] = {"eval_id": 0, "prompt": "older"}
    lay(tmp_path, files)
    assert [code for _, code, _, _ in told(tmp_path)] == ["other-prompt"]
    older = {"skill_name": "x", "evals": [{"id": 0, "prompt": "older"}, {"id": 1, "prompt": "P1"}]}
    lay(tmp_path, {"old/evals.json": older})
    assert [code for _, code, _, _ in told(tmp_path) if code == "other-prompt"] == []
