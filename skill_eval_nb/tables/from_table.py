"""`from_table`: any table of results as a workspace."""

from __future__ import annotations

import difflib
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import (
    BenchmarkRun,
    Faults,
    GradedExpectation,
    Grading,
    Judging,
    Metrics,
    RubricScore,
    Summary,
    Timing,
    parse,
)
from skill_eval_nb.documents.base import names_of, plainly
from skill_eval_nb.documents.parsing import UNSCORED, Unreadable, read_bool, read_int, read_number
from skill_eval_nb.documents.tools import UNSTATED, WITH, WITHOUT, Results, Run, without_keys
from skill_eval_nb.workspace import FilePlace, Files, Layout, Place, Problems, add_results

from .frames import Backend
from .workspace import Workspace, assemble

_SWITCHES = ("with_skill", "skill_on", "use_skill", "skill_enabled", "treated")
"""Columns of true and false that are the configuration."""

ROLES: dict[str, tuple[str, ...]] = {
    "eval": ("eval_id", "eval", "task", "task_id", "case", "case_id", "test_case", "test_id", "test"
             , "scenario", "problem", "sample_id", "item", "prompt_id", "question_id"),
    "eval_name": ("eval_name", "task_name", "case_name"),
    "configuration": (*names_of(BenchmarkRun, "configuration"), "side", "setup", *_SWITCHES),
    "run": ("run_number", "run", "run_index", "repetition", "repeat", "trial", "epoch", "attempt"),
    "skill": ("skill", "skill_name", "plugin"),
    "iteration": ("iteration", "round"),
    "model": ("executor_model", "model", "model_name", "model_id"),
    "harness": ("harness", "agent", "executor", "scaffold"),
    "status": ("status", "run_status"),
    "started_at": ("started_at", "timestamp", "start_time"),
    "pass_rate": ("pass_rate", "success_rate", "accuracy", "reward"),
    "passed": ("passed", "n_passed", "tests_passed", "passes", "pass", "success", "correct"),
    "failed": ("failed", "n_failed", "tests_failed"),
    "total": ("total", "tests_total", "n_tests", "n_checks"),
    "score": ("score", "weighted_score", "composite"),
    "time_seconds": ("time_seconds", "duration_seconds", "seconds", "elapsed_seconds"),
    "duration_ms": ("duration_ms", "latency_ms", "wall_ms", "elapsed_ms"),
    "tokens": ("tokens", "total_tokens"),
    "tokens_cached": ("tokens_cached", "cached_tokens", "cache_read_tokens"),
    "cost_usd": ("cost_usd", "cost", "total_cost_usd"),
    "tool_calls": ("tool_calls",),
    "steps": ("steps", "turns", "num_turns"),
    "skill_used": ("skill_used", "skill_loaded", "skill_invoked"),
    "check": ("check", "expectation", "assertion", "check_name", "test_name"),
    "verdict": ("verdict", "passed", "pass", "result", "outcome", "success", "met"),
    "dimension": ("dimension", "criterion", "rubric_dimension"),
    "rating": ("rating", "score", "dimension_score", "grade"),
    "weight": ("weight",),
    "evidence": ("evidence", "reason", "rationale", "explanation", "comment"),
    "judging": ("judging", "judging_number"),
    "judge_model": ("judge_model", "judge", "rater", "grader_model"),
}  # fmt: skip
"""What columns can be, and the names by which each is recognised, best first."""

_LONG = {"verdict": "check", "rating": "dimension", "weight": "dimension", "judging": "dimension"}
"""Roles that columns have only where there is one of the other role."""
_RATES = ("pass_rate",)
_UNITS = {"pass_rate": "rate", "time_seconds": "seconds", "duration_ms": "milliseconds"}
_RUBRIC = ("rubric:", "rubric_")
"""How the columns are called that are a rubric dimension each."""
_SHOWN = 12


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
    results = _read_rows(_Table(rows, names, columns, dimensions, checks))
    base = os.path.dirname(os.path.abspath(path)) if path else ""
    stem = os.path.basename(path).rsplit(".", 1)[0] if path else "table"
    folder = f"{base}/{name or stem}" if path else name or stem
    files, met = Files(), Problems()
    for result in results:
        place = Place(folder, iteration=result.iteration) if result.iteration else Place(folder)
        met.add_faults(path or folder, result.faults.collapsed())
        add_results(FilePlace(path or folder, place, tool="table"), [result], files, met)

    def again() -> Workspace:
        return from_table(
            path, dimensions=dimensions, checks=checks, name=name, backend=backend, **columns
        )

    return Workspace(
        lambda texts: assemble(Layout(), base, texts, Problems(met), files),
        base or folder,
        backend,
        again if path else None,
    )


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


