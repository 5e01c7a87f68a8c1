"""The evals and their rubric dimensions, as suites define them and as runs know them."""

from __future__ import annotations

import json

import pytest

import skill_eval_nb as sen
from tests.corpus.build import graded, lay
from tests.corpus.build import row as stated_row
from tests.tables.made import RUN, load, rows

SUITE = {
    "skill_name": "auth",
    "evals": [
        {
            "id": 1,
            "name": "login",
            "prompt": "Log in.",
            "expected_output": "A session.",
            "files": ["user.json"],
            "tags": ["happy path"],
            "weight": 2,
            "expectations": ["A session exists", {"text": "It is encrypted"}],
            "structural_expectations": [{"type": "file_exists", "pattern": "*.ts"}],
            "quality_rubric": {
                "dimensions": [
                    {
                        "id": "Q1",
                        "name": "depth",
                        "weight": 0.7,
                        "description": "How deep it goes.",
                        "scoring": {"1": "shallow", "5": "tief, naïve Fälle auch"},
                    },
                    {"name": "style"},
                ]
            },
        },
        {"id": 2, "prompt": "Log out."},
    ],
}


@pytest.fixture
def ws(tmp_path):
    return load(tmp_path, {"evals.json": SUITE})


def test_an_eval_is_a_row(ws):
    first, second = rows(ws, "evals")
    assert first == {
        "workspace": "ws",
        "skill": "auth",
        "eval_id": "1",
        "eval_name": "login",
        "prompt": "Log in.",
        "expected_output": "A session.",
        "files": ["user.json"],
        "tags": ["happy path"],
        "weight": 2.0,
        "n_expectations": 2,
        "n_structural": 1,
        "n_dimensions": 2,
    }
    assert second == {
        "workspace": "ws",
        "skill": "auth",
        "eval_id": "2",
        "eval_name": "2",
        "prompt": "Log out.",
        "expected_output": None,
        "files": [],
        "tags": [],
        "weight": 1.0,
        "n_expectations": 0,
        "n_structural": 0,
        "n_dimensions": 0,
    }


def test_a_dimension_is_a_row(ws):
    first, second = rows(ws, "dimensions")
    assert json.loads(first.pop("anchors")) == {"1": "shallow", "5": "tief, naïve Fälle auch"}
    assert first == {
        "workspace": "ws",
        "skill": "auth",
        "eval_id": "1",
        "eval_name": "login",
        "dimension": "depth",
        "dimension_id": "Q1",
        "weight": 0.7,
        "description": "How deep it goes.",
    }
    assert {name: second[name] for name in ("dimension", "weight", "dimension_id", "anchors")} == {
        "dimension": "style",
        "weight": 1.0,
        "dimension_id": None,
        "anchors": None,
    }


def test_an_eval_that_only_runs_know_is_a_row_too(tmp_path):
    described = {
        "eval_id": 7,
        "eval_name": "reset",
        "prompt": "Reset it.",
        "assertions": ["a", "b"],
    }
    known = "iteration-1/eval-7-reset"
    files = {
        "evals.json": SUITE,
        f"{RUN}/grading.json": graded("p"),
        f"{known}/eval_metadata.json": described,
        f"{known}/with_skill/run-1/grading.json": graded("p"),
    }
    every = {row["eval_id"]: row for row in rows(load(tmp_path, files), "evals")}
    assert list(every) == ["1", "2", "7"]
    assert (every["7"]["prompt"], every["7"]["n_expectations"]) == ("Reset it.", 2)


def test_an_eval_that_two_files_define_is_one_row(tmp_path):
    suites = {"evals.json": SUITE, "evals/evals.json": SUITE}
    ws = load(tmp_path, {f"{RUN}/grading.json": graded("p"), **suites})
    assert [row["eval_id"] for row in rows(ws, "evals")] == ["1", "2"]
    assert len(rows(ws, "dimensions")) == 2


def test_an_eval_that_is_defined_twice_is_told(tmp_path):
    suite = {
        "skill_name": "s",
        "evals": [{"id": 1, "prompt": "One"}, {"id": 1, "prompt": "Quite another"}],
    }
    lay(tmp_path, {"evals.json": suite})
    ws = sen.load(tmp_path)
    assert ws.evals["prompt"].to_list() == ["One"]
    [row] = ws.problems.filter(ws.problems["code"] == "defined-twice").to_dicts()
    assert (row["path"], row["severity"]) == ("evals.json", "warning")
    assert "eval ids 1 " in row["message"]


def test_a_benchmark_entry_for_several_runs_is_told(tmp_path):
    files = {f"iteration-1/eval-0/with_skill/run-{n}/grading.json": graded("pf") for n in (1, 2, 3)}
    files["iteration-1/benchmark.json"] = {
        "metadata": {"skill_name": "s"},
        "runs": [stated_row(0, "with_skill", "pf")],
    }
    ws = sen.load(lay(tmp_path, files))
    assert ws.runs.height == 3
    [problem] = ws.problems.filter(ws.problems["code"] == "aggregate").to_dicts()
    assert problem["path"] == "iteration-1/benchmark.json"
