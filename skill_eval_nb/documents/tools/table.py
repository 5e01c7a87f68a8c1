"""Any table of results: what each of its columns is, and its rows as runs or trigger queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from skill_eval_nb.text import count, did_you_mean, some

from ..base import Faults, Severity, names_of, plain_key
from ..evals import TriggerQuery, TriggerSet
from ..parsing import ERRORED, UNSCORED, Unreadable, as_pair, read_bool, read_int, read_number
from ..results import BenchmarkRun
from ..run import GradedExpectation, Grading, Judging, Metrics, RubricScore, Summary, Timing
from ..sides import UNSTATED, WITH, WITHOUT
from .part import Results, Run, without_keys

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
        """The value of a row for a role; None if the cell is empty."""
        column = column or self.columns.get(role, "")
        value = self.rows[at].get(column) if column else None
        return None if is_nothing(value) else value

    def text(self, at: int, role: str) -> str | None:
        """The same as a text, with secret keys removed."""
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
    message = f"{column!r} has no usable figure in {count(len(lost), 'row')}, {example}: not known"
    if refused:
        odd = f"{column!r} has {count(len(outside), 'value')} out of {least:g}–{most:g}, {example}"
        message = f"{odd}: none is used. Put them on one scale, or give score={column!r}"
    table.tell("error" if refused else "warning", "not-a-figure", message, column)
    return [None if refused or at in lost else figure for at, figure in enumerate(figures)]


def _read_figure(cell: Any, unit: str | None) -> float | None:
    """A number in a unit; NaN for what is none."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in UNSCORED):
        return None
    try:
        cell = float(cell) if isinstance(cell, bool) else cell
        return read_number(cell, unit if isinstance(cell, str) else None)
    except Unreadable:
        return math.nan


def _scale_of(role: str, known: Sequence[float]) -> tuple[float, str]:
    """The factor to shares of 1 or scores up to 5, and what the figures are if it is not 1."""
    high = [value for value in known if value > 1]
    if role == "pass_rate" and len(high) * 2 > sum(value != 0 for value in known):
        if max(high) <= 100 and not any(0 < value < 1 for value in known):
            return 0.01, "percentages: read as shares of 1"
    elif role == "rating" and max(known, default=0) > 0 and set(known) != {1}:
        top = next((top for top in (1, 5, 10, 100) if max(known) <= top), 5)
        return 5 / top, f"scores up to {top}: read as scores up to 5" if top != 5 else ""
    return 1, ""


def _read_verdicts(
    table: Table, _: str, column: str, cells: list[Any]
) -> list[bool | tuple[int, int] | None]:
    """The verdicts of a column; none if any is not understood: the others would be one-sided."""
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
            f"state what they mean: words={{{words}}}; if it is a rate, give pass_rate={column!r}"
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
    plain = {plain_key(one): one for one in reversed(table.names) if not one.startswith(parts)}
    long = {
        role: role in columns or any(plain_key(name) in plain for name in ROLES[role])
        for role in set(_LONG.values())
    }
    long["check"] = long["check"] or plain.keys() & {"verdict", "result", "outcome", "met"} != set()
    for role, known in sorted(ROLES.items(), key=lambda item: item[0] not in _LONG):
        if role in columns or (role in _LONG and not long[_LONG[role]]):
            continue
        found = (plain[plain_key(name)] for name in known if plain_key(name) in plain)
        if role == "configuration" and not _tells_sides(table, columns, plain):
            found = (name for name in found if plain_key(name) != "target")
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


