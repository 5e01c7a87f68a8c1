"""A workspace in the dialect `codingbuddy` in which everything holds, for tests to break."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.corpus.build import lay

SIDES = ("with_skill", "without_skill")
PROMPTS = ("Add a column", "Rename a column")


def codingbuddy(n_iterations: int = 1, skill: str = "sql-migration") -> dict[str, Any]:
    """Its files: two evals, counted from 1 in the suite and from 0 in folders."""
    files: dict[str, Any] = {
        "evals.json": {
            "skill_name": skill,
            "evals": [
                {"id": n, "prompt": prompt, "expected_output": "good", "files": []}
                for n, prompt in enumerate(PROMPTS, 1)
            ],
        },
        "trigger_eval.json": [{"query": "migrate", "should_trigger": True}],
    }
    for iteration in range(1, n_iterations + 1):
        files |= {
            f"iteration-{iteration}/{name}": one for name, one in _iteration(iteration, skill)
        }
    return files


def _iteration(number: int, skill: str) -> list[tuple[str, Any]]:
    figures = {"pass_rate": 0.5, "tokens": 100, "duration": 2.5}
    spread = {"mean": 1.0, "stddev": 0.0}
    files: list[tuple[str, Any]] = [
        (
            "benchmark.json",
            {
                "skill_name": skill,
                "iteration": number,
                "summary": {"pass_rate": spread, "tokens": spread, "duration_seconds": spread},
                "eval_results": [
                    {"eval_id": n, "with_skill": figures, "baseline": figures}
                    for n in range(len(PROMPTS))
                ],
            },
        ),
        (
            "feedback.json",
            {
                "reviews": [
                    {
                        "run_id": f"eval-{n}-{side}",
                        "feedback": f"eval {n}",
                        "timestamp": "2026-03-21T14:30:00Z",
                    }
                    for n in range(len(PROMPTS))
                    for side in SIDES
                ],
                "status": "complete",
            },
        ),
    ]
    for n, prompt in enumerate(PROMPTS):
        for side in SIDES:
            metadata = {
                "eval_id": n,
                "eval_name": f"Eval {prompt}",
                "prompt": prompt,
                "assertions": [
                    {"name": "a", "description": "one"},
                    {"name": "b", "description": "two"},
                ],
            }
            grading = {
                "expectations": [
                    {"text": "one", "passed": True, "evidence": "x"},
                    {"text": "two", "passed": False, "evidence": "y"},
                ]
            }
            timing = {"total_tokens": 100, "duration_ms": 2500, "total_duration_seconds": 2.5}
            files += [
                (f"eval-{n}/{side}/eval_metadata.json", metadata),
                (f"eval-{n}/{side}/grading.json", grading),
                (f"eval-{n}/{side}/timing.json", timing),
                (f"eval-{n}/{side}/outputs/answer.sql", f"-- {n} {side}"),
            ]
    return files


def laid(root: Path, files: dict[str, Any], changes: dict[str, Any] | None = None) -> Path:
    """Write the files, some of them changed; None leaves one out."""
    changed = files | (changes or {})
    return lay(root, {name: one for name, one in changed.items() if one is not None})


def copy(value: Any) -> Any:
    """A deep copy, to be changed."""
    return json.loads(json.dumps(value))
