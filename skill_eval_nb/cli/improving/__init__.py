"""Commands that improve evals and skills: `improve aggregate | draft | try | apply | history`."""

from . import (  # a command registers itself where it stands
    aggregating,
    analysing,
    applying,
    drafting,
    lineage,
    trying,
)
from .app import improve

__all__ = ["aggregating", "analysing", "applying", "drafting", "improve", "lineage", "trying"]
