"""From what a user gives as a path to what lies there, and what else its files could be read as."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults
from skill_eval_nb.documents.dialects import cut_lists, kind_of
from skill_eval_nb.documents.parsing import as_pair
from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.documents.tools import OWN_LAYOUT, tool_of
from skill_eval_nb.documents.tools.own_layout import (
    ITSELF,
    TABLE_ENDINGS,
    UP,
    OwnLayout,
    files_of,
    match_names,
    read_values,
    table_of,
)
from skill_eval_nb.documents.tools.table import ROLES, Table, read_rows, recognise_columns
from skill_eval_nb.text import count, some

from .folders import (
    Folder,
    crawl,
    is_configuration,
    place_of,
    place_of_file,
    roles_of,
    run_number,
)
from .layout import READ, RESULTS, FilePlace, Layout, RunPlace, lay_out
from .problems import Problems
from .read import PROMISING, collector_paused, load_any

PathLike = str | os.PathLike[str]
Sides = str | Mapping[str, str] | None
"""One configuration for all files, or names or patterns of files and folders to configurations."""

LOOKED_FOR = (
    "runs (folders with grading.json, structural.json, timing.json or outputs/), for documents "
    "such as benchmark.json, evals.json or feedback.json, and for results of other tools (for a "
    "table of your own there is `from_table`, for files of your own `from_files`)"
)


class NothingToLoad(ValueError):
    """No evaluation document is below the path; the message says what is there instead."""


def find(path: PathLike | Iterable[PathLike], *, configuration: Sides = None) -> Layout:
    """Find the runs and the documents below a path, a list of paths, or a glob.

    Args:
        path: what a user gives.
        configuration: what the results of tools are of that state none, see `load`.

    Raises:
        FileNotFoundError: if a path does not exist, or a glob matches nothing.
        NothingToLoad: if there is no evaluation document.
    """
    roots = roots_of(path)
    layout = Layout(base=_common_folder(roots))
    problems = layout.problems
    for root in roots:
        if os.path.isdir(root):
            with collector_paused():
                folders = crawl(root, problems)
                lay_out(folders, layout)
                for folder in folders:
                    if OWN_LAYOUT in folder.files:
                        _use_own_layout(folder, layout)
                for folder in folders:
                    folder.folders = {}  # parent and child hold each other: let them go
        else:
            _add_file(root, layout)
    if not layout.runs and not any(map(_is_document, layout.files)):
        raise NothingToLoad(_say_nothing_to_load(roots, problems))
    if configuration:
        layout.files = list(_set_sides(layout.files, configuration, problems))
    return layout


def _use_own_layout(folder: Folder, layout: Layout) -> None:
    """Put a layout that is told in the place of the files that it is about."""
    path = f"{folder.path}/{OWN_LAYOUT}"
    about = {path, *files_of(path)}
    layout.files = [file for file in layout.files if file.path not in about]
    layout.runs = [
        run
        for run in layout.runs
        if about.isdisjoint((run.path, run.grading, *(f"{run.path}/{name}" for name in run.files)))
    ]
    layout.files.append(FilePlace(path, place_of_file(folder)))


def _set_sides(
    files: list[FilePlace], configuration: str | Mapping[str, str], problems: Problems
) -> Iterator[FilePlace]:
    """The files with the configuration that a user says that they are of."""
    named = {"*": configuration} if isinstance(configuration, str) else configuration
    unused = dict(named)
    for file in files:
        path = os.path.abspath(file.path)
        for name, side in named.items():
            if any(fnmatchcase(path, pattern) for pattern in (name, f"*/{name}", f"*/{name}/*")):
                unused.pop(name, None)
                file = replace(file, configuration=side)  # noqa: PLW2901 -- the first that fits
                break
        yield file
    for name in unused:
        message = f"`configuration` names {name!r}, but no file or folder is called so"
        problems.add("warning", "no-such-file", name, message)


def roots_of(path: PathLike | Iterable[PathLike]) -> list[str]:
    """The given paths, without those below another one."""
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    roots: list[str] = []
    for location in given:
        text = os.path.expanduser(os.fspath(location))
        found = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            raise FileNotFoundError(_say_missing_path(text))
        roots += [root.rstrip("/") or "/" for root in found]
    if not roots:
        raise NothingToLoad("an empty list of paths was given")
    first: dict[str, str] = {}
    for root in roots:
        first.setdefault(os.path.realpath(root), root)
    return [
        root
        for real, root in first.items()
        if not any(real.startswith(f"{other}/") for other in first if other != real)
    ]


def _common_folder(roots: list[str]) -> str:
    if len(roots) > 1:
        same_kind = len(set(map(os.path.isabs, roots))) == 1
        return os.path.commonpath(roots) if same_kind else os.sep
    root = roots[0]
    return root if os.path.isdir(root) else os.path.dirname(root) or "."


def _add_file(path: str, layout: Layout) -> None:
    """A single file: a run's result stands for its run, any other document for itself."""
    raw = load_any(path, Problems()) if path.lower().endswith(READ) else None
    if not _is_known(os.path.basename(path), raw):
        return
    home, name = os.path.dirname(path) or ".", os.path.basename(path)
    folder = Folder(home, os.path.basename(os.path.abspath(home)), None)
    folder.files = (name,)
    if name in RESULTS:
        layout.runs.append(RunPlace(place_of(folder, roles_of(folder)), 1, home, folder.files))
    else:
        layout.files.append(FilePlace(f"{home}/{name}", place_of_file(folder)))


