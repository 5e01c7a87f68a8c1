"""What runs are found by: their words, what they have, and a condition on their columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.stats.values import RUN, no_such
from skill_eval_nb.tables import Workspace

from ..show.files import NotDrawn, output_files, read_output
from ..ui.finding import Things, words_of
from ..ui.source import RunKey, key_of

if TYPE_CHECKING:
    import polars as pl

FILES = 20
"""Outputs of a run that are looked through."""
CHARS = 50_000
"""Characters of an output that are looked through."""


class Condition(NamedTuple):
    """What runs are to meet: as it was given, and as an expression."""

    words: str
    meant: pl.Expr


def read_condition(where: str | pl.Expr | None, runs: pl.DataFrame) -> Condition | None:
    """The condition that runs are to meet, in SQL or as an expression of polars.

    Raises:
        ValueError: it is no condition, or asks for a column that `runs` does not have.
    """
    import polars as pl

    if where is None:
        return None
    try:
        meant = pl.sql_expr(where) if isinstance(where, str) else where
        for name in meant.meta.root_names():
            if name not in runs.columns:
                raise no_such("column", name, runs.columns)
        runs.clear().filter(meant)
    except (pl.exceptions.PolarsError, AttributeError) as error:
        raise ValueError(f"`where` is no condition on runs: {error}") from error
    return Condition(str(where), meant)


def things_of(ws: Workspace, runs: pl.DataFrame) -> list[Things]:
    """What each of the runs has."""
    failed = rows_by_run(ws.polars("expectations").filter(passed=False), runs)
    keys = ("workspace", "skill", "eval_id")
    tags = {row[:3]: row[3] for row in ws.polars("evals").select(*keys, "tags").iter_rows()}
    return [
        {
            "Side": [run["configuration"]],
            "Status": [run["status"]],
            "Failed check": [check["text"] for check in failed[run_key(run)] if check["text"]],
            "Eval": [run["eval_name"]],
            "Model": [run["executor_model"]] if run["executor_model"] else [],
            "Tag": tags.get(tuple(run[name] for name in keys)) or [],
        }
        for run in runs.iter_rows(named=True)
    ]


class RunWords:
    """The words of runs: their names, prompt, checks, evidence and outputs; each read once."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._known: dict[RunKey, str] = {}

    def read(self, runs: pl.DataFrame) -> list[str]:
        """The words of each of the runs."""
        rows = runs.rows(named=True)
        if any(key_of(run) not in self._known for run in rows):
            tables = [self._ws.polars(name) for name in ("expectations", "rubric_scores")]
            said = [rows_by_run(table, runs) for table in tables]
            prompts = {
                (row["workspace"], row["skill"], row["eval_id"]): row["prompt"]
                for row in self._ws.polars("evals").iter_rows(named=True)
            }
            for run in rows:
                if key_of(run) not in self._known:
                    self._known[key_of(run)] = self._words_of_run(run, prompts, said)
        return [self._known[key_of(run)] for run in rows]

    def _words_of_run(self, run: dict[str, Any], prompts: Any, said: Sequence[Any]) -> str:
        names = (run[name] for name in ("eval_name", "iteration", "configuration", "status"))
        prompt = prompts.get((run["workspace"], run["skill"], run["eval_id"]))
        rows = [row for known in said for row in known[run_key(run)]]
        about = (row.get(name) for row in rows for name in ("text", "dimension", "evidence"))
        return words_of(*names, prompt, *about, *self._outputs(run))

    def _outputs(self, run: dict[str, Any]) -> Iterator[str]:
        folder = Path(self._ws.path) / run["path"] if self._ws.path and run["path"] else None
        for file in output_files(folder)[:FILES] if folder and folder.is_dir() else ():
            try:
                yield read_output(file).text[:CHARS]
            except (NotDrawn, OSError):  # a picture, or gone
                continue


def rows_by_run(rows: pl.DataFrame, runs: pl.DataFrame) -> dict[Any, list[dict[str, Any]]]:
    """Rows by the run that they are of."""
    known: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.join(runs, on=RUN, how="semi").iter_rows(named=True):
        known[run_key(row)].append(row)
    return known


def run_key(row: Any) -> tuple[Any, ...]:
    """What tells the run of a row from all others."""
    return tuple(row[name] for name in RUN)
