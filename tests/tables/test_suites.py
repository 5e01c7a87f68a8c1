"""The evals and their rubric dimensions, as suites define them and as runs know them."""

from __future__ import annotations

import json

from tests.corpus.build import graded
from tests.corpus.build import row as stated_row
from tests.tables.made import RUN, coded, load, rows

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


def test_a_list_under_a_name_for_a_text_is_no_text(tmp_path):
    """What is expected is a text in one suite and a list of checks in another, by the same key."""
    evals = [
        {"id": "a", "question": "Fetch", "ground_truth": "It is there", "expected_behavior": ["x"]},
        {"id": "b", "question": "Fetch more", "expected_behavior": "It is there"},
    ]
    ws = load(tmp_path, {"evals/evals.json": evals})
    told = ws.evals.select("eval_id", "prompt", "expected_output", "n_expectations").rows()
    assert told == [("a", "Fetch", "It is there", 1), ("b", "Fetch more", "It is there", 0)]
    assert not set(ws.problems["severity"]) & {"error", "warning"}


def test_an_eval_and_a_dimension_are_a_row(tmp_path):
    ws = load(tmp_path, {"evals.json": SUITE})
    own = {"workspace": "ws", "skill": "auth"}
    counts = {"n_expectations": 2, "n_structural": 1, "n_dimensions": 2}
    nothing = {"expected_output": None, "files": [], "tags": [], "weight": 1.0}
    said = {name: SUITE["evals"][0][name] for name in ("prompt", *nothing)}
    first, second = rows(ws, "evals")
    assert first == {**own, "eval_id": "1", "eval_name": "login", **said, **counts}
    assert second == {
        **(own | nothing | dict.fromkeys(counts, 0)),
        "eval_id": "2",
        "eval_name": "2",
        "prompt": "Log out.",
    }
    depth, style = rows(ws, "dimensions")
    assert json.loads(depth.pop("anchors")) == {"1": "shallow", "5": "tief, naïve Fälle auch"}
    said = {"dimension": "depth", "weight": 0.7, "description": "How deep it goes."}
    assert depth == {**own, "eval_id": "1", "eval_name": "login", "dimension_id": "Q1", **said}
    assert {name: style[name] for name in ("dimension", "weight", "dimension_id", "anchors")} == {
        "dimension": "style",
        "weight": 1.0,
        "dimension_id": None,
        "anchors": None,
    }


def test_an_eval_that_only_runs_know_is_a_row_too(tmp_path):
    described = {"eval_id": 7, "eval_name": "reset", "prompt": "Reset.", "assertions": ["a", "b"]}
    known = "iteration-1/eval-7-reset"
    files = {
        "evals.json": SUITE,
        f"{RUN}/grading.json": graded("p"),
        f"{known}/eval_metadata.json": described,
        f"{known}/with_skill/run-1/grading.json": graded("p"),
    }
    every = {row["eval_id"]: row for row in rows(load(tmp_path, files), "evals")}
    assert list(every) == ["1", "2", "7"]
    assert (every["7"]["prompt"], every["7"]["n_expectations"]) == ("Reset.", 2)


def test_an_eval_that_two_files_define_is_one_row(tmp_path):
    suites = {"evals.json": SUITE, "evals/evals.json": SUITE}
    ws = load(tmp_path, {f"{RUN}/grading.json": graded("p"), **suites})
    assert [row["eval_id"] for row in rows(ws, "evals")] == ["1", "2"]
    assert len(rows(ws, "dimensions")) == 2


def test_an_eval_that_two_files_define_otherwise_is_told(tmp_path):
    files = {
        name: {"skill_name": "s", "evals": [{"id": 1, "prompt": prompt}]}
        for name, prompt in (("evals.json", "One"), ("old/evals.json", "Quite another"))
    }
    ws = load(tmp_path, {f"{RUN}/grading.json": graded("p"), **files})
    assert ws.evals["prompt"].to_list() == ["One"]
    (row,) = coded(ws, "defined-twice")
    assert (row["path"], row["severity"]) == ("old/evals.json", "warning")
    assert "eval ids 1 " in row["message"]


def test_a_benchmark_entry_for_several_runs_is_told(tmp_path):
    files = {f"iteration-1/eval-0/with_skill/run-{n}/grading.json": graded("pf") for n in (1, 2, 3)}
    files["iteration-1/benchmark.json"] = {"runs": [stated_row(0, "with_skill", "pf")]}
    ws = load(tmp_path, files)
    assert ws.runs.height == 3
    (problem,) = coded(ws, "aggregate")
    assert problem["path"] == "iteration-1/benchmark.json"
