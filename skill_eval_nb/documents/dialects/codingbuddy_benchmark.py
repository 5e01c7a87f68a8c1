"""The benchmark of `codingbuddy`: each eval with the skill beside the baseline."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ..document import Amount, Count, Document, Rate, Seconds, says
from .figures import (
    BASELINE_SIDES,
    SKILL_SIDES,
    Plain,
    by_eval,
    mean,
    mean_of,
    results,
    side_of,
    when,
    without_none,
)
from .names import kebab, numbered
from .wire import Form

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
                {
                    "pass_rate": _totals(stated.get("pass_rate"), "rate"),
                    "tokens": _totals(stated.get("tokens")),
                    "duration_seconds": _totals(stated.get("time_seconds")),
                }
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


def _totals(stated: Any, unit: str | None = None) -> Plain | None:
    deviation = stated.get("stddev") if isinstance(stated, dict) else None
    return without_none({"mean": mean_of(stated, unit), "stddev": deviation}) or None


def _side(runs: list[Plain], configuration: str | None) -> Plain | None:
    there = [run for run in runs if run["configuration"] == configuration]
    figures = {
        "pass_rate": mean(results(there, "pass_rate")),
        "tokens": when(mean(results(there, "tokens")), round),
        "duration": mean(results(there, "time_seconds")),
    }
    return without_none(figures) if there else None


def _to_neutral(wire: Plain) -> Plain:
    summary = wire.get("summary", {})
    named = ("skill_name", "iteration")
    return {
        "metadata": {name: wire[name] for name in named if name in wire},
        "runs": [
            {
                "eval_id": one.get("eval_id"),
                "configuration": configuration,
                "result": {
                    "pass_rate": one[side].get("pass_rate"),
                    "tokens": one[side].get("tokens"),
                    "time_seconds": one[side].get("duration"),
                },
            }
            for one in wire.get("eval_results", [])
            for side, configuration in (("with_skill", "with_skill"), ("baseline", "without_skill"))
            if side in one
        ],
        "run_summary": {
            "with_skill": {
                "pass_rate": summary.get("pass_rate"),
                "tokens": summary.get("tokens"),
                "time_seconds": summary.get("duration_seconds"),
            }
        },
    }


BENCHMARK = Form(Benchmark, _to_wire, _to_neutral)
