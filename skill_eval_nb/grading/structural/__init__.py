"""Layer 1: deterministic checks of what a run has produced, and of what was done in it."""

from .checking import check, verdicts_on
from .types import KINDS, OF_TRANSCRIPT, expectations_of, is_checked

__all__ = ["KINDS", "OF_TRANSCRIPT", "check", "expectations_of", "is_checked", "verdicts_on"]
