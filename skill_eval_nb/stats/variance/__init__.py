"""Where the variance comes from: evals, runs or the judge."""

from .judge_severity import judge_severity
from .variance import variance

__all__ = ["judge_severity", "variance"]
