"""The dialect `codingbuddy`: strict schemas, ids from 1 in the suite and from 0 in folders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from .. import evals, run
from ..base import Amount, Count, Document, Rate, Seconds, says
from .form import (
    BASELINE_SIDES,
    SKILL_SIDES,
    Dialect,
    Form,
    Paths,
    Plain,
    by_eval,
    kebab,
    mean_of,
    means,
    named,
    narrow,
    numbered,
    pick,
    side_of,
    when,
    without_none,
)

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


def _to_wire(plain: Plain) -> Plain:
    runs = plain["runs"]
    skill, baseline = side_of(runs, SKILL_SIDES), side_of(runs, BASELINE_SIDES)
    groups = by_eval(runs)
    whole = all(type(key) is int for key in groups)
    metadata = plain["metadata"]
    stated = plain.get("run_summary", {}).get(skill or "with_skill", {})
    iteration = metadata.get("iteration")
    return without_none(
        {
            "skill_name": when(metadata.get("skill_name"), kebab),
            "iteration": numbered(iteration.removeprefix("iteration-"))
            if isinstance(iteration, str)
            else iteration,
            "summary": without_none(
                {name: _totals(name, stated.get(figure)) for name, figure in TOTALS.items()}
            ),
            "eval_results": [
                without_none(
                    {
                        "eval_id": key if whole else number,
                        "with_skill": _side(group, skill),
                        "baseline": _side(group, baseline),
                    }
                )
                for number, (key, group) in enumerate(groups.items())
            ],
        }
    )


TOTALS = {"pass_rate": "pass_rate", "tokens": "tokens", "duration_seconds": "time_seconds"}
"""What a figure is called here, and what it is called in the shared benchmark."""


def _totals(name: str, stated: Any) -> Plain | None:
    deviation = stated.get("stddev") if isinstance(stated, dict) else None
    average = mean_of(stated, "rate" if name == "pass_rate" else None)
    return without_none({"mean": average, "stddev": deviation}) or None


def _side(runs: list[Plain], configuration: str | None) -> Plain | None:
    there = [run for run in runs if run["configuration"] == configuration]
    figures = {"pass_rate": "pass_rate", "tokens": "tokens", "duration": "time_seconds"}
    return means(there, figures) if there else None


def _to_neutral(wire: Plain) -> Plain:
    summary = pick(wire.get("summary", {}), "pass_rate tokens", time_seconds="duration_seconds")
    return {
        "metadata": pick(wire, "skill_name iteration"),
        "runs": [
            {
                "eval_id": result.get("eval_id"),
                "configuration": configuration,
                "result": pick(result[side], "pass_rate tokens", time_seconds="duration"),
            }
            for result in wire.get("eval_results", [])
            for side, configuration in (("with_skill", "with_skill"), ("baseline", "without_skill"))
            if side in result
        ],
        "run_summary": {"with_skill": summary},
    }


BENCHMARK = Form(Benchmark, _to_wire, _to_neutral)


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


def _evals(plain: Plain) -> Plain:
    ids = [eval_.get("id") for eval_ in plain["evals"]]
    whole = all(type(id_) is int for id_ in ids)
    first = 1 - min(ids, default=1) if whole and min(ids, default=1) < 1 else 0
    return {
        **plain,
        "skill_name": when(plain.get("skill_name"), kebab),
        "evals": [
            {
                "expected_output": "",
                "files": [],
                **eval_,
                "id": eval_["id"] + first if whole else number,
            }
            for number, eval_ in enumerate(plain["evals"], 1)
        ],
    }


def _eval_metadata(plain: Plain) -> Plain:
    name = plain.get("eval_id")
    number = numbered(name) if isinstance(name, str) else name
    known = {"eval_name": when(name, str), **plain, "eval_id": number}
    return without_none({**known, "assertions": named(plain.get("assertions", []))})


def _grading(plain: Plain) -> Plain:
    scored = [verdict for verdict in plain["expectations"] if verdict.get("passed") is not None]
    return {"expectations": [{"evidence": "", **verdict} for verdict in scored]}


def _timing(plain: Plain) -> Plain:
    known = pick(plain, "total_tokens duration_ms total_duration_seconds")
    if "duration_ms" in known:
        known.setdefault("total_duration_seconds", known["duration_ms"] / 1000)
    elif "total_duration_seconds" in known:
        known["duration_ms"] = known["total_duration_seconds"] * 1000
    return {**known, "duration_ms": when(known.get("duration_ms"), round)}


def reviews(plain: Plain) -> Plain:
    """Reviews with their text, empty or not: an empty one says that all is well."""
    return {**plain, "reviews": [{"feedback": "", **review} for review in plain["reviews"]]}


def queries(plain: Plain) -> list[Any]:
    """The queries of a trigger set as the bare list that its file is.

    Those of which nobody says whether they should trigger have no place there.
    """
    return [query for query in plain["queries"] if query.get("should_trigger") is not None]


SIDE = "{iteration}/{eval}/{side}"

CODINGBUDDY = Dialect(
    "codingbuddy",
    {
        "evals": Form(Evals, _evals),
        "eval_metadata": Form(EvalMetadata, _eval_metadata),
        "grading": Form(Grading, _grading),
        "timing": Form(Timing, _timing),
        "feedback": Form(Feedback, reviews),
        "benchmark": BENCHMARK,
        "triggers": Form(Triggers, queries),
    },
    Paths(
        {
            "evals": "evals.json",
            "triggers": "trigger_eval.json",
            "eval_metadata": f"{SIDE}/eval_metadata.json",
            "grading": f"{SIDE}/grading.json",
            "timing": f"{SIDE}/timing.json",
            "benchmark": "{iteration}/benchmark.json",
            "feedback": "{iteration}/feedback.json",
        },
        outputs=SIDE,
        sides=("with_skill", "without_skill"),
        several=False,
        counted=True,
        stated=frozenset(("benchmark",)),
        repeats=False,
    ),
)
