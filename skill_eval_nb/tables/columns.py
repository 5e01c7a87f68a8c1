"""Every table and every column, declared once: name, type, unit, meaning; and frames of them.

Nulls mean "not known", never 0. Keys (`workspace` … `run_number`) are never null. Values become
data frames of the declared types, in polars or pandas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skill_eval_nb.text import did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


Type = Literal["text", "whole number", "number", "true or false", "list of texts"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type, its unit if it has one, what it means, when it is null."""

    name: str
    type: Type
    meaning: str
    unit: str = ""
    null: str = "never"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what one row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]


def _table(name: str, row: str, *columns: Column) -> Table:
    return Table(name, row, columns)


def _text(name: str, meaning: str, null: str = "not stated", unit: str = "") -> Column:
    return Column(name, "text", meaning, unit, null)


def _whole(name: str, meaning: str, unit: str = "", null: str = "not known") -> Column:
    return Column(name, "whole number", meaning, unit, null)


def _number(name: str, meaning: str, unit: str = "", null: str = "not known") -> Column:
    return Column(name, "number", meaning, unit, null)


def _flag(name: str, meaning: str, null: str = "not known") -> Column:
    return Column(name, "true or false", meaning, "", null)


def _list(name: str, meaning: str) -> Column:
    return Column(name, "list of texts", meaning, "", "never; empty where there are none")


WORKSPACE = (
    _text("workspace", "folder of the workspace, below what was loaded", "never"),
    _text("skill", "the skill that is evaluated", "never"),
)
ITERATION = _text(
    "iteration", "name of the iteration; `none` where there is no such level", "never"
)
EVAL = (
    _text("eval_id", "id of the eval, as text", "never"),
    _text("eval_name", "name of the eval; its id where it has none", "never"),
)
RUN_KEYS = (
    *WORKSPACE,
    ITERATION,
    *EVAL,
    _text("configuration", "with_skill, without_skill, …; `unstated` where nothing says", "never"),
    Column("run_number", "whole number", "1, 2, … within eval and configuration"),
)
"""The keys that every run-level table begins with."""


