"""Whether a skill's description does its work: measured, then improved.

    queries = sen.triggers.read_queries("my-skill/trigger-eval-set.json")
    measured = sen.triggers.measure("my-skill", queries, model="…", budget_usd=2)
    measured.doubts, measured.scores, measured.rates
    found = sen.triggers.optimise("my-skill", queries, model="…", budget_usd=10)
    sen.triggers.write_description("my-skill", found.best_description)   # shows the diff first

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attempt import Attempt, Outcome, Query
    from .describe import write_description
    from .draft import DraftedQueries, draft_queries
    from .measured import Measured
    from .measurement import measure
    from .optimisation import optimise
    from .optimised import Optimised
    from .queries import QueryDoubt, check_queries, read_queries, write_queries

_HOMES = {
    **dict.fromkeys(("Attempt", "Outcome", "Query"), ".attempt"),
    **dict.fromkeys(("QueryDoubt", "check_queries", "read_queries", "write_queries"), ".queries"),
    **dict.fromkeys(("DraftedQueries", "draft_queries"), ".draft"),
    "Measured": ".measured",
    "measure": ".measurement",
    "Optimised": ".optimised",
    "optimise": ".optimisation",
    "write_description": ".describe",
}
"""Where each name of the face lives; looked up when it is asked for."""

__all__ = [
    "Attempt",
    "DraftedQueries",
    "Measured",
    "Optimised",
    "Outcome",
    "Query",
    "QueryDoubt",
    "check_queries",
    "draft_queries",
    "measure",
    "optimise",
    "read_queries",
    "write_description",
    "write_queries",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
