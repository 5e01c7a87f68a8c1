"""The dialect `test-cases`: test cases, versions of a description, comparison by criterion."""

from __future__ import annotations

from typing import Annotated, Literal

from .. import grading
from ..document import Amount, Document, Rate, Seconds, says
from .figures import Plain, when, without_none
from .testcases_benchmark import BENCHMARK
from .testcases_comparison import COMPARISON
from .wire import Dialect, Form

Confidence = Literal["high", "medium", "low"]


class Case(Document, kw_only=True):
    """A prompt, and what its output is to fulfil."""

    id: Annotated[str, says("unique within the suite")]
    prompt: Annotated[str, says("the task")]
    assertions: Annotated[
        list[str], says("what the output must fulfil", also=("expectations",))
    ] = []
    tags: Annotated[list[str], says("categories")] = []
    weight: Annotated[Amount, says("weight in the suite's score")] = 1.0


class Suite(Document, kw_only=True):
    """The test cases of a skill; its file is called eval_metadata.json."""

    skill_name: Annotated[str, says("the skill")]
    version: Annotated[str | None, says("version of the suite")] = None
    test_cases: Annotated[list[Case], says("the test cases", also=("evals",))]


class Assertion(Document, kw_only=True):
    """The verdict on an assertion."""

    assertion: Annotated[str, says("what was checked", also=("text",))]
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

    test_case_id: Annotated[str, says("the test case", also=("eval_id",))]
    run_id: Annotated[str | None, says("the run")] = None
    timestamp: Annotated[str | None, says("when it was graded, ISO 8601")] = None
    assertions: Annotated[list[Assertion], says("the verdicts", also=("expectations",))]
    overall_score: Annotated[Rate | None, says("share of the assertions that passed")] = None
    factual_issues: Annotated[list[str], says("factual mistakes in the output")] = []
    eval_critique: Annotated[grading.EvalCritique | None, says("critique of the suite")] = None
    timing: Annotated[Timing | None, says("how long it took")] = None


def _suite(plain: Plain) -> Plain:
    return {
        **plain,
        "evals": [
            {
                **one,
                "id": when(one.get("id"), str) or one.get("name"),
                "expectations": [item["text"] for item in one.get("expectations", [])],
            }
            for one in plain["evals"]
        ],
    }


def _grading(plain: Plain) -> Plain:
    verdicts = [one for one in plain["expectations"] if one.get("passed") is not None]
    timing = plain.get("timing", {})
    return without_none(
        {
            **plain,
            "eval_id": when(plain.get("eval_id"), str),
            "expectations": [
                {**one, "result": "pass" if one["passed"] else "fail"} for one in verdicts
            ],
            "overall_score": plain.get("summary", {}).get("pass_rate"),
            "timing": without_none(
                {
                    "start": timing.get("start"),
                    "end": timing.get("end"),
                    "duration_seconds": timing.get("total_duration_seconds"),
                }
            )
            or None,
        }
    )


TEST_CASES = Dialect(
    "test-cases",
    {
        "evals": Form(Suite, _suite),
        "grading": Form(Grading, _grading),
        "benchmark": BENCHMARK,
        "comparison": COMPARISON,
    },
)
