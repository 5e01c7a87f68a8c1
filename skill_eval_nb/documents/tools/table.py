"""The rows of any table as runs: what each column is taken for, and what is wrong with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_eval_nb.text import count, did_you_mean

from ..base import Faults, Severity, names_of, plainly
from ..evals import TriggerQuery, TriggerSet
from ..parsing import UNSCORED, Unreadable, read_bool, read_int, read_number
from ..results import BenchmarkRun
from ..run import GradedExpectation, Grading, Judging, Metrics, RubricScore, Summary, Timing
from .part import UNSTATED, WITH, WITHOUT, Results, Run, without_keys
from .rows import as_pair

_SWITCHES = ("with_skill", "skill_on", "use_skill", "skill_enabled", "treated")
"""Columns of true and false that are the configuration."""

ROLES: dict[str, tuple[str, ...]] = {
    "eval": ("eval_id", "eval", "task", "task_id", "case", "case_id", "test_case", "test_id", "test"
             , "scenario", "problem", "sample_id", "item", "prompt_id", "question_id"),
    "eval_name": ("eval_name", "task_name", "case_name"),
    "configuration": (
        *names_of(BenchmarkRun, "configuration"), "side", "setup", *_SWITCHES, "target"
    ),
    "run": ("run_number", "run", "run_index", "rep", "repetition", "repeat", "trial", "epoch"
            , "attempt"),
    "skill": ("skill", "skill_name", "plugin"),
    "iteration": ("iteration", "round"),
    "model": ("executor_model", "model", "model_name", "model_id"),
    "harness": ("harness", "agent", "executor", "scaffold"),
    "status": ("status", "run_status", "execution_status"),
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
    "check": ("check", "expectation", "assertion", "check_name", "test_name", "item"),
    "verdict": ("verdict", "passed", "pass", "result", "outcome", "success", "met"),
    "dimension": ("dimension", "criterion", "rubric_dimension"),
    "rating": ("rating", "score", "dimension_score", "grade"),
    "weight": ("weight",),
    "evidence": ("evidence", "reason", "rationale", "explanation", "comment"),
    "judging": ("judging", "judging_number"),
    "judge_model": ("judge_model", "judge", "rater", "grader_model"),
    "query": ("query", "prompt", "input", "text"),
    "should_trigger": ("should_trigger",),
    "triggered": ("triggered", "picked", "predicted", "actual", "got"),
}  # fmt: skip
"""What columns can be, and the names by which each is recognised, best first."""

_LONG = {
    "verdict": "check", "rating": "dimension", "weight": "dimension", "judging": "dimension",
    "query": "should_trigger", "triggered": "should_trigger",
}  # fmt: skip
"""Roles that columns have only where there is one of the other role."""
_UNITS = {"pass_rate": "rate", "time_seconds": "seconds", "duration_ms": "milliseconds"}
_RUBRIC = ("rubric:", "rubric_")
"""How the columns are called that are a rubric dimension each."""
_SHOWN = 12
_ERRORED = frozenset(
    "error errored execution_error timeout timed_out crashed exception aborted cancelled".split()
)
"""Words for a run that came to no result."""
_RANGES = {"pass_rate": (0.0, 1.0), "rating": (0.0, 5.0), "score": (-math.inf, math.inf)}


# ── its rows as runs ───────────────────────────────────────────────────────────────────────────


@dataclass
class Table:
    """Rows, what each of their columns is, and what is wrong with them.

    `stated` is role to column as somebody says it, `columns` the same with those that are
    recognised; `words` are verdicts by the words for them; `paths` are the files of the rows, and
    `bare` the places of those that stand for a run without checks or scores.
    """

    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    stated: Mapping[str, str] = field(default_factory=dict)
    dimensions: Sequence[str] = ()
    checks: Sequence[str] = ()
    words: Mapping[str, bool | None] = field(default_factory=dict)
    paths: Sequence[str] = ()
    bare: frozenset[int] = frozenset()
    faults: Faults = field(default_factory=Faults)
    columns: dict[str, str] = field(default_factory=dict)
    lost: dict[str, list[int]] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    counted: bool = False

    def __post_init__(self) -> None:
        self.words = {str(word).strip().lower(): said for word, said in self.words.items()}

    def tell(self, severity: Severity, code: str, message: str, column: str | None = None) -> None:
        """Note what is wrong with the table, or with a column of it."""
        self.faults.add(severity, code, f"$[*].{column}" if column else "$", message)

    def cell(self, at: int, role: str, column: str | None = None) -> tuple[str, Any]:
        """The column of a role, and what a row has there; None of one that is not used."""
        column = column or self.columns.get(role, "")
        return column, None if column in self.refused else self.rows[at].get(column)

    def value(self, row: Mapping[str, Any], role: str) -> Any:
        """What a row has for a role; None where that is nothing."""
        value = row.get(self.columns.get(role, ""))
        return None if _is_nothing(value) else value

    def text(self, row: Mapping[str, Any], role: str) -> str | None:
        """The same as a text that holds no key."""
        value = self.value(row, role)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return None if value is None else without_keys(str(value)).strip() or None

    def figure(self, at: int, role: str, column: str | None = None) -> float | None:
        """The figure of a row in the unit that is meant; NaN for what is none."""
        column, value = self.cell(at, role, column)
        if _is_nothing(value) or (isinstance(value, str) and value.strip().lower() in UNSCORED):
            return None
        unit = _UNITS.get(role) if isinstance(value, str) else None
        try:
            number = float(value) if isinstance(value, bool) else read_number(value, unit)
        except Unreadable:
            return math.nan
        return number * self.scales.get(column, 1.0) if unit is None else number

    def number(self, at: int, role: str, column: str | None = None) -> float | None:
        """The same; what is none, or out of range, is noted for its column."""
        number = self.figure(at, role, column)
        least, most = _RANGES.get(role, (0.0, math.inf))
        if number is not None and not least <= number <= most:
            self.lost.setdefault(self.cell(at, role, column)[0], []).append(at)
            return None
        return number

    def flag(self, at: int, role: str, column: str | None = None) -> bool | None:
        """The verdict of a row; what is none is noted for its column."""
        column, value = self.cell(at, role, column)
        try:
            return self.read_verdict(value)
        except Unreadable:
            self.lost.setdefault(column, []).append(at)
            return None

    def read_verdict(self, value: Any) -> bool | None:
        """True, false, or None where a cell says neither.

        Raises:
            Unreadable: nobody has said what it means.
        """
        word = "" if _is_nothing(value) else str(value).strip().lower()
        if word in self.words:
            return self.words[word]
        return None if not word or word in _ERRORED else read_bool(value)


def _is_list(value: Any) -> bool:
    """Whether a cell holds rows of its own."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _is_nothing(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def read_rows(table: Table) -> list[Results]:
    """What a table tells, one result an iteration; the first has all the faults.

    Raises:
        KeyError: for a role or a column that there is not; the message names the nearest one.
    """
    for role in table.stated:
        require_name(role, ROLES, "role")
    for column in (*table.stated.values(), *table.dimensions, *table.checks):
        require_name(column, table.names, "column")
    table.columns = recognise_columns(table)
    wide = [name for name in table.names if name.lower().startswith(_RUBRIC)]
    taken = table.columns.values()
    table.dimensions = [name for name in table.dimensions or wide if name not in taken]
    _tell_columns(table)
    _refuse_words(table)
    _scale(table)
    results: dict[str | None, Results] = {}
    if "query" in table.columns:
        results[None] = Results(triggers=list(_trigger_sets(table)))
    else:
        for iteration, run in _runs(table):
            results.setdefault(iteration, Results(iteration=iteration)).runs.append(run)
        empty = sum(table.value(row, "configuration") is None for row in table.rows)
        if empty and (column := table.columns.get("configuration")):
            message = f"{empty} rows name no side, and are compared with nothing: fill the column"
            table.tell("warning", "no-configuration", message, column)
    for column, rows in table.lost.items():
        message = (
            f"{column!r} has no figure of use in {len(set(rows))} rows, such as "
            f"{_example(table, rows[0], column)}: taken as not known. Write a number in its range, "
            "or leave it empty"
        )
        table.tell("warning", "not-a-figure", message, column)
    found = list(results.values()) or [Results()]
    found[0].faults = table.faults
    return found


