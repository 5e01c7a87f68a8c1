"""The dialect `skill-evaluator`: `skill-creator` with deterministic checks and a rubric."""

from __future__ import annotations

from .. import evals, results, run
from .form import Dialect, Form, narrow
from .skill_creator import (
    GRADING_TYPES,
    SKILL_CREATOR,
    Metadata,
    Run,
    Summary,
)

Check = narrow(
    evals.StructuralExpectation,
    "id type description pattern match match_any match_regex except_context count operator script "
    "critical tool tools skill",
)
Dimension = narrow(evals.Dimension, "id name description weight scoring")
Rubric = narrow(evals.QualityRubric, "dimensions", dimensions=list[Dimension])
Eval = narrow(
    evals.Eval,
    "id name prompt expected_output files expectations structural_expectations quality_rubric",
    required="id",
    id=str | int,
    expectations=list[str],
    structural_expectations=list[Check],
    quality_rubric=Rubric | None,
)
Evals = narrow(
    evals.Evals,
    "skill_name eval_config evals",
    required="skill_name",
    skill_name=str,
    evals=list[Eval],
)

CheckResult = narrow(run.GradedExpectation, "id text type passed evidence critical")
Structural = narrow(
    run.Structural,
    "expectations summary gate_passed",
    expectations=list[CheckResult],
    summary=Summary | None,
)

Score = narrow(run.RubricScore, "score evidence")
Grading = narrow(
    run.Grading,
    "expectations summary rubric_scores rubric_summary execution_metrics timing claims "
    "user_notes_summary eval_feedback",
    **GRADING_TYPES,
    rubric_scores=dict[str, Score],
)

Configuration = narrow(
    results.ConfigurationSummary,
    "pass_rate rubric_normalized overall_efficiency consistency time_seconds tokens "
    "rubric_dimensions",
)
Benchmark = narrow(
    results.Benchmark,
    "metadata runs run_summary notes",
    metadata=Metadata,
    runs=list[Run],
    run_summary=dict[str, Configuration],
)

Suggestion = narrow(evals.AggregatedSuggestion, "frequency assertion reason action")
Aggregate = narrow(
    evals.SuggestionAggregate,
    "skill_name iteration total_runs suggestions",
    suggestions=list[Suggestion],
)

SKILL_EVALUATOR = Dialect(
    "skill-evaluator",
    {
        **SKILL_CREATOR.documents,
        "evals": Form(Evals),
        "structural": Form(Structural),
        "grading": Form(Grading),
        "judging": Form(run.Judging),
        "metrics": Form(run.Metrics),
        "timing": Form(run.Timing),
        "benchmark": Form(Benchmark),
        "suggestions": Form(Aggregate),
    },
)
