"""The documents besides the runs, and the versions of a skill that a workspace keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import Benchmark, BenchmarkMetadata, EvalMetadata
from skill_eval_nb.documents.sides import UNSTATED, is_earlier, is_model
from skill_eval_nb.documents.tools import Results, Run, settle_runs
from skill_eval_nb.skill_md import SKILL_FILE
from skill_eval_nb.text import natural

from .benchmarks import BenchmarkFile
from .evals import SuiteFile, slug
from .folders import (
    NO_ITERATION,
    NOT_ENTERED,
    Place,
    is_configuration,
    is_container,
    is_eval,
    is_folder,
    run_number,
)
from .layout import EvalFolder, FilePlace
from .problems import Problems


@dataclass(slots=True)
class Files:
    """The documents besides the runs, with where each lies."""

    metadata: dict[EvalFolder, EvalMetadata] = field(default_factory=dict)
    metadata_places: list[Place] = field(default_factory=list)
    suites: list[SuiteFile] = field(default_factory=list)
    benchmarks: list[tuple[FilePlace, list[Benchmark]]] = field(default_factory=list)
    of_tools: list[BenchmarkFile] = field(default_factory=list)
    others: list[tuple[str, FilePlace, Any]] = field(default_factory=list)
    results: list[tuple[FilePlace, Results]] = field(default_factory=list)
    gradings: set[str] = field(default_factory=set)


ToolFile = tuple[FilePlace, Results]
"""A file of a tool, with what it tells."""


def place_results(files: Files, problems: Problems) -> None:
    """Add what the files of tools tell to the benchmarks, the metadata and the comparisons.

    The files of a tool that lie in no iteration are one workspace: the folder that holds them
    all. In an iteration of a workspace they are one benchmark, so that its runs are numbered
    through.
    """
    for place, group in _groups(_once(files.results, problems)):
        for file, results in group:
            problems.add_faults(file.path, results.faults.collapsed())
            for run in results.runs:
                run.path = run.path or file.path
                if run.configuration == UNSTATED and file.configuration:
                    run.configuration = file.configuration
        add_results(place, [results for _, results in group], files, problems)
        for file, results in group:
            own = replace(place, path=file.path)
            files.others += [("comparison", own, comparison) for comparison in results.comparisons]
            if results.aggregates and _is_sole(results, group):
                about = BenchmarkMetadata(skill_name=results.skill)
                summary = Benchmark(about, [], dict(results.aggregates))
                files.of_tools.append(BenchmarkFile(own.path, own.place, summary, own.tool))


def add_results(place: FilePlace, group: list[Results], files: Files, problems: Problems) -> None:
    """Add the runs and evals of some results, which are of one iteration of one workspace."""
    for results in group:
        files.others += [("triggers", place, queries) for queries in results.triggers]
        for run in results.runs:
            run.path = run.path or place.path
            run.skill = run.skill or results.skill
    runs = settle_runs([run for results in group for run in results.runs], problems.add)
    evals = [(eval_, results.skill) for results in group for eval_ in results.evals]
    _tell_apart([*((run, run.skill) for run in runs), *evals])
    asked = (EvalMetadata(run.eval_id, run.eval_name, run.prompt) for run in runs if run.prompt)
    for eval_ in (*(eval_ for eval_, _ in evals), *asked):
        folder = EvalFolder(*place.place[:2], str(eval_.eval_id))
        if folder not in files.metadata:
            files.metadata[folder] = eval_
            files.metadata_places.append(place.place._replace(eval=folder.folder))
    skills = [name for name in dict.fromkeys(run.skill for run in runs) if name]
    _name_skills(runs)
    _number(runs)
    if place.tool != "table":  # which has told in its own words
        _tell_unstated(runs, problems)
    skill = skills[0] if len(skills) == 1 else None
    if runs:
        about = Benchmark(BenchmarkMetadata(skill_name=skill), [])
        files.of_tools.append(BenchmarkFile(place.path, place.place, about, place.tool, runs))


def _once(found: Iterable[ToolFile], problems: Problems) -> list[ToolFile]:
    """The same without files that tell what another one tells."""
    first: dict[str, str] = {}
    kept = []
    for file, results in found:
        path = first.setdefault(results.key, file.path) if results.key else file.path
        if path == file.path:
            kept.append((file, results))
        else:
            problems.add("info", "copy", file.path, f"the same results as in {path}; counted once")
    return kept


def _groups(files: list[ToolFile]) -> list[tuple[FilePlace, list[ToolFile]]]:
    """The files of each tool and iteration, with the place that they share."""
    loose: dict[str | None, set[str]] = {}
    for file, results in files:
        if file.place.iteration == NO_ITERATION and results.below is results.iteration is None:
            of_run = any(run.path and run.path != file.path for run in results.runs)
            above = os.path.dirname(file.path)
            loose.setdefault(file.tool, set()).add(os.path.dirname(above) if of_run else above)
    homes = {tool: _holder(_common_folder(folders)) for tool, folders in loose.items()}
    groups: dict[tuple[str | None, str, str], list[ToolFile]] = {}
    for file, results in files:
        home, iteration = file.place.workspace, results.iteration or file.place.iteration
        if results.below is not None:
            home = _folder_above(file.path, results.below)
        elif results.iteration is not None:
            above, lies_below, _ = file.path.rpartition(f"/{iteration}/")
            home = above if lies_below else _holder(os.path.dirname(file.path))
        elif file.place.iteration == NO_ITERATION:
            home = homes[file.tool]
        groups.setdefault((file.tool, home, iteration), []).append((file, results))
    found = []
    for (_, home, iteration), group in groups.items():
        file, _ = group[0]
        place = file.place._replace(workspace=home, iteration=iteration)
        found.append((replace(file, place=place), group))
    return found


def _folder_above(path: str, below: str) -> str:
    """The folder from which a file lies below some folders; its own where it lies elsewhere."""
    folder = os.path.dirname(path)
    return folder.removesuffix(f"/{below}") if below not in ("", ".") else folder


def _common_folder(folders: Iterable[str]) -> str:
    """The folder that holds them all."""
    try:
        return os.path.commonpath(folders)
    except ValueError:  # some are relative
        return os.path.commonpath([os.path.abspath(folder) for folder in folders])


def _holder(folder: str) -> str:
    """The nearest folder that is not a side, no model, no trial and no mere holder of others."""
    name = os.path.basename(folder)
    if name and (
        is_configuration(name) or is_container(name) or name.lower() in _HOLDERS or is_model(name)
    ):
        above = os.path.dirname(folder)
        return _holder(above) if above not in ("", folder) else folder
    return folder


_HOLDERS = frozenset(
    ("jobs", "raw", "trials", "trajectories", "logs", "skilled", "plugin", ".deepeval")
)
"""Folders in which tools, and they alone, keep their results."""


def _tell_apart(entries: list[tuple[Run | EvalMetadata, str | None]]) -> None:
    """Where evals of several skills have the same id, begin all ids with the skill."""
    skills: dict[str, set[str | None]] = {}
    for entry, skill in entries:
        skills.setdefault(str(entry.eval_id), set()).add(skill)
    several = any(len(names - {None}) > 1 for names in skills.values())
    for entry, skill in entries if several else ():
        if skill:
            entry.eval_id = f"{skill}/{entry.eval_id}"


def _name_skills(runs: list[Run]) -> None:
    """If there are several skills, a run that names none is of that of its eval's others."""
    known = {run.eval_id: run.skill for run in runs if run.skill}
    for run in runs if len(set(known.values())) > 1 else ():
        run.skill = run.skill or known.get(run.eval_id)