def _example(table: Table, at: int, column: str) -> str:
    return f"{without_keys(repr(table.rows[at].get(column))[:60])} in row {at + 1}"


def require_name(name: str, known: Iterable[str], what: str) -> None:
    """Raise a KeyError for a name that is not known, with the nearest one that is."""
    if name not in (known := list(known)):
        hint = did_you_mean(name, known)
        raise KeyError(f"There is no {what} {name!r}.{hint} There are: {', '.join(known)}.")


def recognise_columns(table: Table) -> dict[str, str]:
    """Role to column: those that are said, else by their names, each column once."""
    columns = dict(table.stated)
    used = {*columns.values(), *table.dimensions, *table.checks}
    parts = tuple(f"{name}." for name in used if name.strip("."))  # of what is said as a whole
    plain = {plainly(one): one for one in reversed(table.names) if not one.startswith(parts)}
    long = {
        role: role in columns or any(plainly(name) in plain for name in ROLES[role])
        for role in set(_LONG.values())
    }
    long["check"] = long["check"] or plain.keys() & {"verdict", "result", "outcome", "met"} != set()
    for role, known in sorted(ROLES.items(), key=lambda item: item[0] not in _LONG):
        if role in columns or (role in _LONG and not long[_LONG[role]]):
            continue
        found = (plain[plainly(name)] for name in known if plainly(name) in plain)
        if role == "configuration" and not _tells_sides(table, columns, plain):
            found = (name for name in found if plainly(name) != "target")
        if (column := next((name for name in found if name not in used), None)) is not None:
            columns[role] = column
            used.add(column)
    for part, role in (("verdict", "passed"), ("rating", "score")):  # of the run itself
        if part in columns.keys() - table.stated.keys() and _LONG[part] not in columns:
            columns.setdefault(role, columns.pop(part))
    return columns


