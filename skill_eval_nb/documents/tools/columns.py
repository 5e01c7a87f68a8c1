"""The columns of a table of results: what each is taken for, and the figures or verdicts in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_eval_nb.text import did_you_mean, some

from ..base import Faults, Severity, names_of, plainly
from ..parsing import ERRORED, UNSCORED, Unreadable, read_bool, read_number, read_share
from ..results import BenchmarkRun
from .part import without_keys

SWITCHES = ("with_skill", "skill_on", "use_skill", "skill_enabled", "treated")
"""Columns of true and false that are the configuration."""

ROLES: dict[str, tuple[str, ...]] = {
    "eval": ("eval_id", "eval", "task", "task_id", "case", "case_id", "test_case", "test_id", "test"
             , "scenario", "problem", "sample_id", "item", "prompt_id", "question_id"),
    "eval_name": ("eval_name", "task_name", "case_name"),
    "configuration": (
        *names_of(BenchmarkRun, "configuration"), "side", "setup", *SWITCHES, "target"
    ),
    "run": ("run_number", "run", "run_index", "rep", "repetition", "repeat", "trial", "epoch"
            , "attempt"),
    "skill": ("skill", "skill_name", "plugin"),
    "iteration": ("iteration", "round"),
    "model": ("executor_model", "model", "model_name", "model_id"),
    "harness": ("harness", "agent", "executor", "scaffold"),
    "status": ("status", "run_status", "execution_status"),
    "started_at": ("started_at", "timestamp", "start_time"),
    "pass_rate": ("pass_rate", "success_rate", "accuracy", "reward", "exact_match", "acc"),
    "passed": ("passed", "n_passed", "tests_passed", "passes", "pass", "success", "correct", "ok"),
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
    "verdict": ("verdict", "passed", "pass", "result", "outcome", "success", "met", "ok"),
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
"""Roles that columns have only if there is one of the other role."""
_FLAGS = {"passed", "verdict", "skill_used", "configuration"}
"""Roles of columns of verdicts, or of true and false; `configuration` for switches alone."""
UNITS = {"pass_rate": "rate", "time_seconds": "seconds", "duration_ms": "milliseconds"}
RUBRIC = ("rubric:", "rubric_")
"""How the columns are called that are a rubric dimension each."""
_SHOWN = 12
_RANGES = {"pass_rate": (0.0, 1.0), "rating": (0.0, 5.0), "score": (-math.inf, math.inf)}


@dataclass
class Table:
    """Rows, what each of their columns is, and what is wrong with them.

    `stated` is role to column as somebody says it, `columns` the same with those that are
    recognised; `words` are verdicts by the words for them; `paths` are the files of the rows, and
    `bare` the places of those that are empty, or stand for a run without checks or scores.
    `counted` is whether any verdict is a count, such as 3 of 5.
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
    done: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    counted: bool = False

    def __post_init__(self) -> None:
        self.words = {str(word).strip().lower(): said for word, said in self.words.items()}

    def tell(self, severity: Severity, code: str, message: str, column: str | None = None) -> None:
        """Note what is wrong with the table, or with a column of it."""
        self.faults.add(severity, code, f"$[*].{column}" if column else "$", message)

    def value(self, at: int, role: str, column: str = "") -> Any:
        """What a row has for a role; None if that is nothing."""
        column = column or self.columns.get(role, "")
        value = self.rows[at].get(column) if column else None
        return None if is_nothing(value) else value

    def text(self, at: int, role: str) -> str | None:
        """The same as a text that holds no key."""
        value = self.value(at, role)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return None if value is None else without_keys(str(value)).strip() or None

    def read(self, role: str, column: str = "") -> list[Any]:
        """The figures or verdicts of a column, a row each; what is wrong with it is told once."""
        key = role, column or self.columns.get(role, "")
        if key not in self.done:
            cells = [self.value(at, role, column) for at in range(len(self.rows))]
            counts = role == "passed" and self.has("total", "failed")
            read = _read_verdicts if role in _FLAGS and not counts else _read_figures
            self.done[key] = read(self, *key, cells)
        return self.done[key]

    def has(self, *roles: str) -> bool:
        """Whether there is a column of one of these roles."""
        return not self.columns.keys().isdisjoint(roles)

    def read_verdict(self, value: Any) -> bool | None:
        """True, false, or None if a cell says neither.

        Raises:
            Unreadable: nobody has said what it means.
        """
        word = "" if value is None else str(value).strip().lower()
        if word in self.words:
            return self.words[word]
        return None if not word or word in ERRORED else read_bool(value)


