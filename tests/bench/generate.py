"""Generated workspaces of many runs, in the `skill-evaluator` dialect: the same bytes every time.

Every run has four JSON files, about 6.3 KB together. They hold documented fields only, agree
with one another, and no two texts of evidence are the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from .phrases import CHECKS, DIMENSIONS, EVALS, FINDINGS, MISSES, NOTES, REASONS, STRUCTURAL

CACHE = Path(__file__).parents[2] / "build" / "bench"
CONFIGURATIONS = ("with_skill", "without_skill")
RUNS = 10
"""Runs of an eval under a configuration."""

_BEGIN = datetime(2026, 1, 15, 10, 30)
_TOOLS = ("Read", "Write", "Bash", "Edit", "Glob", "Grep")


def workspace(runs: int, cache: Path = CACHE) -> Path:
    """The folder of a generated workspace with so many runs; it is made once and kept.

    Its name tells which generator made it, so a changed one makes another.
    """
    folder = cache / f"{runs}-runs-{_digest()}"
    if not folder.exists():
        for old in cache.glob(f"{runs}-runs-*"):
            shutil.rmtree(old)
        unfinished = cache / f"{runs}-runs-unfinished"
        write(unfinished, runs)
        unfinished.rename(folder)
    return folder


def _digest() -> str:
    sources = (Path(__file__), Path(__file__).with_name("phrases.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:8]


def write(folder: Path, runs: int) -> None:
    """Write a workspace of `runs` runs, a multiple of 20: an eval has ten on either side."""
    iterations, evals = shape(runs)
    _save(f"{folder}/evals.json", _suite(evals))
    number = 0
    for iteration in range(1, iterations + 1):
        for eval_id in range(1, evals + 1):
            above = f"{folder}/iteration-{iteration}/eval-{eval_id}-{_name(eval_id)}"
            _save(f"{above}/eval_metadata.json", _metadata(eval_id))
            for configuration in CONFIGURATIONS:
                ease = _ease(iteration, eval_id, configuration)
                for run in range(1, RUNS + 1):
                    for file, document in _run(number, eval_id, ease):
                        _save(f"{above}/{configuration}/run-{run}/{file}", document)
                    number += 1


def shape(runs: int) -> tuple[int, int]:
    """How many iterations of how many evals: the more runs, the more of both."""
    pairs, rest = divmod(runs, len(CONFIGURATIONS) * RUNS)
    if rest or not pairs:
        raise ValueError(f"runs must be a multiple of {len(CONFIGURATIONS) * RUNS}, not {runs}")
    iterations = max(n for n in range(1, 21) if pairs % n == 0 and n * n <= pairs)
    return iterations, pairs // iterations


def _save(path: str, document: dict[str, Any]) -> None:
    data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    try:
        file = open(path, "xb", buffering=0)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path))
        file = open(path, "xb", buffering=0)
    with file:
        file.write(data)


def _ease(iteration: int, eval_id: int, configuration: str) -> float:
    """The chance that a check passes: evals differ, the skill helps, and ever more so."""
    helped = 0.15 + 0.01 * iteration if configuration == "with_skill" else 0.0
    return 0.4 + 0.25 * (eval_id * 37 % 100) / 100 + helped


def _name(eval_id: int) -> str:
    return EVALS[eval_id % len(EVALS)][0]


def _prompt(eval_id: int) -> str:
    return f"{EVALS[eval_id % len(EVALS)][1]} The data are in data/warehouse-{eval_id}.csv."


def _checks(eval_id: int) -> list[str]:
    return [CHECKS[(eval_id + index) % len(CHECKS)] for index in range(8)]


def _suite(evals: int) -> dict[str, Any]:
    """evals.json"""
    return {
        "skill_name": "warehouse-reports",
        "eval_config": {
            "runs_per_eval": RUNS,
            "structural_gate": True,
            "judge_model": "a-careful-judge",
            "baseline_comparison": True,
        },
        "evals": [
            {
                "id": eval_id,
                "name": _name(eval_id),
                "prompt": _prompt(eval_id),
                "expected_output": "A report on which a manager can act without asking back.",
                "files": [f"data/warehouse-{eval_id}.csv"],
                "expectations": _checks(eval_id),
                "structural_expectations": [
                    {"id": f"S{index}", "critical": index < 3, **check}
                    for index, (check, _) in enumerate(STRUCTURAL, 1)
                ],
                "quality_rubric": {
                    "dimensions": [
                        {"id": f"Q{index}", **dimension}
                        for index, dimension in enumerate(DIMENSIONS, 1)
                    ]
                },
            }
            for eval_id in range(1, evals + 1)
        ],
    }


def _metadata(eval_id: int) -> dict[str, Any]:
    """eval_metadata.json"""
    return {
        "eval_id": eval_id,
        "eval_name": _name(eval_id),
        "prompt": _prompt(eval_id),
        "assertions": _checks(eval_id),
    }


def _run(number: int, eval_id: int, ease: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """The files of a run and what they say; `number` makes it unlike every other."""
    random = Random(number)
    places = _places(number, random)
    metrics = _metrics(number, random)
    timing = _timing(number, random)
    yield "outputs/metrics.json", metrics
    yield "timing.json", timing
    yield "structural.json", _structural(random, ease, places)
    yield "grading.json", _grading(random, ease, eval_id, places, metrics, timing)


def _places(number: int, random: Random) -> Iterator[str]:
    """Places that evidence can point at; none comes twice in a workspace."""
    line = 0
    while True:
        line += random.randint(1, 40)
        yield f"outputs/report-{number:05}.md, line {line}"


def _metrics(number: int, random: Random) -> dict[str, Any]:
    calls = {tool: random.randint(1, 9) for tool in _TOOLS}
    return {
        "tool_calls": calls,
        "total_tool_calls": sum(calls.values()),
        "total_steps": random.randint(4, 20),
        "files_created": [f"report-{number:05}.md", "hall-1.csv", "hall-2.csv"],
        "errors_encountered": random.randint(0, 2),
        "output_chars": random.randint(2_000, 20_000),
        "transcript_chars": random.randint(10_000, 90_000),
    }


def _timing(number: int, random: Random) -> dict[str, Any]:
    executor, grader = random.randint(20, 240), random.randint(10, 60)
    begin = _BEGIN + timedelta(minutes=6 * number)
    between = begin + timedelta(seconds=executor)
    return {
        "total_tokens": random.randint(9_000, 120_000),
        "duration_ms": (executor + grader) * 1000,
        "total_duration_seconds": float(executor + grader),
        "executor_start": f"{begin.isoformat()}Z",
        "executor_end": f"{between.isoformat()}Z",
        "executor_duration_seconds": float(executor),
        "grader_start": f"{between.isoformat()}Z",
        "grader_end": f"{(between + timedelta(seconds=grader)).isoformat()}Z",
        "grader_duration_seconds": float(grader),
    }


def _structural(random: Random, ease: float, places: Iterator[str]) -> dict[str, Any]:
    verdicts = [
        {
            "id": f"S{index}",
            "text": check["description"],
            "type": check["type"],
            "passed": index < 3 or random.random() < ease + 0.2,
            "evidence": f"{looked}: {next(places)}",
            "critical": index < 3,
        }
        for index, (check, looked) in enumerate(STRUCTURAL, 1)
    ]
    return {"expectations": verdicts, "summary": _summary(verdicts), "gate_passed": True}


def _summary(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    passed = sum(verdict["passed"] for verdict in verdicts)
    return {
        "passed": passed,
        "failed": len(verdicts) - passed,
        "total": len(verdicts),
        "pass_rate": passed / len(verdicts),
    }


def _grading(
    random: Random,
    ease: float,
    eval_id: int,
    places: Iterator[str],
    metrics: dict[str, Any],
    timing: dict[str, Any],
) -> dict[str, Any]:
    verdicts = [_verdict(check, random, ease, places) for check in _checks(eval_id)]
    scores = {one["name"]: _score(random, ease, places) for one in DIMENSIONS}
    total = sum(one["weight"] for one in DIMENSIONS)
    mean = sum(one["weight"] * scores[one["name"]]["score"] for one in DIMENSIONS) / total
    return {
        "expectations": verdicts,
        "summary": _summary(verdicts),
        "rubric_scores": scores,
        "rubric_summary": {"weighted_mean": mean, "max_possible": 5.0, "normalized": mean / 5},
        "execution_metrics": {name: metrics[name] for name in metrics if name != "files_created"},
        "timing": {name: timing[name] for name in timing if name.endswith("_seconds")},
        "claims": [
            {
                "claim": f"The report names {random.randint(2, 400)} items below their minimum",
                "type": "factual",
                "verified": random.random() < ease,
                "evidence": f"Counted the rows of the table at {next(places)}",
            },
            {
                "claim": f"All {random.randint(2, 90)} suppliers were looked at",
                "type": "process",
                "verified": random.random() < ease,
                "evidence": f"The transcript opens the file, but {next(places)} leaves some out",
            },
        ],
        "user_notes_summary": {
            "uncertainties": [random.choice(NOTES).format(next(places))],
            "needs_review": [],
            "workarounds": [],
        },
        "eval_feedback": {
            "suggestions": [
                {
                    "assertion": random.choice(verdicts)["text"],
                    "reason": f"Wrong numbers would pass as well; compare {next(places)}",
                }
            ],
            "overall": "The expectations see that a section is there, not whether what it says is right.",
        },
    }


def _verdict(check: str, random: Random, ease: float, places: Iterator[str]) -> dict[str, Any]:
    passed = random.random() < ease
    words = random.choice(FINDINGS if passed else MISSES)
    evidence = words.format(next(places), random.randint(2, 999))
    return {"text": check, "passed": passed, "evidence": evidence}


def _score(random: Random, ease: float, places: Iterator[str]) -> dict[str, Any]:
    score = min(5, max(1, round(random.gauss(1 + 4 * ease, 0.8))))
    return {"score": score, "evidence": REASONS[score - 1].format(next(places))}