def _tells_sides(table: Table, columns: Mapping[str, str], plain: Mapping[str, str]) -> bool:
    """Whether a `target` is what was run: an eval has several, or all have the same.

    Else it is the answer that was expected.
    """
    names = columns.get("eval", ""), plain.get("target", "")
    pairs = {(str(row.get(names[0])), str(row.get(names[1]))) for row in table.rows}
    return len({side for _, side in pairs}) == 1 or len({of for of, _ in pairs}) < len(pairs)


def _tell_columns(table: Table) -> None:
    """Say which column was taken for what, and what is missing."""
    columns, names = table.columns, table.names
    roles = [
        f"{role} is {column!r}" + ("" if role in table.stated else " (by its name)")
        for role, column in columns.items()
    ]
    others = {"pass_rate", "passed", "check", "dimension"} & columns.keys()
    if "score" in columns and not others and not _outside(table, "pass_rate", columns["score"]):
        roles.append(f"which is no rate unless you say so (pass_rate={columns['score']!r})")
    roles += [f"{dimension!r} is a dimension" for dimension in table.dimensions]
    roles += [f"{check!r} is a check" for check in table.checks]
    used = {*columns.values(), *table.dimensions, *table.checks}
    first = table.rows[0] if table.rows else {}
    rest = [
        f"{name!r}"
        + (f" (a list: rows='[*].{name}[*]' reads it)" if _is_list(first.get(name)) else "")
        for name in names
        if name not in used
    ]
    unused = f"; not used: {', '.join(rest[:_SHOWN])}" if rest else ""
    unused += f" and {len(rest) - _SHOWN} more" if len(rest) > _SHOWN else ""
    table.tell("info", "columns", f"columns: {', '.join(roles) or 'none'}{unused}")
    if "query" in columns:
        return
    for role, what in (("eval", "the eval"), ("configuration", "the side")):
        if role not in columns:
            known = ", ".join(names)
            message = f"no column tells {what} of a row: name it, {role}=…; there are {known}"
            table.tell("error" if role == "eval" else "warning", f"no-{role}", message)
    figures = {"pass_rate", "passed", "score", "check", "dimension", "status"}
    if not figures & columns.keys() and not table.dimensions and not table.checks:
        message = (
            "no column has a result: name one, as in pass_rate=…, check=… with verdict=…, or "
            "dimension=… with rating=…, or dimensions=[…]"
        )
        table.tell("error", "no-result", message)


