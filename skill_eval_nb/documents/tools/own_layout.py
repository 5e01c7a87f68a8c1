"""Results in a layout that somebody tells once: which files, which rows in them, which columns."""

from __future__ import annotations

import csv
import glob
import io
import os
import re
import tomllib
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, reduce
from itertools import chain
from typing import Any

import msgspec

from skill_eval_nb.disk import decode, read_bytes
from skill_eval_nb.text import did_you_mean, guess_delimiter

from ..base import Faults
from ..parsing import parse, parse_lines
from .part import Results, without_keys
from .table import ROLES, Table, is_nothing, read_rows, require_name

OWN_LAYOUT = "skill-eval-nb.toml"
"""The file beside results that tells how they lie."""

_LONGEST = 4000
"""How many characters of a text are taken apart."""
_NAME = re.compile(r"\{[^\W\d]\w*\}")
_PART = re.compile(rf"({_NAME.pattern}|\*\*/|\*|\?)")
_WILD = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}
"""What does not matter in a path, as regular expressions."""


@dataclass(frozen=True)
class OwnLayout:
    """How somebody's files are laid out; see `from_files` for each."""

    files: str
    rows: str | None = None
    by_key: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    dimensions: Sequence[str] = ()
    checks: Sequence[str] = ()
    words: Mapping[str, bool | None] = field(default_factory=dict)
    split: Mapping[str, str] = field(default_factory=dict)

    def path_in(self, value: Any) -> str:
        """The path to the rows of a value; a list at the top needs no `[*]` for its elements."""
        path = (self.rows or "") + (f".{{{self.by_key}}}" if self.by_key else "")
        each = isinstance(value, list) and not path.startswith("[")
        return f"[*].{path}".rstrip(".") if each else path


# ── which files ────────────────────────────────────────────────────────────────────────────────


def root_and_pattern(files: str) -> tuple[str, str]:
    """The folder that a path of files begins with, in which nothing differs, and the rest.

    >>> root_and_pattern("results/{configuration}/a.json"), root_and_pattern("a.json")
    (('results', '{configuration}/a.json'), ('.', 'a.json'))
    """
    parts = os.path.expanduser(files).replace(os.sep, "/").split("/")
    plain = next((at for at, part in enumerate(parts) if _PART.search(part)), len(parts) - 1)
    at = min(plain, len(parts) - 1)
    return "/".join(parts[:at]) or ("/" if at else "."), "/".join(parts[at:])


