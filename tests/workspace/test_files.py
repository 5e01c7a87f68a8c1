"""Documents beside the runs: what a file is, its content says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.workspace import EvalFolder, Files, Problems, crawl, lay_out, read_files
from tests.corpus.build import lay, row

METADATA = {"eval_id": 3, "eval_name": "Login", "prompt": "P", "assertions": ["It runs"]}
EVALS = {"skill_name": "tdd", "evals": [{"id": 1, "prompt": "P"}]}
BENCHMARK = {"metadata": {"skill_name": "tdd"}, "runs": [row(1, "with_skill", "p")]}
OTHERS: dict[str, Any] = {
    "feedback": {"reviews": [{"run_id": "eval-1-with_skill", "feedback": "good"}]},
    "history": {"skill_name": "tdd", "iterations": [{"version": "v0"}]},
    "comparison": {"winner": "A", "reasoning": "x", "rubric": {"A": {}, "B": {}}},
    "analysis": {"improvement_suggestions": [{"suggestion": "x"}], "winner_strengths": ["y"]},
    "triggers": [{"query": "q", "should_trigger": True}],
}


def files(root: Path, content: dict[str, Any]) -> tuple[Files, Problems]:
    lay(root, content)
    problems = Problems()
    return read_files(lay_out(crawl(str(root), Problems())).files, problems), problems


@pytest.mark.parametrize("name", ["eval_metadata.json", "info.json"])
@pytest.mark.parametrize("document", [METADATA, METADATA | {"assertions": [{"text": "It runs"}]}])
def test_metadata_by_any_name_and_in_both_forms(tmp_path, name, document):
    found, problems = files(tmp_path, {f"iteration-1/eval-3-x/{name}": document})
    folder = EvalFolder(str(tmp_path), "iteration-1", "eval-3-x")
    assert found.metadata[folder].eval_id == 3
    assert [one.text for one in found.metadata[folder].assertions] == ["It runs"]
    assert problems == []


def test_metadata_in_no_eval_folder_describes_its_own(tmp_path):
    found, _ = files(tmp_path, {"iteration-1/inbox/eval_metadata.json": METADATA})
    assert list(found.metadata) == [EvalFolder(str(tmp_path), "iteration-1", "inbox")]


def test_metadata_that_disagree_are_told_and_the_first_counts(tmp_path):
    side = "iteration-1/eval-3/{}/eval_metadata.json"
    found, problems = files(
        tmp_path,
        {
            side.format("with_skill"): METADATA,
            side.format("without_skill"): METADATA | {"eval_id": 4},
        },
    )
    assert [one.eval_id for one in found.metadata.values()] == [3]
    assert [(one.severity, one.code, one.where) for one in problems] == [
        ("warning", "disagree", "$.eval_id")
    ]


def test_suites_and_benchmarks(tmp_path):
    found, problems = files(
        tmp_path, {"evals.json": EVALS, "iteration-1/benchmark.json": BENCHMARK}
    )
    assert [suite.document.skill_name for suite in found.suites] == ["tdd"]
    ((place, documents),) = found.benchmarks
    assert place.place.iteration == "iteration-1"
    assert [one.metadata.skill_name for one in documents] == ["tdd"]
    assert problems == []


def test_a_suite_of_another_name_is_a_suite(tmp_path):
    found, _ = files(tmp_path, {"my-cases.json": {"test_cases": [{"id": "a", "prompt": "P"}]}})
    assert [one.id for one in found.suites[0].document.evals] == ["a"]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_documents_keep_their_kind_and_place(tmp_path, kind):
    found, problems = files(tmp_path, {"iteration-1/any-name.json": OTHERS[kind]})
    ((named, place, _),) = found.others
    assert (named, place.place.iteration) == (kind, "iteration-1")
    assert problems == []


def test_a_file_whose_name_promises_something_is_told(tmp_path):
    found, problems = files(tmp_path, {"eval-notes.json": {"colour": 1}, "package.json": {"a": 1}})
    assert found == Files()
    assert [(one.severity, one.code) for one in problems] == [("info", "not-a-document")]
    assert "colour" in problems[0].message


def test_a_grading_above_the_runs_is_not_counted_and_told(tmp_path):
    grading = {"expectations": [{"text": "x", "passed": True}]}
    _, problems = files(
        tmp_path, {"eval-0/grading.json": grading, "eval-0/with_skill/grading.json": grading}
    )
    assert [(one.code, Path(one.path).parent.name) for one in problems] == [
        ("above-runs", "eval-0")
    ]


def test_faults_of_a_document_are_problems_of_its_file(tmp_path):
    _, problems = files(tmp_path, {"evals.json": json.dumps(EVALS)[:-1] + ",}"})
    assert problems
    assert {Path(one.path).name for one in problems} == {"evals.json"}
    _, problems = files(tmp_path / "b", {"evals.json": "{"})
    assert [one.code for one in problems] == ["not-json"]
