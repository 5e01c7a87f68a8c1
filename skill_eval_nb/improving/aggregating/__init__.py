"""What the graders suggest over runs and evals, the same thing once."""

from .aggregating import THRESHOLD, aggregate
from .collected import Aggregate, Merging, free
from .placing import place_of

__all__ = ["THRESHOLD", "Aggregate", "Merging", "aggregate", "free", "place_of"]