def _number(runs: list[Run]) -> None:
    """Number the runs of each eval and configuration through: as stated, if that is free."""
    taken: set[tuple[object, ...]] = set()
    waiting = sorted(runs, key=lambda run: run.run_number is None)
    for run in waiting:
        key = run.skill, run.eval_id, run.configuration
        wanted = max(run.run_number or 1, 1)
        run.run_number = next(n for n in count(wanted) if (*key, n) not in taken)
        taken.add((*key, run.run_number))


def _tell_unstated(runs: list[Run], problems: Problems) -> None:
    lost = {run.path for run in runs if run.configuration == UNSTATED}
    if lost:
        message = (
            f"nothing says of which side the runs in {len(lost)} files or folders are: they are "
            'compared with nothing. Give `load(…, configuration="without_skill")`, or a mapping '
            "from names of files to sides, or call a file or folder with_skill or without_skill"
        )
        problems.add("warning", "no-configuration", min(lost), message)


def _is_sole(results: Results, group: list[ToolFile]) -> bool:
    """Whether what it states is of all runs of its side here, and so can be held against them."""
    sides = set(results.aggregates) - {"delta"}
    others = [other for _, other in group if other is not results and other.aggregates]
    return not any(sides & set(other.aggregates) for other in others)


DEEPEST = 4
"""Levels below a workspace at which a version may lie: iteration, snapshots, side, skill."""

_HOLDS = re.compile(r"skill|snapshot|version|^v\d+([._-]\d+)*$|^(runs|results)$", re.IGNORECASE)
"""Names of folders in which versions are kept, or above which they are."""
_SNAPSHOT = re.compile(r"skill-?snapshots?")
_NOT_ENTERED = NOT_ENTERED - {"skill-snapshot"}


@dataclass(frozen=True, slots=True)
class KeptSkill:
    """A version of a skill on disk.

    Attributes:
        name: what it is called: its path below the workspace.
        folder: where it lies.
        iteration: the iteration it is of; None if it is of none alone.
        configuration: the configuration that it was offered to; None if nothing says.
    """

    name: str
    folder: Path
    iteration: str | None = None
    configuration: str | None = None


