"""What a run's own files lack is taken from what a benchmark states; what they say stays."""

from __future__ import annotations

from skill_eval_nb.documents import (
    GradedExpectation,
    Grading,
    Metrics,
    Structural,
    Timing,
)
from skill_eval_nb.workspace import Problems, RunDocuments, complete


def grading(passed: bool) -> Grading:
    return Grading(expectations=[GradedExpectation(text="It runs", passed=passed)])


def stated(**parts) -> RunDocuments:
    return RunDocuments("ws/benchmark.json", timing=Timing(), metrics=Metrics(), **parts)


def completed(run: RunDocuments, told: RunDocuments) -> Problems:
    problems = Problems()
    complete(run, told, problems)
    return problems


def test_a_missing_grading_is_taken_and_told():
    run, other = RunDocuments("ws/run-1"), grading(True)
    problems = completed(run, stated(grading=other))
    assert run.grading is other
    assert [(one.severity, one.code, one.path) for one in problems] == [
        ("info", "graded-in-benchmark", "ws/run-1")
    ]


def test_its_own_grading_stays():
    own = grading(False)
    run = RunDocuments("ws/run-1", grading=own)
    assert completed(run, stated(grading=grading(True))) == []
    assert run.grading is own


def test_a_gated_run_was_not_judged_and_takes_no_grading():
    run = RunDocuments("ws/run-1", structural=Structural(expectations=[], gate_passed=False))
    completed(run, stated(grading=grading(True)))
    assert run.grading is None


def test_figures_fill_gaps_alone():
    run = RunDocuments("ws/run-1", timing=Timing(total_tokens=5, total_duration_seconds=0.0))
    told = stated()
    told.timing = Timing(total_tokens=9, total_duration_seconds=2.5)
    told.metrics = Metrics(errors_encountered=1)
    completed(run, told)
    assert run.timing is not None
    assert (run.timing.total_tokens, run.timing.total_duration_seconds) == (5, 2.5)
    assert run.metrics is not None
    assert run.metrics.errors_encountered == 1


def test_the_document_that_was_read_is_not_changed():
    timing = Timing(total_duration_seconds=1.0)
    told = stated()
    told.timing = Timing(total_tokens=9)
    completed(RunDocuments("ws/run-1", timing=timing), told)
    assert timing.total_tokens is None


def test_models_are_taken_where_none_is_known():
    run = RunDocuments("ws/run-1", executor_model="own")
    completed(run, stated(executor_model="told", judge_model="judge"))
    assert (run.executor_model, run.judge_model) == ("own", "judge")


def test_characters_are_no_tokens():
    """Some tools write the characters of the outputs where tokens should stand."""
    run = RunDocuments("ws/run-1", metrics=Metrics(output_chars=1234))
    told = stated()
    told.timing = Timing(total_tokens=1234, total_duration_seconds=3.0)
    problems = completed(run, told)
    assert run.timing is not None
    assert (run.timing.total_tokens, run.timing.total_duration_seconds) == (None, 3.0)
    assert [one.code for one in problems] == ["characters-as-tokens"]
