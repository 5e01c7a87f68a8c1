"""Tables in, tables out: the only place that aggregates."""

from .agreement import agreement
from .audit import audit
from .deltas import deltas, deltas_by_dimension, deltas_by_eval
from .expectations import discrimination, discrimination_by_eval
from .factors import factors
from .notes import notes
from .overview import next_step, sequential
from .plan import plan
from .preference import preference
from .second_opinion import second_opinion
from .summary import outliers, pass_at_k, pass_at_k_by_eval, summarize
from .triggers import trigger_confusion, trigger_doubts, trigger_rates, trigger_scores
from .variance import judge_severity, variance

__all__ = [
    "agreement",
    "audit",
    "deltas",
    "deltas_by_dimension",
    "deltas_by_eval",
    "discrimination",
    "discrimination_by_eval",
    "factors",
    "judge_severity",
    "next_step",
    "notes",
    "outliers",
    "pass_at_k",
    "pass_at_k_by_eval",
    "plan",
    "preference",
    "second_opinion",
    "sequential",
    "summarize",
    "trigger_confusion",
    "trigger_doubts",
    "trigger_rates",
    "trigger_scores",
    "variance",
]
