"""benchmark.json in the form of `skill-creator`, which `skill-evaluator` extends.

A run is a dict of its keys (`RUN_KEYS`) and its `documents` by path.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .writing import EXECUTOR, JUDGE, Json, signed, stats

RUN_KEYS = ("eval_id", "eval_name", "configuration", "run_number")
DIGITS = {
    "pass_rate": (4, 2),
    "rubric_normalized": (4, 2),
    "overall_efficiency": (4, 2),
    "time_seconds": (2, 1),
    "tokens": (1, 0),
}
"""Digits of a figure, and of a printed difference of it."""

Columns = dict[str, list[float]]
"""A figure's values over the runs of one configuration that have it."""


def graded(run: Json) -> Json:
    """What a run's pass rate is counted from: its grading, or after a failed gate its checks."""
    documents = run["documents"]
    return documents.get("grading.json") or documents["structural.json"]


def metadata(skill: str, runs: Sequence[Json], timestamp: str) -> Json:
    """What the benchmark is of."""
    return {
        "skill_name": skill,
        "skill_path": f"skills/{skill}",
        "executor_model": EXECUTOR,
        "analyzer_model": JUDGE,
        "timestamp": timestamp,
        "evals_run": sorted({run["eval_id"] for run in runs}),
        "runs_per_configuration": max(run["run_number"] for run in runs),
    }


def stated_run(run: Json, notes: list[str]) -> Json:
    """A run as the benchmark states it."""
    grading = graded(run)
    timing = run["documents"]["timing.json"]
    metrics = run["documents"]["outputs/metrics.json"]
    return {
        **{key: run[key] for key in RUN_KEYS},
        "result": {
            **{key: grading["summary"][key] for key in ("pass_rate", "passed", "failed", "total")},
            "time_seconds": timing["total_duration_seconds"],
            "tokens": timing["total_tokens"],
            "tool_calls": metrics["total_tool_calls"],
            "errors": metrics["errors_encountered"],
        },
        "expectations": [
            {key: one[key] for key in ("text", "passed", "evidence")}
            for one in grading["expectations"]
        ],
        "notes": notes,
    }


def summary_of(columns: Columns) -> Json:
    """The figures of one configuration."""
    return {name: stats(columns[name], DIGITS[name][0]) for name in DIGITS if name in columns}


def delta(with_skill: Columns, without: Columns) -> Json:
    """Each mean with the skill minus the mean without, printed."""
    return {
        name: signed(statistics.fmean(with_skill[name]) - statistics.fmean(without[name]), digits)
        for name, (_, digits) in DIGITS.items()
        if name in with_skill
    }
