"""iterations-workspace: dialect `iterations`, one benchmark over two iterations."""

from __future__ import annotations

import csv
import io
import statistics
from string import Template

from .model import Check, Run, chance, usage
from .writing import (
    CONFIGURATIONS,
    Files,
    Json,
    as_json,
    document_files,
    feedback_file,
    metadata_file,
    moment,
    pass_rate,
    signed,
    stats,
    texts,
)

START = {1: "2026-03-16T15:00:00+00:00", 2: "2026-03-23T15:00:00+00:00"}
STRENGTH = {1: 0.6, 2: 1.0}
STATUS = {1: "complete", 2: "in_progress"}

TABLE = texts("iterations")


def files() -> Files:
    """Every file of the workspace."""
    made = {
        "evals.json": as_json(_suite()),
        "trigger-eval-set.json": as_json(TABLE["queries"]),
        "optimization_result.json": as_json(_optimization()),
        **{task["file"]: _table(task, frozenset(("valid_csv",))) for task in TABLE["evals"]},
    }
    stated: list[Json] = []
    for iteration, start in START.items():
        folder = f"iteration-{iteration}"
        runs = {
            (task["name"], configuration): _run(task, iteration, configuration)
            for task in TABLE["evals"]
            for configuration in CONFIGURATIONS
        }
        stated.append(_stated_iteration(iteration, runs))
        for task in TABLE["evals"]:
            below = f"{folder}/eval-{task['id']}"
            made |= metadata_file(below, task, task["id"], _assertions(task))
            for configuration in CONFIGURATIONS:
                documents = runs[task["name"], configuration]
                made |= document_files(f"{below}/{configuration}", documents)
        rows = [row for row in TABLE["feedback"] if row["iteration"] == iteration]
        made |= feedback_file(folder, rows, start, STATUS[iteration])
    made["benchmark.json"] = as_json({"skill_name": TABLE["skill"], "iterations": stated})
    return made


def _suite() -> Json:
    return {
        "skill_name": TABLE["skill"],
        "evals": [
            {
                "id": task["id"],
                "prompt": task["prompt"],
                "expected_output": task["expected_output"],
                "files": [task["file"]],
                "assertions": _assertions(task),
            }
            for task in TABLE["evals"]
        ],
    }


def _assertions(task: Json) -> list[Json]:
    return [
        {
            "name": row["name"],
            "description": Template(row["description"]).substitute(_names(task)),
            "type": row["type"],
        }
        for row in TABLE["assertions"]
    ]


# ---- a run: what becomes of the table ----


def _names(task: Json) -> dict[str, str]:
    local = task["rows"][0][1]
    return {"rows": str(len(task["rows"])), "local": local, "iso": _iso(local)}


def _iso(day: str) -> str:
    return "-".join(reversed(day.split(".")))


def _run(task: Json, iteration: int, configuration: str) -> Json:
    skill = STRENGTH[iteration] if configuration == "with_skill" else 0.0
    run = Run("csv", task["name"], iteration, configuration, 1, skill)
    checks = {
        row["name"]: Check(
            row["description"], row["passed"], row["failed"], row["ease"], row["gain"]
        )
        for row in TABLE["assertions"]
    }
    passed = frozenset(name for name, check in checks.items() if check.passes(run))
    clean = _table(task, passed)
    names = _names(task) | {"found": str(len(clean.splitlines()) - 1)}
    return {
        "outputs/clean.csv": clean,
        "grading.json": {
            "expectations": [
                check.verdict(name in passed, names, "clean.csv", clean)
                for name, check in checks.items()
            ]
        },
        "timing.json": usage(run).timing,
    }


