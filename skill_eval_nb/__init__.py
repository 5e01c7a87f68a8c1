"""Does your agent skill really help?

Run evals with and without a skill and grade them; load evaluation workspaces and benchmarks,
whoever's tool wrote them, into data frames; see what the skill changes; export what you found::

    import skill_eval_nb as sen

    drafts = sen.draft_evals("my-skill", model="…", budget_usd=1)  # if it has no evals yet
    sen.improving.preview(drafts, "my-skill")  # the diff; its .write() writes it

    plan = sen.plan_runs("my-skill", executor="messages-api", executor_model="…", budget_usd=5)
    plan.start().wait()

    ws = sen.load("my-skill-workspace")
    ws.runs, ws.expectations, ws.rubric_scores, ws.problems
    sen.stats.deltas(ws)
    sen.charts.forest(ws)
    sen.report.write_report(ws, "report")
    sen.gate(ws)  # an exit code for CI

    sen.compare(ws, "with_skill", "without_skill")  # blind

    queries = sen.triggers.read_queries("my-skill")
    sen.triggers.measure("my-skill", queries, model="…", budget_usd=2)  # is it picked up?

    sen.explore(ws), sen.diff(ws), sen.review(ws), sen.drafts(ws), sen.run_panel("my-skill")
    sen.trigger_panel("my-skill")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .faces import load_lazily
from .running import protocol as _protocol

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
    from .improving import compare, draft_evals
    from .report import gate, library
    from .running import grade_stored, judge_again, plan_runs
    from .tables import NothingToLoad, Workspace, describe, from_files, from_table, load
    from .widgets import diff, drafts, explore, library_panel, review, run_panel, trigger_panel
    from .widgets.show import show

__all__ = [
    "NothingToLoad",
    "Workspace",
    "charts",
    "compare",
    "describe",
    "diff",
    "documents",
    "draft_evals",
    "drafts",
    "explore",
    "from_files",
    "from_table",
    "gate",
    "grade_stored",
    "grading",
    "improving",
    "judge_again",
    "library",
    "library_panel",
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


# Running knows no statistics.
_protocol.look_rules = lambda: import_module(".stats.overview", __name__)

__getattr__, __dir__ = load_lazily(
    __name__,
    {
        "": "charts documents grading improving models report running stats triggers widgets",
        ".improving": "compare draft_evals",
        ".report": "gate library",
        ".running": "grade_stored judge_again plan_runs",
        ".tables": "NothingToLoad Workspace describe from_files from_table load",
        ".widgets": "diff drafts explore library_panel review run_panel trigger_panel",
        ".widgets.show": "show",
    },
)
