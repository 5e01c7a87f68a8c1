"""The dialect `skill-creator`, which most workspaces are written in, and one that extends it.

`skill-evaluator` adds a layer of deterministic checks and one of rubrics.
"""

from __future__ import annotations

from .. import evals, results, run
from .form import Dialect, Form, narrow

Eval = narrow(
    evals.Eval,
    "id prompt expected_output files expectations",
    required="id",
    id=str | int,
    expectations=list[str],
)
Evals = narrow(
    evals.Evals, "skill_name evals", required="skill_name", skill_name=str, evals=list[Eval]
)

Version = narrow(
    results.Version, "version parent expectation_pass_rate grading_result is_current_best"
)
History = narrow(
    results.History, "started_at skill_name current_best iterations", iterations=list[Version]
)

Expectation = narrow(run.GradedExpectation, "text passed evidence")
Summary = narrow(run.Summary, "passed failed total pass_rate")
METRICS = "tool_calls total_tool_calls total_steps errors_encountered output_chars transcript_chars"
GradingTiming = narrow(
    run.GradingTiming,
    "executor_duration_seconds grader_duration_seconds total_duration_seconds",
)
Claim = narrow(run.Claim, "claim type verified evidence")
Suggestion = narrow(run.Suggestion, "assertion reason")
EvalFeedback = narrow(run.EvalFeedback, "suggestions overall", suggestions=list[Suggestion])
GRADING_TYPES = {
    "expectations": list[Expectation],
    "summary": Summary | None,
    "execution_metrics": narrow(run.Metrics, METRICS) | None,
    "timing": GradingTiming | None,
    "claims": list[Claim],
    "eval_feedback": EvalFeedback | None,
}
Grading = narrow(
    run.Grading,
    "expectations summary execution_metrics timing claims user_notes_summary eval_feedback",
    **GRADING_TYPES,
)

Metrics = narrow(
    run.Metrics,
    "tool_calls total_tool_calls total_steps files_created errors_encountered output_chars "
    "transcript_chars",
)
Timing = narrow(
    run.Timing,
    "total_tokens duration_ms total_duration_seconds executor_start executor_end "
    "executor_duration_seconds grader_start grader_end grader_duration_seconds",
)

Result = narrow(
    results.RunResult, "pass_rate passed failed total time_seconds tokens tool_calls errors"
)
Run = narrow(
    results.BenchmarkRun,
    "eval_id eval_name configuration run_number result expectations notes",
    result=Result | None,
    expectations=list[Expectation],
)
Metadata = narrow(
    results.BenchmarkMetadata,
    "skill_name skill_path executor_model analyzer_model timestamp evals_run "
    "runs_per_configuration",
)
Configuration = narrow(results.ConfigurationSummary, "pass_rate time_seconds tokens")
Benchmark = narrow(
    results.Benchmark,
    "metadata runs run_summary notes",
    metadata=Metadata,
    runs=list[Run],
    run_summary=dict[str, Configuration],
)

Side = narrow(results.SideRubric, "content structure content_score structure_score overall_score")
SideResults = narrow(
    results.ExpectationResults,
    "passed total pass_rate details",
    details=list[Expectation],
)
Comparison = narrow(
    results.Comparison,
    "winner reasoning rubric output_quality expectation_results",
    rubric=dict[str, Side],
    expectation_results=dict[str, SideResults],
)

Improvement = narrow(results.ImprovementSuggestion, "priority category suggestion expected_impact")
Analysis = narrow(
    results.Analysis,
    "comparison_summary winner_strengths loser_weaknesses instruction_following "
    "improvement_suggestions transcript_insights",
    improvement_suggestions=list[Improvement],
)

SKILL_CREATOR = Dialect(
    "skill-creator",
    {
        "evals": Form(Evals),
        "history": Form(History),
        "grading": Form(Grading),
        "metrics": Form(Metrics),
        "timing": Form(Timing),
        "benchmark": Form(Benchmark),
        "comparison": Form(Comparison),
        "analysis": Form(Analysis),
    },
)


# ── skill-evaluator ────────────────────────────────────────────────────────────────────────────

Check = narrow(
    evals.StructuralExpectation,
    "id type description pattern match match_any match_regex except_context count operator script "
    "critical tool tools skill",
)
Dimension = narrow(evals.Dimension, "id name description weight scoring")
Rubric = narrow(evals.QualityRubric, "dimensions", dimensions=list[Dimension])
LayeredEval = narrow(
    evals.Eval,
    "id name prompt expected_output files expectations structural_expectations quality_rubric",
    required="id",
    id=str | int,
    expectations=list[str],
    structural_expectations=list[Check],
    quality_rubric=Rubric | None,
)
LayeredEvals = narrow(
    evals.Evals,
    "skill_name eval_config evals",
    required="skill_name",
    skill_name=str,
    evals=list[LayeredEval],
)

CheckResult = narrow(run.GradedExpectation, "id text type passed evidence critical")
Structural = narrow(
    run.Structural,
    "expectations summary gate_passed",
    expectations=list[CheckResult],
    summary=Summary | None,
)

Score = narrow(run.RubricScore, "score evidence")
LayeredGrading = narrow(
    run.Grading,
    "expectations summary rubric_scores rubric_summary execution_metrics timing claims "
    "user_notes_summary eval_feedback",
    **GRADING_TYPES,
    rubric_scores=dict[str, Score],
)

LayeredConfiguration = narrow(
    results.ConfigurationSummary,
    "pass_rate rubric_normalized overall_efficiency consistency time_seconds tokens "
    "rubric_dimensions",
)
LayeredBenchmark = narrow(
    results.Benchmark,
    "metadata runs run_summary notes",
    metadata=Metadata,
    runs=list[Run],
    run_summary=dict[str, LayeredConfiguration],
)

CountedSuggestion = narrow(evals.AggregatedSuggestion, "frequency assertion reason action")
Aggregate = narrow(
    evals.SuggestionAggregate,
    "skill_name iteration total_runs suggestions",
    suggestions=list[CountedSuggestion],
)

SKILL_EVALUATOR = Dialect(
    "skill-evaluator",
    {
        **SKILL_CREATOR.documents,
        "evals": Form(LayeredEvals),
        "structural": Form(Structural),
        "grading": Form(LayeredGrading),
        "judging": Form(run.Judging),
        "metrics": Form(run.Metrics),
        "timing": Form(run.Timing),
        "benchmark": Form(LayeredBenchmark),
        "suggestions": Form(Aggregate),
    },
)
