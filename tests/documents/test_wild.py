"""Home-made benchmarks: the shapes that people came up with, in figures of our own.

What is read of each is kept in `tests/kept/wild.txt`.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from skill_eval_nb.documents.dialects import check, read_as_shared, recognise
from skill_eval_nb.workspace.benchmarks import find_contradictions
from tests.golden import hold, lines_of

Raw = dict[str, Any]
SUMMED: list[Raw] = [
    {"config": "with_skill", "pass_rate": 1.0, "tokens": 70},
    {"config": "without_skill", "pass_rate": 0.5},
]
BOTH: dict[str, Raw] = {"with_skill": {"pass_rate": 1.0}, "without_skill": {"pass_rate": 0.5}}
RATES = {"with_skill_pass_rate": 1.0, "without_skill_pass_rate": 0.5}
CONDITIONS: list[Raw] = [
    {"case_id": "a", "condition": side, **figures, "assertions_total": None}
    for side, figures in BOTH.items()
]


@pytest.mark.parametrize(
    "raw",
    [
        {"evals": [{"eval_id": "a", **BOTH}]},
        {"per_eval": {"a": RATES}},
        {"results": [{"name": "a", "with_skill_pass_rate": "100%", "without_skill_pass_rate": 50}]},
        {"runs": CONDITIONS, "summary": {"with_skill": {"pass_rate": 1.0}}},
        {"evals": [{"eval_id": "a", **row, "details": [{"score": 1}]} for row in CONDITIONS]},
        {"evals": [{"eval_id": "a", "arms": [{"name": side, **BOTH[side]} for side in BOTH]}]},
        {"evalResults": [{"evalId": "a", **BOTH}]},
        {
            "eval_results": [
                {"eval_id": "a", "with_skill": {"score": 1.0}, "without_skill": {"score": 0.5}}
            ],
            "totals": {},
        },
    ],
)
def test_sides_in_many_shapes(raw: Any) -> None:
    assert recognise("benchmark", raw) == "wild"
    assert "no-dialect" in [fault.code for fault in check("benchmark", raw)]
    [benchmark], _ = read_as_shared("benchmark", raw)
    named = {run.eval_name if run.eval_id is None else run.eval_id for run in benchmark.runs}
    rates = [(run.configuration, run.result and run.result.pass_rate) for run in benchmark.runs]
    assert (named, rates) == ({"a"}, [("with_skill", 1.0), ("without_skill", 0.5)])


CHECKED = [{"text": "it runs", "passed": True}]
IDENTITIES = [
    {"id": id_, "identity": side, "checks": CHECKED, "passed": True}
    for id_ in "12"
    for side in ("candidate", "baseline")
]
COUNTS: dict[str, Raw] = {
    "with_skill": {"pass": 3, "fail": 1, "total": 4, "judge": 0},
    "without_skill": {
        "passes": 1,
        "total": 2,
        "assertions": {"reads first": True, "routes": False},
    },
}
ODD_COUNTS = {**COUNTS, "without_skill": {"assertions": {"reads first": {"passed": True}}}}
DETAILS = [{"text": "x", "passed": True}, {"text": "y", "passed": False}]
EVALUATED: Raw = {
    "eval_id": 0,
    "pass_rate": 0.5,
    "assertions": {"total": 2, "passed": 1, "failed": 1, "details": DETAILS},
    "timing": {"total_tokens": 90, "total_duration_seconds": 1.5},
}
QUALITY: Raw = {
    "id": 1,
    "assertions_total": 2,
    "assertions_passed": 1,
    "quality": {"wit": 5},
    "assertion_details": [{"assertion": "x", "passed": True, "evidence": "e"}],
}
ALL_PASSED = {"pass_rate": 1.0, "pass_count": 3, "fail_count": 0, "total_assertions": 3}
SIDE_OF_EVALS: Raw = {"evals": [{"eval_id": 1, **ALL_PASSED}], "overall_pass_rate": 1.0}
LOST = {"eval_id": 1, "with_skill": {"passed": 2, "total": 2}, "baseline": {"passed": 1}}


def config(name: str, passed: int, ms: int) -> Raw:
    row = {"eval_id": 1, "assertions_passed": passed, "assertions_total": 4, "duration_ms": ms}
    means = {"mean_pass_rate": passed / 4, "mean_duration_ms": ms}
    return {"name": name, "results": [row], "aggregate": means}


CASES: dict[str, Any] = {
    "what stands beside no baseline had the skill": {
        "per_eval": [
            {"eval": "a", "passed": 2, "total": 2, "baseline": {"passed": 1, "total": 2}},
            {"eval": "b", "passed": 1, "total": 2, "baseline": None},
        ]
    },
    "a side under any key is never a repeated run": {"runs": IDENTITIES, "summary": {}},
    "a key of no side": {"runs": [row | {"identity": "of no side"} for row in IDENTITIES]},
    "counts of passes, and checks by name": {"an eval": COUNTS, "another": COUNTS},
    "checks by name that are none": {"an eval": ODD_COUNTS, "another": ODD_COUNTS},
    "iterations with evaluations by name": {
        "skill_name": "s",
        "iterations": [
            {"iteration": number, "evaluations": {"eval-0-with_skill": EVALUATED}}
            | {"summary": {"pass_rate_with_skill_mean": 0.5, "time_delta_seconds": -2.5}}
            for number in (1, 2)
        ],
    },
    "cases of no configuration with quality scores": {
        "iteration": 3,
        "avg_pass_rate": 0.5,
        "avg_wit": 4.5,
        "avg_unheard_of": 7,
        "per_case": [QUALITY],
    },
    "qualities in a list, and beside scores, are rubric scores, too": {
        "per_case": [
            {**QUALITY, "quality": [{"name": "wit", "score": 5}]},
            {**QUALITY, "id": 2, "scores": {"tone": 4}},
        ]
    },
    "summaries in many shapes": {
        "run_summary": {
            "with_skill": {"mean_pass_rate": 0.5, "stddev_pass_rate": 0.25}
            | {"mean_total_tokens": 900, "mean_tokens": 90},
            "without_skill": "half of it, in 20 s",
            "delta": {"pass_rate": "+9pp", "total_tokens": 12, "tokens": 1},
        },
        "configurations": {"old_skill": {"avg_pass_rate": 0.25, "avg_time": 20}},
        "baseline": {"pass_rate": 40, "avg_duration_ms": 1500, "avg_cost_usd": 0.5},
    },
    "remarks that are objects become texts": {
        "summary": {"pass_rate": 0.5},
        "analyst_observations": [
            {"type": "critical", "observation": "it never opened the skill", "n": [1]},
            "plain",
        ],
    },
    "keys that name evals are evals, with a field beside the sides": {
        "results": {
            "CMP-1": {
                "skill": "a",
                "with_skill": {"content": 5, "structure": 4, "assertions_passed": "7/8"},
                "without_skill": {"content": 2.5, "assertions_passed": "N/A (no file)"},
            },
            "CMP-2": {
                "skill": "b",
                "with_skill": {"content": "4/5"},
                "without_skill": {"content": {"tone": 3}, "assertions_passed": "N/A"},
            },
        }
    },
    "configurations with their results and aggregate": {
        "configs": [config("with_skill", 4, 2000), config("without_skill", 2, 39215)],
        "delta": {"pass_rate": 0.5, "mean_duration_ms": -37215},
    },
    "sides with a list of evals each": {
        "with_skill": SIDE_OF_EVALS,
        "without_skill": SIDE_OF_EVALS,
    },
    "scores that no table has a place for are named": {
        "results": [{"eval_id": 1, "with_skill": {"pass_rate": 1.0, "eval_score": 71}}],
        "subscores": {"style": 0.25},
        "run_summary": {"with_skill": {"pass_rate": 1.0, "judge_score": 8}},
    },
    "a side that a list names twice, with the same figures and with others": {
        "summary": [*SUMMED, SUMMED[0], {"config": "old_skill", "pass_rate": 0.25}],
        "totals": [{**SUMMED[0], "pass_rate": 0.9}, SUMMED[0], SUMMED[1]],
    },
    **{
        what: {
            "results": [
                {"eval_id": at, "configuration": side, "score": score, **more}
                for at, (side, score) in enumerate(zip([*BOTH] * 2, scores, strict=True))
            ]
        }
        for what, scores, more in (
            ("scores beside the highest that there is", (9, 10, 1, 0), {"max_score": 10}),
            ("scores of a highest that is not told", (5, 1, 3, 2.5), {}),
            ("scores that are percentages", (95, 1, 30, 8), {}),
        )
    },
    "a number of passes is no verdict where it says of how many": {
        "results": [
            {"eval_id": at, "configuration": "with_skill", "passed": 1, **of}
            for at, of in enumerate(({"failed": 3}, {"n": 5}, {"total": 4, "runs": 3}, {}))
        ]
    },
    "a rate between 1 and 2 is no percentage": {
        "results": [
            {"eval_id": 1, "configuration": side, "pass_rate": rate}
            for side, rate in zip(BOTH, (1.5, 0.5), strict=True)
        ]
    },
    "of scores up to a hundred those up to five are no scores of five": {
        "results": [
            {"eval_id": 1, "configuration": side, "pass_rate": 1.0, "scores": {"tone": tone}}
            for side, tone in zip(BOTH, (3, 80), strict=True)
        ]
    },
    "figures that are null are no figures": {
        "iterations": [
            {"configurations": [{"name": "a", "overall": None, "tests": [{"tokens": None}]}]}
        ]
    },
    "rows that are not objects are named": {"skill_name": "s", "results": [LOST, 7, "lost"]},
}
QUERIES = [
    {"query": query, "expected": expected, "actual": actual, "passed": expected == actual}
    for query, expected, actual in (("a", True, False), ("b", False, False), ("c", True, None))
]
OTHERS: dict[str, tuple[str, Any]] = {
    "queries with what was expected and what happened": (
        "triggers",
        {"skill_name": "s", "cases": QUERIES},
    ),
    "scores of a scale of ten, some of them up to five": (
        "grading",
        {"expectations": [], "rubric_scores": {"tone": {"score": 9}, "depth": 5}},
    ),
    "what was met and missed": (
        "grading",
        {"pass": False, "assertions_met": ["x"], "assertions_missed": ["y"], "quality_score": 4},
    ),
}


def test_what_is_read_of_each() -> None:
    lines: list[str] = []
    every = {name: ("benchmark", raw) for name, raw in CASES.items()} | OTHERS
    for name, (kind, raw) in every.items():
        found, faults = read_as_shared(kind, raw)
        lines += [f"# {name}", f"as {recognise(kind, raw)}"]
        documents = found if isinstance(found, list) else [found]
        lines += lines_of([msgspec.to_builtins(one) for one in documents])
        lines += [f"{fault.code} {fault.where}" for fault in faults.collapsed()]
    hold("wild", lines)


@pytest.mark.parametrize(
    ("stated", "rate"),
    [
        *((text, 0.6) for text in ("3/5", " 3 / 5 ", "3/5 passed", "3/5 checks passed.")),
        *((text, None) for text in ("3/5 failed", "2/3 extra text", "1/2/2026", "5/3")),
    ],
)
def test_a_share_is_all_that_a_text_says(stated, rate) -> None:
    raw = {"runs": [{"eval_id": "a", "configuration": "with_skill", "pass_rate": stated}]}
    found, faults = read_as_shared("benchmark", raw)
    rates = [run.result.pass_rate for benchmark in found for run in benchmark.runs]
    assert [one for one in rates if one is not None] == ([] if rate is None else [rate])
    assert rate is not None or any(fault.severity != "info" for fault in faults)


@pytest.mark.parametrize("raw", [{}, [], "text", 3, {"runs": "none"}, {"cases": [{"eval_id": 1}]}])
def test_of_which_nothing_is_understood(raw: Any) -> None:
    found, faults = read_as_shared("benchmark", raw)
    assert found[0].runs == []
    assert [fault for fault in faults if fault.severity == "error" and fault.code == "no-figures"]


@pytest.mark.parametrize(
    ("passed", "failed", "total", "rate", "contradicts"),
    [
        (1, 1, 2, 0.9, True),
        (3, None, 2, None, True),
        (2, 2, 3, None, True),
        (2, 1, 3, 0.67, False),  # rounded
    ],
)
def test_figures_that_contradict_each_other(
    passed: int, failed: int | None, total: int, rate: float | None, contradicts: bool
) -> None:
    run = {"eval_id": 1, "configuration": "with_skill", "run_number": 1}
    result = {"pass_rate": rate, "passed": passed, "failed": failed, "total": total}
    runs = [{**run, "result": result, "expectations": CHECKED * 5}]
    raw = {"metadata": {"skill_name": "s"}, "runs": runs}
    [benchmark], _ = read_as_shared("benchmark", raw)
    found = [where for where, _ in find_contradictions(benchmark)]
    assert found == [*["runs[0].result"] * contradicts, "runs[0]"]  # of five verdicts