class RunRef(NamedTuple):
    """A run, by the keys that every run-level table begins with."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    eval_name: str
    configuration: str
    run_number: int


MODELS = ("harness", "executor_model")
"""The columns of `runs` that say what ran the prompt."""


class Tables(dict[str, Table]):
    """Tables by their names."""

    def __init__(self, *tables: Table) -> None:
        super().__init__((table.name, table) for table in tables)

    def __missing__(self, name: str) -> Table:
        """There is no such table: a KeyError, whose message names the nearest one.

        >>> TABLES["run"]  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        KeyError: 'There is no table `run`. Did you mean `runs`? There are: evals, ...'
        """
        raise KeyError(
            f"There is no table `{name}`.{did_you_mean(name, self)} There are: {', '.join(self)}."
        )


TABLES = Tables(
    _table(
        "evals",
        "an eval",
        *WORKSPACE,
        *EVAL,
        _text("prompt", "the task"),
        _text("expected_output", "what success looks like"),
        _list("files", "input files"),
        _list("tags", "categories"),
        _number("weight", "weight in the suite's score", null="never"),
        _whole("n_expectations", "expectations that a judge verifies", null="never"),
        _whole("n_structural", "structural expectations", null="never"),
        _whole("n_dimensions", "rubric dimensions", null="never"),
    ),
    _table(
        "dimensions",
        "a rubric dimension of an eval",
        *WORKSPACE,
        *EVAL,
        _text("dimension", "name of the dimension", "never"),
        _text("dimension_id", "Q1, Q2, …"),
        _number("weight", "weight in the weighted mean", null="never"),
        _text("description", "what it measures"),
        _text("anchors", "what a 1, a 3 and a 5 look like, as JSON"),
    ),
    _table(
        "runs",
        "a run",
        *RUN_KEYS,
        _text(
            "status",
            "graded, gated (a critical check failed, no judge), executed (not graded yet, "
            "or not wholly), errored, or ungraded (nothing usable)",
            "never",
        ),
        _number(
            "pass_rate",
            "passed / (passed + failed), counted from grading.json; from structural.json where no "
            "judge was to grade it, or the gate failed; the rate itself where a tool states one",
            "rate",
            "nothing was scored",
        ),
        _number("score", "the weighted figure of the tool that ran it, as it states it"),
        _whole("passed", "expectations that passed"),
        _whole("failed", "expectations that failed"),
        _whole("total", "expectations in all, those not scored included"),
        _number("structural_pass_rate", "the same of structural.json alone", "rate"),
        _flag("gate_passed", "whether every critical structural expectation passed"),
        _number("rubric_weighted_mean", "Σ(score × weight) / Σ(weight)", "1-5"),
        _number("rubric_normalized", "rubric_weighted_mean / 5; its floor is 0.2", "rate"),
        _number(
            "overall_efficiency",
            "mean of structural_pass_rate (else pass_rate) and rubric_normalized; "
            "with one of the two missing, the other",
            "rate",
        ),
        _number("time_seconds", "time of the run", "seconds"),
        _whole("tokens", "input and output tokens; never characters", "tokens"),
        _whole("tool_calls", "tool calls"),
        _whole("steps", "major steps"),
        _whole("errors", "errors on the way"),
        _whole("output_chars", "characters of the outputs", "characters"),
        _whole("transcript_chars", "characters of the transcript", "characters"),
        _whole("tokens_cached", "tokens read from a cache, within `tokens`", "tokens"),
        _number("cost_usd", "what the run cost", "usd"),
        _flag("skill_used", "whether the skill was opened"),
        _text("harness", "what ran the prompt: messages-api, claude-code, …"),
        _text("executor_model", "model that ran"),
        _text("judge_model", "model that graded"),
        _text("started_at", "when it began, ISO 8601"),
        _text("judged_at", "when its grading or first judging was made, ISO 8601"),
        _text("path", "folder (or file) the run was read from", "never"),
    ),
    _table(
        "expectations",
        "an expectation of a run",
        *RUN_KEYS,
        _text("layer", "structural (deterministic) or judged", "never"),
        _text("expectation_id", "id in the suite"),
        _text("text", "what was checked", "never"),
        _text("type", "kind of check"),
        _flag("passed", "the verdict", "not scored"),
        _flag("critical", "whether failing it fails the gate"),
        _text("confidence", "how sure the grader was"),
        _text("evidence", "what the verdict rests on"),
    ),
    _table(
        "rubric_scores",
        "a dimension of a judging of a run",
        *RUN_KEYS,
        Column("judging", "whole number", "1, 2, …: the passes of the judge over the same output"),
        _text("judge_model", "model that judged"),
        _text("dimension", "name of the dimension", "never"),
        _number("score", "the score", "1-5", "the judge gave none"),
        _number("weight", "weight in the weighted mean", null="never; 1 where not stated"),
        _text("evidence", "why this score"),
    ),
    _table(
        "claims",
        "a claim of a run's output",
        *RUN_KEYS,
        _text("claim", "what is claimed", "never"),
        _text("type", "factual, process, quality, …"),
        _flag("verified", "whether the grader could confirm it"),
        _text("evidence", "what the grader found"),
    ),
    _table(
        "notes",
        "a remark on a run, or on a benchmark",
        *RUN_KEYS,
        _text(
            "kind",
            "uncertainty, needs_review, workaround, factual_issue or analyst",
            "never",
        ),
        _text("text", "the remark", "never"),
    ),
    _table(
        "suggestions",
        "a grader's suggestion for the evals",
        *RUN_KEYS,
        _text("expectation", "the expectation it is about", "it is about a missing one"),
        _text(
            "kind",
            "critique, vague, missing_coverage, suggested, overall, or aggregate "
            "(collected over runs, and of no single one)",
            "never",
        ),
        _text("reason", "what is said", "never"),
    ),
    _table(
        "tool_calls",
        "a tool of a run",
        *RUN_KEYS,
        _text("tool", "name of the tool", "never"),
        Column("count", "whole number", "how often it was called"),
    ),
    _table(
        "feedback",
        "a human's review of a run",
        *RUN_KEYS,
        _text("feedback", "the review; empty means fine", "only checks were labelled"),
        _text("timestamp", "when, ISO 8601"),
        _text("status", "in_progress or complete"),
        _text("scores", "the human's scores by dimension, 1-5, as JSON", "none given"),
        _text("labels", "the human's verdicts on checks (`CheckLabel`), as JSON", "none given"),
    ),
    _table(
        "comparisons",
        "a criterion of a side of a blind comparison",
        *WORKSPACE,
        _text("comparison", "id of the comparison, or its file", "never"),
        _text("pair", "id of the two runs, the same in both orders"),
        _text("eval_id", "the eval"),
        _text("winner", "A, B or tie", "never"),
        _text("side", "A or B", "never"),
        _text("configuration", "configuration behind the side"),
        _text("version", "version behind the side"),
        _text("run", "folder of the run behind the side, below its workspace"),
        _text("group", "content, structure, overall or criteria", "never"),
        _text("criterion", "what was scored", "never"),
        _number("score", "the score"),
        _text("reasoning", "why"),
    ),
    _table(
        "analyses",
        "a suggestion of a post-hoc analysis",
        *WORKSPACE,
        _text("analysis", "the file", "never"),
        _text("priority", "high, medium or low"),
        _text("category", "instructions, tools, examples, …"),
        _text("suggestion", "what to change", "never"),
        _text("expected_impact", "what it should bring"),
    ),
    _table(
        "history",
        "a version of the skill",
        *WORKSPACE,
        _text("version", "v0, v1, …", "never"),
        _text("parent", "the version it was made from"),
        _number("expectation_pass_rate", "its pass rate", "rate"),
        _text("grading_result", "baseline, won, lost or tie"),
        _flag("is_current_best", "whether it is the best so far"),
    ),
    _table(
        "triggers",
        "a query under a description",
        *WORKSPACE,
        _text("query", "what the user says", "never"),
        _flag("should_trigger", "whether the skill should be picked up"),
        _whole("triggered", "runs that picked it up", null="not measured"),
        _whole("runs", "runs of the query", null="not measured"),
        _number("trigger_rate", "triggered / runs", "rate", "not measured"),
        _text("split", "train or test"),
        _list("tags", "what kind of query it is, such as near miss"),
        _text("description", "the description that was measured"),
    ),
    _table(
        "optimizations",
        "a description that was tried",
        *WORKSPACE,
        Column("iteration", "whole number", "1, 2, …"),
        _text("description", "the description", "never"),
        _number("train_score", "share right on the train queries", "rate"),
        _number("test_score", "share right on the held-out queries", "rate"),
        _flag("is_best", "whether it won", "never"),
    ),
    _table(
        "stated",
        "a figure that a benchmark.json states",
        *WORKSPACE,
        ITERATION,
        _text("configuration", "the configuration, or `delta`", "never"),
        _text(
            "metric",
            "pass_rate, time_seconds, …; rubric dimensions as `rubric:name`",
            "never",
        ),
        _text(
            "statistic",
            "mean, stddev, min, max, n, value, or runs: the mean over the runs that the "
            "file lists, where its summary has none",
            "never",
        ),
        _number("value", "the figure", null="it could not be read as a number"),
        _text("printed", "the figure as it was printed", "never"),
        _text("path", "the file", "never"),
    ),
    _table(
        "problems",
        "a problem",
        _text("severity", "error (could not be used), warning (look at it) or info", "never"),
        _text("code", "kind of problem", "never"),
        _text("path", "file or folder, below what was loaded", "never"),
        _text("where", "JSON path in the file", "it is about the file or folder itself"),
        _text("message", "what was found, and what to do", "never"),
        _text("workspace", "the workspace", "it belongs to none"),
    ),
)
"""The tables by name."""


def describe(table: str | None = None) -> pl.DataFrame:
    """Describe a table: one row per column, with type, unit, meaning and when it is null.

    Without a name: the list of tables, and what one row of each is.

    >>> describe("runs").columns
    ['column', 'type', 'unit', 'meaning', 'null_when']
    >>> describe().filter(describe()["table"] == "runs")["one_row_is"].item()
    'a run'

    Raises:
        KeyError: if the name is not a table; the message names the nearest one.
    """
    import polars as pl

    if table is None:
        rows = [(spec.name, spec.row, len(spec.columns)) for spec in TABLES.values()]
        return pl.DataFrame(rows, ["table", "one_row_is", "columns"], orient="row")
    columns = [
        (column.name, column.type, column.unit, column.meaning, column.null)
        for column in TABLES[table].columns
    ]
    return pl.DataFrame(columns, ["column", "type", "unit", "meaning", "null_when"], orient="row")


# ── frames ───────────────────────────────────────────────────────────────────────────────────

Backend = Literal["polars", "pandas"]


def schema(columns: Iterable[Column]) -> dict[str, Any]:
    """The polars types of columns."""
    import polars as pl

    types = {
        "text": pl.String,
        "whole number": pl.Int64,
        "number": pl.Float64,
        "true or false": pl.Boolean,
        "list of texts": pl.List(pl.String),
    }
    return {column.name: types[column.type] for column in columns}


def frame_of_rows(types: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """A frame of rows that have a value for each of the columns, in their order.

    Half surrogate pairs, which no UTF-8 text can hold, become `\ufffd`.
    """
    import polars as pl

    columns = dict(zip(types, zip(*rows, strict=True), strict=bool(rows)))
    try:
        return pl.DataFrame(columns, types)
    except UnicodeEncodeError:
        whole = {name: list(map(_without_halves, column)) for name, column in columns.items()}
        return pl.DataFrame(whole, types)


class Rows(dict[str, list[tuple[Any, ...]]]):
    """The rows of all tables while they are read, by the tables' names.

    Those of tables that are about runs stand there without the keys of their run, which may come
    many times, but with the number of it among the `refs`.
    """

    def __init__(self) -> None:
        super().__init__((name, []) for name in TABLES)
        self.refs: list[RunRef] = []

    def begin_run(self, keys: RunRef) -> int:
        """The number with which rows of the run of these keys begin."""
        self.refs.append(keys)
        return len(self.refs) - 1

    def frames(self, names: Iterable[str] = TABLES) -> dict[str, pl.DataFrame]:
        """The tables of these names."""
        import polars as pl

        keys = frame_of_rows(schema(RUN_KEYS), self.refs)
        found = {}
        for name in names:
            columns = TABLES[name].columns
            of_runs = columns[: len(RUN_KEYS)] == RUN_KEYS
            types = schema(columns[len(RUN_KEYS) :] if of_runs else columns)
            frame = frame_of_rows({"run": pl.UInt32, **types} if of_runs else types, self[name])
            found[name] = keys[frame["run"]].hstack(frame[list(types)]) if of_runs else frame
        return found


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return [_without_halves(element) for element in value] if isinstance(value, list) else value


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A pandas copy: nullable `Int64` and `boolean`, text as pandas' own text type.

    Raises:
        ModuleNotFoundError: pandas or pyarrow is missing; the message says how to have it.
    """
    try:
        import pandas as pd
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"tables in pandas need {error.name}: `pip install pandas pyarrow`, then restart the "
            "kernel; in polars they need nothing more",
            name=error.name,
        ) from None

    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return frame.to_arrow().to_pandas(types_mapper=kinds.get)