def is_nothing(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def as_pair(value: Any) -> tuple[int, int] | None:
    """How many of how many, where a value says that: `[3, 5]`, `{"passed": 3, "total": 5}`, `3/5`.

    >>> as_pair([3, 5]), as_pair("3/5"), as_pair([5, 3])
    ((3, 5), (3, 5), None)
    """
    if isinstance(value, Mapping):
        value = [value.get("passed"), value.get("total")]
    if isinstance(value, str):
        return read_share(value)
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    part, whole = value
    return (part, whole) if type(part) is type(whole) is int and 0 <= part <= whole else None


def _read_figures(table: Table, role: str, column: str, cells: list[Any]) -> list[float | None]:
    """The figures of a column on the scale that is meant; of two scales none is used."""
    figures = [_read_figure(cell, UNITS.get(role)) for cell in cells]
    known = [figure for figure in figures if figure is not None and not math.isnan(figure)]
    factor, what = _scale_of(role, known)
    if what:
        figures = [None if figure is None else figure * factor for figure in figures]
        message = f"{column!r} goes up to {max(known):g}: {what}; if that is wrong, convert it"
        table.tell("warning", "converted", message, column)
    least, most = _RANGES.get(role, (0.0, math.inf))
    lost = {at: x for at, x in enumerate(figures) if x is not None and not least <= x <= most}
    if not lost:
        return figures
    outside = [at for at, figure in lost.items() if not math.isnan(figure)]
    refused = bool(outside) and role in ("pass_rate", "rating")
    at = (outside or list(lost))[0]
    example = f"such as {without_keys(repr(cells[at])[:60])} in row {at + 1}"
    message = f"{column!r} has no figure of use in {len(lost)} rows, {example}: taken as not known"
    if refused:
        odd = f"{column!r} has {len(outside)} values outside of {least:g} to {most:g}, {example}"
        message = f"{odd}: none is used. Bring them to one scale, or say score={column!r}"
    table.tell("error" if refused else "warning", "not-a-figure", message, column)
    return [None if refused or at in lost else figure for at, figure in enumerate(figures)]


def _read_figure(cell: Any, unit: str | None) -> float | None:
    """A number in a unit; NaN for what is none."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in UNSCORED):
        return None
    try:
        if isinstance(cell, str):
            return read_number(cell, unit)
        return read_number(float(cell) if isinstance(cell, bool) else cell)
    except Unreadable:
        return math.nan


def _scale_of(role: str, known: Sequence[float]) -> tuple[float, str]:
    """What makes figures shares of 1 or scores up to 5, and what they are if not these already."""
    high = [value for value in known if value > 1]
    if role == "pass_rate" and len(high) * 2 > sum(value != 0 for value in known):
        if max(high) <= 100 and not any(0 < value < 1 for value in known):
            return 0.01, "percentages: read as shares of 1"
    elif role == "rating" and any(known) and set(known) != {1}:
        top = next((top for top in (1, 5, 10, 100) if max(known) <= top), 5)
        return 5 / top, f"scores up to {top}: read as scores up to 5" if top != 5 else ""
    return 1, ""


def _read_verdicts(
    table: Table, _: str, column: str, cells: list[Any]
) -> list[bool | tuple[int, int] | None]:
    """The verdicts of a column; if one is not understood, the others would be one-sided."""
    found: list[bool | tuple[int, int] | None] = []
    unknown: dict[str, None] = {}
    for cell in cells:
        try:
            found.append(as_pair(cell) or table.read_verdict(cell))
        except Unreadable:
            unknown[without_keys(str(cell))[:30]] = None
    if unknown:
        words = ", ".join(f"{word!r}: …" for word in list(unknown)[:_SHOWN])
        message = (
            f"{column!r} has values that mean neither passed nor failed, so none of it was used: "
            f"say what they mean, words={{{words}}}; if it is a rate, say pass_rate={column!r}"
        )
        table.tell("error", "unknown-words", message, column)
        return [None] * len(cells)
    if set(found) == {True, None} and all(cell is None or isinstance(cell, str) for cell in cells):
        message = f"{column!r} never says failed; if its empty cells mean it: words={{'': False}}"
        table.tell("warning", "one-sided", message, column)
    return found


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


def _is_list(value: Any) -> bool:
    """Whether a cell holds rows of its own."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def tell_columns(table: Table) -> None:
    """Say which column was taken for what, and what is missing."""
    columns = table.columns
    told = [
        f"{role} is {column!r}" + ("" if role in table.stated else " (by its name)")
        for role, column in columns.items()
    ]
    alone = table.has("score") and not table.has("pass_rate", "passed", "check", "dimension")
    if alone and all(score is None or 0 <= score <= 1 for score in table.read("score")):
        told.append(f"which is not a rate unless you say so (pass_rate={columns['score']!r})")
    told += [f"{dimension!r} is a dimension" for dimension in table.dimensions]
    told += [f"{check!r} is a check" for check in table.checks]
    used = {*columns.values(), *table.dimensions, *table.checks}
    rest = [
        f"{name!r} (a list: rows='[*].{name}[*]' reads it)" if _is_list(table.rows[0].get(name))
        else repr(name)
        for name in table.names
        if name not in used
    ]  # fmt: skip
    unused = f"; not used: {some(rest, _SHOWN)}" if rest else ""
    table.tell("info", "columns", f"columns: {', '.join(told) or 'none'}{unused}")
    if table.has("query"):
        return
    for role, what in (("eval", "the eval"), ("configuration", "the side")):
        if not table.has(role):
            known = ", ".join(table.names)
            message = f"no column tells {what} of a row: name it, {role}=…; there are {known}"
            table.tell("error" if role == "eval" else "warning", f"no-{role}", message)
    results = ("pass_rate", "passed", "score", "check", "dimension", "status")
    if not table.has(*results) and not table.dimensions and not table.checks:
        message = "no column has a result: pass_rate=…, check=… with verdict=…, or dimensions=[…]"
        table.tell("error", "no-result", message)
