"""Which document a file is, and in which dialect: by what is in it, then by its name."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.documents.dialects import kind_of

VERDICT = {"text": "It runs", "passed": True}
QUERY = {"query": "add up", "should_trigger": True}
MET = {"text": "It runs", "met": True}
SIDES = ("with_skill", "old_skill")
OF_A_SIDE = {"id": "a", "config": "with_skill"}
SUITE = {"evals": [{"id": 1, "prompt": "Add up"}]}


@pytest.mark.parametrize(
    ("name", "raw", "kind"),
    [
        ("grading_with_skill.json", {"expectations": [VERDICT]}, "grading"),
        ("eval-3-grading.json", {"assertions": [{"name": "x", "met": "no"}]}, "grading"),
        ("with_skill_a_run1.json", {"assertions_met": [], "assertions_missed": []}, "grading"),
        ("grading.json", {"grades": []}, "grading"),  # its name is all that there is
        ("comparison-2.json", {"winner": "A", "reasoning": "r"}, "comparison"),
        ("trigger_eval.json", [QUERY], "triggers"),
        ("trigger-eval-set.json", [QUERY], "triggers"),
        ("trigger_evals.json", [{"id": 1, "query": "q", "expected": "other-skill"}], "triggers"),
        ("eval_queries.json", [QUERY], "triggers"),
        ("evals.json", [QUERY], "triggers"),
        ("lifecycle-v1.json", {"query_results": [QUERY]}, "triggers"),
        ("evals.json", SUITE, "evals"),
        ("evals.json", SUITE["evals"], "evals"),
        ("evals_with_assertions.json", {"cases": [{"task": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"test_cases": [{"id": "a", "prompt": "Add up"}]}, "evals"),
        ("eval_metadata.json", {"eval_id": 0, "prompt": "Add up"}, "eval_metadata"),
        (
            "eval_metadata.json",
            {"eval_id": 0, "prompt": "Add up", "assertions": [{"text": "x", "passed": None}]},
            "eval_metadata",
        ),
        ("assertions.json", {"case_id": "a", "assertions": [{"text": "x"}]}, "eval_metadata"),
        ("metrics.json", {"eval_id": 1, "prompt": "p", "outcome": "fine"}, "metrics"),
        ("timing.json", {"phases": {}}, "timing"),
        ("timing.json", [1], "timing"),
        ("result.json", {"best_description": "d", "iterations": []}, "optimization"),
        ("benchmark.json", {"runs": []}, "benchmark"),
        ("benchmark-summary.json", {"models": [{"with_skill_pass_rate": 1}]}, "benchmark"),
        ("summary.json", {"results": [{"with_skill": {}, "old_skill": {}}]}, "benchmark"),
        ("timing.json", {"eval-1": {"with_skill": {"tokens": 5, "ms": 100}}}, "benchmark"),
        ("timing.json", {"with_skill": {"eval-1": {"tokens": 5, "ms": 100}}}, "benchmark"),
        # Rows that name eval and configuration are runs, and others make no benchmark.
        ("eval_summary.json", {"test_cases": [{**OF_A_SIDE, "assertions": [MET]}]}, "benchmark"),
        ("grading-results.json", {"results": [{**OF_A_SIDE, "grades": [MET]}]}, "benchmark"),
        ("other.json", {"results": [{"name": "it adds", "status": "pass"}]}, "grading"),
        ("other.json", {"tests": [{"condition": "it is there", "passed": True}]}, None),
        ("other.json", {"gpt-5": {side: {"pass_rate": 1} for side in SIDES}}, None),
        ("benchmark-notes.json", {"what": "text"}, None),
        ("package.json", {"name": "x", "version": "1"}, None),
        ("results_raw.json", [{"id": 1, "top": "x"}], None),
        ("grading.json", "it went well", None),
        ("list.json", [], None),
    ],
)
def test_kind_of(name: str, raw: Any, kind: str | None) -> None:
    assert kind_of(name, raw) == kind
    assert kind_of(f"C:\\some where\\{name}", raw) == kind
