"""`from_table` and `from_files`: any table of results, and any layout of files, as a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults
from skill_eval_nb.documents.tools import Results
from skill_eval_nb.documents.tools.own_layout import (
    OwnLayout,
    read_own_layout,
    root_and_pattern,
    table_of,
)
from skill_eval_nb.documents.tools.rows import read_values
from skill_eval_nb.documents.tools.table import read_rows
from skill_eval_nb.workspace import FilePlace, Files, Layout, Place, Problems, add_results
from skill_eval_nb.workspace.proposal import find_likely_rows

from .frames import Backend
from .workspace import Workspace, assemble

Words = Mapping[str, bool | None]


def from_table(
    table: Any,
    *,
    rows: str | None = None,
    dimensions: Sequence[str] = (),
    checks: Sequence[str] = (),
    words: Words | None = None,
    name: str | None = None,
    backend: Backend = "polars",
    **columns: str,
) -> Workspace:
    """A table of results as a workspace: charts, report, widgets, plan and gate work on it.

    A row is a run, or a check of a run (`check=`, `verdict=`), or a dimension of a run
    (`dimension=`, `rating=`, and `judge_model=` or `judging=` where several judged it), or a
    trigger query (`query=`, `should_trigger=`, `triggered=`). Rubric dimensions and checks may be
    columns, too: `dimensions=[…]`, `checks=[…]`.

    Columns that are not said are recognised by their names; which was taken for what, and what
    is wrong with any of them, is in `.problems`. Of a column that is understood in part (words
    for passed and not for failed, two scales) nothing is used.

    Args:
        table: polars, pandas or Arrow, a list of dicts (or an object that holds one), or the path
            of a CSV, TSV, JSONL, JSON or Parquet file.
        rows: where in a JSON value the rows are, see `from_files`; found where it is plain.
        dimensions: columns that are a rubric dimension each; 1 to 5, or a scale that is told.
        checks: columns of true and false, or of so many of so many (`[3, 5]`), that are a check
            each.
        words: what words of verdicts mean, where that is not known: `{"missing": False}`.
        name: what the workspace is called; the file's name, or `table`.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        columns: what a column is, by its role: eval, eval_name, configuration, run, skill,
            iteration, model, harness, status, started_at, pass_rate (`pass_rate="score"` for a
            score of 0 to 1 that is to be the rate), passed, failed, total, score, time_seconds,
            duration_ms, tokens, tokens_cached, cost_usd, tool_calls, steps, skill_used, check,
            verdict, dimension, rating, weight, evidence, judging, judge_model, query,
            should_trigger, triggered.

    Returns:
        A `Workspace`. A rate in percent, a row without a side, two rows for one run, text where
        a figure belongs: each is a row of `.problems` that says what to do.

    Raises:
        KeyError: for a role or a column that there is not; the message names the nearest one.
        TypeError: for what is no table.
        ValueError: where a file is not what its name says, or has no rows there.
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
    path = os.fspath(table) if isinstance(table, str | os.PathLike) else None

    def read() -> list[Results]:
        faults = Faults()
        value = table if path is None else read_values(path, read_bytes(path), faults)
        value = value if isinstance(value, list | Mapping) else _rows_of_frame(value)
        plain = isinstance(value, list) and any(isinstance(row, Mapping) for row in value)
        likely = find_likely_rows(value)[1] if rows is None and not plain else rows
        told = OwnLayout("", likely, None, columns, dimensions, checks, words or {})
        return read_rows(table_of([(path or "", value, {})], told, faults))

    base = os.path.dirname(os.path.abspath(path)) if path else ""
    stem = os.path.basename(path).rsplit(".", 1)[0] if path else "table"
    folder = f"{base}/{name or stem}" if path else name or stem
    return _workspace_of(read, path or folder, folder, backend)


