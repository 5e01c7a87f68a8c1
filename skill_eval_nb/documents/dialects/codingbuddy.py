"""The dialect `codingbuddy`: strict schemas, ids from 1 in the suite and from 0 in folders."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .. import evals, run
from ..base import Amount, Count, Document, Rate, Seconds, objects, says
from ..sides import WITH
from .form import Form, Plain, forms_of, narrow, select_keys

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
        select_keys(row, "eval_id with_skill", without_skill="baseline")
        for row in wire["eval_results"]
    ]
    return {**wire, "eval_results": rows, "summary": {WITH: wire["summary"]}}


BENCHMARK = Form(
    Benchmark,
    _name_sides,
    lambda raw: any({"with_skill", "baseline"} <= x.keys() for x in objects(raw, "eval_results")),
)


class Assertion(Document, kw_only=True):
    """Something that the output must fulfil."""

    name: Annotated[str, says("a short name")]
    description: Annotated[str, says("when it is passed", also="text")]


OneOrMore = msgspec.Meta(min_length=1)
FIELDS = {
    evals.Eval: "id! prompt expected_output! files!",
    evals.Evals: "skill_name! evals",
    evals.EvalMetadata: "eval_id! eval_name! prompt! assertions!",
    run.GradedExpectation: "text passed evidence!",
    run.Grading: "expectations",
    run.Timing: "total_tokens! duration_ms! total_duration_seconds!",
    evals.Review: "run_id feedback! timestamp!",
    evals.Feedback: "reviews status!",
    evals.TriggerQuery: "query should_trigger",
    evals.TriggerSet: "queries=",
}
TYPES = {
    "Eval.id": FromOne,
    "Eval.expected_output": str,
    "Evals.skill_name": Kebab,
    "Evals.evals": Annotated[list[evals.Eval], OneOrMore],
    "EvalMetadata.eval_id": FromZero,
    "EvalMetadata.eval_name": str,
    "EvalMetadata.prompt": str,
    "EvalMetadata.assertions": Annotated[list[Assertion], OneOrMore],
    "GradedExpectation.passed": bool,
    "GradedExpectation.evidence": str,
    "Grading.expectations": Annotated[list[run.GradedExpectation], OneOrMore],
    "Timing.total_tokens": Count,
    "Timing.duration_ms": Count,
    "Timing.total_duration_seconds": Seconds,
    "Review.run_id": Annotated[
        str, msgspec.Meta(pattern="^eval-[0-9]+-(?:with_skill|without_skill)$")
    ],
    "Review.timestamp": str,
    "Feedback.status": Literal["in_progress", "complete"],
    "TriggerQuery.should_trigger": bool,
    "TriggerSet.queries": Annotated[list[evals.TriggerQuery], OneOrMore],
}

CODINGBUDDY = {**forms_of(narrow(FIELDS, TYPES)), "benchmark": BENCHMARK}
