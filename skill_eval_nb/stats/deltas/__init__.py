"""What a configuration changes against the baseline, and how sure that is."""

from .deltas import deltas, deltas_by_dimension, deltas_by_eval

__all__ = ["deltas", "deltas_by_dimension", "deltas_by_eval"]
