"""The dialect `codingbuddy`: strict schemas, ids from 1 in the suite and from 0 in folders."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .. import evals, run
from ..base import Amount, Count, Document, Rate, Seconds, says
from ..sides import WITH
from .form import Dialect, Form, Plain, narrow, objects, pick

Kebab = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9-]*$")]
FromZero = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "id"})]
FromOne = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "id"})]


class RateSummary(Document, kw_only=True):
    """Mean and standard deviation of the pass rate over the evals."""

    mean: Annotated[Rate, says("mean")]
    stddev: Annotated[Amount, says("standard deviation")]


class Summary(Document, kw_only=True):
    """Mean and standard deviation of a figure over the evals."""

    mean: Annotated[Amount, says("mean")]
    stddev: Annotated[Amount, says("standard deviation")]


class Totals(Document, kw_only=True):
    """The figures with the skill, over all evals."""

    pass_rate: Annotated[RateSummary, says("pass rate")]
    tokens: Annotated[Summary, says("tokens")]
    duration_seconds: Annotated[Summary, says("time in seconds")]


class Side(Document, kw_only=True):
    """How one side of an eval fared."""

    pass_rate: Annotated[Rate, says("pass rate")]
    tokens: Annotated[Count, says("tokens")]
    duration: Annotated[Seconds, says("time in seconds")]


class EvalResult(Document, kw_only=True):
    """An eval with the skill and without it."""

    eval_id: Annotated[FromZero, says("the eval, counted from 0")]
    with_skill: Annotated[Side, says("with the skill")]
    baseline: Annotated[Side, says("without it")]


class Benchmark(Document, kw_only=True):
    """An iteration: every eval with the skill beside the baseline, and the totals with it."""

    skill_name: Annotated[Kebab, says("the skill")]
    iteration: Annotated[FromOne, says("the iteration, counted from 1")]
    summary: Annotated[Totals, says("figures with the skill, over all evals")]
    eval_results: Annotated[list[EvalResult], says("one an eval")]


def _name_sides(wire: Plain) -> Plain:
    """The same with the usual name of the baseline, and the summary as that of the skill."""
    rows = [
        pick(row, "eval_id with_skill", without_skill="baseline") for row in wire["eval_results"]
    ]
    return {**wire, "eval_results": rows, "summary": {WITH: wire["summary"]}}


BENCHMARK = Form(
    Benchmark,
    _name_sides,
    lambda raw: any({"with_skill", "baseline"} <= x.keys() for x in objects(raw, "eval_results")),
)


OneOrMore = msgspec.Meta(min_length=1)

Eval = narrow(
    evals.Eval,
    "id prompt expected_output files",
    required="id expected_output files",
    id=FromOne,
    expected_output=str,
)
Evals = narrow(
    evals.Evals,
    "skill_name evals",
    required="skill_name",
    skill_name=Kebab,
    evals=Annotated[list[Eval], OneOrMore],
)


class Assertion(Document, kw_only=True):
    """Something that the output must fulfil."""

    name: Annotated[str, says("a short name")]
    description: Annotated[str, says("when it is passed", also=("text",))]


EvalMetadata = narrow(
    evals.EvalMetadata,
    "eval_id eval_name prompt assertions",
    required="eval_id eval_name prompt assertions",
    eval_id=FromZero,
    eval_name=str,
    prompt=str,
    assertions=Annotated[list[Assertion], OneOrMore],
)

Expectation = narrow(
    run.GradedExpectation,
    "text passed evidence",
    required="evidence",
    passed=bool,
    evidence=str,
)
Grading = narrow(run.Grading, "expectations", expectations=Annotated[list[Expectation], OneOrMore])

Timing = narrow(
    run.Timing,
    "total_tokens duration_ms total_duration_seconds",
    required="total_tokens duration_ms total_duration_seconds",
    total_tokens=Count,
    duration_ms=Count,
    total_duration_seconds=Seconds,
)

Review = narrow(
    evals.Review,
    "run_id feedback timestamp",
    required="feedback timestamp",
    run_id=Annotated[str, msgspec.Meta(pattern="^eval-[0-9]+-(?:with_skill|without_skill)$")],
    timestamp=str,
)
Feedback = narrow(
    evals.Feedback,
    "reviews status",
    required="status",
    reviews=list[Review],
    status=Literal["in_progress", "complete"],
)

Query = narrow(evals.TriggerQuery, "query should_trigger", should_trigger=bool)
Triggers = narrow(
    evals.TriggerSet, "queries", plain="queries", queries=Annotated[list[Query], OneOrMore]
)


CODINGBUDDY = Dialect(
    "codingbuddy",
    {
        "evals": Form(Evals),
        "eval_metadata": Form(EvalMetadata),
        "grading": Form(Grading),
        "timing": Form(Timing),
        "feedback": Form(Feedback),
        "benchmark": BENCHMARK,
        "triggers": Form(Triggers),
    },
)
