"""A run counted once, its figures, held against numbers worked out by hand, and what it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.build import expectations, graded, row
from tests.tables.made import BASELINE, RUN, coded, load, rows

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


def rated(**more: Any) -> dict[str, Any]:
    """A grading with these scores, and no verdict of theirs."""
    return {"grading.json": {"expectations": [], "rubric_scores": scores(**more)}}


def judgings(**by_number: Any) -> dict[str, Any]:
    return {f"judgings/{name[1:]}.json": {"rubric_scores": one} for name, one in by_number.items()}


def stated(**summary: Any) -> dict[str, Any]:
    return {"grading.json": {"expectations": [], "summary": summary}}


def only_timed(**timing: Any) -> dict[str, Any]:
    return {"timing.json": timing}


def timed(**timing: Any) -> dict[str, Any]:
    return judged() | only_timed(**timing)


def used(**metrics: Any) -> dict[str, Any]:
    return judged() | {"metrics.json": metrics}


def suite(*dimensions: tuple[str, float], checks: Any = ()) -> dict[str, Any]:
    """An evals.json with a rubric of these names and weights, and checks."""
    rubric = {"dimensions": [{"name": name, "weight": weight} for name, weight in dimensions]}
    one = {"id": 1, "name": "login", "prompt": "Log in.", "expectations": list(checks)}
    evals = [one | ({"quality_rubric": rubric} if dimensions else {})]
    return {"evals.json": {"skill_name": "auth", "evals": evals}}


def counted(*counts: float | None) -> dict[str, Any]:
    return dict(zip(COUNTS, counts, strict=True))


def measured(seconds: float | None, tokens: int | None) -> dict[str, Any]:
    return {"time_seconds": seconds, "tokens": tokens}


def mean(value: float) -> dict[str, Any]:
    return {"rubric_weighted_mean": value, "rubric_normalized": value / 5}


def efficient(efficiency: float | None, structural: float | None = None) -> dict[str, Any]:
    return {"overall_efficiency": efficiency, "structural_pass_rate": structural}


CASES: list[Any] = [
    # What was counted.
    (judged("pppf"), counted(0.75, 3, 1, 4)),
    (judged("ppf--"), counted(2 / 3, 2, 1, 5)),  # not scored: in the total, in no rate
    (judged("--"), counted(None, 0, 0, 2) | {"status": "ungraded"}, "ungraded-run: enters no rate"),
    # Of a summary alone what it states, and what follows from it.
    (stated(passed=3, failed=1), counted(0.75, 3, 1, 4)),
    (stated(passed=3, failed=1, total=6), counted(0.75, 3, 1, 6)),
    (stated(pass_rate=0.5), counted(0.5, None, None, None)),
    (stated(passed=0, failed=0, total=0, pass_rate=0.0), counted(None, 0, 0, 0)),
    (judged("pf", passed=2), counted(0.5, 1, 1, 2), "disagree: $..passed"),
    (judged("pf", summary={"passed": 2}), counted(0.5, 1, 1, 2), "disagree: $.summary"),
    # Structural checks are the rate where there is no other.
    (checked("pppf"), counted(0.75, 3, 1, 4)),
    (checked("pppp") | judged("pf"), counted(0.5, 1, 1, 2)),
    # The gate.
    (judged() | checked("pp", critical=True), {"gate_passed": True}),
    (judged() | checked("pf", critical=True), {"gate_passed": False}),
    (judged() | checked("p-", critical=True), {"gate_passed": None}),
    (judged() | checked("pp", critical=True, gate_passed=False), {"gate_passed": False}),
    (judged() | checked(""), {"gate_passed": None}),
    # Where time and tokens are found.
    (timed(duration_ms=1500), measured(1.5, None)),
    (timed(duration_ms=1500, total_duration_seconds=2.0), measured(2.0, None)),
    (timed(executor_duration_seconds=7.5), measured(7.5, None)),
    (timed(total_duration_seconds=7.5, api_ms=3), measured(7.5, None), "no not-used"),
    (timed(seconds=7.5), measured(7.5, None)),
    (timed(elapsed=7.5, tokens=5), measured(7.5, 5)),
    (timed(duration_s=7.5), measured(7.5, None)),
    (timed(wall_seconds="7.5s"), measured(7.5, None)),
    (judged(timing={"wallTimeSeconds": 7.5}), measured(7.5, None)),
    # timing.json goes before what the grader noted, who fills what it lacks.
    (
        only_timed(total_duration_seconds=30.0, total_tokens=900)
        | judged(timing={"executor_duration_seconds": 20.0, "total_tokens": 800}),
        measured(30.0, 900),
    ),
    (
        only_timed(total_tokens=900)
        | judged(timing={"executor_duration_seconds": 20.0, "total_duration_seconds": 26.0}),
        measured(20.0, 900),
    ),
    # A figure that may be the time is named where none was read; a zero was not measured.
    (timed(took=7.5, total_tokens=5), measured(None, 5), "not-used: $.took"),
    (timed(latencyMs=7500, model="m"), measured(None, None), "not-used: $.latencyMs"),
    (timed(duration_ms=0, total_tokens=5), measured(None, 5), "zero-means-missing: time of 0"),
    (
        timed(duration_ms=0, total_tokens=0),
        measured(None, None),
        "zero-means-missing: time and tokens of 0",
    ),
    # How it ended.
    (judged("pf"), {"status": "graded"}, "no ungraded-run", "no errored-run", "no executed-run"),
    (checked("f", critical=True), {"status": "gated"}),
    (checked("p", critical=True), {"status": "graded"}),
    (only_timed(total_duration_seconds=3.0), {"status": "executed"}),
    ({"outputs/page.html": "<p>"}, {"status": "executed"}, "executed-run: enters no rate"),
    (only_timed(exit_code=1), {"status": "errored"}, "errored-run: enters no rate"),
    (only_timed(status="errored", reason="it said: no"), {}, "errored-run: it said: no"),
    (only_timed(status="Timeout"), {"status": "errored"}),
    (only_timed(exit_code=0, status="ok"), {"status": "executed"}),
    (timed(exit_code=1), {"status": "graded"}),
    (only_timed(exit_code=1) | stated(), {"status": "errored"}),
    ({"grading.json": "{ not json"}, {"status": "ungraded"}),
    ({"grading.json": {"expectations": []}}, {"status": "ungraded"}),
    # What an error left behind is no result: one of two judgings came, the other did not.
    (
        checked("p", critical=True)
        | judgings(_1=scores(a=3))
        | only_timed(status="errored", reason="judge: no JSON"),
        {"status": "errored", "gate_passed": True, "pass_rate": None, "passed": None}
        | {"rubric_weighted_mean": None}
        | efficient(None, 1),
    ),
    # The weights are those of the suite, else those in the grading, else all the same.
    (
        judged(rubric_scores=weighted(depth=(5, 1), style=(2, 9)))
        | suite(("depth", 2.0), ("style", 1.0)),
        mean((2 * 5 + 1 * 2) / 3),
    ),
    (judged(rubric_scores=weighted(a=(5, 1), b=(2, 2))), mean((5 + 2 * 2) / 3)),
    (judged(rubric_scores=scores(a=5, b=2)), mean(3.5)),
    # A stated mean goes before weights that nobody gave; a stated share is a fifth of it.
    (judged(rubric_scores=scores(a=5, b=2), rubric_summary={"weighted_mean": 4.4}), mean(4.4)),
    (judged(rubric_summary={"normalized": 0.84}), mean(4.2)),
    (
        judged(rubric_scores=weighted(a=(5, 1), b=(2, 1)), rubric_summary={"weighted_mean": 4.4}),
        mean(3.5),
        "disagree: 4.40",
    ),
    # What the judge did not give is left out.
    (judged(rubric_scores=scores(a=4, b=None)), mean(4.0)),
    # Several judgings are averaged within a dimension, and go before the grading's scores.
    (
        judged()
        | suite(("depth", 3.0), ("style", 1.0))
        | judgings(_1=scores(depth=5, style=1), _2=scores(depth=4, style=2), _3=scores(depth=3)),
        mean((3 * 4.0 + 1 * 1.5) / 4),
    ),
    (judged(rubric_scores=scores(a=1)) | judgings(_1=scores(a=5)), mean(5.0)),
    # Efficiency is half the checks, structural before judged ones, and half the rubric.
    (judged("p", rubric_scores=scores(a=4.5)) | checked("pf"), efficient(0.7, 0.5)),
    (judged("p"), efficient(1.0) | {"gate_passed": None}),
    (rated(a=4), efficient(0.8)),
    (judged("pf", rubric_scores=scores(a=4)) | checked("pppf"), efficient(0.775, 0.75)),
    (judged(""), efficient(None)),
    # What it used. A sum of tool calls goes before adding them up.
    (
        used(total_steps=4, errors_encountered=0, output_chars=1200, transcript_chars=800),
        {"steps": 4, "errors": 0, "output_chars": 1200, "transcript_chars": 800},
    ),
    (
        used(tool_calls={"Read": 2, "Bash": 3, "Write": None}, cost_usd=0.25, skill_used=False),
        {"tool_calls": 5, "cost_usd": 0.25, "skill_used": False},
    ),
    (used(total_steps=1) | {"outputs/metrics.json": {"total_steps": 2}}, {"steps": 1}),
    (
        only_timed(model="m-1", executor_start="2026-01-02T03:04:05Z") | judged(judge_model="j"),
        {"executor_model": "m-1", "judge_model": "j", "started_at": "2026-01-02T03:04:05Z"},
    ),
    *((timed(**{name: "x"}), {"harness": "x"}) for name in ("executor", "harness", "agent")),
    # What nobody says is null.
    (
        judged(),
        dict.fromkeys(
            "structural_pass_rate rubric_weighted_mean rubric_normalized time_seconds tokens "
            "tool_calls steps errors output_chars transcript_chars cost_usd skill_used "
            "harness executor_model judge_model started_at".split()
        ),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_what_is_known_of_a_run(tmp_path, case):
    files, known, *told = case
    laid = {name if name == "evals.json" else f"{RUN}/{name}": one for name, one in files.items()}
    ws = load(tmp_path, laid)
    (run,) = rows(ws, "runs")
    assert {name: run[name] for name in known} == pytest.approx(known)
    for one in told:
        code, _, words = one.removeprefix("no ").partition(": ")
        problems = coded(ws, code)
        assert len(problems) == (not one.startswith("no "))
        for problem in problems:
            assert words in f"{problem['where']} {problem['message']}"
            assert (problem["severity"], problem["workspace"]) == ("warning", "ws")
            assert problem["path"].startswith(RUN)


# ── counted once ───────────────────────────────────────────────────────────────────────────────

FOLDERS = [f"iteration-1/eval-1-login/with_skill/{name}" for name in ("run1", "run-1", "run_1")]
SECOND = RUN.replace("run-1", "run-2/grading.json")
PASSED, FAILED = judged("ppf"), judged("pff")
RATED = judged("ppf", rubric_scores=scores(depth=4))
SAME, OTHER = "info", "warning"


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([PASSED, PASSED], [SAME]),
        ([PASSED | only_timed(total_duration_seconds=5.0), PASSED], [SAME]),  # a copy lacks it
        ([PASSED, FAILED, PASSED], [OTHER, SAME]),
        ([PASSED, only_timed(status="errored"), RATED], [OTHER, OTHER]),
        # Runs without results are told apart by what else is known.
        ([only_timed(total_duration_seconds=each) for each in (9.0, 2.0, 9.0)], [OTHER, SAME]),
        # A run of its own is not lost to one that was given its number.
        ([PASSED, FAILED, {SECOND: FAILED["grading.json"]}], [OTHER, OTHER]),
    ],
)
def test_the_same_results_are_the_same_run_and_others_a_further_one(tmp_path, runs, told):
    files = {
        name if name == SECOND else f"{folder}/{name}": content
        for folder, run in zip(FOLDERS, runs, strict=False)
        for name, content in run.items()
    }
    ws = load(tmp_path, files)
    assert ws.runs["run_number"].to_list() == [*range(1, 1 + len(runs) - told.count(SAME))]
    problems = coded(ws, "duplicate-run")
    assert [one["severity"] for one in problems] == told
    assert problems[0]["path"] == FOLDERS[1]
    assert (FOLDERS[0] if told[0] == SAME else "counted as run 2") in problems[0]["message"]


REPEATED = {"eval_id": "1", "side": "without_skill", "seconds": 10.0, "tokens": 1000}
"""A run of the first iteration; 1 of 3 passed."""


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"eval_id": "2"},
        {"seconds": 10.1},
        {"seconds": None},
    ],
)
def test_a_later_benchmark_that_repeats_a_run_adds_none(tmp_path, other):
    """It is known by its figures: anything else is another run."""
    eval_id, side, seconds, tokens = (REPEATED | other).values()
    again = row(eval_id, side, "pff")
    again["result"] |= {"time_seconds": seconds, "tokens": tokens, "pass_rate": 0.33}
    files = {
        f"{BASELINE}/grading.json": graded("pff"),
        f"{BASELINE}/timing.json": {"total_duration_seconds": 10.0, "total_tokens": 1000},
        "iteration-2/eval-1-login/with_skill/run-1/grading.json": graded("ppp"),
        "iteration-2/benchmark.json": {"runs": [row("1", "with_skill", "ppp"), again]},
    }
    ws = load(tmp_path, files)
    found = ws.runs.select("iteration", "configuration").rows()
    known = [("iteration-1", "without_skill"), ("iteration-2", "with_skill")]
    assert sorted(found) == sorted(known + [("iteration-2", side)] * bool(other))
    problems = coded(ws, "repeated-run")
    assert [BASELINE in one["message"] for one in problems] == [True] * (not other)


# ── what is missing ────────────────────────────────────────────────────────────────────────────

DEPTH = weighted(depth=(4, 1))
PLAIN = {f"{RUN}/grading.json": graded("pf")}
BOTH = {f"{RUN}/grading.json": graded("pf", rubric_scores=DEPTH)}
RUBRIC = {"expectations": [], "rubric_scores": DEPTH}
LAYERED = suite(("depth", 1.0), checks=["It works"])


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            BOTH | {f"{BASELINE}/grading.json": graded("pf")},
            ["no rubric scores in 1 of 2 runs of iteration-1"],
        ),
        (
            BOTH | {f"{BASELINE}/grading.json": RUBRIC},
            ["no verdicts in 1 of 2 runs"],
        ),
        (PLAIN | LAYERED, ["1 of 1 run"]),  # a suite with both is enough
        (BOTH | {f"{BASELINE}/timing.json": {"exit_code": 1}}, []),
    ],
)
def test_an_efficiency_of_one_layer_is_told_where_others_have_both(tmp_path, files, says):
    problems = coded(load(tmp_path, files), "efficiency-of-one")
    assert [(one["severity"], one["workspace"]) for one in problems] == [("info", "ws")] * len(says)
    for problem, words in zip(problems, says, strict=True):
        assert words in problem["message"]


HOST, PORT, USER = DEFINED = ["names the host", "names the port", "names the user"]
ALL = [(text, True) for text in DEFINED]


@pytest.mark.parametrize(
    ("defined", "verdicts", "counts", "says"),
    [
        (DEFINED, [(HOST, True), (PORT, False), (USER, None)], (1, 1, 3), []),
        (DEFINED, [(USER.upper() + ".", True), (HOST, True), (PORT, True)], (3, 0, 3), []),
        (DEFINED, [(HOST, True)], (1, 0, 1), ["lacks 2 of the 3 checks", PORT, USER]),
        (DEFINED, [(HOST, False), *ALL], (2, 1, 3), ["doubles", HOST]),
        (DEFINED, [*ALL, ("is short", False)], (3, 1, 4), ["adds 1", "short"]),
        (DEFINED, [(HOST, True), (HOST, True)], (1, 0, 1), ["lacks 2", "doubles"]),
        # A suite may ask for the same twice, or for nothing.
        ([], [(HOST, True), (HOST, False)], (1, 1, 2), []),
    ],
)
def test_what_a_grading_lacks_doubles_or_adds_is_named(tmp_path, defined, verdicts, counts, says):
    """Held against the checks of the suite, or of what lies beside the runs."""
    about = {"eval_id": 1, "assertions": [{"text": text, "id": text[-4:]} for text in defined]}
    checks = [{"text": text, "passed": passed} for text, passed in verdicts]
    beside = {"iteration-1/eval-1-login/eval_metadata.json": about}
    for own, more in ((defined, {}), (DEFINED if defined else [], beside)):
        files = suite(checks=own) | {f"{RUN}/grading.json": {"expectations": checks}} | more
        ws = load(tmp_path / f"{len(more)}", files)
        assert ws.runs.select("passed", "failed", "total").row(0) == counts
        told = [one["message"] for one in coded(ws, "other-checks")]
        assert len(told) == bool(says)
        assert all(word in text for text in told for word in says)
