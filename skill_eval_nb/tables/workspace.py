"""`Workspace`: what `load`, `from_table` and `from_files` return. Its tables, in polars or pandas.

From what lies on disk to the tables, every document is read once and every run counted once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, RunRecord
from skill_eval_nb.documents.tools import Results
from skill_eval_nb.documents.tools.own_layout import (
    OwnLayout,
    read_own_layout,
    read_values,
    root_and_pattern,
    table_of,
)
from skill_eval_nb.documents.tools.table import read_rows
from skill_eval_nb.text import count, did_you_mean, pluralize, some
from skill_eval_nb.view import Block, Card, Cards, Mark, Pairs, Shown, Table, Text, Title
from skill_eval_nb.workspace import (
    NO_ITERATION,
    UNSTATED,
    Catalogue,
    Layout,
    PathLike,
    Place,
    Problems,
    Sides,
    catalogue_files,
    collector_paused,
    find,
    natural_key,
)
from skill_eval_nb.workspace.catalogue import add_results
from skill_eval_nb.workspace.find import find_likely_rows
from skill_eval_nb.workspace.layout import FilePlace
from skill_eval_nb.workspace.problems import settle_problems
from skill_eval_nb.workspace.read import Files

from .columns import MODELS, RUN_KEYS, TABLES, Backend, Rows, frame_of, to_pandas
from .counted import CountedRun, count_runs, report_copies, report_gaps, report_single_layers
from .document_rows import add_documents, add_stated, add_suites, turn_sums_into_means
from .run_rows import add_texts

if TYPE_CHECKING:
    import polars as pl


@collector_paused()
def assemble(catalogue: Catalogue, texts: bool) -> dict[str, pl.DataFrame]:
    """The tables of what was found and read: `runs` alone, or with `texts` every table."""
    import polars as pl

    base, problems = catalogue.layout.base, catalogue.layout.problems
    rows, runs = Rows(), list[CountedRun]()
    for run in count_runs(catalogue):
        at = rows.begin_run(run.keys)
        rows["runs"].append((at, *run.figures))
        if texts:
            add_texts(at, run.record, run.side.weights, rows)
            runs.append(run._replace(record=_LET_GO))
    if texts:
        refs = [run.keys for run in runs]
        add_suites(catalogue, refs, rows)
        turn_sums_into_means(catalogue, runs)
        for benchmark in catalogue.benchmarks:
            names = catalogue.names[benchmark.place.workspace]
            add_stated(names, benchmark, catalogue.shorten_path(benchmark.path), rows)
        report_gaps(runs, problems)
        report_copies(runs if len(catalogue.names) > 1 else (), problems)
        add_documents(catalogue, refs, rows)
        report_single_layers(runs, catalogue)
        rows["problems"].extend(
            (own.severity, own.code, own.path, own.where, own.message, own.workspace)
            for own in settle_problems(problems, catalogue.names, base)
        )
    frames = rows.frames(TABLES if texts else ("runs",))
    told = pl.col("path").str.strip_prefix(f"{base}/")
    frames["runs"] = frames["runs"].with_columns(told)
    return frames


_LET_GO = RunRecord()
"""In the place of a run's documents, which weigh more than all else, once their rows are there."""

NAMELESS = {
    **dict.fromkeys(("workspace", "skill"), "table"),
    "iteration": NO_ITERATION,
    "configuration": UNSTATED,
}
"""What a row of a table made by hand is of, if it does not say."""
EVAL_KEYS = {"eval_name": "eval_id", "eval_id": "eval_name"}
"""An eval is called by the one that is given."""


def _fill_keys(table: Any, name: str) -> pl.DataFrame:
    """A table in polars, without nulls in the keys that are declared to have none."""
    import polars as pl

    frame = frame_of(table, name)
    keys = {column.name for column in TABLES[name].columns if column.null == "never"}
    others = {key: pl.lit(value) for key, value in NAMELESS.items()}
    others |= {one: pl.coalesce(other, pl.lit(UNSTATED)) for one, other in EVAL_KEYS.items()}
    empty = [key for key in others if key in keys and frame[key].null_count()]
    return frame.with_columns(pl.coalesce(key, others[key]).alias(key) for key in empty)


Name = str | int | None
Reader = Callable[[bool], dict[str, "pl.DataFrame"]]
"""Reads the tables: the figures alone (`runs`), or with True every table with every text."""


