"""What in a JSON file looks like a result, found without the package: a second opinion.

It knows no document and no dialect, only that people call verdicts, rates and scores so. A file
that holds one is to be used, or named in `problems`.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULT = re.compile(r"^(?:.*_)?(?:passed|pass_rate|score|verdict)s?$")
NOT_ENTERED = {"outputs", "inputs", "judgings", "skill-snapshot", ".git", "node_modules"}
"""Folders that hold what a run has put out, or was given: no results of anybody's."""


def files(folder: Path) -> Iterator[str]:
    """The JSON files below a folder, as paths below it."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_ENTERED)
        yield from (os.path.relpath(Path(at, name), folder) for name in names if _is_json(name))


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def results(value: Any, key: str = "") -> list[Any]:
    """The values in a document whose key says that they are a verdict, a rate or a score."""
    if isinstance(value, dict):
        return [one for name, item in value.items() for one in results(item, name)]
    if isinstance(value, list):
        return [one for item in value for one in results(item, key)]
    is_one = isinstance(value, bool | int | float) and RESULT.match(key) is not None
    return [value] if is_one else []


def holds_results(path: Path) -> bool:
    """Whether a file does; one that is no JSON holds what nobody can tell."""
    try:
        return bool(results(json.loads(path.read_text(encoding="utf-8-sig"))))
    except ValueError:
        return False


def passed_over(ws: Any, folder: Path) -> list[str]:
    """The files with results that no table and no problem speaks of."""
    used = {row["path"] for table in ("runs", "stated") for row in ws.polars(table).to_dicts()}
    for table, column in (("comparisons", "comparison"), ("analyses", "analysis")):
        used |= set(ws.polars(table)[column])
    problems = ws.polars("problems").to_dicts()
    named = {row["path"] for row in problems}
    patterns = {
        found[1]
        for row in problems
        if (found := re.search(r" in \d+ places, (\S+)\)$", row["message"]))
    }
    return [
        path
        for path in files(folder)
        if holds_results(folder / path)
        and not {path, str(Path(path).parent)} & used
        and path not in named
        and not any(
            fnmatch.fnmatch(one, pattern)
            for pattern in patterns
            for one in (path, str(Path(path).parent))
        )
    ]
