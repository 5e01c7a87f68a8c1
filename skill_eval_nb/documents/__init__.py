"""What each JSON file says, as typed structs: one module a document."""

from .analysis import Analysis
from .benchmark import Benchmark, BenchmarkMetadata, BenchmarkRun, ConfigurationSummary, RunResult, Stats
from .comparison import Comparison
from .document import Document, dump
from .eval_metadata import EvalMetadata
from .evals import Dimension, Eval, EvalConfig, Evals, Expectation, QualityRubric, StructuralExpectation
from .faults import Fault, Faults
from .feedback import Feedback, Review
from .grading import GradedExpectation, Grading, RubricScore, Summary
from .history import History, Version
from .parsing import NotJSON, parse
from .tolerant import mend
from .metrics import Metrics
from .optimization import Optimization, OptimizationStep
from .structural import Structural
from .suggestions import AggregatedSuggestion, SuggestionAggregate
from .timing import Timing
from .triggers import TriggerQuery, TriggerSet
