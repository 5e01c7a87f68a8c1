"""Every document of every dialect with all its fields: what the dialects' own pages show,
written down as facts, in texts of our own."""

from __future__ import annotations

from typing import Any

EVALS_TEXTS = {
    "skill_name": "invoice-reader",
    "evals": [
        {
            "id": 1,
            "prompt": "Add up the invoices in this folder",
            "expected_output": "A table with a line for each invoice and a total",
            "files": ["evals/files/march.pdf"],
            "expectations": ["The total is 1,204.50", "Every invoice has a line"],
        }
    ],
}

VERDICTS = [
    {"text": "The total is 1,204.50", "passed": True, "evidence": "Last line of table.md"},
    {"text": "Every invoice has a line", "passed": False, "evidence": "Invoice 7 is not there"},
]
COUNTS = {"passed": 1, "failed": 1, "total": 2}
GRADING_BASE = {"expectations": VERDICTS, "summary": {**COUNTS, "pass_rate": 0.5}}

METRICS = {
    "tool_calls": {"Read": 4, "Bash": 1},
    "total_tool_calls": 5,
    "total_steps": 3,
    "errors_encountered": 0,
    "output_chars": 812,
    "transcript_chars": 5120,
}

GRADING_REST = {
    "execution_metrics": METRICS,
    "timing": {
        "executor_duration_seconds": 61.5,
        "grader_duration_seconds": 12.0,
        "total_duration_seconds": 73.5,
    },
    "claims": [
        {
            "claim": "There are eight invoices",
            "type": "factual",
            "verified": True,
            "evidence": "Eight files in the folder",
        }
    ],
    "user_notes_summary": {
        "uncertainties": ["Invoice 3 is hardly readable"],
        "needs_review": ["The currency of invoice 5"],
        "workarounds": ["Read invoice 3 by hand"],
    },
    "eval_feedback": {
        "suggestions": [
            {"assertion": "The total is 1,204.50", "reason": "A guessed total would pass"},
            {"reason": "Nothing checks the dates"},
        ],
        "overall": "The numbers are checked, their origin is not.",
    },
}

BENCHMARK_METADATA = {
    "skill_name": "invoice-reader",
    "skill_path": "skills/invoice-reader",
    "executor_model": "model-small",
    "analyzer_model": "model-large",
    "timestamp": "2026-02-03T08:00:00Z",
    "evals_run": [1, 2],
    "runs_per_configuration": 2,
}
BENCHMARK_RUN = {
    "eval_id": 1,
    "eval_name": "March",
    "configuration": "with_skill",
    "run_number": 1,
    "result": {
        "pass_rate": 0.5,
        **COUNTS,
        "time_seconds": 61.5,
        "tokens": 9120,
        "tool_calls": 5,
        "errors": 0,
    },
    "expectations": VERDICTS,
    "notes": ["Invoice 3 was read by hand"],
}
STATS = {"mean": 0.5, "stddev": 0.1, "min": 0.4, "max": 0.6}
COSTS = {
    "time_seconds": {"mean": 61.5, "stddev": 2.5, "min": 58.0, "max": 64.0},
    "tokens": {"mean": 9120.0, "stddev": 80.0, "min": 9000.0, "max": 9200.0},
}
DELTA = {"pass_rate": "+0.25", "time_seconds": "+12.5", "tokens": "+2100"}

SIDE = {
    "content": {"correctness": 5.0, "completeness": 4.0},
    "structure": {"organization": 4.0, "usability": 3.0},
    "content_score": 4.5,
    "structure_score": 3.5,
    "overall_score": 8.0,
}
HALF = {
    "passed": 1,
    "total": 2,
    "pass_rate": 0.5,
    "details": [{"text": "The total is 1,204.50", "passed": True, "evidence": "Last line"}],
}

