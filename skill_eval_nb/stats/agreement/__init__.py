"""How far a judge or a comparator can be trusted."""

from .agreement import agreement
from .preference import preference

__all__ = ["agreement", "preference"]
