"""Which run is meant: its key, its row, and the folder it was read from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


class RunKey(NamedTuple):
    """What tells a run from every other of what was loaded: values that JSON has, too."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    configuration: str
    run_number: int


def key_of(row: dict[str, Any]) -> RunKey:
    """The key of a row of any table of runs."""
    return RunKey(*(row[name] for name in RunKey._fields))


def rows_of(frame: pl.DataFrame, key: RunKey) -> pl.DataFrame:
    """The rows of a run-level table that are of one run."""
    return frame.filter(**key._asdict())


def run_row(ws: Workspace, key: RunKey) -> dict[str, Any]:
    """The run's row of `runs`.

    Raises:
        LookupError: where there is no such run.
    """
    rows = rows_of(ws.polars("runs"), key)
    if rows.is_empty():
        raise LookupError(f"There is no run {named(key)} any more.")
    return rows.row(0, named=True)


def folder_of(ws: Workspace, row: dict[str, Any]) -> Path | None:
    """The folder of a run; None where it has none of its own, as one that a benchmark states."""
    if not ws.path:
        return None
    folder = Path(ws.path) / row["path"]
    return folder if folder.is_dir() else None


def named(key: RunKey) -> str:
    """The run in a sentence.

    >>> named(RunKey("w", "s", "iteration-1", "3", "with_skill", 2))
    'eval 3, with_skill, run 2 of iteration-1'
    """
    of = "" if key.iteration == "none" else f" of {key.iteration}"
    return f"eval {key.eval_id}, {key.configuration}, run {key.run_number}{of}"
