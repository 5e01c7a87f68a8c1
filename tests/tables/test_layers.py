"""Where overall_efficiency is that of one layer alone, a problem says so: once an iteration."""

from __future__ import annotations

import pytest

from tests.corpus.build import expectations, graded
from tests.tables.made import BASELINE, RUN, coded, load

SCORED = graded("pf", rubric_scores={"depth": {"score": 4, "weight": 1}})
RUBRIC_ALONE = {"expectations": [], "rubric_scores": {"depth": {"score": 4, "weight": 1}}}
GATED = {"expectations": [one | {"critical": True} for one in expectations("f")]}
LAYERED = {
    "skill_name": "auth",
    "evals": [
        {
            "id": 1,
            "prompt": "Log in.",
            "expectations": ["It works"],
            "quality_rubric": {"dimensions": [{"name": "depth"}]},
        }
    ],
}


def told(tmp_path, files):
    return coded(load(tmp_path, files), "efficiency-of-one")


def test_a_run_without_scores_beside_one_with_both(tmp_path):
    (problem,) = told(
        tmp_path, {f"{RUN}/grading.json": SCORED, f"{BASELINE}/grading.json": graded("pf")}
    )
    assert problem["severity"] == "info"
    assert problem["workspace"] == "ws"
    assert "no rubric scores in 1 of 2 runs of iteration-1" in problem["message"]
    assert "gated" not in problem["message"]


def test_a_gated_run_is_said_to_be_one(tmp_path):
    (problem,) = told(
        tmp_path, {f"{RUN}/grading.json": SCORED, f"{BASELINE}/structural.json": GATED}
    )
    assert "(gated: 1)" in problem["message"]


def test_a_run_without_verdicts_beside_one_with_both(tmp_path):
    (problem,) = told(
        tmp_path, {f"{RUN}/grading.json": SCORED, f"{BASELINE}/grading.json": RUBRIC_ALONE}
    )
    assert "no verdicts in 1 of 2 runs" in problem["message"]


def test_a_suite_with_both_layers_is_enough(tmp_path):
    files = {"evals.json": LAYERED, f"{RUN}/grading.json": graded("pf")}
    assert len(told(tmp_path, files)) == 1


def test_each_iteration_is_told_once(tmp_path):
    files = {
        f"iteration-{n}/eval-{m}/with_skill/run-1/grading.json": graded("p")
        for n in (1, 2)
        for m in (1, 2)
    }
    problems = told(tmp_path, {"evals.json": LAYERED, **files})
    assert ["2 of 2 runs of iteration-1" in one["message"] for one in problems] == [True, False]
    assert len(problems) == 2


@pytest.mark.parametrize(
    "files",
    [
        {f"{RUN}/grading.json": graded("pf"), f"{BASELINE}/grading.json": graded("p")},
        {f"{RUN}/grading.json": SCORED, f"{BASELINE}/grading.json": SCORED},
        {f"{RUN}/grading.json": RUBRIC_ALONE, f"{BASELINE}/grading.json": RUBRIC_ALONE},
        {f"{RUN}/grading.json": SCORED, f"{BASELINE}/timing.json": {"exit_code": 1}},
    ],
    ids=["no rubric at all", "both everywhere", "no checks at all", "nothing to weigh"],
)
def test_otherwise_there_is_nothing_to_say(tmp_path, files):
    assert told(tmp_path, files) == []
