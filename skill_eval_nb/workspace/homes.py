"""Where each dialect keeps its documents, and how it numbers evals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """The layout of a dialect: the path of each kind of document below the workspace.

    Paths are templates over `iteration`, `eval` (the name of the eval's folder), `id`,
    `configuration`, `run` and `number` (of comparisons). `sides` are the configurations
    that the dialect knows, where it knows only these; `runs` is whether a side may have
    more than one run. Evals are numbered from `first_in_suite` and `first_in_folders`, or
    keep their ids where these are None.
    """

    paths: dict[str, str]
    eval_folder: str = "eval-{id}-{slug}"
    outputs: str | None = None
    sides: tuple[str, ...] | None = None
    runs: bool = True
    first_in_suite: int | None = None
    first_in_folders: int | None = None


_RUN = "{iteration}/{eval}/{configuration}/run-{run}"
_SKILL_CREATOR = {
    "evals": "evals/evals.json",
    "eval_metadata": "{iteration}/{eval}/eval_metadata.json",
    "grading": f"{_RUN}/grading.json",
    "structural": f"{_RUN}/structural.json",
    "timing": f"{_RUN}/timing.json",
    "metrics": f"{_RUN}/outputs/metrics.json",
    "judging": f"{_RUN}/judgings/{{number}}.json",
    "benchmark": "{iteration}/benchmark.json",
    "feedback": "{iteration}/feedback.json",
    "comparison": "{iteration}/comparison-{number}.json",
    "analysis": "{iteration}/analysis-{number}.json",
    "suggestions": "{iteration}/eval_feedback_aggregate.json",
    "history": "history.json",
    "triggers": "trigger-eval-set.json",
    "optimization": "optimization_result.json",
}
_SIDE = "{iteration}/{eval}/{configuration}"

HOMES: dict[str, Home] = {
    "skill-creator": Home(_SKILL_CREATOR, outputs=_RUN),
    "skill-evaluator": Home(_SKILL_CREATOR, outputs=_RUN),
    "iterations": Home(
        {**_SKILL_CREATOR, "evals": "evals.json", "benchmark": "benchmark.json"}, outputs=_RUN
    ),
    "codingbuddy": Home(
        {
            "evals": "evals.json",
            "triggers": "trigger_eval.json",
            "eval_metadata": f"{_SIDE}/eval_metadata.json",
            "grading": f"{_SIDE}/grading.json",
            "timing": f"{_SIDE}/timing.json",
            "benchmark": "{iteration}/benchmark.json",
            "feedback": "{iteration}/feedback.json",
        },
        eval_folder="eval-{id}",
        outputs=_SIDE,
        sides=("with_skill", "without_skill"),
        runs=False,
        first_in_suite=1,
        first_in_folders=0,
    ),
    "test-cases": Home(
        {
            "evals": "eval/eval_metadata.json",
            "grading": "eval/runs/{iteration}-run-{run}/grading/{id}.json",
            "benchmark": "eval/benchmark.json",
            "comparison": "eval/comparisons/comparison-{number}.json",
        },
        eval_folder="{id}",
        sides=("with_skill",),
    ),
}
"""The layouts by dialect."""
