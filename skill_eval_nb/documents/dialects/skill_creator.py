"""The dialect `skill-creator`: the base that most workspaces are written in."""

from __future__ import annotations

from .. import evals, results, run
from .form import forms_of, narrow, narrow_type

METRICS = "tool_calls total_tool_calls total_steps errors_encountered output_chars transcript_chars"
FIELDS = {
    evals.Eval: "id! prompt expected_output files expectations",
    evals.Evals: "skill_name! evals",
    results.Version: "version parent expectation_pass_rate grading_result is_current_best",
    results.History: "started_at skill_name current_best iterations",
    run.GradedExpectation: "text passed evidence",
    run.Summary: "passed failed total pass_rate",
    run.GradingTiming: ("executor_duration_seconds grader_duration_seconds total_duration_seconds"),
    run.Claim: "claim type verified evidence",
    run.Suggestion: "assertion reason",
    run.EvalFeedback: "suggestions overall",
    run.Grading: (
        "expectations summary execution_metrics timing claims user_notes_summary eval_feedback"
    ),
    run.Metrics: (
        "tool_calls total_tool_calls total_steps files_created errors_encountered output_chars "
        "transcript_chars"
    ),
    run.Timing: (
        "total_tokens duration_ms total_duration_seconds executor_start executor_end "
        "executor_duration_seconds grader_start grader_end grader_duration_seconds"
    ),
    results.RunResult: "pass_rate passed failed total time_seconds tokens tool_calls errors",
    results.BenchmarkRun: ("eval_id eval_name configuration run_number result expectations notes"),
    results.BenchmarkMetadata: (
        "skill_name skill_path executor_model analyzer_model timestamp evals_run "
        "runs_per_configuration"
    ),
    results.ConfigurationSummary: "pass_rate time_seconds tokens",
    results.Benchmark: "metadata runs run_summary notes",
    results.SideRubric: "content structure content_score structure_score overall_score",
    results.ExpectationResults: "passed total pass_rate details",
    results.Comparison: "winner reasoning rubric output_quality expectation_results",
    results.ImprovementSuggestion: "priority category suggestion expected_impact",
    results.Analysis: (
        "comparison_summary winner_strengths loser_weaknesses instruction_following "
        "improvement_suggestions transcript_insights"
    ),
}
TYPES = {
    "Eval.id": str | int,
    "Eval.expectations": list[str],
    "Evals.skill_name": str,
    "Grading.execution_metrics": narrow_type(run.Metrics, METRICS) | None,
}

BASE = narrow(FIELDS, TYPES)

SKILL_CREATOR = forms_of(BASE)
