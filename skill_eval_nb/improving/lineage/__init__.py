"""The versions of a skill: what each was made from, what changed, and whether it won."""

from .describing import by_version
from .tracing import history
from .values import Lineage, Version

__all__ = ["Lineage", "Version", "by_version", "history"]
