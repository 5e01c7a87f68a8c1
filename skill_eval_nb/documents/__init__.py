"""What each JSON file says, as typed structs: one module a document."""

from .analysis import Analysis
from .benchmark import (
    Benchmark,
    BenchmarkMetadata,
    BenchmarkRun,
    ConfigurationSummary,
    RunResult,
    Stats,
)
from .comparison import Comparison
from .document import Document, dump
from .encoding import to_json
from .eval_metadata import EvalMetadata
from .evals import (
    Dimension,
    Eval,
    EvalConfig,
    Evals,
    Expectation,
    QualityRubric,
    StructuralExpectation,
)
from .faults import Fault, Faults
from .feedback import Feedback, Review
from .grading import GradedExpectation, Grading, RubricScore, RubricSummary, Summary
from .history import History, Version
from .judging import Judging
from .metrics import Metrics
from .optimization import Optimization, OptimizationStep
from .parsing import NotJSON, parse
from .structural import Structural
from .suggestions import AggregatedSuggestion, SuggestionAggregate
from .timing import Timing
from .tolerant import mend
from .triggers import TriggerQuery, TriggerSet

__all__ = [
    "AggregatedSuggestion",
    "Analysis",
    "Benchmark",
    "BenchmarkMetadata",
    "BenchmarkRun",
    "Comparison",
    "ConfigurationSummary",
    "Dimension",
    "Document",
    "Eval",
    "EvalConfig",
    "EvalMetadata",
    "Evals",
    "Expectation",
    "Fault",
    "Faults",
    "Feedback",
    "GradedExpectation",
    "Grading",
    "History",
    "Judging",
    "Metrics",
    "NotJSON",
    "Optimization",
    "OptimizationStep",
    "QualityRubric",
    "Review",
    "RubricScore",
    "RubricSummary",
    "RunResult",
    "Stats",
    "Structural",
    "StructuralExpectation",
    "SuggestionAggregate",
    "Summary",
    "Timing",
    "TriggerQuery",
    "TriggerSet",
    "Version",
    "dump",
    "mend",
    "parse",
    "to_json",
]
