"""What files that look like results could be read as: a call of `from_files`, tried."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults
from skill_eval_nb.documents.base import is_model
from skill_eval_nb.documents.tools import UNSTATED, Results
from skill_eval_nb.documents.tools.own_layout import OwnLayout, match_names, table_of
from skill_eval_nb.documents.tools.part import side_in
from skill_eval_nb.documents.tools.rows import (
    ITSELF,
    TABLE_ENDINGS,
    UP,
    as_pair,
    read_values,
)
from skill_eval_nb.documents.tools.table import ROLES, Table, read_rows, recognise_columns
from skill_eval_nb.text import count, some

from .layout import is_configuration, is_iteration, run_number
from .problems import Problem, Problems

_MOST_FILES, _MOST_BYTES, _MOST_ROWS = 60, 1 << 23, 200
"""So many files, of so many bytes, and so many of their rows are looked at for a proposal."""
_DEEPEST = 6
_ENDINGS = tuple(ending for ending in TABLE_ENDINGS if ending != ".txt")
_NAME = re.compile(
    r"(?:^|[_.-])(?:id|name|case|key|title|slug|text|criterion|label)$", re.IGNORECASE
)
_RATE = re.compile(r"score|rate|acc|reward|match|correct|f1|pass", re.IGNORECASE)
_OF_LEAF = {"verdict": ITSELF}
"""What is known of rows that are no objects, below names of checks."""
_VERDICTS = {"query", "passed", "pass_rate", "verdict", "rating"}
"""Roles of which each is a result."""


def add_proposal(problems: Problems) -> None:
    """Add to what is said of files that look like results, and were not read, what would."""
    unread = {problem.path for problem in problems if _is_unread(problem)}
    base = os.path.commonpath(map(os.path.dirname, unread)) if unread else ""
    proposal, files = propose(base or ".", sorted(unread))
    if not proposal:
        return
    at = next(at for at, one in enumerate(problems) if one.path in files and _is_unread(one))
    problems[at] = replace(problems[at], message=f"{problems[at].message}. {proposal}")


def _is_unread(problem: Problem) -> bool:
    above = problem.code == "above-runs" and problem.severity == "warning"
    return above or problem.code == "not-a-document"


def propose(root: str, paths: Iterable[str]) -> tuple[str, Iterable[str]]:
    """The call that reads most of these files below `root`, in words, and which it reads.

    It is empty where none looks like results.
    """
    groups: dict[tuple[Any, ...], dict[str, tuple[str, Any]]] = {}
    tables = [path for path in paths if path.lower().endswith(_ENDINGS)]
    at_least = "at least " if len(tables) > _MOST_FILES else ""
    for path in tables[:_MOST_FILES]:
        try:
            if os.path.getsize(path) > _MOST_BYTES:
                continue
            whole = read_values(path, read_bytes(path, root), Faults())
            value = _cut(whole)
        except (OSError, ValueError, TypeError):
            continue
        if (best := find_likely_rows(value))[0]:
            file = os.path.relpath(path, root).replace(os.sep, "/")
            ending = os.path.splitext(file)[1]
            groups.setdefault((*best, file.count("/"), ending), {})[path] = file, value
            at_least = "at least " if at_least or value != whole else ""
    for (_, rows, _, _), files in sorted(
        groups.items(), key=lambda one: (-one[0][0], -len(one[1]))
    ):
        if proposal := _try(root, rows, files, at_least):
            return proposal, files
    return "", ()


def _cut(value: Any) -> Any:
    """A value with the first elements of its lists alone."""
    if isinstance(value, Mapping):
        return {key: _cut(inner) for key, inner in value.items()}
    return [_cut(inner) for inner in value[:_MOST_ROWS]] if isinstance(value, list) else value


def _try(root: str, rows: str, files: Mapping[str, tuple[str, Any]], at_least: str) -> str:
    pattern = _pattern_of([file for file, _ in files.values()])
    told = OwnLayout(pattern, rows or None, None, _OF_LEAF if rows.endswith("{check}") else {})
    try:
        table = table_of([(file, value, {}) for file, value in files.values()], told, Faults())
        if "{configuration}" not in told.files + rows and _recur(table, len(files)):
            told = replace(told, files=told.files.replace("{eval}", "{configuration}"))
        braced = set(re.findall(r"\{(\w+)\}", told.files + rows))
        told = replace(told, columns={**_complete(table, braced), **told.columns})
        values = [
            (file, value, match_names(told.files, file) or {}) for file, value in files.values()
        ]
        found = read_rows(table_of(values, told, Faults()))
    except (OSError, ValueError, KeyError):
        return ""
    path = f"{root}/{told.files}".removeprefix("./")
    given = {"rows": told.rows, **told.columns}
    said = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    shown = some(file.removeprefix("./") for file in sorted(files))
    return (
        f"What looks most like results, in no form that is known: {shown}. If that is what it is, "
        f"sen.from_files({path!r}{said}) gives {at_least}{_describe(found)}"
    )


def _is_verdict(value: Any) -> bool:
    return isinstance(value, bool) or as_pair(value) is not None


def _recur(table: Table, files: int) -> bool:
    """Whether two or three files have the same names in their rows: then each is a side."""
    name = next(filter(_NAME.search, table.names), "")
    names = [str(row.get(name)) for row in table.rows]
    return 1 < files <= 3 and len(names) == files * len(set(names))


def find_likely_rows(value: Any) -> tuple[int, str]:
    """How much the likeliest rows of a value look like results (0: not), and the path to them."""
    found: list[tuple[int, int, str]] = []
    for path in islice(_places([value], "", 0), _MOST_FILES):
        told = OwnLayout("", path, None, _OF_LEAF if path.endswith("{check}") else {})
        try:
            table = table_of([("", value, {})], told, Faults())
        except ValueError:
            continue
        columns = recognise_columns(table)
        named = len({"eval", "check", "dimension", "configuration", "query"} & columns.keys())
        known = 4 * bool(_VERDICTS & columns.keys()) or 3 * bool(_verdict_in(table))
        if result := known or 2 * ("score" in columns):
            found.append((result + named, -len(path), path))
    score, _, path = max(found, default=(0, 0, ""))
    return score, path


def _places(samples: Sequence[Any], path: str, depth: int) -> Iterator[str]:
    """Where rows may be within some values that stand at the same place."""
    inner = [one for value in samples if isinstance(value, list) for one in value]
    objects = [value for value in samples if isinstance(value, Mapping)]
    if depth > _DEEPEST or (inner and as_pair(inner) is not None):
        return
    if any(isinstance(one, Mapping | list) for one in inner):
        if any(isinstance(one, Mapping) for one in inner):
            yield f"{path}[*]"
        yield from _places(inner, f"{path}[*]", depth + 1)
    elif objects and (name := _name_of_keys(objects, path)) is not None:
        inner = [one for value in objects for one in value.values()]
        path = f"{path}.{{{name}}}".lstrip(".")
        if name == "check" or not isinstance(inner[0], list):
            yield path
        yield from _places(inner, path, depth + 1)
    elif objects:
        if not path:
            yield ""
        for key in islice(dict.fromkeys(key for value in objects for key in value), _MOST_FILES):
            below = [value[key] for value in objects if key in value]
            if re.fullmatch(r"[^.\[\]{}]+", key):
                yield from _places(below, f"{path}.{key}".lstrip("."), depth + 1)


def _name_of_keys(objects: Sequence[Mapping[str, Any]], path: str) -> str | None:
    """What the keys of objects are, where each has the same behind it; else None."""
    keys = list(dict.fromkeys(key for one in objects for key in one))
    values = [value for one in objects for value in one.values()]
    if not values or any(key in names for key in keys for names in ROLES.values()):
        return None
    kind = _kind_of(keys)
    if len(values) > 1 and all(map(_is_verdict, values)):
        kind = "check"
    else:
        rows = [value[0] if isinstance(value, list) and value else value for value in values]
        alike = all(isinstance(row, Mapping) for row in rows) and set.intersection(*map(set, rows))
        if not alike or (len(keys) < 2 and kind != "configuration"):
            return None
    kind = kind or "eval"
    return None if f"{{{kind}}}" in path else kind


def _is_side(name: str) -> bool:
    return is_configuration(name) or side_in(name) is not None


def _kind_of(names: Sequence[str]) -> str | None:
    """What names are that have a form of their own."""
    for kind, has_form in (
        ("configuration", _is_side),
        ("run", lambda name: run_number(name) is not None),
        ("iteration", is_iteration),
        ("model", is_model),
    ):
        if all(map(has_form, names)):
            return kind
    return None


def _pattern_of(files: Sequence[str]) -> str:
    """The path that files have, with names in braces for what differs, or is a side."""
    ending = os.path.splitext(files[0])[1]
    split = (file.removesuffix(ending).split("/") for file in files)
    levels = [list(dict.fromkeys(names)) for names in zip(*split, strict=True)]
    kinds: dict[int, str] = {}
    for at, names in enumerate(levels):
        kind = _kind_of(names)
        if kind not in (None, *kinds.values()) and (len(names) > 1 or kind == "configuration"):
            kinds[at] = f"{{{kind}}}"
    free = [kind for kind in ("{eval}", "{configuration}") if kind not in kinds.values()]
    for at in sorted(range(len(levels)), key=lambda at: -len(levels[at])):
        if at not in kinds and len(levels[at]) > 1:  # the evals are more than the sides
            kinds[at] = free.pop(0) if free else "*"
    parts = []
    for at, names in enumerate(levels):
        begin = os.path.commonprefix(names) if len(names) > 1 else ""  # noqa: RUF071
        begin = (
            begin.rstrip("0123456789")
            if "run" in kinds.get(at, "")
            else re.sub(r"[^\W_]+$", "", begin)
        )
        parts.append(begin + kinds[at] if at in kinds else names[0])
    return "/".join(parts) + ending


def _verdict_in(table: Table) -> tuple[str, str] | None:
    """The column that is likeliest a verdict or a rate, and the role of one."""
    rate = None
    for name in table.names:
        cells = [row.get(name) for row in table.rows if row.get(name) is not None]
        if cells and all(map(_is_verdict, cells)):
            return "passed", name
        shares = all(isinstance(cell, int | float) and 0 <= cell <= 1 for cell in cells)
        if cells and shares and _RATE.search(name):
            rate = rate or ("pass_rate", name)
    return rate


def _complete(table: Table, braced: set[str]) -> dict[str, str]:
    """What the columns are: those that are known by their names, and what else they look like."""
    columns = {
        role: column
        for role, column in recognise_columns(table).items()
        if role not in braced and not column.startswith("{")
    }
    if not _VERDICTS & columns.keys() and (found := _verdict_in(table)) is not None:
        columns[found[0]] = found[1]
    names = sorted(filter(_NAME.search, table.names), key=lambda name: not name.startswith(UP))
    free = [name for name in names if name not in columns.values() and not name.startswith("{")]
    if "eval" not in columns.keys() | braced and free:
        columns["eval"] = free.pop(0)
    own = [name for name in free if not name.startswith(UP)]
    counted = {"check", "dimension", "total", "failed", "query"} & (columns.keys() | braced)
    if "passed" in columns and own and not counted:
        columns |= {"check": own[0], "verdict": columns.pop("passed")}
    if "score" in columns and not _VERDICTS & columns.keys():
        values = [table.figure(at, "score", columns["score"]) for at in range(len(table.rows))]
        if all(value is None or 0 <= value <= 1 for value in values):
            columns["pass_rate"] = columns.pop("score")
    return columns


def _describe(found: Sequence[Results]) -> str:
    """How much results are, and what is missing in them, in words."""
    runs = [run for results in found for run in results.runs]
    queries = sum(len(one.queries) for results in found for one in results.triggers)
    evals = {str(run.eval_id) for run in runs}
    sides = {run.configuration for run in runs} - {UNSTATED}
    gives = f"{count(len(evals), 'eval')} × {count(len(sides), 'side')}, {count(len(runs), 'run')}"
    missing = [
        one.message for results in found for one in results.faults if one.severity == "error"
    ]
    if not sides and not queries:
        missing.append(
            "nothing tells the side of a run: add configuration=…, a column or in braces"
        )
    gives = count(queries, "trigger query") if queries else gives
    return "; ".join([gives, *missing[:2]])
