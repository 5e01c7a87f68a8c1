"""A model says why the winner of a comparison won, and what would make a skill better."""

from .answers import Answer, read_answer
from .documenting import analysis_of
from .questions import question
from .schema import CATEGORIES, PRIORITIES, SCHEMA
from .values import Analyst, Work

__all__ = [
    "CATEGORIES",
    "PRIORITIES",
    "SCHEMA",
    "Analyst",
    "Answer",
    "Work",
    "analysis_of",
    "question",
    "read_answer",
]
