"""The dialect `test-cases`: test cases, versions of a description, comparison by criterion."""

from __future__ import annotations

from typing import Annotated, Literal

from .. import run as grading
from ..base import Amount, Count, Document, Rate, Score, Seconds, objects, says
from ..sides import WITH
from .form import Form, Plain, select_keys, without_none


class Scores(Document, kw_only=True):
    """The scores of the test cases under one version of the description."""

    mean: Annotated[Rate | None, says("mean")] = None
    median: Annotated[Rate | None, says("median")] = None
    std_dev: Annotated[Amount | None, says("standard deviation")] = None
    min: Annotated[Rate | None, says("smallest")] = None
    max: Annotated[Rate | None, says("largest")] = None


class CaseScore(Document, kw_only=True):
    """A test case under one version of the description."""

    test_case_id: Annotated[str, says("the test case")]
    score: Annotated[Rate | None, says("share of the assertions that passed")] = None
    duration_seconds: Annotated[Seconds | None, says("time in seconds")] = None


class Entry(Document, kw_only=True):
    """A version of the description, and how the test cases fared under it."""

    description_version: Annotated[Count, says("1, 2, …")]
    description_hash: Annotated[str | None, says("SHA-256 of the description")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    scores: Annotated[Scores | None, says("over the test cases")] = None
    per_test_case: Annotated[list[CaseScore], says("one a test case")] = []
    total_duration_seconds: Annotated[Seconds | None, says("time of all together")] = None
    num_test_cases: Annotated[Count | None, says("how many there were")] = None


class Benchmark(Document, kw_only=True):
    """All versions of a skill's description."""

    skill_name: Annotated[str | None, says("the skill")] = None
    description_version: Annotated[Count | None, says("the latest version")] = None
    created_at: Annotated[str | None, says("when the first was measured, ISO 8601")] = None
    entries: Annotated[list[Entry], says("one a version")]


def _to_iterations(wire: Plain) -> Plain:
    """Each version of the description as an iteration with the skill alone."""
    blocks = [
        {
            **select_keys(entry, "timestamp"),
            "iteration": f"description-{entry['description_version']}",
            "runs": [
                {
                    **select_keys(case, "test_case_id"),
                    "configuration": WITH,
                    "result": select_keys(case, "score duration_seconds"),
                }
                for case in entry.get("per_test_case", [])
            ],
            "run_summary": {WITH: {"pass_rate": entry.get("scores")}},
        }
        for entry in wire["entries"]
    ]
    return {**select_keys(wire, "skill_name"), "iterations": blocks}


BENCHMARK = Form(
    Benchmark,
    _to_iterations,
    lambda raw: any("per_test_case" in entry for entry in objects(raw, "entries")),
)


class CriterionScore(Document, kw_only=True):
    """Both sides on one criterion."""

    criterion: Annotated[str, says("what was scored")]
    score_a: Annotated[Score | None, says("score of A, 1 to 5")] = None
    score_b: Annotated[Score | None, says("score of B, 1 to 5")] = None
    justification_a: Annotated[str | None, says("why A got it")] = None
    justification_b: Annotated[str | None, says("why B got it")] = None


class Comparison(Document, kw_only=True):
    """A comparator's verdict on a test case under two versions of the description."""

    comparison_id: Annotated[str | None, says("its id")] = None
    timestamp: Annotated[str | None, says("when, ISO 8601")] = None
    version_a: Annotated[int | str | None, says("version behind A")] = None
    version_b: Annotated[int | str | None, says("version behind B")] = None
    test_case_id: Annotated[str | None, says("the test case")] = None
    criteria_scores: Annotated[list[CriterionScore], says("by criterion")]
    total_score_a: Annotated[float | None, says("score of A over all criteria")] = None
    total_score_b: Annotated[float | None, says("score of B over all criteria")] = None
    winner: Annotated[Literal["A", "B", "tie"], says("who won")]
    key_differentiators: Annotated[list[str], says("what made the difference")] = []
    summary: Annotated[str | None, says("why")] = None


def _to_rubrics(wire: Plain) -> Plain:
    """The scores of the criteria as a rubric for each side."""
    shared = "comparison_id timestamp version_a version_b winner key_differentiators"
    return {
        **select_keys(wire, shared, eval_id="test_case_id", reasoning="summary"),
        "rubric": {side: _rubric(wire, side.lower()) for side in ("A", "B")},
    }


def _rubric(wire: Plain, side: str) -> Plain:
    def pick_column(name: str) -> Plain:
        rows = wire["criteria_scores"]
        return without_none({row["criterion"]: row.get(f"{name}_{side}") for row in rows})

    return without_none(
        {
            "content": pick_column("score"),
            "justifications": pick_column("justification"),
            "overall_score": wire.get(f"total_score_{side}"),
        }
    )


COMPARISON = Form(Comparison, _to_rubrics, lambda raw: bool(objects(raw, "criteria_scores")))


Confidence = Literal["high", "medium", "low"]


class Case(Document, kw_only=True):
    """A prompt, and what its output is to fulfil."""

    id: Annotated[str, says("unique within the suite")]
    prompt: Annotated[str, says("the task")]
    assertions: Annotated[list[str], says("what the output must fulfil", also="expectations")] = []
    tags: Annotated[list[str], says("categories")] = []
    weight: Annotated[Amount, says("weight in the suite's score")] = 1.0


class Suite(Document, kw_only=True):
    """The test cases of a skill; its file is called eval_metadata.json."""

    skill_name: Annotated[str, says("the skill")]
    version: Annotated[str | None, says("version of the suite")] = None
    test_cases: Annotated[list[Case], says("the test cases", also="evals")]


class Assertion(Document, kw_only=True):
    """The verdict on an assertion."""

    assertion: Annotated[str, says("what was checked", also="text")]
    result: Annotated[Literal["pass", "fail"], says("the verdict")]
    confidence: Annotated[Confidence | None, says("how sure the grader is")] = None
    evidence: Annotated[str | None, says("what the verdict rests on")] = None
    notes: Annotated[str | None, says("the grader's remarks")] = None


class Timing(Document, kw_only=True):
    """When the test case was graded, and how long that took."""

    start: Annotated[str | None, says("when it began, ISO 8601")] = None
    end: Annotated[str | None, says("when it ended, ISO 8601")] = None
    duration_seconds: Annotated[Seconds | None, says("time in seconds")] = None


class Grading(Document, kw_only=True):
    """The grader's verdicts on a test case of a run."""

    test_case_id: Annotated[str, says("the test case", also="eval_id")]
    run_id: Annotated[str | None, says("the run")] = None
    timestamp: Annotated[str | None, says("when it was graded, ISO 8601")] = None
    assertions: Annotated[list[Assertion], says("the verdicts", also="expectations")]
    overall_score: Annotated[Rate | None, says("share of the assertions that passed")] = None
    factual_issues: Annotated[list[str], says("factual mistakes in the output")] = []
    eval_critique: Annotated[grading.EvalCritique | None, says("critique of the suite")] = None
    timing: Annotated[Timing | None, says("how long it took")] = None


TEST_CASES = {
    "evals": Form(Suite),
    "grading": Form(Grading),
    "benchmark": BENCHMARK,
    "comparison": COMPARISON,
}
