"""Which expectations tell something, and how often all of an eval's pass."""

from .discrimination import discrimination, discrimination_by_eval
from .pass_at_k import pass_at_k, pass_at_k_by_eval

__all__ = ["discrimination", "discrimination_by_eval", "pass_at_k", "pass_at_k_by_eval"]
