"""Results in a layout that somebody tells once: which files, which rows in them, which columns."""

from __future__ import annotations

import glob
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import msgspec

from skill_eval_nb.disk import decode, read_bytes

from ..base import Faults
from .columns import ROLES, Table, is_nothing, require_name
from .part import Results
from .rows import ITSELF, Found, find_rows, read_values, rows_of
from .table import read_rows

OWN_LAYOUT = "skill-eval-nb.toml"
"""The file beside results that tells how they lie."""

_LONGEST = 4000
"""So many characters of a text are taken apart."""
_NAME = re.compile(r"\{[^\W\d]\w*\}")
_PART = re.compile(rf"({_NAME.pattern}|\*\*/|\*|\?)")
_WILD = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}
"""What does not matter in a path, as regular expressions."""


@dataclass(frozen=True)
class OwnLayout:
    """What somebody tells of their files; see `from_files` for each."""

    files: str
    rows: str | None = None
    by_key: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    dimensions: Sequence[str] = ()
    checks: Sequence[str] = ()
    words: Mapping[str, bool | None] = field(default_factory=dict)
    split: Mapping[str, str] = field(default_factory=dict)

    def path_in(self, value: Any) -> str:
        """The path to the rows of a value; a list that it does not begin with is gone through."""
        path = (self.rows or "") + (f".{{{self.by_key}}}" if self.by_key else "")
        each = isinstance(value, list) and not path.startswith("[")
        return f"[*].{path}".rstrip(".") if each else path


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
        raise ValueError(f"files = {files!r} leads out of {root}: say a path below it")
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


def _split(found: Sequence[Found], told: OwnLayout, faults: Faults) -> None:
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
    """What files in a layout that is told hold, one result an iteration.

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
            lost.append(
                f"{len(rows) - len(objects)} rows at {at} are not objects, which name the column "
                "of each value: left out"
            )
            rows = objects
        for why in ["there are no rows"] if value == [] else lost:
            faults.add("warning", "no-rows", path if root else "$", why)
        found += rows
        paths += [f"{root}/{path}"] * len(rows) if root else []
        missing += [f"{path}: {why}".lstrip(": ") for why in lost]
    if missing and not found:
        raise ValueError(missing[0])
    _split(found, told, faults)
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
    """What the files hold; what is wrong with the layout that is told is a fault of its file."""
    try:
        found = read_own_layout(os.path.dirname(path) or ".", own_layout_of(raw))
    except (OSError, ValueError, KeyError) as error:
        found = [Results()]
        message = f"nothing was read: {error.args[0] if error.args else error}"
        found[0].faults.add("error", "own-layout", "$", message)
    for results in found:
        results.below = ""
    return found