_SCALES = (
    (0.0, 1.0, 5.0, "shares of 1: read as shares of 5"),
    (5.0, 10.0, 0.5, "scores up to 10: halved"),
    (10.0, 100.0, 0.05, "scores up to 100: read as scores up to 5"),
)
"""Of scores whose largest lies above the first and not above the second: factor, and in words."""


def _verdict_columns(table: Table) -> list[str]:
    columns = [*table.checks, table.columns.get("verdict")]
    if not {"total", "failed"} & table.columns.keys():
        columns.append(table.columns.get("passed"))
    if plainly(table.columns.get("configuration", "")) in map(plainly, _SWITCHES):
        columns.append(table.columns["configuration"])
    return [column for column in columns if column]


def _refuse_words(table: Table) -> None:
    """Refuse a column of verdicts some of which nobody knows: the others would be one-sided."""
    for column in _verdict_columns(table):
        known: set[bool | None] = set()
        unknown: dict[str, bool] = {}
        cells = [row.get(column) for row in table.rows]
        for cell in cells:
            if as_pair(cell):
                table.counted = True
                continue
            try:
                known.add(table.read_verdict(cell))
            except Unreadable:
                unknown[without_keys(str(cell))[:30]] = _figure(cell) is not None
        if unknown:
            table.refused.add(column)
            message = (
                f"{column!r} has values of which nobody has said if they mean passed or failed, "
                "so none of it was used. Say it, with True, False or None: words={"
                f"{', '.join(f'{word!r}: …' for word in list(unknown)[:_SHOWN])}}}"
            )
            if all(unknown.values()):
                message += f". If it is a rate: pass_rate={column!r}; if a count, say total=… too"
            table.tell("error", "unknown-words", message, column)
        elif known == {True, None} and all(_is_nothing(c) or isinstance(c, str) for c in cells):
            message = (
                f"{column!r} has no word for failed, and empty cells, which were taken as not "
                "scored. If they mean failed, say words={'': False}"
            )
            table.tell("warning", "one-sided", message, column)
    if table.counted:
        table.tell(
            "info", "counted", "so many of so many: counted, and no expectations of their own"
        )


def _outside(table: Table, role: str, column: str) -> list[int]:
    """The rows whose figure is out of the range of a role."""
    least, most = _RANGES[role]
    figures = enumerate(table.figure(at, role, column) for at in range(len(table.rows)))
    return [
        at for at, figure in figures if figure is not None and (figure < least or figure > most)
    ]


def _refuse_scale(table: Table, role: str, column: str) -> None:
    """Refuse a column of rates or scores of which a part has another scale."""
    if outside := _outside(table, role, column):
        table.refused.add(column)
        least, most = _RANGES[role]
        message = (
            f"{column!r} has {len(outside)} values that are not within {least:g} to {most:g}, such "
            f"as {_example(table, outside[0], column)}, so none of it was used. Bring it to one "
            f"scale, or keep it as a figure of its own: score={column!r}"
        )
        table.tell("error", "not-a-figure", message, column)


def _scale(table: Table) -> None:
    """How the figures of a column become shares of 1, or scores of 1 to 5: told where they do."""

    def figures(column: str) -> list[float]:
        found = (_figure(row.get(column)) for row in table.rows)
        return [number for number in found if number is not None]

    def convert(column: str, top: float, factor: float, what: str) -> None:
        table.scales[column] = factor
        message = f"{column!r} goes up to {top:g}: {what}. If that is wrong, convert it before"
        table.tell("warning", "converted", message, column)

    if (rate := table.columns.get("pass_rate")) is not None:
        values = figures(rate)
        high = [value for value in values if value > 1]
        most = len(high) * 2 > sum(value != 0 for value in values)
        if high and max(high) <= 100 and most and not any(0 < value < 1 for value in values):
            convert(rate, max(high), 0.01, "percentages: read as shares of 1")
        _refuse_scale(table, "pass_rate", rate)
    for column in filter(None, (table.columns.get("rating"), *table.dimensions)):
        values = figures(column)
        top = max(values, default=5.0)
        for above, most, factor, what in _SCALES:
            if above < top <= most and not (most == 1 and min(values) == 1):
                convert(column, top, factor, what)
        _refuse_scale(table, "rating", column)