SKILL_CREATOR: dict[str, Any] = {
    "evals": EVALS_TEXTS,
    "history": {
        "started_at": "2026-02-01T08:00:00Z",
        "skill_name": "invoice-reader",
        "current_best": "v1",
        "iterations": [
            {
                "version": "v1",
                "parent": "v0",
                "expectation_pass_rate": 0.75,
                "grading_result": "won",
                "is_current_best": True,
            },
        ],
    },
    "grading": {**GRADING_BASE, **GRADING_REST},
    "metrics": {
        "tool_calls": METRICS["tool_calls"],
        "total_tool_calls": 5,
        "total_steps": 3,
        "files_created": ["table.md"],
        "errors_encountered": 0,
        "output_chars": 812,
        "transcript_chars": 5120,
    },
    "timing": {
        "total_tokens": 9120,
        "duration_ms": 61500.0,
        "total_duration_seconds": 61.5,
        "executor_start": "2026-02-03T08:00:00Z",
        "executor_end": "2026-02-03T08:01:01Z",
        "executor_duration_seconds": 61.5,
        "grader_start": "2026-02-03T08:01:02Z",
        "grader_end": "2026-02-03T08:01:14Z",
        "grader_duration_seconds": 12.0,
    },
    "benchmark": {
        "metadata": BENCHMARK_METADATA,
        "runs": [BENCHMARK_RUN],
        "run_summary": {
            "with_skill": {"pass_rate": STATS, **COSTS},
            "without_skill": {"pass_rate": STATS, **COSTS},
            "delta": DELTA,
        },
        "notes": ["The first check passes on both sides"],
    },
    "comparison": {
        "winner": "A",
        "reasoning": "A has every invoice",
        "rubric": {"A": SIDE, "B": SIDE},
        "output_quality": {
            "A": {"score": 9.0, "strengths": ["complete"], "weaknesses": ["long"]},
            "B": {"score": 5.0, "strengths": ["short"], "weaknesses": ["invoice 7 is missing"]},
        },
        "expectation_results": {"A": HALF, "B": HALF},
    },
    "analysis": {
        "comparison_summary": {
            "winner": "A",
            "winner_skill": "skills/v1",
            "loser_skill": "skills/v0",
            "comparator_reasoning": "A has every invoice",
        },
        "winner_strengths": ["says to list the folder first"],
        "loser_weaknesses": ["does not say what to do with a bad scan"],
        "instruction_following": {
            "winner": {"score": 9.0, "issues": ["skipped the optional log"]},
            "loser": {"score": 6.0, "issues": ["took its own table"]},
        },
        "improvement_suggestions": [
            {
                "priority": "high",
                "category": "instructions",
                "suggestion": "Say what to do with a bad scan",
                "expected_impact": "No invoice is lost",
            }
        ],
        "transcript_insights": {
            "winner_execution_pattern": "listed, read, added up",
            "loser_execution_pattern": "read some, guessed",
        },
    },
}

SKILL_EVALUATOR: dict[str, Any] = {
    "evals": {
        "skill_name": "invoice-reader",
        "eval_config": {
            "runs_per_eval": 3,
            "structural_gate": True,
            "judge_model": "model-large",
            "baseline_comparison": True,
        },
        "evals": [
            {
                "id": 1,
                "name": "March",
                "prompt": "Add up the invoices in this folder",
                "expected_output": "A table with a total",
                "files": ["evals/files/march.pdf"],
                "expectations": ["The total is 1,204.50"],
                "structural_expectations": [
                    {
                        "id": "S1",
                        "type": "file_exists",
                        "description": "There is a table",
                        "pattern": "*.md",
                        "critical": True,
                    },
                    {"id": "S2", "type": "file_contains", "pattern": "*.md", "match": "Total"},
                    {
                        "id": "S3",
                        "type": "file_contains",
                        "pattern": "*.md",
                        "match_any": ["EUR", "€"],
                    },
                    {
                        "id": "S4",
                        "type": "file_not_contains",
                        "pattern": "*.md",
                        "match_regex": "TODO|FIXME",
                        "except_context": ["open points"],
                    },
                    {"id": "S5", "type": "no_errors"},
                    {
                        "id": "S6",
                        "type": "file_count",
                        "pattern": "*.md",
                        "count": 1,
                        "operator": "==",
                    },
                    {"id": "S7", "type": "custom_script", "script": "python check.py"},
                ],
                "quality_rubric": {
                    "dimensions": [
                        {
                            "id": "Q1",
                            "name": "traceability",
                            "description": "Every number can be found again",
                            "weight": 2.0,
                            "scoring": {"1": "no sources", "3": "some", "5": "file and line"},
                        }
                    ]
                },
            }
        ],
    },
    "structural": {
        "expectations": [
            {
                "id": "S1",
                "text": "There is a table",
                "type": "file_exists",
                "passed": True,
                "evidence": "Found table.md",
                "critical": True,
            }
        ],
        "summary": {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0},
        "gate_passed": True,
    },
    "grading": {
        **GRADING_BASE,
        "rubric_scores": {
            "traceability": {"score": 4.0, "evidence": "Files are named, lines are not"},
            "layout": {"score": 5.0, "evidence": "One table"},
        },
        "rubric_summary": {"weighted_mean": 4.2, "max_possible": 5.0, "normalized": 0.84},
        **GRADING_REST,
    },
    "benchmark": {
        "metadata": BENCHMARK_METADATA,
        "runs": [BENCHMARK_RUN],
        "run_summary": {
            "with_skill": {
                "pass_rate": STATS,
                "rubric_normalized": STATS,
                "overall_efficiency": STATS,
                "consistency": 0.9,
                **COSTS,
                "rubric_dimensions": {
                    "traceability": {"mean": 4.0, "stddev": 0.5, "min": 3.0, "max": 5.0}
                },
            },
            "delta": DELTA,
        },
        "notes": ["traceability varies most"],
    },
    "suggestions": {
        "skill_name": "invoice-reader",
        "iteration": 1,
        "total_runs": 9,
        "suggestions": [
            {
                "frequency": 3,
                "assertion": "S2",
                "reason": "The word alone says nothing",
                "action": "Check the number beside it",
            },
            {
                "frequency": 2,
                "assertion": None,
                "reason": "Nothing checks the dates",
                "action": "Add a check for the dates",
            },
        ],
    },
}

