"""A better description for a skill: searched for in rounds, chosen on queries held out."""

from .describing import write_description
from .going import OptimisingProgress
from .optimised import Optimised, Step
from .optimising import optimise
from .scoring import Score

__all__ = ["Optimised", "OptimisingProgress", "Score", "Step", "optimise", "write_description"]