def tell_columns(table: Table) -> None:
    """Say which column was taken for what, and what is missing."""
    columns = table.columns
    told = [
        f"{role} is {column!r}" + ("" if role in table.stated else " (by its name)")
        for role, column in columns.items()
    ]
    alone = table.has("score") and not table.has("pass_rate", "passed", "check", "dimension")
    if alone and all(score is None or 0 <= score <= 1 for score in table.read("score")):
        told.append(f"which is not a rate unless you state it (pass_rate={columns['score']!r})")
    told += [f"{dimension!r} is a dimension" for dimension in table.dimensions]
    told += [f"{check!r} is a check" for check in table.checks]
    used = {*columns.values(), *table.dimensions, *table.checks}
    cells = {name: table.rows[0].get(name) for name in table.names if name not in used}
    rest = [
        f"{name!r} (a list: rows='[*].{name}[*]' reads it)"
        if isinstance(cell, list) and any(isinstance(row, Mapping) for row in cell[:1])
        else repr(name)
        for name, cell in cells.items()
    ]
    unused = f"; not used: {some(rest, _SHOWN)}" if rest else ""
    table.tell("info", "columns", f"columns: {', '.join(told) or 'none'}{unused}")
    if table.has("query"):
        return
    for role, what in (("eval", "the eval"), ("configuration", "the side")):
        if not table.has(role):
            known = ", ".join(table.names)
            message = f"no column gives {what} of a row: name it, {role}=…; there are {known}"
            table.tell("error" if role == "eval" else "warning", f"no-{role}", message)
    results = ("pass_rate", "passed", "score", "check", "dimension", "status")
    if not table.has(*results) and not table.dimensions and not table.checks:
        message = "no column has a result: pass_rate=…, check=… with verdict=…, or dimensions=[…]"
        table.tell("error", "no-result", message)


# ── its rows as runs ─────────────────────────────────────────────────────────────────────────────


def read_rows(table: Table) -> list[Results]:
    """Read a table: one result per iteration, the first with all the faults.

    Raises:
        KeyError: for a role or a column that there is not; the message names the nearest one.
    """
    for role in table.stated:
        require_name(role, ROLES, "role")
    if not table.rows:  # there is a problem of the file already
        return [Results(faults=table.faults)]
    for column in (*table.stated.values(), *table.dimensions, *table.checks):
        require_name(column, table.names, "column")
    table.columns = recognise_columns(table)
    wide = [name for name in table.names if name.lower().startswith(RUBRIC)]
    taken = table.columns.values()
    table.dimensions = [name for name in table.dimensions or wide if name not in taken]
    tell_columns(table)
    results: dict[str | None, Results] = {}
    if table.has("query"):
        results[None] = Results(triggers=list(_trigger_sets(table)))
    else:
        for iteration, run in _table_runs(table):
            results.setdefault(iteration, Results(iteration=iteration)).runs.append(run)
    found = list(results.values()) or [Results()]
    found[0].faults = table.faults
    return found


def _table_runs(table: Table) -> Iterator[tuple[str | None, Run]]:
    """The runs, each with its iteration: a row each, or of all rows that have the same keys."""
    verdicts = [table.read("verdict", column) for column in (*table.checks, "")]
    verdicts += [] if table.has("total", "failed") else [table.read("passed")]
    table.counted = any(isinstance(one, tuple) for column in verdicts for one in column)
    if table.counted:
        message = "verdicts such as 3 of 5 are counted, but are not expectations of their own"
        table.tell("info", "counted", message)
    part = next((role for role in ("check", "dimension") if table.has(role)), "")
    groups = _group_rows(table, part)
    empty = [at for at in chain(*groups.values()) if table.value(at, "configuration") is None]
    if empty and (column := table.columns.get("configuration")):
        message = f"{count(len(empty), 'row')} without a side are compared with nothing: fill them"
        table.tell("warning", "no-configuration", message, column)
    if part:
        _refuse_varying(table, groups.values())
    for (*_, copy, _), rows in groups.items():
        run = _read_keys(table, rows[0])
        run.run_id = copy
        _add_figures(table, rows[0], run)
        for at in rows:
            if part and at not in table.bare and run.grading is not None:
                _add_part(table, at, run, run.grading, part)
        yield table.text(rows[0], "iteration"), run