TEST_CASES: dict[str, Any] = {
    "evals": {
        "skill_name": "invoice-reader",
        "version": "1.2.0",
        "test_cases": [
            {
                "id": "march",
                "prompt": "Add up the invoices in this folder",
                "assertions": ["The total is 1,204.50"],
                "tags": ["numbers", "pdf"],
                "weight": 2.0,
            }
        ],
    },
    "grading": {
        "test_case_id": "march",
        "run_id": "run-3",
        "timestamp": "2026-02-03T08:01:14Z",
        "assertions": [
            {
                "assertion": "The total is 1,204.50",
                "result": "pass",
                "confidence": "high",
                "evidence": "Last line of table.md",
                "notes": "in euros",
            },
        ],
        "overall_score": 1.0,
        "factual_issues": ["The year is wrong"],
        "eval_critique": {
            "vague_assertions": ["Every invoice has a line"],
            "missing_coverage": ["dates"],
            "suggested_assertions": ["Every line has a date"],
        },
        "timing": {
            "start": "2026-02-03T08:01:02Z",
            "end": "2026-02-03T08:01:14Z",
            "duration_seconds": 12.0,
        },
    },
    "benchmark": {
        "skill_name": "invoice-reader",
        "description_version": 2,
        "created_at": "2026-02-01T08:00:00Z",
        "entries": [
            {
                "description_version": version,
                "description_hash": "0f" * 32,
                "timestamp": f"2026-02-0{version}T08:00:00Z",
                "scores": {"mean": 0.5, "median": 0.5, "std_dev": 0.5, "min": 0.0, "max": 1.0},
                "per_test_case": [
                    {"test_case_id": "march", "score": 0.0, "duration_seconds": 60.0},
                    {"test_case_id": "april", "score": 1.0, "duration_seconds": 30.0},
                ],
                "total_duration_seconds": 90.0,
                "num_test_cases": 2,
            }
            for version in (1, 2)
        ],
    },
    "comparison": {
        "comparison_id": "c-1",
        "timestamp": "2026-02-03T09:00:00Z",
        "version_a": 1,
        "version_b": 2,
        "test_case_id": "march",
        "criteria_scores": [
            {
                "criterion": "completeness",
                "score_a": 3.0,
                "score_b": 5.0,
                "justification_a": "invoice 7 is missing",
                "justification_b": "all are there",
            },
        ],
        "total_score_a": 3.0,
        "total_score_b": 5.0,
        "winner": "B",
        "key_differentiators": ["the bad scan"],
        "summary": "B read the bad scan.",
    },
}

