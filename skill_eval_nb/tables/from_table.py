"""`from_table` and `from_files`: any table of results, and any layout of files, as a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from skill_eval_nb.workspace import (
    FilePlace,
    Files,
    Layout,
    Place,
    Problems,
    add_results,
    catalogue_files,
)
from skill_eval_nb.workspace.proposal import find_likely_rows

from .frames import Backend
from .workspace import Workspace, assemble

if TYPE_CHECKING:
    import polars as pl

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
    """Load a table of results as a workspace: charts, report, widgets, plan and gate work on it.

    A row is a run, or a check of a run (`check=`, `verdict=`), or a dimension of a run
    (`dimension=`, `rating=`, and `judge_model=` or `judging=` if several judged it), or a
    trigger query (`query=`, `should_trigger=`, `triggered=`). Rubric dimensions and checks can
    also be columns: `dimensions=[…]`, `checks=[…]`.

    Other columns are recognised by their names; `.problems` says which column was used for what,
    and what is wrong with any of them. A column that is only partly understood (words for passed
    but not for failed, two scales) is not used at all.

    Args:
        table: polars, pandas or Arrow, a list of dicts (or an object that holds one), or the path
            of a CSV, TSV, JSONL, JSON or Parquet file.
        rows: where the rows are in a JSON value, see `from_files`; found if it is obvious.
        dimensions: columns that are rubric dimensions; from 1 to 5, or on a scale that you give.
        checks: columns that are checks, with true and false, or counts such as three of five
            (`[3, 5]`).
        words: what words for verdicts mean, if unknown: `{"missing": False}`.
        name: the workspace's name; the file's if not given, or `table`.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        columns: the column for each role: eval, eval_name, configuration, run, skill, iteration,
            model, harness, status, started_at, pass_rate (`pass_rate="score"` to use a score of
            0 to 1 as the rate), passed, failed, total, score, time_seconds, duration_ms, tokens,
            tokens_cached, cost_usd, tool_calls, steps, skill_used, check, verdict, dimension,
            rating, weight, evidence, judging, judge_model, query, should_trigger, triggered.

    Returns:
        A `Workspace`. A rate in percent, a row without a side, two rows for one run, text
        instead of a number: each is a row of `.problems` that says what to do.

    Raises:
        KeyError: if a role or column does not exist; the message suggests the nearest one.
        TypeError: if it is not a table.
        ValueError: if a file is not what its name says, or has no rows there.
        OSError: if the file cannot be read.

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

    def read_results() -> list[Results]:
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
    return _workspace_of(read_results, path or folder, folder, backend)


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
    """Load results in a layout of your own as a workspace: say which files, rows and columns.

    Names in braces in the path become columns. So do the keys of a row (`usage.tokens` for a
    nested one) and of the objects around it (`../name`). The columns are read like those of
    `from_table`.

    You can put the same names into a file `skill-eval-nb.toml` next to the results: `load` then
    uses it. Its paths start at its folder.

    Args:
        files: the path of the files, JSON, JSONL, CSV or Parquet, with names in braces for the
            parts that vary, and `*` or `**/` for parts that do not matter:
            `results/{configuration}/{eval}/run-{run}.json`.
        rows: the path to the rows in a file: keys, `[*]` for every element of a list, `{eval}`
            for every key of an object: `results[*].checks[*]`. Without it, a list contains the
            rows, and any other file is one row; the lines of a JSONL file are elements.
        by_key: what the keys of the object at `rows` are: `by_key="eval"` is `{eval}` after it.
        dimensions: columns that are rubric dimensions, as in `from_table`.
        checks: columns that are checks.
        words: what words for verdicts mean.
        split: columns that contain several values, and how to split them: `{"run":
            "{eval}/{configuration}"}`.
        name: the workspace's name; the folder's if not given.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        columns: the column for each role, as in `from_table`. A path that is not a column is
            looked up: `tokens="../per_eval.{eval}.tokens"` is the value for the row's own eval,
            `passed="counts[0]"` an element, and `.` the row itself if it is not an object.

    Returns:
        A `Workspace`; what could not be used is in `.problems`.

    Raises:
        FileNotFoundError: if no file has that path.
        KeyError: if a role or column does not exist; the message suggests the nearest one.
        ValueError: if no file has rows there, or the path leads out of its folder.

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

    def read_tables(texts: bool) -> dict[str, pl.DataFrame]:
        layout = Layout(base=base, problems=Problems(met))
        return assemble(catalogue_files(layout, files), texts)

    return Workspace(
        read_tables,
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
            f"{kind} is not a table: give polars, pandas, Arrow, a list of dicts or a file's path"
        ) from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_polars().to_dicts()