def _is_document(file: FilePlace) -> bool:
    """Whether a file is one of the documents, or a tool's; a broken one by its name."""
    raw = load_any(file.path, Problems())
    name = os.path.basename(file.path)
    if raw is None:
        return name == OWN_LAYOUT or (bool(PROMISING.search(name)) and name.endswith(".json"))
    return _is_known(name, raw)


def _is_known(name: str, raw: object) -> bool:
    return bool(tool_of(raw) or kind_of(name, raw) or (raw and tool_of(raw, others=True)))


def _say_missing_path(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    near = difflib.get_close_matches(name, os.listdir(folder), n=1)
    hint = f" Did you mean {os.path.join(folder, near[0])}?" if near else ""
    return f"{path} does not exist.{hint}"


def _say_nothing_to_load(roots: list[str], problems: Problems) -> str:
    if problems:
        return "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
    there, files = [], []
    for root in roots:
        names = sorted(os.listdir(root)) if os.path.isdir(root) else [os.path.basename(root)]
        there.append(f"{root} holds {some(names, 8) or 'nothing'}")
        folders = crawl(root, Problems()) if os.path.isdir(root) else ()
        below = [f"{folder.path}/{name}" for folder in folders for name in folder.files]
        files += below if folders else [root]
    files.sort(key=lambda path: not PROMISING.search(path))
    proposal, _ = propose(_common_folder(roots), files)
    likely = f" {proposal}." if proposal else ""
    return f"There is nothing to load. Searched for {LOOKED_FOR}; {'; '.join(there)}.{likely}"


# ── a call that would read what looks like results ───────────────────────────────────────────

_MOST_FILES, _MOST_BYTES = 60, 1 << 23
"""So many files, of so many bytes, are looked at for a proposal."""
_DEEPEST = 6
_ENDINGS = tuple(ending for ending in TABLE_ENDINGS if ending != ".txt")
_NAME = re.compile(
    r"(?:^|[_.-])(?:id|name|case|key|title|slug|text|criterion|label)$", re.IGNORECASE
)
_RESULTS = {"query", "passed", "pass_rate", "verdict", "rating"}
"""Roles of which each is a result."""

Values = Sequence[tuple[str, Any]]
"""Files, each with what it holds."""


def add_proposal(problems: Problems) -> None:
    """Add to what is said of files that look like results, and were not read, what would."""
    unread = {
        one.path: at
        for at, one in reversed(list(enumerate(problems)))
        if one.code == "not-a-document" or (one.code, one.severity) == ("above-runs", "warning")
    }
    base = os.path.commonpath(map(os.path.dirname, unread)) if unread else ""
    proposal, files = propose(base or ".", sorted(unread))
    if proposal:
        at = min(unread[path] for path in files)
        problems[at] = replace(problems[at], message=f"{problems[at].message}. {proposal}")


def propose(root: str, paths: Iterable[str]) -> tuple[str, Sequence[str]]:
    """The call that reads most of these files below `root`, in words, and which it reads.

    It is empty if none looks like results.
    """
    groups: dict[tuple[Any, ...], dict[str, tuple[str, Any]]] = {}
    tables = [path for path in paths if path.lower().endswith(_ENDINGS)]
    at_least = "at least " if len(tables) > _MOST_FILES else ""
    for path in tables[:_MOST_FILES]:
        try:
            if os.path.getsize(path) > _MOST_BYTES:
                continue
            whole = read_values(path, read_bytes(path, root), Faults())
        except (OSError, ValueError, TypeError):
            continue
        value = cut_lists(whole)
        score, rows = find_likely_rows(value)
        if score:
            file = os.path.relpath(path, root).replace(os.sep, "/")
            shape = score, rows, file.count("/"), os.path.splitext(file)[1]
            groups.setdefault(shape, {})[path] = file, value
            at_least = "at least " if at_least or value != whole else ""
    for (_, rows, *_), files in sorted(groups.items(), key=lambda one: (-one[0][0], -len(one[1]))):
        try:
            call, gives = _try(root, rows, list(files.values()))
        except (OSError, ValueError, KeyError):
            continue
        proposal = (
            f"These look like results, in an unknown form: {some(sorted(files))}. If "
            f"they are, {call} gives {at_least}{gives}"
        )
        return proposal, list(files)
    return "", ()


def _table(rows: str, values: Values, files: str = "", **columns: str) -> tuple[OwnLayout, Table]:
    """A layout, and the rows of some files by it."""
    columns |= {"verdict": ITSELF} if rows.endswith("{check}") else {}
    told = OwnLayout(files, rows or None, None, columns)
    named = [(file, value, match_names(files, file) or {}) for file, value in values]
    return told, table_of(named, told, Faults())


def _try(root: str, rows: str, values: Values) -> tuple[str, str]:
    """A call that reads some files, and what it gives, in words.

    Raises:
        KeyError: it gives nothing.
        ValueError: it gives nothing.
    """
    braced = set(re.findall(r"\{(\w+)\}", rows))
    columns = _complete(_table(rows, values)[1], braced)
    pattern = _pattern_of([file for file, _ in values], braced | {"eval"} & columns.keys())
    braced = set(re.findall(r"\{(\w+)\}", pattern))
    columns = {role: column for role, column in columns.items() if role not in braced}
    told, table = _table(rows, values, pattern, **columns)
    found = read_rows(table)
    path = f"{root}/{pattern}".removeprefix("./")
    given = {"rows": told.rows, **told.columns}
    said = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    runs = [run for results in found for run in results.runs]
    sides = {run.configuration for run in runs} - {UNSTATED}
    evals = count(len({str(run.eval_id) for run in runs}), "eval")
    gives = f"{evals} × {count(len(sides), 'side')}, {count(len(runs), 'run')}"
    missing = [fault.message for fault in table.faults if fault.severity == "error"]
    if queries := sum(len(one.queries) for results in found for one in results.triggers):
        gives = count(queries, "trigger query")
    elif not sides:
        missing.append("nothing states a run's side: add configuration=…, or name it in braces")
    return f"sen.from_files({path!r}{said})", "; ".join([gives, *missing[:2]])


# ── which rows ─────────────────────────────────────────────────────────────────────────────────


def find_likely_rows(value: Any) -> tuple[int, str]:
    """How much the likeliest rows of a value look like results (0: not at all), and their path."""
    found: list[tuple[int, int, str]] = []
    value = cut_lists(value)
    for path in islice(_find_row_places([value], "", 0), _MOST_FILES):
        try:
            table = _table(path, [("", value)])[1]
        except ValueError:
            continue
        columns = recognise_columns(table)
        named = len({"eval", "check", "dimension", "configuration", "query"} & columns.keys())
        if result := 4 * bool(_RESULTS & columns.keys()) or 2 * ("score" in columns):
            found.append((result + named, -len(path), path))
    score, _, path = max(found, default=(0, 0, ""))
    return score, path


def _find_row_places(samples: Sequence[Any], path: str, depth: int) -> Iterator[str]:
    """Where rows may be within some values that stand at the same place."""
    likely = samples[:1] if path.endswith("}") else samples  # of a map by keys all are alike
    is_object = any(isinstance(value, Mapping) for value in likely)
    if (is_object and path[-1:] in ("", "]", "}")) or path.endswith("{check}"):
        yield path
    if depth <= _DEEPEST:
        for step, inner in _steps_below(samples, path):
            yield from _find_row_places(inner, f"{path}{step}".lstrip("."), depth + 1)


def _steps_below(samples: Sequence[Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    """The steps from some values to what is in them, each with the values that it leads to."""
    inner = [one for value in samples if isinstance(value, list) for one in value]
    objects = [value for value in samples if isinstance(value, Mapping)]
    if any(isinstance(one, Mapping | list) for one in inner):
        yield "[*]", inner
    elif (name := _name_of_keys(objects)) and f"{{{name}}}" not in path:
        yield f".{{{name}}}", [one for value in objects for one in value.values()]
    else:
        for key in islice(dict.fromkeys(key for value in objects for key in value), _MOST_FILES):
            if re.fullmatch(r"[^.\[\]{}]+", key):
                yield f".{key}", [value[key] for value in objects if key in value]


def _name_of_keys(objects: Sequence[Mapping[str, Any]]) -> str | None:
    """What the keys of objects are, where each has the same behind it; else None."""
    keys = {key for one in objects for key in one}
    values = [value for one in objects for value in one.values()]
    if not values or any(key in names for key in keys for names in ROLES.values()):
        return None
    if len(values) > 1 and all(isinstance(one, bool) or as_pair(one) for one in values):
        return "check"
    rows = [value[0] if isinstance(value, list) and value else value for value in values]
    if not all(isinstance(row, Mapping) for row in rows) or not set.intersection(*map(set, rows)):
        return None
    return (
        "configuration" if all(map(is_configuration, keys)) else "eval" if len(keys) > 1 else None
    )


# ── which files and columns ────────────────────────────────────────────────────────────────────


def _pattern_of(files: Sequence[str], known: set[str]) -> str:
    """The path that files have, with names in braces for what differs and no column tells."""
    ending = os.path.splitext(files[0])[1]
    split = (file.removesuffix(ending).split("/") for file in files)
    levels = [list(dict.fromkeys(names)) for names in zip(*split, strict=True)]
    free = [role for role in ("eval", "configuration", "run") if role not in known]
    parts = [names[0] for names in levels]
    for at in sorted(range(len(levels)), key=lambda at: -len(levels[at])):  # evals are the most
        role = free[0] if free else "*"
        if "configuration" in free and all(map(is_configuration, levels[at])):
            role = "configuration"
        elif "run" in free and all(run_number(name) is not None for name in levels[at]):
            role = "run"
        elif len(levels[at]) == 1:
            continue
        parts[at] = f"{{{role}}}" if free else "*"
        free = [other for other in free if other != role]
    return "/".join(parts) + ending


def _complete(table: Table, braced: set[str]) -> dict[str, str]:
    """What the columns are: those that are known by their names, and what else they look like."""
    columns = {
        role: column
        for role, column in recognise_columns(table).items()
        if role not in braced and not column.startswith("{")
    }
    names = sorted(filter(_NAME.search, table.names), key=lambda name: not name.startswith(UP))
    free = [name for name in names if name not in columns.values() and not name.startswith("{")]
    if "eval" not in columns.keys() | braced and free:
        columns["eval"] = free.pop(0)
    own = [name for name in free if not name.startswith(UP)]
    counted = {"check", "dimension", "total", "failed", "query"} & (columns.keys() | braced)
    if "passed" in columns and own and not counted:
        columns |= {"check": own[0], "verdict": columns.pop("passed")}
    return columns
