"""Every document of every dialect with all its fields: the bundled ones, which their script wrote
after the dialects' own pages, and what none of them has."""

from __future__ import annotations

import json
from typing import Any

from tests.checkout import ROOT

RUN = "iteration-1/eval-1-weekly-sync/with_skill/run-1"
OTHER = "iteration-1/eval-1-weekly-sync/without_skill/run-1"
TDD = "iteration-1/eval-1-lend-a-book/with_skill"
PLAIN = "iteration-1/eval-0/with_skill"

FILES = {
    "skill-creator": {
        "evals": "evals.json",
        "history": "history.json",
        "grading": f"{OTHER}/grading.json",
        "metrics": f"{RUN}/outputs/metrics.json",
        "timing": f"{RUN}/timing.json",
        "benchmark": "iteration-1/benchmark.json",
        "comparison": "iteration-1/eval-2-board-call/comparison-1.json",
        "analysis": "iteration-1/eval-2-board-call/analysis.json",
    },
    "skill-evaluator": {
        "evals": "evals.json",
        "structural": f"{TDD}/run-1/structural.json",
        "grading": f"{TDD}/run-2/grading.json",
        "benchmark": "iteration-1/benchmark.json",
        "suggestions": "iteration-1/eval_feedback_aggregate.json",
    },
    "test-cases": {
        "evals": "eval/eval_metadata.json",
        "grading": "eval/runs/run-1/grading/bigger-tin.json",
        "benchmark": "eval/benchmark.json",
        "comparison": "eval/comparisons/v1-v2-three-from-four.json",
    },
    "codingbuddy": {
        "evals": "evals.json",
        "eval_metadata": f"{PLAIN}/eval_metadata.json",
        "grading": f"{PLAIN}/grading.json",
        "timing": f"{PLAIN}/timing.json",
        "feedback": "iteration-1/feedback.json",
        "benchmark": "iteration-1/benchmark.json",
        "triggers": "trigger_eval.json",
    },
    "iterations": {
        "evals": "evals.json",
        "eval_metadata": "iteration-1/eval-0/eval_metadata.json",
        "grading": f"{PLAIN}/grading.json",
        "timing": f"{PLAIN}/timing.json",
        "benchmark": "benchmark.json",
        "feedback": "iteration-1/feedback.json",
        "triggers": "trigger-eval-set.json",
        "optimization": "optimization_result.json",
    },
}


def _read(dialect: str, name: str) -> Any:
    folder = "tdd" if dialect == "skill-evaluator" else dialect
    return json.loads((ROOT / "data" / f"{folder}-workspace" / name).read_text("utf-8"))


EXAMPLES: dict[str, dict[str, Any]] = {
    dialect: {kind: _read(dialect, name) for kind, name in files.items()}
    for dialect, files in FILES.items()
}
"""Dialect to kind to document."""


for _half in EXAMPLES["skill-creator"]["comparison"]["expectation_results"].values():
    _half["details"] = [one | {"evidence": "Last line"} for one in _half["details"]]
EXAMPLES["skill-evaluator"]["evals"]["evals"][0]["structural_expectations"] += [
    {"id": "S8", "type": "file_contains", "pattern": "*.md", "match": "Total"},
    {"id": "S9", "type": "file_count", "pattern": "*.md", "count": 1, "operator": "=="},
    {"id": "S10", "type": "tool_called", "tool": "Bash"},
    {"id": "S11", "type": "tools_in_order", "tools": ["Read", "Edit"]},
    {"id": "S12", "type": "skill_opened", "skill": "invoices"},
]
EXAMPLES["skill-evaluator"]["grading"] = (
    EXAMPLES["skill-creator"]["grading"] | EXAMPLES["skill-evaluator"]["grading"]
)
_first = EXAMPLES["iterations"]["benchmark"]["iterations"][0]["configurations"][0]["tests"][0]
for _stats in ("tokens", "duration_seconds"):
    _first[_stats]["stddev"] = 0.0
EXAMPLES["test-cases"]["grading"]["assertions"][0]["notes"] = "in euros"

ALL = [(dialect, kind, raw) for dialect, kinds in EXAMPLES.items() for kind, raw in kinds.items()]
"""The same as one list, for parametrised tests."""
