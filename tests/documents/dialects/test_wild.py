"""Home-made benchmarks: the shapes that people came up with, in figures of our own."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.documents import Benchmark, Stats
from skill_eval_nb.documents.dialects import check, read, recognise


def one(raw: Any) -> tuple[Benchmark, list[str]]:
    assert recognise("benchmark", raw) == "wild"
    found, faults = read("benchmark", raw)
    assert len(found) == 1
    return found[0], [fault.code for fault in faults.collapsed()]


def rows(benchmark: Benchmark) -> list[tuple[Any, ...]]:
    return [
        (
            run.eval_id if run.eval_id is not None else run.eval_name,
            run.configuration,
            run.result and run.result.pass_rate,
        )
        for run in benchmark.runs
    ]


SIDES = [("a", "with_skill", 1.0), ("a", "without_skill", 0.5)]
BOTH = {"with_skill": {"pass_rate": 1.0}, "without_skill": {"pass_rate": 0.5}}
RATES = {"with_skill_pass_rate": 1.0, "without_skill_pass_rate": 0.5}
CONDITIONS = [
    {"case_id": "a", "condition": side, **figures, "assertions_total": None}
    for side, figures in BOTH.items()
]


@pytest.mark.parametrize(
    "raw",
    [
        {"evals": [{"eval_id": "a", **BOTH}]},
        {"runs": [{"eval_id": "a", "run_index": 0, **BOTH}]},
        {"cases": [{"id": "a", **BOTH}]},
        {"per_eval": {"a": RATES}},
        {"results": [{"name": "a", "with_skill_pass_rate": "100%", "without_skill_pass_rate": 50}]},
        {"evaluations": {f"a-{side}": figures for side, figures in BOTH.items()}},
        {"runs": CONDITIONS, "summary": {"with_skill": {"pass_rate": 1.0}}},
        {"detail": [{"case": "a", **BOTH}]},
        {"evals": [{"eval_id": "a", **row, "details": [{"score": 1}]} for row in CONDITIONS]},
        {"evals": [{"eval_id": "a", **row, "tests": [{"note": "x"}]} for row in CONDITIONS]},
        {"evals": [{"eval_id": "a", "configs": BOTH}]},
        {"evals": [{"eval_id": "a", "arms": [{"name": side, **BOTH[side]} for side in BOTH]}]},
        {"per_eval": [{"eval": "a", "passRate": 1.0, "without_skill": {"passRate": 0.5}}]},
        {
            "eval_results": [
                {"eval_id": "a", "with_skill": {"score": 1.0}, "without_skill": {"score": 0.5}}
            ],
            "totals": {},
        },
    ],
)
def test_sides_in_many_shapes(raw: Any) -> None:
    assert rows(one(raw)[0]) == SIDES


def test_what_stands_beside_no_baseline_had_the_skill() -> None:
    """An eval whose baseline was not run is one of the skill alone, no side of its own."""
    both = {"eval": "a", "passed": 2, "total": 2, "baseline": {"passed": 1, "total": 2}}
    benchmark, codes = one(
        {"per_eval": [both, {"eval": "b", "passed": 1, "total": 2, "baseline": None}]}
    )
    assert "inferred-side" in codes
    found = [(run.eval_name, run.configuration, run.result.passed) for run in benchmark.runs]
    assert found == [("a", "with_skill", 2), ("a", "baseline", 1), ("b", "with_skill", 1)]


def test_a_side_under_any_key_is_never_a_repeated_run() -> None:
    """Both sides of an eval, taken for two runs of one, would hide the difference."""
    checks = [{"text": "it runs", "passed": True}]
    told = [("1", "candidate"), ("1", "baseline"), ("2", "candidate"), ("2", "baseline")]
    rows = [{"id": id_, "identity": side, "checks": checks, "passed": True} for id_, side in told]
    benchmark, codes = one({"runs": rows, "summary": {}})
    assert [(run.eval_id, run.configuration) for run in benchmark.runs] == told
    assert "inferred-side" in codes
    assert "unstated" not in codes
    assert "wrong-type" not in codes
    for row in rows:
        row["identity"] = "of no side"
    assert {run.configuration for run in one({"runs": rows})[0].runs} == {"unstated"}


def test_queries_that_say_what_was_expected_and_what_happened() -> None:
    rows = [
        {"query": query, "expected": expected, "actual": actual, "passed": expected == actual}
        for query, expected, actual in (("a", True, False), ("b", False, False), ("c", True, None))
    ]
    for raw in ({"skill_name": "s", "cases": rows}, rows):
        document, faults = read("triggers", raw)
        assert "inferred-run" in {fault.code for fault in faults}
        found = [(one.should_trigger, one.triggered, one.runs) for one in document.queries]
        assert found == [(True, 0, 1), (False, 0, 1), (True, None, None)]


def test_counts_of_passes_and_checks_by_name() -> None:
    checks = {"reads first": True, "routes": False}
    sides = {
        "with_skill": {"pass": 3, "fail": 1, "total": 4, "judge": 0},
        "without_skill": {"passes": 1, "total": 2, "assertions": checks},
    }
    benchmark, _ = one({"an eval": sides, "another": sides})
    counts = [(run.result.passed, run.result.failed, run.result.total) for run in benchmark.runs]
    assert counts == [(3, 1, 4), (1, None, 2)] * 2
    assert [(one.text, one.passed) for one in benchmark.runs[1].expectations] == [*checks.items()]
    sides["without_skill"]["assertions"] = {"reads first": {"passed": True}}
    assert "not-used" in one({"an eval": sides, "another": sides})[1]


def test_iterations_with_evaluations_by_name() -> None:
    details = [{"text": "x", "passed": True}, {"text": "y", "passed": False}]
    side = {
        "eval_id": 0,
        "pass_rate": 0.5,
        "assertions": {"total": 2, "passed": 1, "failed": 1, "details": details},
        "timing": {"total_tokens": 90, "total_duration_seconds": 1.5},
    }
    told = {"pass_rate_with_skill_mean": 0.5, "time_delta_seconds": -2.5}
    iterations = [
        {"iteration": number, "evaluations": {"eval-0-with_skill": side}, "summary": told}
        for number in (1, 2)
    ]
    found, faults = read("benchmark", {"skill_name": "s", "iterations": iterations})
    assert [one.metadata.iteration for one in found] == [1, 2]
    assert [one.metadata.skill_name for one in found] == ["s", "s"]
    run = found[1].runs[0]
    assert run.result is not None
    assert (run.result.passed, run.result.failed, run.result.total) == (1, 1, 2)
    assert (run.result.tokens, run.result.time_seconds) == (90, 1.5)
    assert [one.passed for one in run.expectations] == [True, False]
    assert found[1].run_summary["with_skill"].pass_rate == 0.5
    assert found[1].run_summary["delta"].time_seconds == -2.5
    assert faults == []


def test_cases_of_no_configuration_with_quality_scores() -> None:
    case = {
        "id": 1,
        "assertions_total": 2,
        "assertions_passed": 1,
        "quality": {"wit": 5},
        "assertion_details": [{"assertion": "x", "passed": True, "evidence": "e"}],
    }
    averages = {"avg_pass_rate": 0.5, "avg_wit": 4.5, "avg_unheard_of": 7}
    benchmark, codes = one({"iteration": 3, **averages, "per_case": [case]})
    run = benchmark.runs[0]
    assert run.configuration == "unstated"
    assert run.rubric_scores["wit"].score == 5
    assert run.expectations[0].text == "x"
    assert benchmark.run_summary["unstated"].pass_rate == 0.5
    assert benchmark.run_summary["unstated"].rubric_dimensions == {"wit": Stats(mean=4.5)}
    assert benchmark.metadata.iteration == 3
    assert "unstated" in codes


def test_percentages_are_seen_from_the_whole_file() -> None:
    """In a file of percentages 1 is a hundredth, and 0 stays 0."""
    results = [{"name": str(rate), "condition": "x", "pass_rate": rate} for rate in (80, 1, 0)]
    benchmark, codes = one({"results": results})
    assert [rate for _, _, rate in rows(benchmark)] == [0.8, 0.01, 0.0]
    assert "converted" in codes


def test_three_of_three_runs_is_a_rate_without_counts() -> None:
    evals = [{"id": "a", "with_skill": {"avg_ms": 1500, "pass_rate": "3/3"}}]
    benchmark, codes = one({"skill": "s", "evals": evals})
    result = benchmark.runs[0].result
    assert result is not None
    assert (result.pass_rate, result.passed, result.total) == (1.0, None, None)
    assert result.duration_ms == 1500
    assert benchmark.metadata.skill_name == "s"
    assert codes == ["rate-over-runs"]


def test_tokens_in_two_parts_and_costs_elsewhere() -> None:
    counts = {"input_tokens": 40, "output_tokens": 2}
    side = {
        "pass_rate": 1.0,
        "assertion_results": [{"text": "x", "passed": True, "confidence": 1.0}],
        "execution_metrics": {"tool_calls": 3, "token_counts": counts},
        "timing": {"elapsed_seconds": 1.25},
    }
    benchmark, codes = one({"runs": [{"eval_id": "a", "run_index": 0, "with_skill": side}]})
    run = benchmark.runs[0]
    assert run.run_number == 1  # an index counts from 0, a number from 1
    assert run.result is not None
    assert (run.result.tokens, run.result.tool_calls, run.result.time_seconds) == (42, 3, 1.25)
    assert "tokens-added" in codes


def test_summaries_in_many_shapes() -> None:
    means = {"mean_pass_rate": 0.5, "stddev_pass_rate": 0.25}
    run_summary = {
        "with_skill": means | {"mean_total_tokens": 900, "mean_tokens": 90},
        "without_skill": "half of it, in 20 s",
        "delta": {"pass_rate": "+9pp", "total_tokens": 12, "tokens": 1},
    }
    others = {
        "configurations": {"old_skill": {"avg_pass_rate": 0.25, "avg_time": 20}},
        "baseline": {"pass_rate": 40, "avg_duration_ms": 1500, "avg_cost_usd": 0.5},
    }
    benchmark, codes = one({"run_summary": run_summary, **others})
    summary = benchmark.run_summary
    assert summary["with_skill"].pass_rate in (0.5, Stats(mean=0.5, stddev=0.25))
    assert summary["with_skill"].tokens == 900
    assert summary["delta"].pass_rate == "+9pp"
    assert summary["delta"].tokens == 12
    assert (summary["old_skill"].pass_rate, summary["old_skill"].time_seconds) == (0.25, 20)
    assert (summary["baseline"].pass_rate, summary["baseline"].time_seconds) == (0.4, 1.5)
    assert summary["baseline"].cost_usd == 0.5
    assert "without_skill" not in summary
    assert "not-a-figure" in codes


def test_a_list_of_models_is_a_list_of_iterations() -> None:
    rates = {"with_skill_pass_rate": 0.75, "old_skill_pass_rate": 0.5, "delta_pass_rate": "+0.25"}
    found, _ = read("benchmark", {"models": [{"model": "m1", "iteration": "it-1", **rates}]})
    assert found[0].metadata.executor_model == "m1"
    assert {name: one.pass_rate for name, one in found[0].run_summary.items()} == {
        "with_skill": 0.75,
        "old_skill": 0.5,
        "delta": "+0.25",
    }


def test_remarks_that_are_objects_become_texts() -> None:
    note = {"type": "critical", "observation": "it never opened the skill", "n": [1]}
    benchmark, _ = one({"summary": {"pass_rate": 0.5}, "analyst_observations": [note, "plain"]})
    assert benchmark.notes == ["critical: it never opened the skill", "plain"]


@pytest.mark.parametrize("raw", [{}, [], "text", 3, {"runs": "none"}, {"cases": [{"eval_id": 1}]}])
def test_of_which_nothing_is_understood(raw: Any) -> None:
    found, faults = read("benchmark", raw)
    assert found[0].runs == []
    assert [fault for fault in faults if fault.severity == "error" and fault.code == "no-figures"]


def test_check_says_that_it_is_no_dialects() -> None:
    found = check("benchmark", {"per_eval": {"a": {"with_skill_pass_rate": 1.0}}})
    assert "no-dialect" in [fault.code for fault in found]


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
    raw = {"metadata": {"skill_name": "s"}, "runs": [{**run, "result": result}]}
    _, faults = read("benchmark", raw)
    found = [fault.where for fault in faults if fault.code == "contradiction"]
    assert found == ["$.runs[0].result"] * contradicts


def test_a_grading_of_what_was_met_and_missed() -> None:
    raw = {"pass": False, "assertions_met": ["x"], "assertions_missed": ["y"], "quality_score": 4}
    assert recognise("grading", raw) == "wild"
    grading, _ = read("grading", raw)
    assert [(one.text, one.passed) for one in grading.expectations] == [("x", True), ("y", False)]
    assert grading.rubric_scores["quality"].score == 4


def figures(benchmark: Benchmark) -> list[tuple[Any, ...]]:
    """Eval, configuration, and what was counted and measured, of each run."""
    return [
        (
            run.eval_id if run.eval_id is not None else run.eval_name,
            run.configuration,
            run.result and (run.result.passed, run.result.total, run.result.duration_ms),
        )
        for run in benchmark.runs
    ]


def test_keys_that_name_evals_are_evals() -> None:
    """A field beside the sides, like the skill, does not make the key mean something else."""
    scored = {"content": 5, "structure": 4, "assertions_passed": "7/8"}
    unscored = {"content": 2.5, "assertions_passed": "N/A (no file)"}
    nested = {"content": {"tone": 3}, "assertions_passed": "N/A"}
    results = {
        "CMP-1": {"skill": "a", "with_skill": scored, "without_skill": unscored},
        "CMP-2": {"skill": "b", "with_skill": {"content": "4/5"}, "without_skill": nested},
    }
    benchmark, codes = one({"results": results})
    assert figures(benchmark) == [
        ("CMP-1", "with_skill", (7, 8, None)),
        ("CMP-1", "without_skill", (None, None, None)),
        ("CMP-2", "with_skill", (None, None, None)),
        ("CMP-2", "without_skill", (None, None, None)),
    ]
    assert [run.skill for run in benchmark.runs] == ["a", "a", "b", "b"]
    scores = [
        {name: one.score for name, one in run.rubric_scores.items()} for run in benchmark.runs
    ]
    assert scores == [
        {"content": 5, "structure": 4},
        {"content": 2.5},
        {"content": 4},
        {"content: tone": 3},
    ]
    assert codes.count("not-scored") == 2  # two evals: each says it once


@pytest.mark.parametrize("rows", ["evals", "results"])
@pytest.mark.parametrize("summary", ["summary", "aggregate"])
def test_a_list_of_configurations_with_their_rows(rows: str, summary: str) -> None:
    def side(name: str, passed: int, ms: int) -> dict[str, Any]:
        row = {"eval_id": 1, "assertions_passed": passed, "assertions_total": 4, "duration_ms": ms}
        return {
            "name": name,
            rows: [row],
            summary: {"mean_pass_rate": passed / 4, "mean_duration_ms": ms},
        }

    benchmark, codes = one(
        {
            "configs": [side("with_skill", 4, 2000), side("without_skill", 2, 39215)],
            "delta": {"pass_rate": 0.5, "mean_duration_ms": -37215},
        }
    )
    assert figures(benchmark) == [
        (1, "with_skill", (4, 4, 2000)),
        (1, "without_skill", (2, 4, 39215)),
    ]
    stated = benchmark.run_summary
    assert [stated[name].time_seconds for name in stated] == [2.0, 39.215, -37.215]
    assert stated["with_skill"].pass_rate == 1.0
    assert codes == []


def test_sides_with_a_list_of_evals_each() -> None:
    counts = {"pass_count": 3, "fail_count": 0, "total_assertions": 3}
    side = {"evals": [{"eval_id": 1, "pass_rate": 1.0, **counts}], "overall_pass_rate": 1.0}
    benchmark, _ = one({"with_skill": side, "without_skill": side})
    assert [(run.result.passed, run.result.total) for run in benchmark.runs] == [(3, 3)] * 2
    assert rows(benchmark) == [(1, "with_skill", 1.0), (1, "without_skill", 1.0)]
    assert benchmark.run_summary["without_skill"].pass_rate == 1.0
    of_models = {f"{model}_with_skill": side for model in ("claude", "gemini-2.5-pro")}
    benchmark, codes = one({"iteration": 10, **of_models})
    assert rows(benchmark) == [(1, name, 1.0) for name in of_models]
    assert "no-figures" not in codes


def test_scores_that_no_table_has_a_place_for_are_named() -> None:
    raw = {
        "results": [{"eval_id": 1, "with_skill": {"pass_rate": 1.0, "eval_score": 71}}],
        "subscores": {"style": 0.25},
        "run_summary": {"with_skill": {"pass_rate": 1.0, "judge_score": 8}},
    }
    _, faults = read("benchmark", raw)
    named = [fault.where for fault in faults if fault.code == "not-used"]
    assert sorted(named) == [
        "$.run_summary.with_skill.judge_score",
        "$.runs[0].eval_score",
        "$.subscores",
    ]


def test_rows_that_are_no_objects_are_named() -> None:
    row = {"eval_id": 1, "with_skill": {"passed": 2, "total": 2}, "baseline": {"passed": 1}}
    benchmark, codes = one({"skill_name": "s", "results": [row, 7, "lost"]})
    assert [run.configuration for run in benchmark.runs] == ["with_skill", "baseline"]
    assert codes == ["wrong-type"]