CODINGBUDDY: dict[str, Any] = {
    "evals": {
        "skill_name": "invoice-reader",
        "evals": [
            {
                "id": 1,
                "prompt": "Add up the invoices in this folder",
                "expected_output": "A table with a total",
                "files": ["march.pdf"],
            },
            {"id": 2, "prompt": "Which is due first?", "expected_output": "No. 4", "files": []},
        ],
    },
    "eval_metadata": {
        "eval_id": 0,
        "eval_name": "March",
        "prompt": "Add up the invoices in this folder",
        "assertions": [{"name": "total", "description": "The total is 1,204.50"}],
    },
    "grading": {
        "expectations": [
            {"text": "The total is 1,204.50", "passed": True, "evidence": "Last line of table.md"}
        ]
    },
    "timing": {"total_tokens": 9120, "duration_ms": 61500, "total_duration_seconds": 61.5},
    "feedback": {
        "reviews": [
            {
                "run_id": "eval-0-with_skill",
                "feedback": "Good, but long",
                "timestamp": "2026-02-03T10:00:00.000Z",
            },
        ],
        "status": "in_progress",
    },
    "benchmark": {
        "skill_name": "invoice-reader",
        "iteration": 1,
        "summary": {
            "pass_rate": {"mean": 0.75, "stddev": 0.25},
            "tokens": {"mean": 9000.0, "stddev": 120.0},
            "duration_seconds": {"mean": 60.0, "stddev": 1.5},
        },
        "eval_results": [
            {
                "eval_id": 0,
                "with_skill": {"pass_rate": 0.5, "tokens": 9120, "duration": 61.5},
                "baseline": {"pass_rate": 0.25, "tokens": 7000, "duration": 50.0},
            },
            {
                "eval_id": 1,
                "with_skill": {"pass_rate": 1.0, "tokens": 8880, "duration": 58.5},
                "baseline": {"pass_rate": 1.0, "tokens": 6000, "duration": 45.0},
            },
        ],
    },
    "triggers": [
        {"query": "what do these invoices add up to", "should_trigger": True},
        {"query": "write me a poem", "should_trigger": False},
    ],
}

CHECKED = {"name": "table_made", "description": "There is a table", "type": "file_exists"}
TABLE_MADE = {"name": "table_made", "pass_rate": 1.0, "details": "passed 1/1 runs"}


def constant(value: float) -> dict[str, float]:
    return {"mean": value, "stddev": 0.0, "min": value, "max": value}


ITERATIONS: dict[str, Any] = {
    "evals": {
        "skill_name": "invoice-reader",
        "evals": [
            {
                "id": 0,
                "prompt": "Add up the invoices in this folder",
                "expected_output": "A table with a total",
                "files": ["march.pdf"],
                "assertions": [CHECKED],
            }
        ],
    },
    "eval_metadata": {
        "eval_id": 0,
        "eval_name": "march",
        "prompt": "Add up the invoices in this folder",
        "assertions": [CHECKED],
    },
    "grading": CODINGBUDDY["grading"],
    "timing": {"total_tokens": 9120, "duration_ms": 61500.0, "total_duration_seconds": 61.5},
    "benchmark": {
        "skill_name": "invoice-reader",
        "iterations": [
            {
                "iteration": 1,
                "timestamp": "2026-02-03T08:00:00Z",
                "configurations": [
                    {
                        "name": name,
                        "tests": [
                            {
                                "eval_id": 0,
                                "eval_name": "march",
                                "assertions": [TABLE_MADE],
                                "tokens": constant(tokens),
                                "duration_seconds": constant(12.5),
                            }
                        ],
                        "overall": {
                            "pass_rate": 1.0,
                            "avg_tokens": tokens,
                            "avg_duration_seconds": 12.5,
                        },
                    }
                    for name, tokens in (("with_skill", 9120.0), ("without_skill", 9800.0))
                ],
                "deltas": {
                    "pass_rate_improvement": "+0.00",
                    "token_difference": "-680 (6.9% fewer)",
                    "duration_difference": "0.0s",
                },
            }
        ],
    },
    "feedback": {**CODINGBUDDY["feedback"], "status": "complete"},
    "triggers": CODINGBUDDY["triggers"],
    "optimization": {
        "best_description": "Reads invoices and adds them up",
        "best_score": 0.9,
        "iterations": [
            {
                "iteration": 2,
                "description": "Reads invoices and adds them up",
                "train_score": 0.95,
                "test_score": 0.9,
            },
        ],
    },
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "skill-creator": SKILL_CREATOR,
    "skill-evaluator": SKILL_EVALUATOR,
    "test-cases": TEST_CASES,
    "codingbuddy": CODINGBUDDY,
    "iterations": ITERATIONS,
}
"""Dialect to kind to document."""

ALL = [(dialect, kind, raw) for dialect, kinds in EXAMPLES.items() for kind, raw in kinds.items()]
"""The same as one list, for parametrised tests."""

IDS = [f"{dialect}:{kind}" for dialect, kind, _ in ALL]
