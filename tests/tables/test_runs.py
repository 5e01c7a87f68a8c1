"""The figures of a run, held against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.build import expectations, graded
from tests.tables.made import RUN, coded, load, one_run

COUNTS = ("pass_rate", "passed", "failed", "total")


def scores(**by_dimension: float | None) -> dict[str, Any]:
    return {name: {"score": score} for name, score in by_dimension.items()}


def weighted(**by_dimension: tuple[float, float]) -> dict[str, Any]:
    """A score and a weight each."""
    return {name: {"score": one, "weight": weight} for name, (one, weight) in by_dimension.items()}


def checked(marks: str, critical: bool = False, **more: Any) -> dict[str, Any]:
    """A structural.json with these verdicts."""
    found = [one | {"critical": True} if critical else one for one in expectations(marks)]
    return {"structural.json": {"expectations": found, **more}}


def judged(marks: str = "p", **more: Any) -> dict[str, Any]:
    return {"grading.json": graded(marks, **more)}


def stated(**summary: Any) -> dict[str, Any]:
    return {"grading.json": {"expectations": [], "summary": summary}}


def timed(**timing: Any) -> dict[str, Any]:
    return judged() | {"timing.json": timing}


def suite(*dimensions: tuple[str, float]) -> dict[str, Any]:
    """An evals.json with a rubric of these names and weights."""
    rubric = {"dimensions": [{"name": name, "weight": weight} for name, weight in dimensions]}
    one = {"id": 1, "name": "login", "prompt": "Log in.", "quality_rubric": rubric}
    return {"skill_name": "auth", "evals": [one]}


def counted(*counts: float | None) -> dict[str, Any]:
    return dict(zip(COUNTS, counts, strict=True))


def measured(seconds: float | None, tokens: int | None) -> dict[str, Any]:
    return {"time_seconds": seconds, "tokens": tokens}


@pytest.mark.parametrize(
    ("files", "known"),
    [
        # What was counted.
        (judged("pppf"), counted(0.75, 3, 1, 4)),
        (judged("ppf--"), counted(2 / 3, 2, 1, 5)),  # not scored: in the total and in no rate
        (judged("--"), counted(None, 0, 0, 2)),
        # Of a summary alone what it states, and what follows from it.
        (stated(passed=3, failed=1), counted(0.75, 3, 1, 4)),
        (stated(passed=3, total=4), counted(0.75, 3, 1, 4)),
        (stated(passed=3, failed=1, total=6), counted(0.75, 3, 1, 6)),
        (stated(pass_rate=0.5), counted(0.5, None, None, None)),
        (stated(passed=0, failed=0, total=0, pass_rate=0.0), counted(None, 0, 0, 0)),
        (stated(total=4), counted(None, None, None, 4)),
        # Structural checks are the rate where there is no other.
        (checked("pppf"), counted(0.75, 3, 1, 4)),
        (checked("pppp") | judged("pf"), counted(0.5, 1, 1, 2)),
        # The gate.
        (judged() | checked("pp", critical=True), {"gate_passed": True}),
        (judged() | checked("pf", critical=True), {"gate_passed": False}),
        (judged() | checked("p-", critical=True), {"gate_passed": None}),
        (judged() | checked("ff"), {"gate_passed": True}),
        (judged() | checked("pp", critical=True, gate_passed=False), {"gate_passed": False}),
        (judged() | checked(""), {"gate_passed": None}),
        (judged(), {"gate_passed": None}),
        # Where time and tokens are found.
        (timed(duration_ms=1500), measured(1.5, None)),
        (timed(duration_ms=1500, total_duration_seconds=2.0), measured(2.0, None)),
        (timed(executor_duration_seconds=7.5), measured(7.5, None)),
        (timed(total_tokens=5), measured(None, 5)),
        (timed(seconds=7.5), measured(7.5, None)),
        (timed(elapsed=7.5, tokens=5), measured(7.5, 5)),
        (timed(duration_s=7.5), measured(7.5, None)),
        (timed(wall_seconds="7.5s"), measured(7.5, None)),
        (judged(timing={"elapsed_seconds": 7.5}), measured(7.5, None)),
        (judged(timing={"wallTimeSeconds": 7.5}), measured(7.5, None)),
        # timing.json goes before what the grader noted, who fills what it lacks.
        (
            {"timing.json": {"total_duration_seconds": 30.0, "total_tokens": 900}}
            | judged(timing={"executor_duration_seconds": 20.0, "total_tokens": 800}),
            measured(30.0, 900),
        ),
        (
            {"timing.json": {"total_tokens": 900}}
            | judged(timing={"executor_duration_seconds": 20.0, "total_duration_seconds": 26.0}),
            measured(20.0, 900),
        ),
        # How it ended.
        (judged("pf"), {"status": "graded"}),
        ({"grading.json": {"expectations": [], "rubric_scores": {"a": 3}}}, {"status": "graded"}),
        (checked("f", critical=True), {"status": "gated"}),
        (checked("p", critical=True), {"status": "graded"}),
        ({"timing.json": {"total_duration_seconds": 3.0}}, {"status": "executed"}),
        ({"outputs/page.html": "<p>"}, {"status": "executed"}),
        ({"transcript.md": "said"}, {"status": "executed"}),
        ({"timing.json": {"exit_code": 1}}, {"status": "errored"}),
        ({"timing.json": {"status": "Timeout"}}, {"status": "errored"}),
        ({"timing.json": {"exit_code": 0, "status": "ok"}}, {"status": "executed"}),
        (timed(exit_code=1), {"status": "graded"}),
        (timed(exit_code=1) | stated(), {"status": "errored"}),
        (judged("--"), {"status": "ungraded"}),
        ({"grading.json": "{ not json"}, {"status": "ungraded"}),
        ({"grading.json": {"expectations": []}}, {"status": "ungraded"}),
    ],
)
def test_what_is_known_of_a_run(tmp_path, files, known):
    run = one_run(tmp_path, files)
    assert {name: run[name] for name in known} == known


@pytest.mark.parametrize(
    ("timing", "named"),
    [
        ({"took": 7.5, "total_tokens": 5}, ["$.took"]),
        ({"latencyMs": 7500, "model": "m"}, ["$.latencyMs"]),
        ({"total_duration_seconds": 7.5, "api_ms": 3}, []),
        ({"total_tokens": 5, "items": 3, "note": "7 s"}, []),
    ],
)
def test_a_figure_that_may_be_the_time_is_named_where_none_was_read(tmp_path, timing, named):
    ws = load(tmp_path, {f"{RUN}/{name}": one for name, one in timed(**timing).items()})
    told = ws.problems.filter(code="not-used")
    assert told["where"].to_list() == named
    assert all("total_duration_seconds" in message for message in told["message"])


@pytest.mark.parametrize(
    ("grading", "more", "mean"),
    [
        # The weights are those of the suite, else those in the grading, else all the same.
        (
            {"rubric_scores": weighted(depth=(5, 1), style=(2, 9))},
            {"evals.json": suite(("depth", 2.0), ("style", 1.0))},
            (2 * 5 + 1 * 2) / 3,
        ),
        ({"rubric_scores": weighted(depth=(5, 1), style=(2, 2))}, {}, (5 + 2 * 2) / 3),
        ({"rubric_scores": scores(a=5, b=2)}, {}, 3.5),
        # A stated mean goes before weights that nobody gave; a stated share is a fifth of it.
        (
            {"rubric_scores": scores(a=5, b=2), "rubric_summary": {"weighted_mean": 4.4}},
            {},
            4.4,
        ),
        ({"rubric_summary": {"normalized": 0.84}}, {}, 4.2),
        # What the judge did not give is left out.
        ({"rubric_scores": scores(a=4, b=None)}, {}, 4.0),
        # Several judgings are averaged within a dimension, and go before the grading's scores.
        (
            {},
            {
                "evals.json": suite(("depth", 3.0), ("style", 1.0)),
                f"{RUN}/judgings/1.json": {"rubric_scores": scores(depth=5, style=1)},
                f"{RUN}/judgings/2.json": {"rubric_scores": scores(depth=4, style=2)},
                f"{RUN}/judgings/3.json": {"rubric_scores": scores(depth=3)},
            },
            (3 * 4.0 + 1 * 1.5) / 4,
        ),
        (
            {"rubric_scores": scores(a=1)},
            {f"{RUN}/judgings/1.json": {"rubric_scores": scores(a=5)}},
            5.0,
        ),
    ],
)
def test_the_rubric(tmp_path, grading, more, mean):
    run = one_run(tmp_path, judged(**grading), **more)
    assert run["rubric_weighted_mean"] == pytest.approx(mean)
    assert run["rubric_normalized"] == pytest.approx(mean / 5)


def test_a_stated_mean_that_the_scores_do_not_give_is_a_problem(tmp_path):
    own = weighted(a=(5, 1), b=(2, 1))
    grading = graded("p", rubric_scores=own, rubric_summary={"weighted_mean": 4.4})
    ws = load(tmp_path, {f"{RUN}/grading.json": grading})
    assert ws.runs["rubric_weighted_mean"].item() == 3.5
    (problem,) = coded(ws, "disagree")
    assert "4.40" in problem["message"]
    assert "3.50" in problem["message"]


@pytest.mark.parametrize(
    ("structural", "marks", "rubric", "expected"),
    [
        ("pf", "p", 4.5, 0.7),
        (None, "p", 4, 0.9),
        ("pf", "p", None, 0.5),
        (None, "p", None, 1.0),
        (None, "", 4, 0.8),
        ("f", "", 4, 0.4),
        ("pppf", "pf", 4, 0.775),
        (None, "", None, None),
    ],
)
def test_efficiency_is_half_the_checks_and_half_the_rubric(
    tmp_path, structural, marks, rubric, expected
):
    """One alone where the other is missing; structural checks go before judged ones."""
    own = {"rubric_scores": scores(a=rubric)} if rubric else {}
    files = judged(marks, **own) | (checked(structural) if structural else {})
    run = one_run(tmp_path, files)
    assert run["overall_efficiency"] == (expected and pytest.approx(expected))
    if structural:
        assert run["structural_pass_rate"] == structural.count("p") / len(structural)


@pytest.mark.parametrize(
    ("timing", "expected", "named"),
    [
        ({"duration_ms": 0, "total_tokens": 5}, (None, 5), "time of 0"),
        ({"duration_ms": 2000, "total_tokens": 0}, (2.0, None), "tokens of 0"),
        ({"duration_ms": 0, "total_tokens": 0}, (None, None), "time and tokens of 0"),
    ],
)
def test_a_zero_was_not_measured(tmp_path, timing, expected, named):
    ws = load(tmp_path, {f"{RUN}/{name}": one for name, one in timed(**timing).items()})
    assert ws.runs.select("time_seconds", "tokens").rows() == [expected]
    (problem,) = coded(ws, "zero-means-missing")
    assert problem["severity"] == "warning"
    assert named in problem["message"]


USED = {
    "total_steps": 4,
    "errors_encountered": 0,
    "output_chars": 1200,
    "transcript_chars": 800,
    "cost_usd": 0.25,
    "skill_used": False,
}


@pytest.mark.parametrize(
    ("files", "known"),
    [
        (
            {"metrics.json": USED | {"tool_calls": {"Read": 2, "Bash": 3, "Write": None}}},
            {"tool_calls": 5, "steps": 4, "errors": 0, "output_chars": 1200}
            | {"transcript_chars": 800, "cost_usd": 0.25, "skill_used": False},
        ),
        # A sum of tool calls goes before adding them up.
        (
            {"metrics.json": {"tool_calls": {"Read": 2}, "total_tool_calls": 7}},
            {"tool_calls": 7},
        ),
        (
            {"timing.json": {"model": "m-1", "executor_start": "2026-01-02T03:04:05Z"}}
            | judged(judge_model="m-2"),
            {"executor_model": "m-1", "judge_model": "m-2", "started_at": "2026-01-02T03:04:05Z"},
        ),
        *[({"timing.json": {name: "x"}}, {"harness": "x"}) for name in ("executor", "harness")],
        ({"timing.json": {"agent": "x"}}, {"harness": "x"}),
        ({}, {}),
    ],
)
def test_what_a_run_used_and_what_nobody_says_is_null(tmp_path, files, known):
    run = one_run(tmp_path, judged() | files)
    unknown = (
        "structural_pass_rate rubric_weighted_mean rubric_normalized time_seconds tokens "
        "tool_calls steps errors output_chars transcript_chars cost_usd skill_used "
        "harness executor_model judge_model started_at"
    ).split()
    assert {name: run[name] for name in unknown} == dict.fromkeys(unknown) | known


def test_what_an_error_left_behind_is_no_result(tmp_path):
    """The checks passed, one of two judgings came, the other one did not."""
    left = checked("p", critical=True) | {
        "judgings/1.json": {"rubric_scores": {"a": 3}},
        "timing.json": {"status": "errored", "reason": "judge: no JSON"},
    }
    run = one_run(tmp_path, left)
    known = (run["status"], run["structural_pass_rate"], run["gate_passed"])
    assert known == ("errored", 1, True)
    scored = ("pass_rate", "passed", "rubric_weighted_mean", "overall_efficiency")
    assert [run[name] for name in scored] == [None] * 4
