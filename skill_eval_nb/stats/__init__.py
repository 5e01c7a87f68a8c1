"""Tables in, tables out: the only place that aggregates."""

from .agreement import agreement
from .audit import audit
from .deltas import deltas, deltas_by_dimension, deltas_by_eval
from .discrimination import discrimination, discrimination_by_eval
from .judge_severity import judge_severity
from .notes import notes
from .outliers import outliers
from .pass_at_k import pass_at_k, pass_at_k_by_eval
from .plan import plan
from .preference import preference
from .summary import summarize
from .variance import variance

__all__ = [
    "agreement",
    "audit",
    "deltas",
    "deltas_by_dimension",
    "deltas_by_eval",
    "discrimination",
    "discrimination_by_eval",
    "judge_severity",
    "notes",
    "outliers",
    "pass_at_k",
    "pass_at_k_by_eval",
    "plan",
    "preference",
    "summarize",
    "variance",
]