# ── its rows as runs ───────────────────────────────────────────────────────────────────────────


@dataclass
class _Table:
    """Rows, what each of their columns is, and what is wrong with them.

    `stated` is role to column as somebody says it, `columns` the same with those that are
    recognised.
    """

    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    stated: Mapping[str, str]
    dimensions: Sequence[str]
    checks: Sequence[str]
    columns: dict[str, str] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    lost: dict[str, list[int]] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)

    def value(self, row: Mapping[str, Any], role: str) -> Any:
        value = row.get(self.columns.get(role, ""))
        return None if _is_nothing(value) else value

    def text(self, row: Mapping[str, Any], role: str) -> str | None:
        value = self.value(row, role)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return None if value is None else without_keys(str(value)).strip() or None

    def number(self, at: int, role: str, column: str | None = None) -> float | None:
        """The figure of a row, in the unit that is meant; what is none is noted for its column."""
        column = column or self.columns.get(role, "")
        value = self.rows[at].get(column)
        if _is_nothing(value) or (isinstance(value, str) and value.strip().lower() in UNSCORED):
            return None
        unit = _UNITS.get(role) if isinstance(value, str) else None
        try:
            number = float(value) if isinstance(value, bool) else read_number(value, unit)
        except Unreadable:
            number = math.nan
        if unit is None:  # else it was read in its unit
            number *= self.scales.get(column, 1.0)
        least, most = (0, 1) if role in _RATES else (0, 5) if role == "rating" else (0, math.inf)
        if role == "score":
            least = -math.inf
        if not least <= number <= most:
            self.lost.setdefault(column, []).append(at)
            return None
        return number

    def flag(self, at: int, role: str, column: str | None = None) -> bool | None:
        column = column or self.columns.get(role, "")
        value = self.rows[at].get(column)
        try:
            return None if value is None or value != value else read_bool(value)  # noqa: PLR0124 -- NaN
        except Unreadable:
            self.lost.setdefault(column, []).append(at)
            return None


def _is_nothing(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _read_rows(table: _Table) -> list[Results]:
    """The runs of a table, one result an iteration; the first has all the faults.

    Raises:
        KeyError: for a role or a column that there is not; the message names the nearest one.
    """
    for role in table.stated:
        _known(role, ROLES, "role")
    for column in (*table.stated.values(), *table.dimensions, *table.checks):
        _known(column, table.names, "column")
    table.columns = _columns(table)
    wide = [name for name in table.names if name.lower().startswith(_RUBRIC)]
    taken = table.columns.values()
    table.dimensions = [name for name in table.dimensions or wide if name not in taken]
    _tell_columns(table)
    _scale(table)
    results: dict[str | None, Results] = {}
    for iteration, run in _runs(table):
        results.setdefault(iteration, Results(iteration=iteration)).runs.append(run)
    empty = sum(table.value(row, "configuration") is None for row in table.rows)
    if empty and "configuration" in table.columns:
        message = f"{empty} rows name no side, and are compared with nothing: fill the column"
        where = f"$[*].{table.columns['configuration']}"
        table.faults.add("warning", "no-configuration", where, message)
    for column, rows in table.lost.items():
        found = without_keys(repr(table.rows[rows[0]].get(column))[:60])
        message = (
            f"{column!r} has no figure of use in {len(set(rows))} rows, such as {found} in row "
            f"{rows[0] + 1}: taken as not known. Write a number in its range, or leave it empty"
        )
        table.faults.add("warning", "not-a-figure", f"$[*].{column}", message)
    found = list(results.values()) or [Results()]
    found[0].faults = table.faults
    return found


def _known(name: str, known: Iterable[str], what: str) -> None:
    if name not in (known := list(known)):
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"There is no {what} {name!r}.{hint} There are: {', '.join(known)}.")


def _columns(table: _Table) -> dict[str, str]:
    """Role to column: those that are said, else by their names, each column once."""
    columns = dict(table.stated)
    plain = {plainly(name): name for name in reversed(table.names)}
    used = {*columns.values(), *table.dimensions, *table.checks}
    long = {
        role: role in columns or any(plainly(name) in plain for name in ROLES[role])
        for role in ("check", "dimension")
    }
    for role, known in sorted(ROLES.items(), key=lambda item: item[0] not in _LONG):
        if role in columns or (role in _LONG and not long[_LONG[role]]):
            continue
        found = (plain[plainly(name)] for name in known if plainly(name) in plain)
        if (column := next((name for name in found if name not in used), None)) is not None:
            columns[role] = column
            used.add(column)
    return columns