def _figure(value: Any) -> float | None:
    try:
        number = read_number(value)
    except Unreadable:
        return None
    return number if math.isfinite(number) else None


def _runs(table: Table) -> Iterator[tuple[str | None, Run]]:
    """The runs, each with its iteration: a row each, or of all rows that have the same keys."""
    part = next((role for role in ("check", "dimension") if role in table.columns), None)
    groups = list(_group_rows(table, part).values())
    if part:
        _refuse_varying(table, groups)
    for rows in groups:
        run = _read_keys(table, rows[0])
        _add_figures(table, rows[0], run)
        _add_wide(table, rows[0], run)
        for at in rows:
            if part and at not in table.bare:
                _add_long(table, at, run, part)
        yield table.text(table.rows[rows[0]], "iteration"), run


def _group_rows(table: Table, part: str | None) -> dict[tuple[Any, ...], list[int]]:
    """The rows of each run, by its keys; what is no row of a run is told."""
    found: dict[tuple[Any, ...], list[int]] = {}
    met: Counter[tuple[Any, ...]] = Counter()
    numbered = "run" in table.columns
    again: list[int] = []
    every = [_keys(table, at) for at in range(len(table.rows))]
    left_out = _left_out(table, every) if part is None else set()
    for at, (row, keys) in enumerate(zip(table.rows, every, strict=True)):
        if at in left_out:
            continue
        inside = (*keys, table.text(row, part), *_judge(table, row)) if part else keys
        met[inside] += 1
        if numbered and met[inside] > 1:
            again.append(at)
            if part:  # a second verdict on the same check of the same run
                continue
        key = (*keys, met[inside] if not numbered or not part else 1)
        found.setdefault(key, []).append(at)
    if again:
        what = "the first counts" if part else "each is a run of its own"
        message = (
            f"{len(again)} rows have the keys of an earlier one (the first is row {again[0] + 1}): "
            f"{what}. Name the column that tells them apart: run=…, model=…, check=… or dimension=…"
        )
        table.tell("warning", "two-rows", message)
    return found


def _keys(table: Table, at: int) -> tuple[str | None, ...]:
    roles = ("iteration", "skill", "eval", "eval_name", "configuration", "model", "harness", "run")
    return tuple(table.text(table.rows[at], role) for role in roles)


def _left_out(table: Table, every: Sequence[tuple[str | None, ...]]) -> set[int]:
    """The rows that are no runs: objects without rows of their own, and copies; both are told.

    Rows of the same run are copies where all that repeat a run's keys are the same in every
    column: else the numbers do not tell runs apart, and each row is one.
    """
    if table.bare:
        message = f"{count(len(table.bare), 'object')} without rows of its own: no run"
        table.tell("warning", "no-rows", message)
    first: dict[object, str] = {}
    copies: set[int] = set()
    for at, row in enumerate(table.rows if {"run", "started_at"} & table.columns.keys() else ()):
        whole = repr([row.get(name) for name in table.names])
        same = first.setdefault((*every[at], table.text(row, "started_at")), whole)
        if same != whole:
            return set(table.bare)
        if same is not whole:
            copies.add(at)
    if copies:
        message = (
            f"{count(len(copies), 'row')} the same as an earlier one in every column (the first is "
            f"row {min(copies) + 1}): counted once"
        )
        table.tell("warning", "copy", message)
    return copies | table.bare


def _refuse_varying(table: Table, groups: Sequence[Sequence[int]]) -> None:
    """Refuse figures of runs that differ among the checks of one: they are of the checks."""
    for role in ("pass_rate", "score", "tokens", "cost_usd", "tool_calls", "steps", *_UNITS):
        column = table.columns.get(role, "")
        cells = ({repr(table.rows[at].get(column)) for at in rows} for rows in groups)
        if column and any(len(values) > 1 for values in cells):
            table.refused.add(column)
            message = f"{column!r} differs within runs: it is no {role} of a run, and was not used"
            table.tell("warning" if role in table.stated else "info", "varies", message, column)


def _judge(table: Table, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return table.text(row, "judging"), table.text(row, "judge_model")


def _read_keys(table: Table, at: int) -> Run:
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
        path=table.paths[at] if table.paths else None,
    )


