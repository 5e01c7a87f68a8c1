"""How many evals, runs and judgings the next benchmark takes."""

from .plan import plan

__all__ = ["plan"]
