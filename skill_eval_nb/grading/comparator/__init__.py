"""A model compares two works on the same task, and is not told whose they are."""

from .answers import Answer, Side, read_answer
from .documenting import comparison_of
from .preparing import Prepared, prepare
from .questions import Comparator, question
from .schema import SCHEMA

__all__ = [
    "SCHEMA",
    "Answer",
    "Comparator",
    "Prepared",
    "Side",
    "comparison_of",
    "prepare",
    "question",
    "read_answer",
]
