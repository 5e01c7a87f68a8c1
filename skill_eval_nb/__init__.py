"""Does your agent skill really help?

Run evals with and without a skill and grade them; load evaluation workspaces and benchmarks,
whoever's tool wrote them, into data frames; see what the skill changes; export what you found::

    import skill_eval_nb as sen

    plan = sen.plan_runs("my-skill", executor="messages-api", executor_model="…", budget_usd=5)
    plan.start().wait()

    ws = sen.load("my-skill-workspace")
    ws.runs, ws.expectations, ws.rubric_scores, ws.problems
    sen.stats.deltas(ws)
    sen.charts.forest(ws)
    sen.report.write_report(ws, "report")

    sen.compare(ws, "with_skill", "without_skill")  # blind

    queries = sen.triggers.read_queries("my-skill")
    sen.triggers.measure("my-skill", queries, model="…", budget_usd=2)  # is it picked up?

    sen.explore(ws), sen.diff(ws), sen.review(ws), sen.drafts(ws), sen.run_panel("my-skill")
    sen.trigger_panel("my-skill")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        charts,
        documents,
        grading,
        improving,
        models,
        report,
        running,
        stats,
        triggers,
        widgets,
    )
    from .improving import compare
    from .running import grade_stored, judge_again, plan_runs
    from .tables import NothingToLoad, Workspace, describe, from_table, load, show
    from .widgets import diff, drafts, explore, review, run_panel, trigger_panel

__all__ = [
    "NothingToLoad",
    "Workspace",
    "charts",
    "compare",
    "describe",
    "diff",
    "documents",
    "drafts",
    "explore",
    "from_table",
    "grade_stored",
    "grading",
    "improving",
    "judge_again",
    "load",
    "models",
    "plan_runs",
    "report",
    "review",
    "run_panel",
    "running",
    "show",
    "stats",
    "trigger_panel",
    "triggers",
    "widgets",
]

__version__ = "0.1.0"

_ROOMS = "charts documents grading improving models report running stats triggers widgets".split()
_HOMES = {
    "compare": ".improving",
    **dict.fromkeys(("grade_stored", "judge_again", "plan_runs"), ".running"),
    **dict.fromkeys(
        ("diff", "drafts", "explore", "review", "run_panel", "trigger_panel"), ".widgets"
    ),
}
"""Where the names live that are not of `tables`."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in __all__:
        return getattr(importlib.import_module(_HOMES.get(name, ".tables"), __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