def kept_skills(
    workspace: Path, iterations: Iterable[str], configurations: Iterable[str]
) -> list[KeptSkill]:
    """Every version of the skill that lies in a workspace, in the order of their names.

    A folder is a version because a SKILL.md lies in it; its path says of what. Our own runs
    keep `iteration-N/skill-snapshot/<configuration>/`; people also have
    `skill-snapshot/` (the skill before the first change, so `old_skill`),
    `skill-snapshot-iteration-1/`, `skill-snapshot/iteration-2-old-skill/`,
    `iteration-2/skill-snapshot-old/`, `v1/skill/`. Folders of evals and runs are not entered.
    """
    known = sorted(iterations, key=len, reverse=True), sorted(configurations, key=len, reverse=True)
    found = [
        _kept_skill(workspace, folder, *known) for folder in _skill_folders(workspace, known[0])
    ]
    return sorted(found, key=lambda version: natural(version.name))


def skill_now(workspace: Path) -> KeptSkill | None:
    """The skill as it is at this moment, where its folder is beside the workspace or above it."""
    name = workspace.name.removesuffix("-workspace")
    beside = [workspace.with_name(name)] if name != workspace.name else []
    for folder in (*beside, workspace.parent, workspace.parent.parent):
        if _holds_skill(folder):
            return KeptSkill(f"{folder.name}, as it is now", folder)
    return None


def find_kept_skill(
    kept: Iterable[KeptSkill], iteration: str, configuration: str, *, alone: bool = True
) -> KeptSkill | None:
    """The version that a side of an iteration had; None if it was not kept, or had none.

    Args:
        kept: the versions of the workspace.
        iteration: its name.
        configuration: the side.
        alone: whether a version whose side nothing says is of this side.
    """
    by_place = {(copy.iteration, copy.configuration): copy for copy in reversed([*kept])}
    of_it = [(iteration, configuration), *([(iteration, None)] if alone else ())]
    places = (*of_it, (None, configuration))
    return next((by_place[place] for place in places if place in by_place), None)


def iteration_folder(run: Path, iteration: str) -> Path | None:
    """The folder of the iteration that a run's folder or file lies in, by its name."""
    above = (folder for folder in (run, *run.parents) if folder.name == iteration)
    return next(above, None)


def _skill_folders(workspace: Path, iterations: list[str]) -> Iterator[Path]:
    """The folders with a SKILL.md, without those inside of one."""
    waiting = [(workspace, 0, False)]
    while waiting:
        folder, depth, inside = waiting.pop()
        if depth and _holds_skill(folder):
            yield folder
            continue
        try:
            with os.scandir(folder) as entries:
                below = list(entries)
        except OSError:  # `problems` tells of folders that cannot be listed
            continue
        for entry in below if depth < DEEPEST else ():
            name = entry.name
            if name.startswith(".") or name in _NOT_ENTERED or not _is_folder(entry, workspace):
                continue
            if is_eval(name) or run_number(name) is not None:
                continue
            holds = _HOLDS.search(name) is not None
            if inside or holds or name in iterations:
                waiting.append((Path(entry.path), depth + 1, inside or "snapshot" in name.lower()))


def _holds_skill(folder: Path) -> bool:
    """Whether a SKILL.md lies in a folder: a link that leads out of it may be anybody's file."""
    file = folder / SKILL_FILE
    return file.is_file() and leads_out(file, folder) is None


def _is_folder(entry: os.DirEntry[str], workspace: Path) -> bool:
    """Whether it is a folder of the workspace: what a model is shown is never elsewhere."""
    return is_folder(entry) and not (entry.is_symlink() and leads_out(entry.path, workspace))


def _kept_skill(
    workspace: Path, folder: Path, iterations: list[str], configurations: list[str]
) -> KeptSkill:
    """What the path of a version says of it."""
    inside = folder.relative_to(workspace)
    parts = [slug(part) for part in reversed(inside.parts)]
    iteration, side = (
        next((name for part in parts for name in names if _names(part, slug(name))), None)
        for names in (iterations, configurations)
    )
    earlier = any(map(is_earlier, parts))
    if side is None and (earlier or (iteration is None and _SNAPSHOT.fullmatch(parts[0]))):
        side = next(filter(is_earlier, configurations), "old_skill")
    return KeptSkill(inside.as_posix(), folder, iteration, side)


def _names(part: str, name: str) -> bool:
    """Whether a folder's name is this name or holds it as a part.

    >>> _names("iteration-2-old-skill", "iteration-2"), _names("iteration-20", "iteration-2")
    (True, False)
    """
    return f"-{name}-" in f"-{part}-"
