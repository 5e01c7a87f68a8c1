"""A second opinion on a repository: its runs, counted by plain walking over the raw files.

Nothing here uses the package. It knows less than the loader has to know, and only what can be
seen with one's own eyes in the files of the corpus, so that the two can be held against each
other. What counts as a run:

- a folder (or file) with a grading that holds at least one expectation, scored or not;
- a row of a benchmark.json below which no gradings lie. Where gradings do lie below, the rows
  of the corpus only repeat them (often under another name: `without_skill` for the folder
  `old_skill`, `with_skill (iter4)` for `iteration-4/…/with_skill`), and add no run.

The same run found twice (at configuration level and at run level below, or in two eval folders
with the same eval_id and the same verdicts) is one run with the paths of both.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Verdict = bool | None
"""Passed, failed, or not scored."""

LISTS = ("expectations", "evaluations", "assertion_results", "assertion_details")
WORDS = {"pass": True, "fail": False, "true": True, "false": False, "null": None}
GRADING = re.compile(r"grading(?:[-_](?P<configuration>.+))?\.json")
IN_GRADING_FOLDER = re.compile(
    r"(?P<configuration>with(?:out)?_skill)_(?P<eval>.+)_run(?P<n>\d+)\.json"
)
RUN_FOLDER = re.compile(r"run[-_]?(\d+)")
EVAL_FOLDER = re.compile(r"eval[-_](\d+)")


@dataclass(frozen=True)
class Run:
    """A run as it lies on disk. `eval_id` is None where no file and no number gives one."""

    workspace: str
    iteration: str
    eval_folder: str
    eval_id: str | None
    configuration: str
    run_number: int
    verdicts: tuple[Verdict, ...]
    paths: tuple[str, ...]
    on_disk: bool = True
    summed_up: bool = False
    """Whether only a rate over several runs is told, and no verdict."""

    @property
    def passed(self) -> int:
        """Expectations that passed."""
        return self.verdicts.count(True)

    @property
    def failed(self) -> int:
        """Expectations that failed."""
        return self.verdicts.count(False)

    @property
    def graded(self) -> bool:
        """Whether anything was scored."""
        return self.passed + self.failed > 0 or self.summed_up

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What makes it this run and no other."""
        named = self.eval_id or self.eval_folder
        return self.workspace, self.iteration, named, self.configuration, self.run_number


def runs(repository: Path) -> list[Run]:
    """Every run of a repository, each once."""
    files = list(_json_files(repository))
    found: dict[tuple[Any, ...], Run] = {}
    for path in files:
        if run := _graded(repository, path):
            found[run.key] = _merged(found[run.key], run) if run.key in found else run
    places = [Path(path) for run in found.values() for path in run.paths]
    for path in files:
        if path.name == "benchmark.json" and not any(
            path.parent in place.parents for place in places
        ):
            for run in _stated(repository, path):
                assert run.key not in found, f"two rows with one key: {run}"
                found[run.key] = run
    return list(found.values())


