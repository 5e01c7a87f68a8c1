"""What changed between two iterations: the skill's files, verdicts, expectations."""

from .diff import Diff, diff

__all__ = ["Diff", "diff"]