def find_files(root: str, files: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The files of a path below `root`, and what stands in them for the names in braces.

    Raises:
        ValueError: if the path leads out of `root`.
    """
    if os.path.isabs(files) or ".." in files.split("/"):
        raise ValueError(f"files = {files!r} leads out of {root}: give a path below it")
    for path in sorted(glob.iglob(_patterns_of(files)[0], root_dir=root, recursive=True)):
        path = path.replace(os.sep, "/")  # noqa: PLW2901 -- one form for all systems
        names = match_names(files, path)
        if names is not None and os.path.isfile(f"{root}/{path}"):
            yield path, names


@lru_cache
def _patterns_of(files: str) -> tuple[str, str]:
    """A path with names in braces as a glob, and as a regular expression.

    Raises:
        ValueError: if a match could take for ever.
    """
    if files.count("**") > 2 or max(len(_PART.findall(name)) for name in files.split("/")) > 3:
        raise ValueError(f"{files!r} has more than three names in braces between two slashes")
    expression = ""
    for part in _PART.split(files):
        name = part[1:-1] if _NAME.fullmatch(part) else ""
        again = f"(?P<{name}>" in expression
        named = f"(?P={name})" if again else f"(?P<{name}>[^/]+)"
        expression += named if name else _WILD.get(part) or re.escape(part)
    return _NAME.sub("*", files.replace("[", "[[]")), expression


def match_names(pattern: str, text: str) -> dict[str, str] | None:
    """What stands in a text for the names in braces; None if it has another form.

    >>> match_names("{eval}/run-{run}.json", "a/run-3.json")
    {'{eval}': 'a', '{run}': '3'}
    """
    matched = re.fullmatch(_patterns_of(pattern)[1], text[:_LONGEST])
    names = matched.groupdict().items() if matched else ()
    return {f"{{{name}}}": part for name, part in names} if matched else None


# ── which rows and columns ─────────────────────────────────────────────────────────────────────

_STEP = re.compile(r"\{\w+\}|\[(?:\*|-?\d+)\]|[^.\[\]{}]+")

_EVERY = re.compile(r"\{\w+\}|\[\*\]")

ITSELF = "."
"""The column of rows that are not objects: the value itself."""

UP = "../"
"""What a column begins with that is a key of the object above a row; twice, of that above it."""


TABLE_ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".pq")


def read_values(path: str, data: bytes, faults: Faults) -> Any:
    """What a file holds, by its ending: a JSON value, or a list with one a line or a row.

    Raises:
        TypeError: it has another ending.
        ValueError: it cannot be read as what it is called; the message says why.
    """
    end = os.path.splitext(path)[1].lower()
    if end not in TABLE_ENDINGS:
        raise TypeError(f"{path}: read are {', '.join(TABLE_ENDINGS)}")
    try:
        if end in (".parquet", ".pq"):
            return _read_parquet(data)
        if end in (".jsonl", ".ndjson"):
            return list(parse_lines(data, faults))
        return parse(data, faults) if end == ".json" else _read_csv(data, end == ".tsv", faults)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from None


def _read_parquet(data: bytes) -> list[dict[str, Any]]:
    import polars as pl

    try:
        return pl.read_parquet(data).to_dicts()
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error).splitlines()[0]) from None


def _read_csv(data: bytes, tabs: bool, faults: Faults) -> list[dict[str, Any]]:
    """The rows of a CSV file; with decimal commas (between semicolons), dots part thousands."""
    text, odd = decode(data)
    if odd:
        faults.add("warning", "encoding", "$", f"the file is {odd}")
    if said := re.match(r"sep=(.)\r?\n", text):  # as spreadsheets write it
        text, separator = text[said.end() :], said[1]
    else:
        separator = guess_delimiter(text, "\t" if tabs else ",")
    commas = separator == ";" and bool(_DECIMAL_COMMA.search(text))
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    rows = [{key: _read_cell(cell, commas) for key, cell in line.items()} for line in lines]
    if longer := sum(row.pop(None, None) is not None for row in rows):
        message = f"{longer} lines have more cells than the header: the extra cells were left out"
        faults.add("warning", "cells", "$", message)
    return rows


_DECIMAL_COMMA = re.compile(r"(?:^|;) *[+-]?[\d.]*\d,\d+ *%? *(?:;|\r?$)", re.MULTILINE)
_WITH_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)? *%?")


def _read_cell(cell: Any, commas: bool) -> Any:
    """A cell as a number or a flag, if it is one."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if commas and _WITH_COMMA.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "": None}.get(text.lower(), text)


@dataclass(frozen=True, slots=True)
class Found:
    """A value that is a row.

    Attributes:
        value: what it is; None if an object that should hold rows has none.
        keys: the texts for the names in braces, of the path of the file and of that to the rows.
        above: the objects that it lies in, the outermost first.
        bare: whether it stands for an object that should hold rows, and holds none.
    """

    value: Any
    keys: dict[str, str]
    above: tuple[Mapping[str, Any], ...] = ()
    bare: bool = False


def find_rows(
    raw: Any, path: str, missing: list[str], keys: Mapping[str, str] | None = None
) -> list[Found]:
    """The values at a path; `missing` collects each place without a value, and what is there.

    A path has keys, `[*]` for every element of a list (`[0]` for one), and `{name}` for every
    key of an object, which becomes the column of that name.

    >>> found = find_rows({"runs": [{"a": 3}]}, "runs[*].{eval}", [])
    >>> [(row.value, row.keys) for row in found]
    [(3, {'{eval}': 'a'})]
    """

    def follow(raw: Any, at: int, row: Found, where: str, *, inside: bool) -> Iterator[Found]:
        if at == len(steps):
            yield Found(raw, dict(row.keys), row.above)
            return
        step = steps[at]
        if step == "[*]" and isinstance(raw, list) and raw:
            for position, inner in enumerate(raw):
                yield from follow(inner, at + 1, row, f"{where}[{position}]", inside=True)
        elif step[0] == "{" and isinstance(raw, Mapping) and raw:
            for key, inner in raw.items():
                named = Found(None, {**row.keys, step: str(key)}, row.above)
                yield from follow(inner, at + 1, named, f"{where}.{key}", inside=True)
        else:
            above = (*row.above, raw) if isinstance(raw, Mapping) else row.above
            inner = _take_step(raw, step)
            if inner is not None:
                below = Found(None, row.keys, above)
                yield from follow(inner, at + 1, below, f"{where}.{step}", inside=inside)
            elif len(_EVERY.findall("".join(steps[at:]))) <= 1 and (
                not raw or (isinstance(raw, Mapping) and (inside or step in raw))
            ):
                yield Found(None, dict(row.keys), above, bare=True)
            else:
                missing.append(f"no rows at {path}: at {where} {_tell_missing(raw, step)}")

    steps = _STEP.findall(path)
    return list(follow(raw, 0, Found(None, dict(keys or {})), "$", inside=False))


def _take_step(raw: Any, step: str) -> Any:
    """What a step leads to; None if it leads nowhere, or to null."""
    if isinstance(raw, list) and re.fullmatch(r"\[-?\d+\]", step):
        return next(iter(raw[slice(int(step[1:-1]), None)]), None)
    return raw.get(step) if isinstance(raw, Mapping) else None


def _tell_missing(raw: Any, step: str) -> str:
    if step[0] in "[{" or not isinstance(raw, Mapping):
        wanted = "a list" if step[0] == "[" else "an object"
        there = type(raw).__name__ if raw else f"an empty {type(raw).__name__}"
        return f"expected {wanted} for {step}, found {there}"
    there = [without_keys(str(key)) for key in raw]
    return f"there is no {step!r}.{did_you_mean(step, there)} There are: {', '.join(there[:8])}"


def rows_of(found: Sequence[Found], stated: Mapping[str, str]) -> tuple[list[Any], list[str]]:
    """The rows and the names of their columns.

    A row has its own keys (`usage.tokens` for one within), the names in braces, and, as `../name`,
    the keys of the objects above it that are no lists or objects. A path that is `stated` (by
    role) and is none of these is followed: in the row, else in the objects above; `{role}` in it
    is what the row has for that role.

    >>> above = {"id": "a", "runs": [{"id": 1, "ok": True}], "seconds": {"a": 7}}
    >>> stated = {"eval": "../id", "time_seconds": "seconds.{eval}"}
    >>> rows, names = rows_of(find_rows(above, "runs[*]", []), stated)
    >>> names, rows[0]["seconds.{eval}"]
    (['id', 'ok', '../id', 'seconds.{eval}'], 7)
    """
    scalars: dict[tuple[int, int], dict[str, Any]] = {}
    rows: list[ChainMap[str, Any]] = []
    for one in found:
        own = flatten(one.value) if isinstance(one.value, Mapping) else {ITSELF: one.value}
        row = ChainMap[str, Any]({} if one.bare else own, dict(one.keys))
        for level, above in enumerate(reversed(one.above), 1):
            if (level, id(above)) not in scalars:
                scalars[level, id(above)] = {
                    f"{UP * level}{name}": value
                    for name, value in above.items()
                    if not isinstance(value, Mapping | list)
                }
            row.maps.append(scalars[level, id(above)])
        rows.append(row)
    maps = (*(row.maps[1] for row in rows), *(row.maps[0] for row in rows), *scalars.values())
    names = dict.fromkeys(chain.from_iterable(maps))
    for path in dict.fromkeys(stated.values()):
        if path not in names:
            for row, one in zip(rows, found, strict=True):
                if (value := _look_up(path, row, one, stated)) is not None:
                    row.maps[0][path] = value
                    names[path] = None
    return rows, list(names)


def flatten(row: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """The fields of an object and of those in it, by dotted names.

    >>> flatten({"id": 1, "usage": {"tokens": 7}, "pair": [3, 5]})
    {'id': 1, 'usage.tokens': 7, 'pair': [3, 5]}
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{above}{key}.")
        else:
            flat[f"{above}{key}"] = value
    return flat


def _look_up(path: str, row: Mapping[str, Any], found: Found, stated: Mapping[str, str]) -> Any:
    """What stands at a path in a row, else in an object above it: in that one, with `../`."""
    scopes, ups = [found.value, *reversed(found.above)], path.count(UP)
    steps = [
        str(row.get(stated.get(step[1:-1], step))) if step[0] == "{" else step
        for step in _STEP.findall(path.removeprefix(UP * ups))
    ]
    inside = (reduce(_take_step, steps, scope) for scope in scopes[ups : ups + 1 if ups else None])
    return next((value for value in inside if value is not None), None)


def _split_columns(found: Sequence[Found], told: OwnLayout, faults: Faults) -> None:
    """Add to the rows what a column of them tells in parts, such as `{eval}/{configuration}`."""
    for column, pattern in told.split.items():
        unlike = 0
        for row in found:
            text = str(row.value.get(column)) if isinstance(row.value, Mapping) else ""
            parts = match_names(pattern, text)
            row.keys.update(parts or {})
            unlike += parts is None
        if unlike:
            message = f"{unlike} rows have no {column!r} of the form {pattern}"
            faults.add("warning", "no-parts", f"$[*].{column}", message)


def read_own_layout(root: str, told: OwnLayout) -> list[Results]:
    """The results in files of a stated layout, one an iteration.

    Raises:
        FileNotFoundError: if no file has the path.
        KeyError: for a role or a column that there is not; the message names the nearest one.
        ValueError: if no file has rows there, or the path leads out of `root`.
    """
    faults = Faults()
    values = []
    for path, keys in find_files(root, told.files):
        of_file = Faults()
        try:
            value = read_values(path, read_bytes(f"{root}/{path}", root), of_file)
        except (OSError, ValueError, TypeError) as error:
            said = getattr(error, "strerror", None) or error
            faults.add("error", "unreadable", path, f"not read: {said}")
            continue
        faults += [replace(fault, where=path) for fault in of_file.collapsed()]
        values.append((path, value, keys))
    if not values and not faults:
        raise FileNotFoundError(f"no file below {root} has the path {told.files}")
    return read_rows(table_of(values, told, faults, root))


def table_of(
    values: Iterable[tuple[str, Any, Mapping[str, str]]],
    told: OwnLayout,
    faults: Faults,
    root: str | None = None,
) -> Table:
    """The rows of some values, each with the path of its file and what its name tells.

    Raises:
        ValueError: if there are values, and none has rows.
    """
    found: list[Found] = []
    paths: list[str] = []
    missing: list[str] = []
    named = {*told.columns.values(), *told.dimensions, *told.checks}
    for path, value, keys in values:
        at, lost = told.path_in(value), []
        rows = find_rows(value, at, lost, keys) if value != [] else []
        objects = [row for row in rows if row.bare or isinstance(row.value, Mapping)]
        if ITSELF not in named and len(objects) < len(rows):
            lost.append(f"{len(rows) - len(objects)} rows at {at} are not objects: left out")
            rows = objects
        for why in ["there are no rows"] if value == [] else lost:
            faults.add("warning", "no-rows", path if root else "$", why)
        found += rows
        paths += [f"{root}/{path}"] * len(rows) if root else []
        missing += [f"{path}: {why}".lstrip(": ") for why in lost]
    if missing and not found:
        raise ValueError(missing[0])
    _split_columns(found, told, faults)
    braced = {name: name[1:-1] for row in found for name in row.keys}
    stated = {role: name for name, role in braced.items() if role in ROLES} | dict(told.columns)
    paths_of = {**{path: path for path in (*told.dimensions, *told.checks)}, **stated}
    rows, names = rows_of(found, paths_of)
    bare = frozenset(
        at
        for at, (row, one) in enumerate(zip(rows, found, strict=True))
        if one.bare or all(map(is_nothing, row.values()))
    )
    said = told.dimensions, told.checks, told.words
    return Table(rows, names, stated, *said, paths, bare, faults)


# ── the same in a file ─────────────────────────────────────────────────────────────────────────


def open_own_layout(path: str) -> dict[str, Any]:
    """What `skill-eval-nb.toml` holds, under its name.

    Raises:
        ValueError: it is no TOML.
    """
    return {OWN_LAYOUT: tomllib.loads(decode(read_bytes(path))[0])}


def own_layout_of(raw: Mapping[str, Any]) -> OwnLayout:
    """What a file tells.

    Raises:
        KeyError: for a key that there is not; the message names the nearest one.
        ValueError: for a value of another type, or where no `files` are said.

    >>> told = own_layout_of({OWN_LAYOUT: {"files": "{eval}.json", "passed": "ok"}})
    >>> told.files, told.columns
    ('{eval}.json', {'passed': 'ok'})
    """
    given = dict(raw[OWN_LAYOUT])
    own = {one.name for one in fields(OwnLayout)} - {"columns"}
    columns = {key: given.pop(key) for key in list(given) if key not in own}
    for key in columns:
        require_name(key, [*own, *ROLES], "key")
    return msgspec.convert({**given, "columns": columns}, OwnLayout)


def files_of(path: str) -> list[str]:
    """The files that the layout in a file is about; none if it cannot be read."""
    root = os.path.dirname(path) or "."
    try:
        told = own_layout_of(open_own_layout(path))
        return [f"{root}/{file}" for file, _ in find_files(root, told.files)]
    except (OSError, ValueError, KeyError):
        return []


def read(raw: Mapping[str, Any], path: str) -> list[Results]:
    """The results in the files; what is wrong with the stated layout is a fault of its file."""
    try:
        found = read_own_layout(os.path.dirname(path) or ".", own_layout_of(raw))
    except (OSError, ValueError, KeyError) as error:
        found = [Results()]
        message = f"nothing was read: {error.args[0] if error.args else error}"
        found[0].faults.add("error", "own-layout", "$", message)
    for results in found:
        results.below = ""
    return found