class Workspace(Shown):
    """One or more evaluation workspaces as tidy tables.

    The tables are attributes: `ws.runs`, `ws.expectations`, `ws.rubric_scores`, `ws.problems`,
    …; `ws.table("runs")` is the same. `sen.describe("runs")` explains the columns. Figures are
    read first; texts are read when you ask for a table that contains them.
    """

    def __init__(
        self,
        reader: Reader,
        path: str = "",
        backend: Backend = "polars",
        again: Callable[[], Workspace] | None = None,
    ) -> None:
        self._reader = reader
        self._again = again
        self._frames: dict[str, pl.DataFrame] = {}
        self.figures: dict[Any, Any] = {}  # what statistics said of it: its tables never change
        self.part_of: tuple[Workspace, Mapping[str, str]] | None = None  # with keys of all its rows
        self.path = path
        self.backend: Backend = backend

    @classmethod
    def from_tables(
        cls, tables: Mapping[str, Any], path: str = "", backend: Backend = "polars"
    ) -> Workspace:
        """A workspace over given tables, polars or pandas; those not given are empty.

        Columns that are not given are null, columns that no table has are left out. Keys are
        never null, as in what is loaded: a row that does not say its workspace or skill is of
        `table`, without an iteration of `none`, without a configuration or an eval `unstated`; an
        eval without a name is called by its id.

        Raises:
            KeyError: for a name that is not a table; the message names the nearest one.

        >>> ws = Workspace.from_tables({})
        >>> ws.runs.height, "pass_rate" in ws.runs.columns
        (0, True)
        """
        given = {TABLES[name].name: _fill_keys(table, name) for name, table in tables.items()}
        empty = Rows().frames(TABLES.keys() - given)
        return cls(lambda _: {**given, **empty}, path, backend)

    def polars(self, name: str) -> pl.DataFrame:
        """A table as a polars frame, whatever the backend.

        Raises:
            KeyError: for a name that is not a table; the message names the nearest one.
        """
        TABLES[name]  # the KeyError comes before anything is read
        if name not in self._frames:
            self._frames |= self._reader(name != "runs")
        return self._frames[name]

    def table(self, name: str) -> Any:
        """A table in the workspace's backend."""
        frame = self.polars(name)
        return to_pandas(frame) if self.backend == "pandas" else frame

    def show(self, name: str = "runs") -> Any:
        """A table to be sorted, filtered and searched by a click, in a notebook without a network.

        It is an `itables.widget.ITable`: text from files is escaped, no row is left out, and a
        saved notebook holds all of it. `ws.table(name)` is the plain frame.

        Raises:
            KeyError: for a name that is not a table; the message names the nearest one.
        """
        from itables.widget import ITable

        frame = self.polars(name)
        return ITable(frame, caption=name, column_filters="footer", maxBytes=0, showIndex=False)

    def tables(self) -> dict[str, Any]:
        """Every table by name, read in one pass."""
        self.polars("problems")
        return {name: self.table(name) for name in TABLES}

    def again(self) -> Workspace:
        """The same, read again: the same paths and the same selection of them.

        One that was made of tables is what it was.
        """
        return self._again() if self._again is not None else self

    def select(self, **keys: Name | Sequence[Name]) -> Workspace:
        """The part of it with these keys, as a workspace of its own.

        `ws.select(workspace="tdd-workspace", iteration=["iteration-1", "iteration-2"])` keeps,
        in every table that has these columns, the rows with this value, or with one of these.
        Problems are kept where they are of the workspace or of none.

        `executor_model` and `harness` select runs, and what the other tables have of these;
        None is for runs that do not state it.

        Raises:
            KeyError: for a key that no run has; the message names the nearest one.

        >>> Workspace.from_tables({}).select(iteration="iteration-2").runs.height
        0
        """
        import polars as pl

        known = {column.name: column.type for column in RUN_KEYS}
        wanted: dict[str, list[Any]] = {}
        for key, value in keys.items():
            if key not in known and key not in MODELS:
                raise KeyError(f"Runs have no key `{key}`.{did_you_mean(key, [*known, *MODELS])}")
            names = [value] if value is None or isinstance(value, str | int) else [*value]
            wanted[key] = [str(name) for name in names] if known.get(key) == "text" else names
        models = [
            pl.col(key).is_in(wanted.pop(key), nulls_equal=True) for key in MODELS if key in wanted
        ]

        def select_part(name: str) -> pl.DataFrame:
            types = {column.name: column.type for column in TABLES[name].columns}
            frame = self.polars(name)
            for key, names in wanted.items():
                if types.get(key) == known[key]:  # descriptions have an `iteration`, too: a number
                    of_none = [None] if name == "problems" else []
                    frame = frame.filter(pl.col(key).is_in(names + of_none, nulls_equal=True))
            if models and known.items() <= types.items():
                others = self.polars("runs").filter(~pl.all_horizontal(models)).select([*known])
                frame = frame.join(
                    others, on=[*known], how="anti", nulls_equal=True, maintain_order="left"
                )
            return frame

        return Workspace(
            lambda texts: {name: select_part(name) for name in (TABLES if texts else ("runs",))},
            self.path,
            self.backend,
            (lambda: self.again().select(**keys)) if self._again is not None else None,
        )

    def _blocks(self) -> Iterator[Block]:
        return show_overview(self.path, {name: self.polars(name) for name in TABLES})

    def __getattr__(self, name: str) -> Any:
        if name in TABLES:
            return self.table(name)
        hint = did_you_mean(name, [*TABLES, *dir(type(self))])
        raise AttributeError(f"A Workspace has no `{name}`.{hint}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *TABLES]


def load(
    path: PathLike | Iterable[PathLike],
    backend: Backend = "polars",
    *,
    configuration: Sides = None,
) -> Workspace:
    """Load evaluation workspaces, whichever tool wrote them.

    It reads skill-creator's workspaces and their dialects, and the results of `claude plugin
    eval`, Harbor, Vally, inspect_ai, waza, promptfoo, DeepEval and NVIDIA's SkillEvaluator, and
    of tools registered under `skill_eval_nb.tools` (see `documents.tools.Tool`).

    Args:
        path: a folder (a workspace, an iteration, or any folder above them), a
            benchmark.json, evals.json or a tool's file, a list of these, or a glob.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        configuration: the configuration, for a tool's results that do not state it: one for all,
            or a mapping from names (or patterns) of files and folders, such as
            `{"baseline.json": "without_skill", "results.json": "with_skill"}`.

    Returns:
        A `Workspace`. Its folders are listed now; its files are read when you ask for a table.
        Whatever could not be used as it was is a row of `.problems`.

    Raises:
        FileNotFoundError: if the path does not exist (or a glob matches nothing).
        NothingToLoad: if there is no evaluation document.
        ValueError: for an unknown backend.
    """
    _refuse_unknown(backend)
    paths = path if isinstance(path, str | os.PathLike) else list(path)
    found = find(paths, configuration=configuration)

    def read_tables(texts: bool) -> dict[str, pl.DataFrame]:
        layout = replace(found, problems=Problems(found.problems))  # each reading meets its own
        return assemble(catalogue_files(layout), texts)

    again = partial(load, paths, backend, configuration=configuration)
    return Workspace(read_tables, found.base, backend, again)


def _refuse_unknown(backend: str) -> None:
    if backend not in ("polars", "pandas"):
        raise ValueError(f"unknown backend {backend!r}: there are 'polars' and 'pandas'")


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
    _refuse_unknown(backend)
    files, met = Files(), Problems()
    for result in read():
        place = Place(folder, iteration=result.iteration) if result.iteration else Place(folder)
        met.add_faults(path, result.faults.collapsed())
        add_results(FilePlace(path, place, tool="table"), [result], files, met)
    base = os.path.dirname(folder) or folder

    def read_tables(texts: bool) -> dict[str, pl.DataFrame]:
        layout = Layout(base=base, problems=Problems(met))
        return assemble(catalogue_files(layout, files), texts)

    return Workspace(read_tables, base, backend, lambda: _workspace_of(read, path, folder, backend))


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


# ── at a glance ──────────────────────────────────────────────────────────────────────────────

STATUSES = ("graded", "gated", "executed", "errored", "ungraded")
SEVERITIES = ("error", "warning", "info")
MOST_LINES = 12
"""More workspaces or kinds of problems than these are counted, not listed."""


def show_overview(path: str, table: Mapping[str, pl.DataFrame]) -> Iterator[Block]:
    """What is shown of a workspace: errors first, then what is there, and what to do with it."""
    lines, runs = _workspace_lines(table), table["runs"]
    skills = list(dict.fromkeys(line["skill"] for line in lines))
    title = f"{'Skill' if len(skills) == 1 else 'Skills'} {some(skills)}"
    yield Title(title if skills else "Nothing here", path)
    severities = dict(table["problems"]["severity"].value_counts().iter_rows())
    counts = [
        (severities.get("error", 0), "error"),
        (severities.get("warning", 0), "warning"),
        (len(lines) if len(lines) > 1 else 0, "workspace"),
        (sum(len(line["iterations"]) for line in lines), "iteration"),
        (len({name for line in lines for name in line["configurations"]}), "configuration"),
        (sum(line["evals"] for line in lines), "eval"),
    ]
    cards = [Card(f"{n:,}", pluralize(noun, n), noun) for n, noun in counts if n]
    if n := runs.height:
        cards.append(Card(f"{n:,}", f"{pluralize('run', n)} ({_list_statuses(runs)})"))
    if cards:
        yield Cards(cards)
    heads = ("workspace", "skill", "iterations", "configurations", "evals", "runs")
    rows: list[tuple[str | int, ...]] = []
    for line in lines[:MOST_LINES]:
        names = line["workspace"], line["skill"]
        levels = some(line["iterations"]), some(line["configurations"], 6)
        rows.append((*names, *levels, line["evals"], line["runs"] or "none yet"))
    yield Table(heads, rows, "What is here", ["evals"], len(lines) - MOST_LINES)
    yield Pairs(list(_next_steps(table)), "Look at next", code=True)
    kinds = _kinds(table["problems"])
    yield Table(
        ("severity", "code", "times", "the first one"),
        kinds[:MOST_LINES],
        "Problems",
        ["times"],
        len(kinds) - MOST_LINES,
    )
    if heights := [f"ws.{name} {frame.height:,}" for name, frame in table.items() if frame.height]:
        yield Text(", ".join(heights), "Tables and their rows:", soft=True)


def _workspace_lines(table: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """A line a workspace that some table speaks of, the one with most graded runs first."""
    skills: dict[str, str] = {}
    for frame in table.values():
        if "skill" in frame.columns:
            skills |= frame.select("workspace", "skill").unique(maintain_order=True).iter_rows()
    runs, evals = table["runs"], table["evals"]
    lines: list[dict[str, Any]] = []
    for name in sorted(skills, key=natural_key):
        mine, defined = (frame.filter(frame["workspace"] == name) for frame in (runs, evals))
        lines.append(
            {
                "workspace": name,
                "skill": skills[name],
                "iterations": sorted(set(mine["iteration"]) - {NO_ITERATION}, key=natural_key),
                "configurations": mine["configuration"].unique(maintain_order=True).to_list(),
                "evals": len({*mine["eval_id"], *defined["eval_id"]}),
                "runs": _list_statuses(mine),
                "weight": (-mine["status"].is_in(STATUSES[:2]).sum(), -mine.height),
            }
        )
    # otherwise they stay in the order of their names
    return sorted(lines, key=lambda line: line["weight"])


def _list_statuses(runs: pl.DataFrame) -> str:
    counts = dict(runs["status"].value_counts().iter_rows())
    return ", ".join(f"{counts[one]:,} {one}" for one in STATUSES if one in counts)


def _kinds(problems: pl.DataFrame) -> list[tuple[Mark, str, int, tuple[str, str]]]:
    """The kinds of problems, errors first: severity, code, how often, and the first one."""
    import polars as pl

    groups = problems.group_by("severity", "code").agg(pl.len(), pl.first("path", "message"))
    kinds = sorted(groups.iter_rows(), key=lambda kind: (SEVERITIES.index(kind[0]), -kind[2], kind))
    return [(Mark(kind, kind), code, n, (path, said)) for kind, code, n, path, said in kinds]


def _next_steps(table: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, str]]:
    """Code to run next, and why; errors first."""
    runs, problems = table["runs"], table["problems"]
    if errors := problems.filter(problems["severity"] == "error").height:
        yield "ws.problems", f"{count(errors, 'thing')} on disk could not be used"
    waiting = runs.filter(runs["status"].is_in(STATUSES[2:])).height
    if waiting:
        yield "ws.runs", f"{count(waiting, 'run')} without a grading, not in any rate"
    sides = set(runs["configuration"]) - {UNSTATED}
    if len(sides) > 1:
        yield "sen.charts.forest(ws)", "what the skill changes, and how sure that is"
    elif runs.height:
        all_of = f"every run is of {sides.pop()}" if sides else "no run names its configuration"
        yield "ws.runs", f"{all_of}: nothing to compare without a baseline"
    for name, code, why in _STEPS:
        if table[name].height:
            yield code, why
    if not runs.height and table["evals"].height:
        yield "ws.evals", "there are evals here, but no runs yet"


_STEPS = (
    ("rubric_scores", "sen.charts.variance_components(ws)", "which dimensions vary, and why"),
    ("expectations", "sen.charts.discrimination(ws)", "which expectations are informative"),
    ("stated", "sen.stats.audit(ws)", "whether benchmark.json matches its runs"),
)
"""A table, what to look at if it has rows, and why."""
