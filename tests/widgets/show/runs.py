"""Workspaces of one run, made of rows."""

from __future__ import annotations

from typing import Any

import polars as pl

from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.ui.source import RunKey

KEY = RunKey("w", "s", "iteration-1", "1", "with_skill", 1)
RUN = {**KEY._asdict(), "eval_name": "lend-a-book"}
EVAL = {name: RUN[name] for name in ("workspace", "skill", "eval_id", "eval_name")}


def workspace(path: str = "", **tables: list[dict[str, Any]]) -> Workspace:
    """A workspace with these rows; a row of a run has its keys."""
    tables = {"runs": [{"status": "graded", "path": "run-1"}], **tables}
    frames = {
        name: pl.DataFrame(
            [(EVAL if name in ("evals", "dimensions") else RUN) | row for row in rows]
        )
        for name, rows in tables.items()
        if name != "problems"
    }
    if "problems" in tables:
        frames["problems"] = pl.DataFrame(tables["problems"])
    return Workspace.from_tables(frames, path)
