"""Where each dialect keeps its documents, and how it numbers evals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """The layout of a dialect: the path of each kind of document below the workspace.

    Paths are templates over `iteration`, `eval` (the eval's folder), `id` (its id as a file's
    name), `configuration`, `run`, `pass` (the runs of one number over all evals), `where` (the
    iteration, or the eval in it), `file` (the name that a file had) and `named` (the same,
    beginning with its kind). A kind that the dialect does not describe may have a path: it is
    written as it was read.

    Attributes:
        paths: kind of document to path.
        eval_folder: the name of an eval's folder, over `id` and `slug`.
        outputs: the folder that a run's outputs lie in; None where there is no place for them.
        sides: the configurations that the dialect knows, where it knows only these.
        runs: whether a side of an eval may have more than one run.
        counted: whether evals are numbers, from 1 in the suite and from 0 in folders.
        states: kinds that say in themselves what other dialects say by folders: of which
            iteration a benchmark is, of which eval and run a grading.
    """

    paths: dict[str, str]
    eval_folder: str = "eval-{id}-{slug}"
    outputs: str | None = None
    sides: tuple[str, ...] | None = None
    runs: bool = True
    counted: bool = False
    states: frozenset[str] = frozenset()


_RUN = "{iteration}/{eval}/{configuration}/run-{run}"
_SIDE = "{iteration}/{eval}/{configuration}"

_SKILL_CREATOR = {
    "evals": "evals/evals.json",
    "eval_metadata": "{iteration}/{eval}/eval_metadata.json",
    "grading": f"{_RUN}/grading.json",
    "timing": f"{_RUN}/timing.json",
    "metrics": f"{_RUN}/outputs/metrics.json",
    "benchmark": "{iteration}/benchmark.json",
    "feedback": "{iteration}/feedback.json",
    "comparison": "{where}/{named}.json",
    "analysis": "{where}/{named}.json",
    "history": "history.json",
    "triggers": "trigger-eval-set.json",
    "optimization": "optimization_result.json",
}
_SKILL_EVALUATOR = {
    **_SKILL_CREATOR,
    "structural": f"{_RUN}/structural.json",
    "judging": f"{_RUN}/judgings/{{file}}.json",
    "suggestions": "{iteration}/eval_feedback_aggregate.json",
}
_ITERATIONS = {
    "evals": "evals.json",
    "eval_metadata": "{iteration}/{eval}/eval_metadata.json",
    "grading": f"{_RUN}/grading.json",
    "timing": f"{_RUN}/timing.json",
    "benchmark": "benchmark.json",
    "feedback": "{iteration}/feedback.json",
    "triggers": "trigger-eval-set.json",
    "optimization": "optimization_result.json",
}
_CODINGBUDDY = {
    "evals": "evals.json",
    "triggers": "trigger_eval.json",
    "eval_metadata": f"{_SIDE}/eval_metadata.json",
    "grading": f"{_SIDE}/grading.json",
    "timing": f"{_SIDE}/timing.json",
    "benchmark": "{iteration}/benchmark.json",
    "feedback": "{iteration}/feedback.json",
}
_TEST_CASES = {
    "evals": "eval/eval_metadata.json",
    "grading": "eval/runs/{pass}/grading/{id}.json",
    "benchmark": "eval/benchmark.json",
    "comparison": "eval/comparisons/{file}.json",
}

HOMES: dict[str, Home] = {
    "skill-creator": Home(_SKILL_CREATOR, outputs=_RUN),
    "skill-evaluator": Home(_SKILL_EVALUATOR, outputs=_RUN),
    "iterations": Home(_ITERATIONS, outputs=_RUN, states=frozenset(("benchmark",))),
    "codingbuddy": Home(
        _CODINGBUDDY,
        eval_folder="eval-{id}",
        outputs=_SIDE,
        sides=("with_skill", "without_skill"),
        runs=False,
        counted=True,
        states=frozenset(("benchmark",)),
    ),
    "test-cases": Home(
        _TEST_CASES, sides=("with_skill",), states=frozenset(("benchmark", "grading"))
    ),
}
"""The layouts by dialect."""
