"""What a benchmark.json states, against what its runs give."""

from .audit import audit

__all__ = ["audit"]
