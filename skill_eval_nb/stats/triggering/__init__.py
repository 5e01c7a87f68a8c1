"""Whether a skill is picked up when it should be."""

from .confusion import trigger_confusion
from .doubts import trigger_doubts
from .rates import trigger_rates
from .scores import trigger_scores

__all__ = ["trigger_confusion", "trigger_doubts", "trigger_rates", "trigger_scores"]
