"""What is missing among the runs is said, once an iteration, and not filled."""

from __future__ import annotations

import pytest

from tests.corpus.build import expectations, graded
from tests.tables.made import BASELINE, RUN, coded, load, two_sides

LATER = "iteration-2/eval-1-login/with_skill/run-1/grading.json"
GATED = {"expectations": [one | {"critical": True} for one in expectations("f")]}


@pytest.mark.parametrize(
    ("code", "files", "says"),
    [
        ("executed-run", {"outputs/page.html": "<p>"}, "enters no rate"),
        ("errored-run", {"timing.json": {"exit_code": 1}}, "enters no rate"),
        (
            "errored-run",
            {"timing.json": {"status": "errored", "reason": "the model refused: no"}},
            "the model refused: no",
        ),
        ("ungraded-run", {"grading.json": graded("--")}, "enters no rate"),
    ],
)
def test_a_run_without_results_is_named(tmp_path, code, files, says):
    ws = load(tmp_path, {f"{RUN}/{name}": content for name, content in files.items()})
    (problem,) = coded(ws, code)
    of = (problem["severity"], problem["path"], problem["workspace"])
    assert of == ("warning", RUN, "ws")
    assert says in problem["message"]


@pytest.mark.parametrize(
    "files",
    [
        two_sides(),
        two_sides() | {LATER: graded("p")},  # sides are those of the same iteration
        {"eval-1-login/grading.json": graded("p"), "eval-2/grading.json": graded("f")},
    ],
    ids=["both", "another iteration", "no side that is named"],
)
def test_otherwise_no_side_is_missing(tmp_path, files):
    assert coded(load(tmp_path, files), "missing-side") == []


# ── overall_efficiency of one layer alone ──────────────────────────────────────────────────────

SCORED = graded("pf", rubric_scores={"depth": {"score": 4, "weight": 1}})
RUBRIC_ALONE = {"expectations": [], "rubric_scores": {"depth": {"score": 4, "weight": 1}}}
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
PLAIN = {f"{RUN}/grading.json": graded("pf")}
BOTH = {f"{RUN}/grading.json": SCORED}
EACH = {
    f"iteration-{n}/eval-{m}/with_skill/run-1/grading.json": graded("p")
    for n in (1, 2)
    for m in (1, 2)
}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            BOTH | {f"{BASELINE}/grading.json": graded("pf")},
            ["no rubric scores in 1 of 2 runs of iteration-1"],
        ),
        (BOTH | {f"{BASELINE}/structural.json": GATED}, ["(gated: 1)"]),
        (BOTH | {f"{BASELINE}/grading.json": RUBRIC_ALONE}, ["no verdicts in 1 of 2 runs"]),
        # A suite with both layers is enough; each iteration is told once.
        (PLAIN | {"evals.json": LAYERED}, ["1 of 1 run"]),
        (
            EACH | {"evals.json": LAYERED},
            ["2 of 2 runs of iteration-1", "2 of 2 runs of iteration-2"],
        ),
        # Otherwise there is nothing to say.
        (PLAIN | {f"{BASELINE}/grading.json": graded("p")}, []),
        (BOTH | {f"{BASELINE}/grading.json": SCORED}, []),
        ({f"{one}/grading.json": RUBRIC_ALONE for one in (RUN, BASELINE)}, []),
        (BOTH | {f"{BASELINE}/timing.json": {"exit_code": 1}}, []),
    ],
)
def test_an_efficiency_of_one_layer_is_told_where_others_have_both(tmp_path, files, says):
    problems = coded(load(tmp_path, files), "efficiency-of-one")
    assert [(one["severity"], one["workspace"]) for one in problems] == [("info", "ws")] * len(says)
    for problem, words in zip(problems, says, strict=True):
        assert words in problem["message"]
        assert ("gated" in problem["message"]) == ("gated" in words)
