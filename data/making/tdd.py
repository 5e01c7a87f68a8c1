"""tdd-workspace: dialect `skill-evaluator`, two iterations, with a few runs in trouble."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Run
from .tdd_benchmark import benchmark, mean_pass_rate, suggestion_aggregate
from .tdd_run import TABLE, documents, judged_checks, structural_rows, timed_out
from .writing import (
    CONFIGURATIONS,
    JUDGE,
    Files,
    Json,
    as_json,
    document_files,
    eval_folder,
    feedback_file,
    input_files,
    metadata_file,
    moment,
    run_folder,
)

RUNS = 3
START = {1: "2026-01-12T09:00:00+00:00", 2: "2026-01-26T09:00:00+00:00"}
STRENGTH = {1: 0.6, 2: 1.0}
"""Part of the skill's effect that its first and its second version have."""

JUDGED_AGAIN = (2,)
NO_BASELINE = (1, "import-members")
TIMED_OUT = (1, "waiting-list", "with_skill", 2)
NOT_OPENED = (1, "late-fee", "with_skill", 1)
GATED = (2, "reminder-mailer", "without_skill", 3)


def files() -> Files:
    """Every file of the workspace."""
    made = {"evals.json": as_json(_suite()), **input_files(TABLE["inputs"])}
    rates: list[float] = []
    for iteration in START:
        runs = list(_runs(iteration))
        made |= _iteration_files(iteration, runs)
        rates.append(mean_pass_rate(runs, "with_skill"))
    made["history.json"] = as_json(_history(rates))
    made |= feedback_file("iteration-2", TABLE["feedback"], START[2], "in_progress")
    return made


def _suite() -> Json:
    rubric = {"dimensions": [_stated(row) for row in TABLE["rubric"]]}
    return {
        "skill_name": TABLE["skill"],
        "eval_config": {
            "runs_per_eval": RUNS,
            "structural_gate": True,
            "judge_model": JUDGE,
            "baseline_comparison": True,
        },
        "evals": [
            {
                "id": task["id"],
                "name": task["name"],
                "prompt": task["prompt"],
                "expected_output": task["expected_output"],
                "files": task.get("files", []),
                "expectations": [check.text for check in judged_checks(task)],
                "structural_expectations": [_stated(row) for row in structural_rows(task)],
                "quality_rubric": rubric,
            }
            for task in TABLE["evals"]
        ],
    }


def _stated(row: Json) -> Json:
    """A row of the table as the suite states it: without what it is made by."""
    return {key: value for key, value in row.items() if key != "made"}


def _runs(iteration: int) -> Iterator[Json]:
    """The runs of an iteration, five minutes apart: their keys, and their documents by path."""
    keys = [
        (task, configuration, number)
        for task in TABLE["evals"]
        for configuration in CONFIGURATIONS
        for number in range(1, RUNS + 1)
        if configuration == "with_skill" or (iteration, task["name"]) != NO_BASELINE
    ]
    for place, (task, configuration, number) in enumerate(keys):
        start = moment(START[iteration], 300 * place)
        key = (iteration, task["name"], configuration, number)
        if key == TIMED_OUT:
            made = timed_out(start)
        else:
            helped = configuration == "with_skill" and key != NOT_OPENED
            skill = STRENGTH[iteration] if helped else 0.0
            run = Run("tdd", task["name"], iteration, configuration, number, skill)
            made = documents(
                task, run, start, gated=key == GATED, keep_judgings=iteration in JUDGED_AGAIN
            )
        yield {
            "eval_id": task["id"],
            "eval_name": task["name"],
            "configuration": configuration,
            "run_number": number,
            "documents": made,
        }


def _iteration_files(iteration: int, runs: list[Json]) -> Files:
    folder = f"iteration-{iteration}"
    day_after = moment(START[iteration], 86_400)
    made = {
        f"{folder}/benchmark.json": as_json(benchmark(runs, TABLE, day_after)),
        f"{folder}/eval_feedback_aggregate.json": as_json(
            suggestion_aggregate(iteration, runs, TABLE)
        ),
    }
    version = TABLE["versions"][iteration - 1]
    made[f"{folder}/skill-snapshot/with_skill/SKILL.md"] = version["text"]
    for task in TABLE["evals"]:
        texts = [check.text for check in judged_checks(task)]
        below = eval_folder(task["id"], task["name"])
        made |= metadata_file(f"{folder}/{below}", task, task["id"], texts)
    for run in runs:
        made |= document_files(f"{folder}/{run_folder(run)}", run["documents"])
    return made


def _history(rates: list[float]) -> Json:
    """One version an iteration, with the pass rate that it had."""
    first, second = rates
    return {
        "started_at": moment(START[1]),
        "skill_name": TABLE["skill"],
        "current_best": "v1" if second > first else "v0",
        "iterations": [
            {
                "version": "v0",
                "parent": None,
                "expectation_pass_rate": round(first, 4),
                "grading_result": "baseline",
                "is_current_best": second <= first,
            },
            {
                "version": "v1",
                "parent": "v0",
                "expectation_pass_rate": round(second, 4),
                "grading_result": "won" if second > first else "lost",
                "is_current_best": second > first,
            },
        ],
    }
