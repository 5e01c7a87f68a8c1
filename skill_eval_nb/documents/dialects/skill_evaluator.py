"""The dialect `skill-evaluator`: `skill-creator` with deterministic checks and a rubric."""

from __future__ import annotations

from .. import evals, results, run
from .form import forms_of, narrow, narrow_type
from .skill_creator import BASE, FIELDS, TYPES

OWN_FIELDS = {
    evals.StructuralExpectation: (
        "id type description pattern match match_any match_regex except_context count operator "
        "script critical tool tools skill"
    ),
    evals.Dimension: "id name description weight scoring",
    evals.QualityRubric: "dimensions",
    run.RubricScore: "score evidence",
    evals.Eval: (
        "id! name prompt expected_output files expectations structural_expectations quality_rubric"
    ),
    evals.Evals: "skill_name! eval_config evals",
    run.Structural: "expectations summary gate_passed",
    run.Grading: (
        "expectations summary rubric_scores rubric_summary execution_metrics timing claims "
        "user_notes_summary eval_feedback"
    ),
    run.Judging: "*",
    run.Metrics: "*",
    run.Timing: "*",
    results.ConfigurationSummary: (
        "pass_rate rubric_normalized overall_efficiency consistency time_seconds tokens "
        "rubric_dimensions"
    ),
    results.Benchmark: FIELDS[results.Benchmark],
    evals.AggregatedSuggestion: "frequency assertion reason action",
    evals.SuggestionAggregate: "skill_name iteration total_runs suggestions",
}
CHECK = narrow_type(run.GradedExpectation, "id text type passed evidence critical")
OWN_TYPES = {**TYPES, "Structural.expectations": list[CHECK]}

SKILL_EVALUATOR = forms_of(narrow(OWN_FIELDS, OWN_TYPES, BASE))
