"""Workspaces of a few files, and their tables as plain rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import skill_eval_nb as sen
from skill_eval_nb.tables.columns import frame_of_rows, schema
from tests.corpus.build import graded, lay

Row = dict[str, Any]

BASELINE = "iteration-1/eval-1-login/without_skill/run-1"
RUN = "iteration-1/eval-1-login/with_skill/run-1"


def load(folder: Path, files: Mapping[str, Any], backend: Any = "polars") -> sen.Workspace:
    """The workspace `ws` of these files, below a folder of the test's own."""
    lay(folder / "ws", files)
    return sen.load(folder / "ws", backend)


def two_sides(marks: str = "ppf", baseline: str = "pff") -> dict[str, Any]:
    """An eval with a run on each side."""
    return {f"{RUN}/grading.json": graded(marks), f"{BASELINE}/grading.json": graded(baseline)}


def table_of(name: str, rows: list[Row]) -> Any:
    """Rows as a table of that name; columns that no row has are null."""
    types = schema(sen.tables.TABLES[name].columns)
    return frame_of_rows(types, [tuple(map(row.get, types)) for row in rows])


def workspace(**tables: list[Row]) -> sen.Workspace:
    """A workspace of these rows; the tables that are not given are empty."""
    return sen.Workspace.from_tables({name: table_of(name, rows) for name, rows in tables.items()})


def a_run(workspace: str = "ws", status: str = "graded", **more: Any) -> Row:
    """A row of `runs`, as far as an overview looks at it."""
    return {
        "workspace": workspace,
        "skill": f"skill of {workspace}",
        "iteration": "iteration-1",
        "eval_id": "1",
        "configuration": "with_skill",
        "status": status,
        **more,
    }