def _add_figures(table: Table, at: int, run: Run) -> None:
    """What a run came to, and what it took."""

    def whole(role: str) -> int | None:
        value = table.number(at, role)
        return None if value is None else round(value)

    row, grading = table.rows[at], Grading([])
    status = (table.text(row, "status") or table.text(row, "passed") or "").lower()
    passed = table.cell(at, "passed")[1]
    if {"total", "failed"} & table.columns.keys():
        grading.summary = Summary(whole("passed"), whole("failed"), whole("total"))
    elif (pair := as_pair(passed)) is not None:
        _count(grading, *pair)
    elif "passed" in table.columns and "check" not in table.columns:
        verdict = table.flag(at, "passed")
        if verdict is not None:
            grading.expectations.append(GradedExpectation("the run passed", verdict))
    run.rate, run.score = table.number(at, "pass_rate"), table.number(at, "score")
    failed = status in _ERRORED
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


def _count(grading: Grading, part: int, whole: int) -> None:
    """Add so many of so many to what passed."""
    summary = grading.summary or Summary(0, 0, 0)
    passed, total = (summary.passed or 0) + part, (summary.total or 0) + whole
    grading.summary = Summary(passed, total - passed, total)


def _add_check(table: Table, at: int, grading: Grading, name: str, column: str | None) -> None:
    """A verdict on a check; where some are so many of so many, all are counted alone."""
    pair = as_pair(table.cell(at, "verdict", column)[1])
    verdict = table.flag(at, "verdict", column) if pair is None else None
    if not table.counted:
        evidence = None if column else table.text(table.rows[at], "evidence")
        grading.expectations.append(GradedExpectation(name, verdict, evidence))
    elif (pair or verdict is not None) and not {"total", "failed"} & table.columns.keys():
        _count(grading, *(pair or (int(bool(verdict)), 1)))


def _add_wide(table: Table, at: int, run: Run) -> None:
    """Checks and dimensions that are a column each."""
    if run.grading is None:
        return
    for column in table.checks:
        _add_check(table, at, run.grading, column, column)
    for column in table.dimensions:
        score = table.number(at, "rating", column)
        name = column[7:] if column.lower().startswith(_RUBRIC) else column
        run.grading.rubric_scores[name] = RubricScore(score)


def _add_long(table: Table, at: int, run: Run, part: str) -> None:
    """A row that is a check, or a dimension, of a run."""
    row = table.rows[at]
    name, evidence = table.text(row, part) or "unnamed", table.text(row, "evidence")
    if run.grading is None:
        return
    if part == "check":
        _add_check(table, at, run.grading, name, None)
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


# ── its rows as trigger queries ────────────────────────────────────────────────────────────────


def _trigger_sets(table: Table) -> Iterator[TriggerSet]:
    """The queries, a set for each skill and side; rows of the same query are runs of it."""
    sets: dict[tuple[str | None, str | None], dict[str, TriggerQuery]] = {}
    for at, row in enumerate(table.rows):
        skill, text = table.text(row, "skill"), table.text(row, "query")
        if text is None:
            table.lost.setdefault(table.columns["query"], []).append(at)
            continue
        queries = sets.setdefault((skill, table.text(row, "configuration")), {})
        should = _is_picked(table, at, "should_trigger", skill)
        query = queries.setdefault(text, TriggerQuery(text, should))
        pair = as_pair(table.cell(at, "triggered")[1])
        if pair is None and (picked := _is_picked(table, at, "triggered", skill)) is not None:
            pair = int(picked), 1
        if pair is not None:
            query.triggered = (query.triggered or 0) + pair[0]
            query.runs = (query.runs or 0) + pair[1]
    for (skill, side), queries in sets.items():
        yield TriggerSet(list(queries.values()), skill_name=skill, description=side)


def _is_picked(table: Table, at: int, role: str, skill: str | None) -> bool | None:
    """Whether a cell says yes, or names a skill: the one that is asked for, where it is known."""
    value = table.cell(at, role)[1]
    if isinstance(value, str) and value.strip().lower() in ("none", "null", "nothing"):
        return False
    try:
        return table.read_verdict(value)
    except Unreadable:
        return not isinstance(value, str) or skill is None or value.strip() == skill
