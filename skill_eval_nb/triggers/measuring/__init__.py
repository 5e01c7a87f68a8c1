"""Whether a skill is picked up: each query asked several times, and what came of it."""

from .going import MeasuringProgress
from .measured import Measured
from .measuring import measure

__all__ = ["Measured", "MeasuringProgress", "measure"]
