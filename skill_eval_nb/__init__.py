"""Does your agent skill really help?

Load evaluation workspaces and benchmarks, whoever's tool wrote them, into data frames; see
what the skill changes; export what you found::

    import skill_eval_nb as sen

    ws = sen.load("my-skill-workspace")
    ws.runs, ws.expectations, ws.rubric_scores, ws.problems
    sen.stats.deltas(ws)
    sen.charts.forest(ws)
    sen.report.write_report(ws, "report")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import charts, documents, report, stats
    from .tables import NothingToLoad, Workspace, describe, load

__all__ = [
    "NothingToLoad",
    "Workspace",
    "charts",
    "describe",
    "documents",
    "load",
    "report",
    "stats",
]

__version__ = "0.1.0"

_ROOMS = ("charts", "documents", "report", "stats")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in __all__:
        return getattr(importlib.import_module(".tables", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
