"""Commands about triggers: `trigger`, `trigger-draft`, `trigger-optimise`."""

from . import drafting, measuring, optimising  # a command registers itself where it stands

__all__ = ["drafting", "measuring", "optimising"]