def frame_of(data: Any, table: str) -> pl.DataFrame:
    """The polars frame behind `data`: a `Workspace`, or the table itself in polars or pandas.

    Raises:
        TypeError: for anything else.
    """
    import narwhals as nw
    import polars as pl

    if not is_table(data):
        return data.polars(table)
    known = TABLES[table]
    types = schema(known.columns)
    if isinstance(data, pl.DataFrame) and [*data.schema.items()] == [*types.items()]:
        return data
    frame = nw.from_native(data, eager_only=True).to_polars()
    missing = [name for name in known.names if name not in frame.columns]
    return frame.with_columns(
        *(pl.col(name).cast(types[name]) for name in known.names if name in frame.columns),
        *(pl.lit(None, types[name]).alias(name) for name in missing),
    ).select(known.names)


def is_table(data: Any) -> bool:
    """Whether `data` is a table, and not a `Workspace`; a frame may have columns of any name.

    Raises:
        TypeError: for a path, which only widgets take.
    """
    if isinstance(data, str | PathLike):
        raise TypeError(f"This takes what was loaded: skill_eval_nb.load({fspath(data)!r}).")
    return not callable(getattr(type(data), "polars", None))


def iterate_rows(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table of either kind, pandas or polars."""
    import narwhals as nw

    return nw.from_native(table, eager_only=True).iter_rows(named=True)


def to_backend_of(data: Any, frame: pl.DataFrame) -> Any:
    """Convert `frame` to pandas if `data` is pandas, or is a workspace with that backend."""
    import narwhals as nw

    backend = nw.from_native(data).implementation.value if is_table(data) else data.backend
    return to_pandas(frame) if backend == "pandas" else frame