def from_files(
    files: str | os.PathLike[str],
    *,
    rows: str | None = None,
    by_key: str | None = None,
    dimensions: Sequence[str] = (),
    checks: Sequence[str] = (),
    words: Words | None = None,
    split: Mapping[str, str] | None = None,
    name: str | None = None,
    backend: Backend = "polars",
    **columns: str,
) -> Workspace:
    """Results in a layout of your own as a workspace: said once which files, rows and columns.

    What is in braces in the path of the files becomes a column, and so does every key of a row
    (`usage.tokens` for one within another) and of the objects that it lies in (`../name`). These
    columns are read as those of `from_table`.

    The same, with the same names, can stand in a file `skill-eval-nb.toml` beside the results:
    `load` then uses it. Its paths begin at its folder.

    Args:
        files: the path of the files, JSON, JSONL, CSV or Parquet, with names in braces for what
            differs, and `*` or `**/` for what does not matter:
            `results/{configuration}/{eval}/run-{run}.json`.
        rows: the path to the rows in a file: keys, `[*]` for every element of a list, `{eval}`
            for every key of an object: `results[*].checks[*]`. Without it a list has them, and
            else the file is one row itself; the lines of a JSONL file are elements.
        by_key: what the keys of the object at `rows` are: `by_key="eval"` is `{eval}` after it.
        dimensions: columns that are a rubric dimension each, as in `from_table`.
        checks: columns that are a check each.
        words: what words of verdicts mean.
        split: columns that tell several things, with how: `{"run": "{eval}/{configuration}"}`.
        name: what the workspace is called; the folder's name.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        columns: what a column is, by its role, as in `from_table`. A path that is no column is
            followed: `tokens="../per_eval.{eval}.tokens"` looks up what stands there for the
            row's own eval, `passed="counts[0]"` takes an element. `.` is a row that is no object.

    Returns:
        A `Workspace`; what could not be used is in `.problems`.

    Raises:
        FileNotFoundError: where no file has that path.
        KeyError: for a role or a column that there is not; the message names the nearest one.
        ValueError: where no file has rows there, or the path leads out of its folder.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for side, ok in (("new", "true"), ("old", "false")):
    ...     _ = (folder / f"{side}.json").write_text('{"cases": [{"id": "a", "ok": %s}]}' % ok)
    >>> ws = from_files(
    ...     f"{folder}/{{configuration}}.json", rows="cases[*]", eval="id", passed="ok"
    ... )
    >>> ws.runs.select("eval_id", "configuration", "pass_rate").rows()
    [('a', 'new', 1.0), ('a', 'old', 0.0)]
    """
    root, pattern = root_and_pattern(os.fspath(files))
    told = OwnLayout(pattern, rows, by_key, columns, dimensions, checks, words or {}, split or {})
    base = os.path.abspath(root)
    folder = os.path.join(os.path.dirname(base), name) if name else base
    return _workspace_of(lambda: read_own_layout(root, told), folder, folder, backend)


def _workspace_of(
    read: Callable[[], list[Results]], path: str, folder: str, backend: Backend
) -> Workspace:
    if backend not in ("polars", "pandas"):
        raise ValueError(f"unknown backend {backend!r}: there are 'polars' and 'pandas'")
    files, met = Files(), Problems()
    for result in read():
        place = Place(folder, iteration=result.iteration) if result.iteration else Place(folder)
        met.add_faults(path, result.faults.collapsed())
        add_results(FilePlace(path, place, tool="table"), [result], files, met)
    base = os.path.dirname(folder) or folder
    return Workspace(
        lambda texts: assemble(Layout(), base, texts, Problems(met), files),
        base,
        backend,
        lambda: _workspace_of(read, path, folder, backend),
    )


def _rows_of_frame(table: Any) -> list[dict[str, Any]]:
    import narwhals as nw

    try:
        frame = nw.from_native(table)
    except TypeError:
        kind = type(table).__name__
        raise TypeError(
            f"{kind} is no table: give polars, pandas or Arrow, a list of dicts, or a file's path"
        ) from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_polars().to_dicts()