def _tell_columns(table: _Table) -> None:
    """Say which column was taken for what, and what is missing."""
    columns, faults, names = table.columns, table.faults, table.names
    roles = [
        f"{role} is {column!r}" + ("" if role in table.stated else " (by its name)")
        for role, column in columns.items()
    ]
    roles += [f"{dimension!r} is a dimension" for dimension in table.dimensions]
    roles += [f"{check!r} is a check" for check in table.checks]
    used = {*columns.values(), *table.dimensions, *table.checks}
    rest = [name for name in names if name not in used]
    unused = f"; not used: {', '.join(map(repr, rest[:_SHOWN]))}" if rest else ""
    unused += f" and {len(rest) - _SHOWN} more" if len(rest) > _SHOWN else ""
    faults.add("info", "columns", "$", f"columns: {', '.join(roles) or 'none'}{unused}")
    for role, what in (("eval", "the eval"), ("configuration", "the side")):
        if role not in columns:
            known = ", ".join(names)
            message = f"no column tells {what} of a row: name it, {role}=…; there are {known}"
            faults.add("error" if role == "eval" else "warning", f"no-{role}", "$", message)
    figures = {"pass_rate", "passed", "score", "check", "dimension", "status"}
    if not figures & columns.keys() and not table.dimensions and not table.checks:
        message = (
            "no column has a result: name one, as in pass_rate=…, check=… with verdict=…, or "
            "dimension=… with rating=…, or dimensions=[…]"
        )
        faults.add("error", "no-result", "$", message)


_SCALES = (
    (0.0, 1.0, 5.0, "shares of 1: read as shares of 5"),
    (5.0, 10.0, 0.5, "scores up to 10: halved"),
    (10.0, 100.0, 0.05, "scores up to 100: read as scores up to 5"),
)
"""Of scores whose largest lies above the first and not above the second: factor, and in words."""


def _scale(table: _Table) -> None:
    """How the figures of a column become shares of 1, or scores of 1 to 5: told where they do."""

    def figures(column: str) -> list[float]:
        found = (_figure(row.get(column)) for row in table.rows)
        return [number for number in found if number is not None]

    def convert(column: str, top: float, factor: float, what: str) -> None:
        table.scales[column] = factor
        message = f"{column!r} goes up to {top:g}: {what}. If that is wrong, convert it before"
        table.faults.add("warning", "converted", f"$[*].{column}", message)

    if (rate := table.columns.get("pass_rate")) is not None:
        values = figures(rate)
        high = [value for value in values if value > 1]
        if high and max(high) <= 100 and len(high) * 2 > sum(value != 0 for value in values):
            convert(rate, max(high), 0.01, "percentages: read as shares of 1")
    for column in filter(None, (table.columns.get("rating"), *table.dimensions)):
        values = figures(column)
        top = max(values, default=5.0)
        for above, most, factor, what in _SCALES:
            if above < top <= most and not (most == 1 and min(values) == 1):
                convert(column, top, factor, what)


def _figure(value: Any) -> float | None:
    try:
        number = read_number(value)
    except Unreadable:
        return None
    return number if math.isfinite(number) else None


def _runs(table: _Table) -> Iterator[tuple[str | None, Run]]:
    """The runs: a row each, or of all rows that have the same keys."""
    part = next((role for role in ("check", "dimension") if role in table.columns), None)
    found: dict[tuple[Any, ...], tuple[str | None, Run]] = {}
    met: Counter[tuple[Any, ...]] = Counter()
    numbered = "run" in table.columns
    again: list[int] = []
    for at, row in enumerate(table.rows):
        run, iteration = _named(table, at), table.text(row, "iteration")
        keys = (iteration, run.skill, run.eval_id, run.configuration, run.model, run.harness)
        stated = table.text(row, "run") if numbered else None
        inside: tuple[Any, ...] = (*keys, stated)
        if part:
            inside = (*inside, table.text(row, part), *_judge(table, row))
        met[inside] += 1
        if numbered and met[inside] > 1:
            again.append(at)
            if part:  # a second verdict on the same check of the same run
                continue
        key = (*keys, stated, met[inside] if not numbered or not part else 1)
        if key not in found:
            found[key] = iteration, run
            _figures(table, at, run)
            _wide(table, at, run)
        if part:
            _long(table, at, found[key][1], part)
    if again:
        what = "the first counts" if part else "each is a run of its own"
        message = (
            f"{len(again)} rows have the keys of an earlier one (the first is row {again[0] + 1}): "
            f"{what}. Name the column that tells them apart: run=…, model=…, check=… or dimension=…"
        )
        table.faults.add("warning", "two-rows", "$", message)
    yield from found.values()