def read(path: Path) -> Any:
    """The JSON of a file, raw control characters allowed; None where it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), strict=False)
    except json.JSONDecodeError:
        return None


def verdicts(document: Any) -> tuple[Verdict, ...]:
    """The verdicts that a document holds, in order."""
    if not isinstance(document, dict):
        return ()
    if "assertions_met" in document:
        met, missed = document["assertions_met"], document["assertions_missed"]
        return (True,) * len(met) + (False,) * len(missed)
    for name in LISTS:
        if isinstance(elements := document.get(name), list) and elements:
            return tuple(_verdict(element) for element in elements)
    return ()


def _verdict(element: dict[str, Any]) -> Verdict:
    value = next(element[name] for name in ("passed", "result", "grade") if name in element)
    return WORDS[value.lower()] if isinstance(value, str) else value


def _verdicts_in_text(path: Path) -> tuple[Verdict, ...]:
    """The verdicts of a grading that is not quite JSON, found by their pattern."""
    found = re.findall(r'"passed"\s*:\s*(true|false|null)', path.read_text(encoding="utf-8"))
    return tuple(WORDS[word] for word in found)


def _json_files(repository: Path) -> Iterator[Path]:
    """Every JSON file, as a path below the repository, in a fixed order."""
    for folder, folders, names in os.walk(repository):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".json"):
                yield Path(folder, name).relative_to(repository)


def _graded(repository: Path, path: Path) -> Run | None:
    """The run that a file grades, if it is a grading."""
    flat = IN_GRADING_FOLDER.fullmatch(path.name) if path.parent.name == "grading" else None
    named = GRADING.fullmatch(path.name)
    if not flat and not named:
        return None
    found = verdicts(read(repository / path)) or _verdicts_in_text(repository / path)
    if not found:
        return None
    folders = list(path.parent.parts)
    if flat:
        where = (*_place(folders[:-1]), flat["eval"], flat["eval"])
        return Run(*where, flat["configuration"], int(flat["n"]), found, (path.as_posix(),))
    # Either the folder or the file may be given as where the run was read from.
    paths = (path.parent.as_posix(), path.as_posix())
    number = 1
    if match := RUN_FOLDER.fullmatch(folders[-1]):
        number = int(match[1])
        folders.pop()
    configuration = "unstated"
    if named and named["configuration"]:
        configuration = named["configuration"]
    elif folders[-1].endswith("_skill"):
        configuration = folders.pop()
    else:
        folders.append(folders[-1])  # no eval's folder: the grading lies in the iteration's
    eval_folder = folders.pop()
    eval_id = _eval_id(repository / path.parent, eval_folder)
    return Run(*_place(folders), eval_folder, eval_id, configuration, number, found, paths)


def _merged(one: Run, other: Run) -> Run:
    """One run that lies in two places; both must say the same."""
    assert one.verdicts == other.verdicts, f"one key, two results: {one} and {other}"
    return replace(one, paths=one.paths + other.paths)


def _place(folders: list[str]) -> tuple[str, str]:
    """The workspace and the iteration of a path."""
    for at, name in enumerate(folders):
        if name.startswith("iteration-"):
            return "/".join(folders[:at]), name
    return "/".join(folders), "none"


def _eval_id(folder: Path, eval_folder: str) -> str | None:
    """The id in the nearest eval_metadata.json, else the number of the eval's folder."""
    for level in (folder, folder.parent, folder.parent.parent):
        path = level / "eval_metadata.json"
        if path.is_file() and "eval_id" in (metadata := read(path) or {}):
            return str(metadata["eval_id"])
    match = EVAL_FOLDER.match(eval_folder)
    return match[1] if match else None


def _stated(repository: Path, path: Path) -> Iterator[Run]:
    """The runs that only a benchmark.json tells of."""
    document = read(repository / path) or {}
    place = _place(list(path.parent.parts))
    for row in [*document.get("runs", []), *document.get("per_case", [])]:
        both = {side: row[side] for side in ("with_skill", "without_skill") if side in row}
        named = row.get("configuration") or row.get("condition") or "unstated"
        for configuration, side in (both or {named: row}).items():
            eval_id = str(next(row[key] for key in ("eval_id", "id", "case_id") if key in row))
            number = row.get("run_number") or row.get("run_index", 0) + 1
            found = verdicts(side) or _counted(side)
            key = (*place, eval_id, eval_id, configuration, number)
            yield Run(*key, found, (path.as_posix(),), on_disk=False)
    for row in document.get("evals", []):
        for configuration in ("with_skill", "without_skill"):
            rate = row.get(configuration, {}).get("pass_rate")
            if isinstance(rate, str):  # "3/3": a rate over runs, with no verdicts
                key = (*place, row["id"], row["id"], configuration, 1)
                yield Run(*key, (), (path.as_posix(),), on_disk=False, summed_up=True)


def _counted(row: dict[str, Any]) -> tuple[Verdict, ...]:
    """Verdicts from counts, where a row gives no expectations."""
    result = row.get("result", row)
    passed = result.get("passed", result.get("assertions_passed"))
    total = result.get("total", result.get("assertions_total"))
    return (True,) * passed + (False,) * (total - passed)
