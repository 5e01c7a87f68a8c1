"""Review runs: see them, alone or side by side, and say what is to be said of them."""

from .review import review
from .widget import Review

__all__ = ["Review", "review"]
