"""The rows of a run in each table, kept while its workspace is looked at."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from weakref import WeakKeyDictionary

from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.runs import RunKey, rows_of

Row = dict[str, Any]

RUNS = 400
"""Tables of runs that are kept of a workspace."""

_KEPT: WeakKeyDictionary[Workspace, OrderedDict[tuple[str, RunKey], list[Row]]] = (
    WeakKeyDictionary()
)


def rows(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table that are of one run."""
    kept = _KEPT.setdefault(ws, OrderedDict())
    found = kept.get((table, key))
    if found is None:
        found = kept[table, key] = rows_of(ws.polars(table), key).to_dicts()
        while len(kept) > RUNS:
            kept.popitem(last=False)
    return found


def rows_of_eval(ws: Workspace, table: str, key: RunKey) -> list[Row]:
    """The rows of a table of definitions that are of the run's eval."""
    frame = ws.polars(table)
    wanted = {"workspace": key.workspace, "skill": key.skill, "eval_id": key.eval_id}
    return frame.filter(**wanted).to_dicts()