def _judge(table: _Table, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return table.text(row, "judging"), table.text(row, "judge_model")


def _named(table: _Table, at: int) -> Run:
    row = table.rows[at]
    side: Any = table.value(row, "configuration")
    column = plainly(table.columns.get("configuration", ""))
    if isinstance(side, bool) or column in map(plainly, _SWITCHES):
        on = table.flag(at, "configuration")
        side = UNSTATED if on is None else WITH if on else WITHOUT
    eval_ = table.text(row, "eval") or table.text(row, "eval_name") or "unnamed"
    try:
        number = read_int(table.value(row, "run"))
    except (Unreadable, TypeError):
        number = None
    return Run(
        configuration=without_keys(str(side)) if side is not None else UNSTATED,
        eval_id=eval_,
        eval_name=table.text(row, "eval_name") or eval_,
        run_number=number if number and number > 0 else None,
        skill=table.text(row, "skill"),
        model=table.text(row, "model"),
        harness=table.text(row, "harness"),
        judge_model=None if "dimension" in table.columns else table.text(row, "judge_model"),
    )


def _figures(table: _Table, at: int, run: Run) -> None:
    """What a run came to, and what it took."""

    def whole(role: str) -> int | None:
        value = table.number(at, role)
        return None if value is None else round(value)

    row, grading = table.rows[at], Grading([])
    verdict = None
    if "total" not in table.columns and "failed" not in table.columns and "passed" in table.columns:
        verdict = table.flag(at, "passed")
        if verdict is not None:
            grading.expectations.append(GradedExpectation("the run passed", verdict))
    else:
        grading.summary = Summary(whole("passed"), whole("failed"), whole("total"))
    run.rate, run.score = table.number(at, "pass_rate"), table.number(at, "score")
    status = (table.text(row, "status") or "").lower()
    failed = status in ("error", "errored", "timeout", "timed_out", "crashed", "exception")
    run.grading = None if failed else grading
    run.timing = Timing(
        total_duration_seconds=table.number(at, "time_seconds"),
        duration_ms=table.number(at, "duration_ms"),
        total_tokens=whole("tokens"),
        cache_read_tokens=whole("tokens_cached"),
        executor_start=table.text(row, "started_at"),
        status="error" if failed else None,
        reason=status if failed else None,
    )
    run.metrics = Metrics(
        total_tool_calls=whole("tool_calls"),
        total_steps=whole("steps"),
        cost_usd=table.number(at, "cost_usd"),
        skill_used=table.flag(at, "skill_used"),
    )


def _wide(table: _Table, at: int, run: Run) -> None:
    """Checks and dimensions that are a column each."""
    if run.grading is None:
        return
    for column in table.checks:
        verdict = table.flag(at, "verdict", column)
        run.grading.expectations.append(GradedExpectation(column, verdict))
    for column in table.dimensions:
        score = table.number(at, "rating", column)
        name = column[7:] if column.lower().startswith(_RUBRIC) else column
        run.grading.rubric_scores[name] = RubricScore(score)


def _long(table: _Table, at: int, run: Run, part: str) -> None:
    """A row that is a check, or a dimension, of a run."""
    row = table.rows[at]
    name, evidence = table.text(row, part) or "unnamed", table.text(row, "evidence")
    if run.grading is None:
        return
    if part == "check":
        verdict = table.flag(at, "verdict")
        run.grading.expectations.append(GradedExpectation(name, verdict, evidence))
        return
    score = RubricScore(table.number(at, "rating"), evidence, table.number(at, "weight"))
    judge = table.text(row, "judge_model")
    if "judging" not in table.columns and "judge_model" not in table.columns:
        run.grading.rubric_scores[name] = score
        return
    key = "/".join(filter(None, _judge(table, row)))
    judging = next((known for known in run.judgings if known.batch == key), None)
    if judging is None:
        judging = Judging({}, judging=len(run.judgings) + 1, judge_model=judge, batch=key)
        run.judgings.append(judging)
    judging.rubric_scores[name] = score
