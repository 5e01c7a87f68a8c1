"""The rows of any table as runs, or as trigger queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from skill_eval_nb.text import count

from ..base import plainly
from ..evals import TriggerQuery, TriggerSet
from ..parsing import ERRORED, Unreadable, read_int
from ..run import GradedExpectation, Grading, Judging, Metrics, RubricScore, Summary, Timing
from ..sides import UNSTATED, WITH, WITHOUT
from .columns import (
    ROLES,
    RUBRIC,
    SWITCHES,
    UNITS,
    Table,
    as_pair,
    recognise_columns,
    require_name,
    tell_columns,
)
from .part import Results, Run, without_keys


def read_rows(table: Table) -> list[Results]:
    """What a table tells, one result an iteration; the first has all the faults.

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
        message = "verdicts such as 3 of 5 are counted, and are no expectations of their own"
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
    numbered = table.has("run")
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
        if numbered and first.setdefault(inside, copy) != copy:
            again.append(at)
            if part:  # a second verdict on the same check of the same run
                continue
        key = (*keys, copies[at], met[inside] if not numbered or not part else 1)
        found.setdefault(key, []).append(at)
    if again:
        what = "the first counts" if part else "each is a run of its own"
        rows = f"{len(again)} rows repeat the keys of others (the first is row {again[0] + 1})"
        message = f"{rows}: {what}. Say what tells them apart: run=…, model=…, check=…, dimension=…"
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
    if plainly(table.columns.get("configuration", "")) in map(plainly, SWITCHES):
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

    def figure(role: str) -> Any:
        return table.read(role)[at]

    def whole(role: str) -> int | None:
        return None if figure(role) is None else round(figure(role))

    grading = Grading([])
    status = (table.text(at, "status") or table.text(at, "passed") or "").lower()
    run.error = status if status in ERRORED else None
    if table.has("total", "failed"):
        grading.summary = Summary(whole("passed"), whole("failed"), whole("total"))
    elif figure("passed") is not None and not table.has("check"):
        _add_check(table, grading, "the run passed", figure("passed"))
    for column in table.checks:
        _add_check(table, grading, column, table.read("verdict", column)[at])
    for column in table.dimensions:
        name = column[7:] if column.lower().startswith(RUBRIC) else column
        grading.rubric_scores[name] = RubricScore(table.read("rating", column)[at])
    run.rate, run.score = figure("pass_rate"), figure("score")
    run.grading = grading if run.error is None else None
    run.timing = Timing(
        total_duration_seconds=figure("time_seconds"),
        duration_ms=figure("duration_ms"),
        total_tokens=whole("tokens"),
        cache_read_tokens=whole("tokens_cached"),
        executor_start=table.text(at, "started_at"),
    )
    run.metrics = Metrics(
        total_tool_calls=whole("tool_calls"),
        total_steps=whole("steps"),
        cost_usd=figure("cost_usd"),
        skill_used=figure("skill_used"),
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
        query = queries.setdefault(
            text, TriggerQuery(text, _is_picked(table, at, "should_trigger"))
        )
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