def _group_rows(table: Table, part: str) -> dict[tuple[Any, ...], list[int]]:
    """The rows of each run, by its keys; what is no row of a run is told."""
    found: dict[tuple[Any, ...], list[int]] = {}
    met: Counter[tuple[Any, ...]] = Counter()
    first: dict[tuple[Any, ...], object] = {}
    again: list[int] = []
    roles = ("iteration", "skill", "eval", "eval_name", "configuration", "model", "harness", "run")
    every = [tuple(table.text(at, role) for role in roles) for at in range(len(table.rows))]
    copies = [None] * len(every) if part else _copy_keys(table, every)
    skipped = {at for at in table.bare if not part or not any(every[at])}
    if skipped:
        message = f"{count(len(skipped), 'object')} without rows or values of its own: no run"
        table.tell("warning", "no-rows", message)
    for at, keys in enumerate(every):
        if at in skipped:
            continue
        inside = (*keys, table.text(at, part), *_judge(table, at)) if part else keys
        met[inside] += 1
        copy = copies[at] or at
        if table.has("run") and first.setdefault(inside, copy) != copy:
            again.append(at)
            if part:  # a second verdict on the same check of the same run
                continue
        number = 1 if part and table.has("run") else met[inside]
        found.setdefault((*keys, copies[at], number), []).append(at)
    if again:
        what = "the first counts" if part else "each is a run of its own"
        rows = f"{len(again)} rows repeat the keys of others (the first is row {again[0] + 1})"
        message = (
            f"{rows}: {what}. Name the column that differs: run=…, model=…, check=…, dimension=…"
        )
        table.tell("warning", "two-rows", message)
    return found


def _copy_keys(table: Table, every: Sequence[tuple[str | None, ...]]) -> list[str | None]:
    """What the rows of a run and its copies have in common; None if there can be none.

    Rows of the same run are copies if all that repeat a run's keys are the same in every
    column: else the numbers do not tell runs apart, and each row is one.
    """
    wholes = [repr([row.get(name) for name in table.names]) for row in table.rows]
    runs = [(*keys, table.text(at, "started_at")) for at, keys in enumerate(every)]
    same = len(set(zip(runs, wholes, strict=True))) == len(set(runs))
    return [*wholes] if same and table.has("run", "started_at") else [None] * len(wholes)


def _refuse_varying(table: Table, groups: Iterable[Sequence[int]]) -> None:
    """Refuse figures of runs that differ among the checks of one: they are of the checks."""
    for role in ("pass_rate", "score", "tokens", "cost_usd", "tool_calls", "steps", *UNITS):
        cells = ({repr(table.value(at, role)) for at in rows} for rows in groups)
        if table.has(role) and any(len(values) > 1 for values in cells):
            column = table.columns[role]
            table.done[role, column] = [None] * len(table.rows)
            message = f"{column!r} differs within runs: it is no {role} of a run, and was not used"
            table.tell("warning" if role in table.stated else "info", "varies", message, column)


def _judge(table: Table, at: int) -> tuple[str | None, str | None]:
    return table.text(at, "judging"), table.text(at, "judge_model")


def _read_keys(table: Table, at: int) -> Run:
    side: Any = table.value(at, "configuration")
    if plain_key(table.columns.get("configuration", "")) in map(plain_key, SWITCHES):
        side = table.read("configuration")[at]
    if isinstance(side, bool):
        side = WITH if side else WITHOUT
    eval_ = table.text(at, "eval") or table.text(at, "eval_name") or "unnamed"
    try:
        number = read_int(table.value(at, "run"))
    except Unreadable:
        number = None
    return Run(
        configuration=UNSTATED if side is None else without_keys(str(side)),
        eval_id=eval_,
        eval_name=table.text(at, "eval_name"),
        run_number=number if number and number > 0 else None,
        skill=table.text(at, "skill"),
        model=table.text(at, "model"),
        harness=table.text(at, "harness"),
        judge_model=None if table.has("dimension") else table.text(at, "judge_model"),
        path=table.paths[at] if table.paths else "",
    )


