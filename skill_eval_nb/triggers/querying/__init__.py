"""Trigger sets: read, written, looked through, drafted."""

from __future__ import annotations

from .doubting import QueryDoubt, check_queries
from .drafted import DraftedQueries
from .drafting import draft_queries
from .reading import read_queries
from .writing import write_queries

__all__ = [
    "DraftedQueries",
    "QueryDoubt",
    "check_queries",
    "draft_queries",
    "read_queries",
    "write_queries",
]
