"""Measure whether a skill's description gets it picked up, then improve the description.

    queries = sen.triggers.read_queries("my-skill/trigger-eval-set.json")
    measured = sen.triggers.measure("my-skill", queries, model="…", budget_usd=2)
    measured.doubts, measured.scores, measured.rates
    found = sen.triggers.optimise("my-skill", queries, model="…", budget_usd=10)
    sen.triggers.write_description("my-skill", found.best_description)   # shows the diff first

Heavy modules are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
    from .attempt import Attempt, Outcome, Query
    from .describe import write_description
    from .measurement import Measured, measure
    from .optimisation import Optimised, optimise
    from .queries import (
        DraftedQueries,
        QueryDoubt,
        check_queries,
        draft_queries,
        read_queries,
        write_queries,
    )


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


__getattr__, __dir__ = load_lazily(
    __name__,
    {
        ".attempt": "Attempt Outcome Query",
        ".describe": "write_description",
        ".measurement": "Measured measure",
        ".optimisation": "Optimised optimise",
        ".queries": (
            "DraftedQueries QueryDoubt check_queries draft_queries read_queries write_queries"
        ),
    },
)
