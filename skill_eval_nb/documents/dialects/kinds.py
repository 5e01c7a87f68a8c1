"""The kinds of document that there are, and which of them a file is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..analysis import Analysis
from ..benchmark import Benchmark
from ..comparison import Comparison
from ..document import Document
from ..eval_metadata import EvalMetadata
from ..evals import Evals
from ..feedback import Feedback
from ..grading import Grading
from ..history import History
from ..judging import Judging
from ..metrics import Metrics
from ..optimization import Optimization
from ..structural import Structural
from ..suggestions import SuggestionAggregate
from ..timing import Timing
from ..triggers import TriggerSet
from .signs import (
    has_rates,
    is_analysis,
    is_benchmark,
    is_comparison,
    is_eval_metadata,
    is_evals,
    is_feedback,
    is_grading,
    is_history,
    is_judging,
    is_object,
    is_optimization,
    is_structural,
    is_suggestions,
    is_triggers,
    knows,
)
from .wild_runs import has_rows

NEUTRAL: dict[str, type[Document]] = {
    "evals": Evals,
    "eval_metadata": EvalMetadata,
    "structural": Structural,
    "grading": Grading,
    "judging": Judging,
    "metrics": Metrics,
    "timing": Timing,
    "benchmark": Benchmark,
    "comparison": Comparison,
    "analysis": Analysis,
    "history": History,
    "feedback": Feedback,
    "triggers": TriggerSet,
    "optimization": Optimization,
    "suggestions": SuggestionAggregate,
}
"""Each kind, and the shared type that it is read into."""


class NoSuchDocument(ValueError):
    """There is no document of that kind, or the dialect has none."""


_RULES: tuple[tuple[str, str, Callable[[Any], bool], bool], ...] = (
    ("triggers", r"trigger|eval_queries|eval_set", is_triggers, True),
    ("structural", r"structural", is_structural, True),
    ("judging", r"judging", is_judging, True),
    ("comparison", r"comparison", is_comparison, True),
    ("analysis", r"analysis", is_analysis, True),
    ("optimization", r"optimi[sz]ation|best_description", is_optimization, True),
    ("history", r"history", is_history, True),
    ("suggestions", r"feedback_aggregate|suggestion", is_suggestions, True),
    ("feedback", r"feedback", is_feedback, True),
    ("benchmark", r"benchmark", is_benchmark, True),
    ("benchmark", r"benchmark", has_rates, False),
    ("evals", r"evals|eval_metadata|test_cases|cases", is_evals, True),
    ("eval_metadata", r"eval_metadata|assertions", is_eval_metadata, True),
    ("benchmark", "", has_rows, True),
    ("grading", r"grading", is_grading, True),
    ("eval_metadata", r"eval_metadata", knows(EvalMetadata), False),
    ("metrics", r"metrics", knows(Metrics), False),
    ("timing", r"timing", knows(Timing), False),
    ("metrics", r"^metrics$", is_object, False),
    ("timing", r"^timing$", is_object, False),
)
"""Kind, what names of its files hold, what its files hold, and whether that alone is enough.
The order decides where several rules fit."""

_NAMES = {
    "evals": "evals",
    "eval_metadata": "eval_metadata",
    "structural": "structural",
    "grading": "grading",
    "metrics": "metrics",
    "timing": "timing",
    "benchmark": "benchmark",
    "comparison": "comparison",
    "analysis": "analysis",
    "history": "history",
    "feedback": "feedback",
    "trigger_eval": "triggers",
    "trigger-eval-set": "triggers",
    "eval_feedback_aggregate": "suggestions",
}
"""The names that the dialects give to their files, without `.json`."""


def kind_of(name: str, raw: Any) -> str | None:
    """Which kind of document a file is, from its name and, above all, from what is in it.

    Args:
        name: the file's name, or a path that ends in it.
        raw: its plain JSON value.

    Returns:
        one of the keys of `NEUTRAL`, or None for a file that is none of them.

    >>> kind_of("eval_metadata.json", {"test_cases": [{"id": "a", "prompt": "Do"}]})
    'evals'
    >>> kind_of("grading_with_skill.json", {"expectations": [{"text": "It runs", "passed": True}]})
    'grading'
    >>> kind_of("package.json", {"name": "x"}) is None
    True
    """
    stem = re.split(r"[\\/]", name)[-1].lower().removesuffix(".json")
    if not isinstance(raw, (dict, list)):
        return None
    fitting = [(kind, words, enough) for kind, words, fits, enough in _RULES if fits(raw)]
    by_name = [kind for kind, words, _ in fitting if re.search(words, stem.replace("-", "_"))]
    by_content = [kind for kind, _, enough in fitting if enough]
    return next(iter(by_name + by_content), None) or _NAMES.get(stem)
