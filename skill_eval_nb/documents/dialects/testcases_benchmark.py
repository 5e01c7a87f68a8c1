"""The benchmark of `test-cases`: the versions of a description, and how each fared."""

from __future__ import annotations

from typing import Annotated, Any

from ..document import Amount, Count, Document, Rate, Seconds, says
from .figures import (
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
from .wire import Form


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


_VERSION = "description-"


def _to_neutral(wire: Plain) -> list[Plain]:
    return [
        {
            "metadata": without_none(
                {
                    "skill_name": wire.get("skill_name"),
                    "timestamp": entry.get("timestamp"),
                    "iteration": f"{_VERSION}{entry.get('description_version', number)}",
                }
            ),
            "runs": [
                {
                    "eval_id": one.get("test_case_id"),
                    "configuration": "with_skill",
                    "result": without_none(
                        {
                            "pass_rate": one.get("score"),
                            "time_seconds": one.get("duration_seconds"),
                        }
                    ),
                }
                for one in entry.get("per_test_case", [])
            ],
            "run_summary": {"with_skill": {"pass_rate": _stats(entry["scores"])}}
            if "scores" in entry
            else {},
        }
        for number, entry in enumerate(wire.get("entries", []), 1)
    ]


def _stats(scores: Plain) -> Plain:
    names = {"mean": "mean", "std_dev": "stddev", "min": "min", "max": "max"}
    return {shared: scores[name] for name, shared in names.items() if name in scores}


def _to_wire(benchmarks: list[Plain]) -> Plain:
    entries = [_entry(one, number) for number, one in enumerate(benchmarks, 1)]
    names = (one["metadata"].get("skill_name") for one in benchmarks)
    return without_none(
        {
            "skill_name": next((name for name in names if name), None),
            "description_version": max(
                (entry["description_version"] for entry in entries), default=None
            ),
            "entries": entries,
        }
    )


def _entry(plain: Plain, number: int) -> Plain:
    metadata = plain["metadata"]
    side = side_of(plain["runs"], SKILL_SIDES) or "with_skill"
    cases = by_eval(plain["runs"], configuration=side)
    stated = plain.get("run_summary", {}).get(side, {}).get("pass_rate")
    return without_none(
        {
            "description_version": _version(metadata.get("iteration"), number),
            "timestamp": metadata.get("timestamp"),
            "scores": _scores(stated),
            "per_test_case": [
                without_none(
                    {
                        "test_case_id": str(key),
                        "score": mean(results(runs, "pass_rate")),
                        "duration_seconds": mean(results(runs, "time_seconds")),
                    }
                )
                for key, runs in cases.items()
            ],
            "num_test_cases": len(cases),
        }
    )


def _version(iteration: Any, number: int) -> int:
    """The version in an iteration's name or number, else its place in the list."""
    digits = str(iteration).removeprefix(_VERSION).removeprefix("iteration-")
    return int(digits) if digits.isdecimal() and len(digits) < 10 else number


def _scores(stated: Any) -> Plain | None:
    if not isinstance(stated, dict):
        return when(mean_of(stated, "rate"), lambda value: {"mean": value})
    names = {"mean": "mean", "stddev": "std_dev", "min": "min", "max": "max"}
    return {names[key]: value for key, value in stated.items() if key in names}


BENCHMARK = Form(Benchmark, _to_wire, _to_neutral, many=True)