def _add_figures(table: Table, at: int, run: Run) -> None:
    """Add the result of a run, and what it took."""

    def read_cell(role: str) -> Any:
        return table.read(role)[at]

    def read_whole(role: str) -> int | None:
        return None if read_cell(role) is None else round(read_cell(role))

    grading = Grading([])
    status = (table.text(at, "status") or table.text(at, "passed") or "").lower()
    run.error = status if status in ERRORED else None
    if table.has("total", "failed"):
        grading.summary = Summary(read_whole("passed"), read_whole("failed"), read_whole("total"))
    elif read_cell("passed") is not None and not table.has("check"):
        _add_check(table, grading, "the run passed", read_cell("passed"))
    for column in table.checks:
        _add_check(table, grading, column, table.read("verdict", column)[at])
    for column in table.dimensions:
        name = column[7:] if column.lower().startswith(RUBRIC) else column
        grading.rubric_scores[name] = RubricScore(table.read("rating", column)[at])
    run.rate, run.score = read_cell("pass_rate"), read_cell("score")
    run.grading = grading if run.error is None else None
    run.timing = Timing(
        total_duration_seconds=read_cell("time_seconds"),
        duration_ms=read_cell("duration_ms"),
        total_tokens=read_whole("tokens"),
        cache_read_tokens=read_whole("tokens_cached"),
        executor_start=table.text(at, "started_at"),
    )
    run.metrics = Metrics(
        total_tool_calls=read_whole("tool_calls"),
        total_steps=read_whole("steps"),
        cost_usd=read_cell("cost_usd"),
        skill_used=read_cell("skill_used"),
    )


def _add_check(
    table: Table, grading: Grading, name: str, verdict: Any, evidence: str | None = None
) -> None:
    """Add a verdict on a check; where some are counts, such as 3 of 5, all are only counted."""
    if not table.counted:
        grading.expectations.append(GradedExpectation(name, verdict, evidence))
    elif verdict is not None and not table.has("total", "failed"):
        part, whole = verdict if isinstance(verdict, tuple) else (int(verdict), 1)
        before = grading.summary or Summary(0, 0, 0)
        passed, total = (before.passed or 0) + part, (before.total or 0) + whole
        grading.summary = Summary(passed, total - passed, total)


def _add_part(table: Table, at: int, run: Run, grading: Grading, part: str) -> None:
    """A row that is a check, or a dimension, of a run."""
    name, evidence = table.text(at, part) or "unnamed", table.text(at, "evidence")
    if part == "check":
        _add_check(table, grading, name, table.read("verdict")[at], evidence)
        return
    score = RubricScore(table.read("rating")[at], evidence, table.read("weight")[at])
    if not table.has("judging", "judge_model"):
        grading.rubric_scores[name] = score
        return
    key = "/".join(filter(None, _judge(table, at)))
    judging = next((known for known in run.judgings if known.batch == key), None)
    if judging is None:
        judge = table.text(at, "judge_model")
        judging = Judging({}, judging=len(run.judgings) + 1, judge_model=judge, batch=key)
        run.judgings.append(judging)
    judging.rubric_scores[name] = score


# ── its rows as trigger queries ────────────────────────────────────────────────────────────────


def _trigger_sets(table: Table) -> Iterator[TriggerSet]:
    """The queries, a set for each skill and side; rows of the same query are runs of it."""
    sets: dict[tuple[str | None, str | None], dict[str, TriggerQuery]] = {}
    empty = 0
    for at in range(len(table.rows)):
        skill, text = table.text(at, "skill"), table.text(at, "query")
        if text is None:
            empty += 1
            continue
        queries = sets.setdefault((skill, table.text(at, "configuration")), {})
        wanted = _is_picked(table, at, "should_trigger")
        query = queries.setdefault(text, TriggerQuery(text, wanted))
        pair = as_pair(table.value(at, "triggered"))
        if pair is None and (picked := _is_picked(table, at, "triggered")) is not None:
            pair = int(picked), 1
        if pair is not None:
            query.triggered = (query.triggered or 0) + pair[0]
            query.runs = (query.runs or 0) + pair[1]
    if empty:
        table.tell("warning", "no-query", f"{count(empty, 'row')} without a query: left out")
    for (skill, side), queries in sets.items():
        yield TriggerSet(list(queries.values()), skill_name=skill, description=side)


def _is_picked(table: Table, at: int, role: str) -> bool | None:
    """Whether a cell says yes, or names a skill: the one that is asked for, if it is known."""
    value = table.value(at, role)
    if isinstance(value, str) and value.strip().lower() in ("none", "null", "nothing"):
        return False
    try:
        return table.read_verdict(value)
    except Unreadable:
        skill = table.text(at, "skill")
        return not isinstance(value, str) or skill is None or value.strip() == skill