def _table(task: Json, passed: frozenset[str]) -> str:
    """The table, clean in the ways named in `passed`: the input file is only valid CSV."""
    rows = list(task["rows"])
    if "duplicates_gone" not in passed:
        rows.insert(1, rows[0])
    if "iso_days" in passed:
        rows = [[name, _iso(day), value] for name, day, value in rows]
    if "valid_csv" not in passed:
        lines = [task["header"], *(",".join(map(str, row)) for row in rows)]
        return "\n".join(lines) + "\n"
    text = io.StringIO()
    text.write(f"{task['header']}\n")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


# ---- the benchmark ----


def _stated_iteration(iteration: int, runs: dict[tuple[str, str], Json]) -> Json:
    means = {
        configuration: _means([one for (_, side), one in runs.items() if side == configuration])
        for configuration in CONFIGURATIONS
    }
    return {
        "iteration": iteration,
        "timestamp": moment(START[iteration], 7200),
        "configurations": [
            {
                "name": configuration,
                "tests": [
                    _stated_test(task, runs[task["name"], configuration]) for task in TABLE["evals"]
                ],
                "overall": {
                    "pass_rate": round(mean["pass_rate"], 4),
                    "avg_tokens": round(mean["tokens"]),
                    "avg_duration_seconds": round(mean["seconds"], 1),
                },
            }
            for configuration, mean in means.items()
        ],
        "deltas": _deltas(*means.values()),
    }


def _stated_test(task: Json, documents: Json) -> Json:
    verdicts = documents["grading.json"]["expectations"]
    return {
        "eval_id": task["id"],
        "eval_name": task["name"],
        "assertions": [
            {
                "name": row["name"],
                "pass_rate": float(verdict["passed"]),
                "details": f"passed {int(verdict['passed'])}/1 runs",
            }
            for row, verdict in zip(TABLE["assertions"], verdicts, strict=True)
        ],
        "tokens": stats([documents["timing.json"]["total_tokens"]]),
        "duration_seconds": stats([documents["timing.json"]["total_duration_seconds"]]),
    }


def _means(runs: list[Json]) -> dict[str, float]:
    timings = [run["timing.json"] for run in runs]
    return {
        "pass_rate": statistics.fmean(pass_rate(run["grading.json"]) for run in runs),
        "tokens": statistics.fmean(timing["total_tokens"] for timing in timings),
        "seconds": statistics.fmean(timing["total_duration_seconds"] for timing in timings),
    }


def _deltas(with_skill: dict[str, float], without: dict[str, float]) -> Json:
    """What is printed of the differences; shares are of the figure without the skill."""
    difference = {name: with_skill[name] - without[name] for name in with_skill}
    share = {name: abs(difference[name]) / without[name] for name in ("tokens", "seconds")}
    more = _word(difference["tokens"], "more", "fewer")
    slower = _word(difference["seconds"], "slower", "faster")
    return {
        "pass_rate_improvement": signed(difference["pass_rate"], 2),
        "token_difference": f"{signed(difference['tokens'], 0)} ({share['tokens']:.1%} {more})",
        "duration_difference": (
            f"{signed(difference['seconds'], 1)}s ({share['seconds']:.1%} {slower})"
        ),
    }


def _word(difference: float, above: str, below: str) -> str:
    return above if difference > 0 else below


# ---- the search for a description ----


def _optimization() -> Json:
    """Three descriptions, each tried on every query once; every third query is held out."""
    steps = [
        {
            "iteration": number,
            "description": row["description"],
            "train_score": _score(number, row, held_out=False),
            "test_score": _score(number, row, held_out=True),
        }
        for number, row in enumerate(TABLE["descriptions"], 1)
    ]
    best = max(steps, key=lambda step: step["test_score"])
    return {
        "best_description": best["description"],
        "best_score": best["test_score"],
        "iterations": steps,
    }


def _score(number: int, row: Json, *, held_out: bool) -> float:
    right = [
        chance("csv", "description", number, query["query"]).random() < row["knows"]
        for place, query in enumerate(TABLE["queries"], 1)
        if (place % 3 == 0) == held_out
    ]
    return round(statistics.fmean(right), 4)
