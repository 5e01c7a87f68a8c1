"""Which dialect a file is in, where it is in none of them quite."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.documents.dialects import read, recognise

EVAL = {"id": 1, "prompt": "p", "expected_output": "o", "files": []}
RUN = {"eval_id": 1, "configuration": "with_skill", "run_number": 1}


@pytest.mark.parametrize(
    ("kind", "raw", "dialect"),
    [
        ("evals", {"skill_name": "s", "evals": [{**EVAL, "expectations": ["x"]}]}, "skill-creator"),
        ("evals", {"skill_name": "s", "evals": [{**EVAL, "assertions": ["x"]}]}, "skill-creator"),
        ("evals", {"skill_name": "s", "evals": [EVAL]}, "codingbuddy"),
        (
            "evals",
            {"skill_name": "s", "evals": [{**EVAL, "id": 0, "assertions": []}]},
            "iterations",
        ),
        ("evals", {"skill_name": "s", "test_cases": [{"id": "a", "prompt": "p"}]}, "test-cases"),
        ("evals", [EVAL], "skill-creator"),
        ("grading", {"expectations": [], "rubric_scores": {}}, "skill-evaluator"),
        ("grading", {"expectations": [], "summary": {}}, "skill-creator"),
        ("benchmark", {"metadata": {}, "runs": [{**RUN, "result": {}}]}, "skill-creator"),
        ("benchmark", {"metadata": {}, "runs": [{**RUN, "pass_rate": 1.0}]}, "skill-creator"),
        ("benchmark", {"metadata": {}, "runs": [], "summary": {}}, "wild"),
        ("timing", {}, "iterations"),
    ],
)
def test_the_nearest(kind: str, raw: Any, dialect: str) -> None:
    assert recognise(kind, raw) == dialect


def test_flat_runs_are_read_and_it_is_said() -> None:
    raw = {"metadata": {"skill_name": "s"}, "runs": [{**RUN, "pass_rate": 1.0}]}
    [benchmark], faults = read("benchmark", raw)
    assert benchmark.runs[0].result.pass_rate == 1.0
    assert [(fault.code, fault.where) for fault in faults] == [("inline", "$.runs[0].pass_rate")]
