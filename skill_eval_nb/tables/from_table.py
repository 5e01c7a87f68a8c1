"""`from_table`: any table of results as a workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, parse
from skill_eval_nb.workspace import FilePlace, Files, Layout, Place, Problems, add_results

from .any_table import read_rows
from .assemble import assemble, single_layers
from .frames import Backend
from .workspace import Workspace

if TYPE_CHECKING:
    import polars as pl


def from_table(
    table: Any,
    *,
    dimensions: Sequence[str] = (),
    checks: Sequence[str] = (),
    name: str | None = None,
    backend: Backend = "polars",
    **columns: str,
) -> Workspace:
    """A table of results as a workspace: charts, report, widgets, plan and gate work on it.

    A row is a run, or a check of a run (`check=`, `verdict=`), or a dimension of a run
    (`dimension=`, `rating=`, and `judge_model=` or `judging=` where several judged it). Rubric
    dimensions and checks may be columns, too: `dimensions=[…]`, `checks=[…]`.

    Columns that are not said are recognised by their names; which was taken for what, and what
    is wrong with any of them, is in `.problems`.

    Args:
        table: polars, pandas or Arrow, or the path of a CSV, TSV, JSONL, JSON or Parquet file.
        dimensions: columns that are a rubric dimension each; 1 to 5, or a scale that is told.
        checks: columns of true and false that are a check each.
        name: what the workspace is called; the file's name, or `table`.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        columns: what a column is, by its role: eval, eval_name, configuration, run, skill,
            iteration, model, harness, status, started_at, pass_rate, passed, failed, total,
            score, time_seconds, duration_ms, tokens, tokens_cached, cost_usd, tool_calls, steps,
            skill_used, check, verdict, dimension, rating, weight, evidence, judging,
            judge_model.

    Returns:
        A `Workspace`. A rate in percent, a row without a side, two rows for one run, text where
        a figure belongs: each is a row of `.problems` that says what to do.

    Raises:
        KeyError: for a role or a column that there is not; the message names the nearest one.
        TypeError: for what is no table.
        OSError: where the file cannot be read.

    >>> import polars as pl
    >>> ws = from_table(
    ...     pl.DataFrame({"task": ["a", "a"], "arm": ["skill", "none"], "ok": [True, False]}),
    ...     passed="ok",
    ... )
    >>> ws.runs.select("eval_id", "configuration", "pass_rate").rows()
    [('a', 'skill', 1.0), ('a', 'none', 0.0)]
    >>> ws.problems["message"].item()
    "columns: passed is 'ok', eval is 'task' (by its name), configuration is 'arm' (by its name)"
    """
    if backend not in ("polars", "pandas"):
        raise ValueError(f"unknown backend {backend!r}: there are 'polars' and 'pandas'")
    path = os.fspath(table) if isinstance(table, str | os.PathLike) else None
    rows, names = _rows_of(table if path is None else _frame_at(path))
    results = read_rows(rows, names, columns, dimensions, checks)
    base = os.path.dirname(os.path.abspath(path)) if path else ""
    stem = os.path.basename(path).rsplit(".", 1)[0] if path else "table"
    folder = f"{base}/{name or stem}" if path else name or stem
    files, met = Files(), Problems()
    for result in results:
        place = Place(folder, iteration=result.iteration) if result.iteration else Place(folder)
        met.add_faults(path or folder, result.faults.collapsed())
        add_results(FilePlace(path or folder, place, tool="table"), [result], files, met)

    def read(texts: bool) -> dict[str, pl.DataFrame]:
        frames = assemble(Layout(), base, texts, Problems(met), files)
        if texts:
            layers = single_layers(frames["runs"], frames["evals"])
            frames["problems"] = frames["problems"].vstack(layers)
        return frames

    def again() -> Workspace:
        return from_table(
            path, dimensions=dimensions, checks=checks, name=name, backend=backend, **columns
        )

    return Workspace(read, base or folder, backend, again if path else None)


def _frame_at(path: str) -> Any:
    """The table in a file, by its ending."""
    import polars as pl

    end = os.path.splitext(path)[1].lower()
    if end in (".csv", ".tsv", ".txt"):
        data, separator = read_bytes(path), "\t" if end == ".tsv" else ","
        try:
            return pl.read_csv(data, separator=separator, infer_schema_length=None)
        except pl.exceptions.NoDataError:
            return pl.DataFrame()
        except pl.exceptions.ComputeError:  # a column of several types, or lines of several lengths
            return pl.read_csv(
                data, separator=separator, infer_schema=False, truncate_ragged_lines=True
            )
    if end in (".parquet", ".pq"):
        return pl.read_parquet(read_bytes(path))
    if end in (".jsonl", ".ndjson"):
        lines = read_bytes(path).splitlines()
        return [parse(line, Faults()) for line in lines if line.strip()]
    if end == ".json":
        return parse(read_bytes(path), Faults())
    raise TypeError(f"{path}: read are .csv, .tsv, .parquet, .jsonl, .ndjson and .json")


def _rows_of(table: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and columns; an object in a row is a column for each of its fields."""
    if isinstance(table, list):
        rows = [_flat(row) for row in table if isinstance(row, Mapping)]
        return rows, list(dict.fromkeys(name for row in rows for name in row))
    import narwhals as nw

    try:
        frame = nw.from_native(table)
    except TypeError:
        kind = type(table).__name__
        raise TypeError(
            f"{kind} is no table: give polars, pandas or Arrow, a list of dicts, or a file's path"
        ) from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_polars().to_dicts(), list(eager.columns)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        inside = value if isinstance(value, Mapping) else {"": value}
        flat |= {f"{key}.{name}" if name else str(key): value for name, value in inside.items()}
    return flat
