"""The dialect `iterations`: one benchmark over many iterations, with printed deltas."""

from __future__ import annotations

from typing import Annotated

from .. import eval_metadata, feedback, grading, optimization, timing, triggers
from ..document import Document, says
from .codingbuddy import queries, reviews
from .iterations_benchmark import BENCHMARK
from .names import named
from .wire import Dialect, Form, each, narrow, reshape


class Assertion(Document, kw_only=True):
    """Something that the output must fulfil, and how it is checked."""

    name: Annotated[str, says("a short name")]
    description: Annotated[str, says("what it checks, for people", also=("text",))]
    type: Annotated[str | None, says("file_exists, row_count, contains_text, custom, …")] = None


class Eval(Document, kw_only=True):
    """An eval with its assertions."""

    id: Annotated[int | str, says("unique within the suite")]
    prompt: Annotated[str, says("the task")]
    expected_output: Annotated[str | None, says("what success looks like")] = None
    files: Annotated[list[str], says("input files")] = []
    assertions: Annotated[list[Assertion], says("what is checked", also=("expectations",))] = []


class Evals(Document, kw_only=True):
    """The eval suite of a skill."""

    skill_name: Annotated[str, says("the skill")]
    evals: Annotated[list[Eval], says("the evals")]


EvalMetadata = narrow(
    eval_metadata.EvalMetadata,
    "eval_id eval_name prompt assertions",
    assertions=list[Assertion],
)
Expectation = narrow(grading.GradedExpectation, "text passed evidence")
Grading = narrow(grading.Grading, "expectations", expectations=list[Expectation])
Timing = narrow(timing.Timing, "total_tokens duration_ms total_duration_seconds")
Review = narrow(feedback.Review, "run_id feedback timestamp", required="feedback")
Feedback = narrow(feedback.Feedback, "reviews status", reviews=list[Review])
Query = narrow(triggers.TriggerQuery, "query should_trigger", should_trigger=bool)
Triggers = narrow(triggers.TriggerSet, "queries", plain="queries", queries=list[Query])
Step = narrow(optimization.OptimizationStep, "iteration description train_score test_score")
Optimization = narrow(
    optimization.Optimization, "best_description best_score iterations", iterations=list[Step]
)


ITERATIONS = Dialect(
    "iterations",
    {
        "evals": Form(Evals, reshape(evals=each(reshape(expectations=named)))),
        "eval_metadata": Form(EvalMetadata, reshape(assertions=named)),
        "grading": Form(Grading),
        "timing": Form(Timing),
        "benchmark": BENCHMARK,
        "feedback": Form(Feedback, reviews),
        "triggers": Form(Triggers, queries),
        "optimization": Form(Optimization),
    },
)
