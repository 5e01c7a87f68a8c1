"""What is missing among the runs is said, and not filled."""

from __future__ import annotations

import pytest

from tests.corpus.build import expectations, graded
from tests.tables.made import BASELINE, RUN, coded, load, two_sides


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("executed-run", {"outputs/page.html": "<p>"}),
        ("errored-run", {"timing.json": {"exit_code": 1}}),
        ("ungraded-run", {"grading.json": graded("--")}),
    ],
)
def test_a_run_without_results_is_named(tmp_path, code, files):
    ws = load(tmp_path, {f"{RUN}/{name}": content for name, content in files.items()})
    (problem,) = coded(ws, code)
    assert problem["severity"] == "warning"
    assert problem["path"] == RUN
    assert "enters no rate" in problem["message"]
    assert problem["workspace"] == "ws"


def test_why_a_run_errored_is_told(tmp_path):
    stopped = {"status": "errored", "reason": "the model refused: no"}
    (problem,) = coded(load(tmp_path, {f"{RUN}/timing.json": stopped}), "errored-run")
    assert "the model refused: no" in problem["message"]


def test_graded_and_gated_runs_are_no_gap(tmp_path):
    gated = {"expectations": [one | {"critical": True} for one in expectations("f")]}
    ws = load(tmp_path, {f"{RUN}/structural.json": gated, f"{BASELINE}/grading.json": graded("p")})
    assert [one["code"] for one in ws.problems.to_dicts() if one["code"].endswith("-run")] == []


def test_both_sides_are_no_gap(tmp_path):
    assert coded(load(tmp_path, two_sides()), "missing-side") == []


def test_an_eval_that_lacks_a_side_is_named(tmp_path):
    alone = "iteration-1/eval-2-logout/with_skill/run-1/grading.json"
    ws = load(tmp_path, two_sides() | {alone: graded("p")})
    (problem,) = coded(ws, "missing-side")
    message = problem["message"]
    assert all(word in message for word in ("eval 2 (logout)", "without_skill", "iteration-1"))


def test_sides_are_those_of_the_same_iteration(tmp_path):
    later = "iteration-2/eval-1-login/with_skill/run-1/grading.json"
    assert coded(load(tmp_path, two_sides() | {later: graded("p")}), "missing-side") == []


def test_a_configuration_that_nobody_names_is_no_side(tmp_path):
    ws = load(
        tmp_path, {"eval-1-login/grading.json": graded("p"), "eval-2/grading.json": graded("f")}
    )
    assert set(ws.runs["configuration"]) == {"unstated"}
    assert coded(ws, "missing-side") == []
