"""Tables in, tables out: the only place that aggregates."""

from .audit import audit
from .deltas import deltas, deltas_by_dimension, deltas_by_eval
from .summary import summarize

__all__ = ["audit", "deltas", "deltas_by_dimension", "deltas_by_eval", "summarize"]
