"""Values of files as rows of a table: where the rows are, and what their columns are."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

from skill_eval_nb.disk import decode
from skill_eval_nb.text import did_you_mean

from ..base import Faults
from ..parsing import parse, parse_lines, read_share
from .part import without_keys

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
        head = re.sub(r'"[^"]*"', "", text.split("\n", 1)[0])
        separator = max("\t" if tabs else ",", ",", ";", "\t", "|", key=head.count)
    commas = separator == ";" and bool(_DECIMAL_COMMA.search(text))
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    rows = [{key: _read_cell(cell, commas) for key, cell in line.items()} for line in lines]
    if longer := sum(row.pop(None, None) is not None for row in rows):
        message = (
            f"{longer} lines have more cells than the first one has names: those were left out"
        )
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
