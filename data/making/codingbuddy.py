"""codingbuddy-workspace: dialect `codingbuddy`, ids from 1 in the suite and from 0 in folders."""

from __future__ import annotations

import statistics

from .model import Check, Run, usage
from .writing import (
    CONFIGURATIONS,
    Files,
    Json,
    as_json,
    document_files,
    feedback_file,
    input_files,
    metadata_file,
    pass_rate,
    texts,
)

START = {1: "2026-03-02T08:00:00+00:00", 2: "2026-03-09T08:00:00+00:00"}
STRENGTH = {1: 0.5, 2: 1.0}
STATUS = {1: "complete", 2: "in_progress"}
FIGURES = ("pass_rate", "tokens", "duration")

TABLE = texts("codingbuddy")


def files() -> Files:
    """Every file of the workspace."""
    made = {
        "evals.json": as_json(_suite()),
        "trigger_eval.json": as_json(TABLE["queries"]),
        **input_files(TABLE["inputs"]),
    }
    for iteration, start in START.items():
        rows = [row for row in TABLE["feedback"] if row["iteration"] == iteration]
        folder = f"iteration-{iteration}"
        made |= _run_files(iteration, folder)
        made |= feedback_file(folder, rows, start, STATUS[iteration])
    return made


def _checks(task: Json) -> list[Json]:
    return [*TABLE["checks"], *task["checks"]]


def _suite() -> Json:
    return {
        "skill_name": TABLE["skill"],
        "evals": [
            {
                "id": number,
                "prompt": task["prompt"],
                "expected_output": task["expected_output"],
                "files": task.get("files", []),
            }
            for number, task in enumerate(TABLE["evals"], 1)
        ],
    }


def _run_files(iteration: int, folder: str) -> Files:
    made: Files = {}
    results: list[Json] = []
    for eval_id, task in enumerate(TABLE["evals"]):
        figures: dict[str, Json] = {}
        for configuration in CONFIGURATIONS:
            skill = STRENGTH[iteration] if configuration == "with_skill" else 0.0
            run = Run("migration", task["name"], iteration, configuration, 1, skill)
            documents = _documents(task, run)
            below = f"{folder}/eval-{eval_id}/{configuration}"
            made |= document_files(below, documents)
            made |= metadata_file(below, task, eval_id, _assertions(task))
            figures[configuration] = {
                "pass_rate": round(pass_rate(documents["grading.json"]), 4),
                "tokens": documents["timing.json"]["total_tokens"],
                "duration": documents["timing.json"]["total_duration_seconds"],
            }
        with_skill, baseline = figures.values()
        results.append({"eval_id": eval_id, "with_skill": with_skill, "baseline": baseline})
    benchmark = _benchmark(iteration, results)
    made[f"{folder}/benchmark.json"] = as_json(benchmark)
    made[f"{folder}/benchmark.md"] = _page(benchmark)
    return made


def _assertions(task: Json) -> list[Json]:
    return [{"name": row["name"], "description": row["text"]} for row in _checks(task)]


def _documents(task: Json, run: Run) -> Json:
    checks = [Check(**{key: row[key] for key in row if key != "name"}) for row in _checks(task)]
    checked = [(check, check.passes(run)) for check in checks]
    timeout, way_back, *steps = (check.piece(passed, task["names"]) for check, passed in checked)
    migration = "\n\n".join(part for part in (timeout, *steps, way_back) if part) + "\n"
    return {
        "outputs/migration.sql": migration,
        "grading.json": {
            "expectations": [
                check.verdict(passed, task["names"], "migration.sql", migration)
                for check, passed in checked
            ]
        },
        "timing.json": usage(run).timing,
    }


def _benchmark(iteration: int, results: list[Json]) -> Json:
    """The summary is over the runs with the skill, as the example of the dialect has it."""
    return {
        "skill_name": TABLE["skill"],
        "iteration": iteration,
        "summary": {
            stated: _mean_and_spread([one["with_skill"][figure] for one in results])
            for stated, figure in zip(
                ("pass_rate", "tokens", "duration_seconds"), FIGURES, strict=True
            )
        },
        "eval_results": results,
    }


def _mean_and_spread(values: list[float]) -> Json:
    return {
        "mean": round(statistics.fmean(values), 4),
        "stddev": round(statistics.stdev(values), 4),
    }


def _page(benchmark: Json) -> str:
    """benchmark.md: the same figures as a table."""
    lines = [
        f"# {benchmark['skill_name']}, iteration {benchmark['iteration']}",
        "",
        "Made-up data: no model produced these figures.",
        "",
        "| eval | pass rate with | without | tokens with | without | seconds with | without |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in benchmark["eval_results"]:
        cells = [
            f"{one[side][figure]:.2f}" if figure == "pass_rate" else f"{one[side][figure]:g}"
            for figure in FIGURES
            for side in ("with_skill", "baseline")
        ]
        lines.append(f"| eval-{one['eval_id']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
