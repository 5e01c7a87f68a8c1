"""What lies below a path: the runs, and the files that tell about them.

No file is read here. A folder is a run because results, or traces of a run, lie in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import msgspec

from skill_eval_nb.documents.base import plain_key
from skill_eval_nb.documents.sides import UNSTATED, WITH, find_side
from skill_eval_nb.documents.tools import ENDINGS, TRIAL_FILES, trial_file

from .folders import (
    NUMBER,
    Folder,
    Place,
    Roles,
    eval_parts,
    home_of,
    is_configuration,
    is_eval,
    is_eval_folder,
    is_iteration,
    is_like_a_run,
    is_nested,
    list_ancestors,
    model_in,
    place_of,
    place_of_file,
    roles_of,
    roles_of_side,
    run_number,
    with_model,
)
from .problems import Problems

RESULTS = frozenset(("grading.json", "structural.json"))
TRACES = frozenset(
    ("timing.json", "metrics.json", "transcript.md", "transcript.jsonl", "transcript.json")
)
"""Files that show that a run took place, graded or not."""

SIGNS = RESULTS | TRACES
"""Files that show that a folder may be a run's."""

OF_RUNS = SIGNS | {"run_info.json", "run_result.json"}
"""Files that belong to the run in whose folder they lie."""

RESULTS_INSIDE = frozenset(("metrics.json", "grading.json"))
"""Results that may lie among the outputs of a run."""

ELSEWHERE = ("results.json", "result.json")
"""Files that grade the run in whose folder they lie, if it has no grading.json."""

READ = (".json", *ENDINGS)
"""How the names of files end that may tell of evals."""

LISTED = tuple(ending for ending in READ if not ending.startswith("reward"))
"""Those that tell of them wherever they lie."""

_FLAT = re.compile(
    r"(?P<stem>.+?)[-_. ]+(?:(?P<grading>grading)"
    r"|config|timing|metrics|metadata|meta|info|usage|stats)\.json"
    r"|grading[-_. ]+(?P<side>.+)\.json",
    re.IGNORECASE,
)
"""Files called after an eval or a side: the grading of a run, what is measured of it beside."""

_PARTS = {
    "side": find_side,
    "iteration": re.compile(r"(?i)(?<![^-_. ])iter(?:ation)?[-_]?(\d+)(?![^-_. ])").search,
    "run": re.compile(r"(?i)(?<![^-_. ])run[-_]?(\d+)(?![^-_. ])").search,
}
"""What the name of a flat file may tell beside the eval, between dots, dashes or underscores."""

_SUMMARY = re.compile(
    r"(?:^|[-_. ])(?:summary|totals?|aggregate|overall)(?:[-_. ]|$)", re.IGNORECASE
)


class RunPlace(msgspec.Struct):
    """A run on disk: its keys, its folder, and what lies there.

    `grading` is the path of its grading if that is not `<path>/grading.json`; `about` are
    other files that tell of it alone: its model, its time, its tokens.
    """

    place: Place
    number: int
    path: str
    files: tuple[str, ...]
    has_outputs: bool = False
    has_judgings: bool = False
    grading: str | None = None
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A JSON file that belongs to no single run, and where it belongs.

    `of_run`: it tells of one run as well, which has read it. `configuration` is what a user says
    that its runs are of, if it states none; `tool` is the tool that wrote it, once it was read.
    """

    path: str
    place: Place
    of_run: bool = False
    configuration: str | None = None
    tool: str | None = None


@dataclass(slots=True)
class Layout:
    """The runs and the other telling files below a path.

    `perhaps` are runs if the files that would grade them turn out to; `base` is the folder below
    which paths are told; `problems` take up those of whoever reads what is here, and `read`, if it
    is given, the files that were read: of which kind, and of which place.
    """

    runs: list[RunPlace] = field(default_factory=list)
    perhaps: list[RunPlace] = field(default_factory=list)
    files: list[FilePlace] = field(default_factory=list)
    base: str = ""
    problems: Problems = field(default_factory=Problems)
    read: dict[str, tuple[str, Place]] | None = None

    def note(self, kind: str, path: str, place: Place) -> None:
        """Take note of a file that was read."""
        if self.read is not None:
            self.read[path] = kind, place


class EvalFolder(NamedTuple):
    """The folder of an eval in an iteration of a workspace."""

    workspace: str
    iteration: str
    folder: str


def folder_of(place: Place) -> EvalFolder:
    """The eval's folder that a place lies in."""
    return EvalFolder(*place[:3])


def is_summary(name: str) -> bool:
    """Whether a file is called a summary of those beside it.

    >>> is_summary("grading-summary.json"), is_summary("summary.json"), is_summary("eval-3.json")
    (True, True, False)
    """
    return _SUMMARY.search(name) is not None


def lay_out(folders: list[Folder], layout: Layout) -> None:
    """Add the runs and the other files in `folders` (as `crawl` lists them, parents first).

    A run whose name is none, beside runs whose names are, is a problem.
    """
    folders = list(_without_trials(folders, layout))
    runs = _find_runs(folders, layout.problems)
    for folder in folders:
        path, keys, mine = folder.path, runs.get(folder), frozenset()
        if keys is not None and _has_traces(folder):
            mine = OF_RUNS
            has = ("outputs" in folder.others, "judgings" in folder.others)
            layout.runs.append(RunPlace(*keys, path, folder.files, *has))
        elif keys is not None:
            name = next(name for name in ELSEWHERE if name in folder.files)
            layout.perhaps.append(RunPlace(*keys, path, (), grading=f"{path}/{name}"))
        if folder.name.lower() in ("grading", "gradings"):
            _lay_out_gradings(folder, layout)
        elif not mine.issuperset(folder.files):
            _lay_out_files(folder, mine, layout)
    _attach_files(layout)
    _number_apart(layout.runs)


# ── files ────────────────────────────────────────────────────────────────────────────────────


def _lay_out_files(folder: Folder, mine: frozenset[str], layout: Layout) -> None:
    """Tell the files of a folder but for those of its own run, which was added last."""
    # a benchmark.json counts before other files that state the same
    for name in sorted(folder.files, key=lambda name: (name != "benchmark.json", name)):
        if name in mine or not name.lower().endswith(LISTED):
            continue
        path, parts = f"{folder.path}/{name}", _parts_of_file(folder, name)
        if parts is None:
            place = layout.runs[-1].place if mine else place_of_file(folder)
            layout.files.append(FilePlace(path, place))
        elif "grading" in parts:
            layout.runs.append(_run_by_file(folder, parts, path))
        else:
            place, _ = _place_by_parts(folder, parts)
            layout.files.append(FilePlace(path, place, of_run=place.configuration != UNSTATED))


def _lay_out_gradings(folder: Folder, layout: Layout) -> None:
    """Tell the files of a folder for gradings: each but a summary is of a run.

    They are `runs/<run>/grading/<eval>.json`, or have all keys in their names.
    """
    for name in sorted(folder.files):
        path, at = f"{folder.path}/{name}", folder
        if is_summary(name):
            layout.files.append(FilePlace(path, place_of_file(folder)))
            continue
        stem = name.removesuffix(".json")
        parts = _split_stem(re.sub("(?i)[-_. ]+grading$", "", stem))
        if "side" not in parts:
            parts, run = {"eval": stem, "side": WITH}, folder.parent
            if run is not None and run.parent is not None and run.parent.name.lower() == "runs":
                at = run.parent
                number = run_number(run.name) or sorted(at.folders).index(run.name) + 1
                parts["run"] = str(number)
        layout.runs.append(_run_by_file(at, parts, path))


def _split_stem(stem: str) -> dict[str, str]:
    """What a flat file's name tells.

    >>> _split_stem("eval-0-inbox.with_skill.iter2")
    {'side': 'with_skill', 'iteration': '2', 'eval': 'eval-0-inbox'}
    """
    parts: dict[str, str] = {}
    for part, find in _PARTS.items():
        if found := find(stem):
            parts[part] = found[found.re.groups]
            stem = stem[: found.start()].rstrip("-_. ") + stem[found.end() :]
    return parts | {"eval": stem.strip("-_. ")}


def _parts_of_file(folder: Folder, name: str) -> dict[str, str] | None:
    """What a file's name tells: grading_with_skill.json, eval-3-grading.json, eval-3-config.json.

    None if it is of no run that is told so. Below a side any name is an eval's.
    """
    found = _FLAT.fullmatch(name)
    if found is None:
        return None
    if found["side"]:
        parts = {"eval": "", "side": found["side"], "grading": name}
        return parts if is_configuration(found["side"]) else None
    parts = _split_stem(found["stem"]) | ({"grading": name} if found["grading"] else {})
    of_side = "grading" in parts and is_configuration(folder.name)
    return parts if of_side or "side" in parts or is_eval(parts["eval"]) else None


def _run_by_file(folder: Folder, parts: dict[str, str], path: str) -> RunPlace:
    """A run that one file tells of, by what its name says."""
    return RunPlace(*_place_by_parts(folder, parts), path, (), grading=path)


def _place_by_parts(folder: Folder, parts: dict[str, str]) -> tuple[Place, int]:
    """The place and number of what a flat file tells: as if its name were folders."""
    eval_ = Folder.below(folder, parts["eval"]) if parts["eval"] else None
    side = folder if is_configuration(folder.name) else None
    if "side" in parts:
        side = Folder.below(eval_ or folder, parts["side"])
    roles = Roles(eval_, side) if eval_ or not side else roles_of_side(side)
    place = place_of(folder, roles)
    if "iteration" in parts:
        place = place._replace(iteration=f"iteration-{parts['iteration']}")
    return with_model(place, folder), int(parts.get("run", 1))


def _attach_files(layout: Layout) -> None:
    """Give the runs that are one file each the files that tell of them beside it."""
    about: dict[str, list[str]] = {}
    for file in layout.files:
        if file.of_run and (found := _FLAT.fullmatch(file.path)):
            about.setdefault(found["stem"], []).append(file.path)
    for run in layout.runs if about else ():
        if run.grading == run.path and (found := _FLAT.fullmatch(run.path)):
            run.about = tuple(about.get(found["stem"], ()))


def _without_trials(folders: list[Folder], layout: Layout) -> Iterator[Folder]:
    """The folders without those of a tool's trials, of which one file is added to the layout."""
    trials: set[Folder] = set()
    for folder in folders:
        if folder.parent in trials:
            trials.add(folder)
        elif trial := _trial_file(folder):
            trials.add(folder)
            layout.files.append(FilePlace(f"{folder.path}/{trial}", home_of(folder)))
        else:
            yield folder


def _trial_file(folder: Folder) -> str | None:
    """The file that tells of a tool's trial in its folder; all that lies below is of this trial."""
    inside = folder.name == "verifier" and folder.parent is not None
    if inside or not RESULTS.isdisjoint(folder.files) or any(map(_holds_evals, folder.folders)):
        return None
    below = folder.folders.get("verifier")
    if below is None and TRIAL_FILES.isdisjoint(folder.files):
        return None
    above = folder.parent.parent if folder.parent and folder.parent.name == "trials" else None
    return trial_file(
        folder.files,
        below.files if below else (),
        agent="agent" in folder.folders,
        arm=above.name if above else "",
    )


def _holds_evals(name: str) -> bool:
    """Whether a folder's name shows that the one above it is not a trial, but holds evals."""
    named = is_iteration(name) or is_eval(name) or is_configuration(name)
    return named or run_number(name) is not None or "__" in name


# ── runs ─────────────────────────────────────────────────────────────────────────────────────


def _find_runs(folders: list[Folder], problems: Problems) -> dict[Folder, tuple[Place, int]]:
    """The place and the number of each run's folder, and of each that perhaps is one.

    Those have no more than a file that may grade a run, and no run at any level below.
    """
    traced = {folder for folder in folders if _has_traces(folder)}
    likely = [folder for folder in folders if folder in traced or _has_verdicts(folder)]
    around = _add_ancestors(likely)
    for folder in around:
        folder.holds_run = True
    outer = (one.parent if is_nested(one) else one for one in traced)
    above = _add_ancestors(one.parent for one in outer if one and one.parent)
    parts = ((at, *eval_parts(at.name)) for at in around)
    numbered = {(at.parent, rest) for at, number, rest in parts if number and rest != at.name}
    places: dict[Folder, tuple[Place, int]] = {}
    for side, (roles, ones) in _group_by_side(likely).items():
        is_twin = roles.eval is not None and (roles.eval.parent, roles.eval.name) in numbered
        runs = _runs_of_side(side, ones, above, is_twin=is_twin)
        places |= _place_runs(side, roles, runs, problems)
    _settle_rounds(places, problems)
    return places


def _group_by_side(likely: list[Folder]) -> dict[Folder, tuple[Roles, list[Folder]]]:
    """The likely folders of each side, or of its eval if that is lower, with their roles."""
    sides: dict[Folder, tuple[Roles, list[Folder]]] = {}
    alike: dict[Folder, tuple[Roles, Folder | None]] = {}
    for folder in likely:
        # numbered runs beside each other have the same roles
        is_run = run_number(folder.name) is not None and "eval_metadata.json" not in folder.files
        holder = folder.parent if is_run and folder.parent else folder
        if holder not in alike:
            roles = roles_of(folder)
            alike[holder] = roles, roles.lowest
        roles, lowest = alike[holder]
        sides.setdefault(lowest or folder, (roles, []))[1].append(folder)
    return sides


def _add_ancestors(folders: Iterable[Folder]) -> set[Folder]:
    """Folders, and all that they lie in."""
    found: set[Folder] = set()
    for folder in folders:
        for at in list_ancestors(folder):
            if at in found:
                break
            found.add(at)
    return found


def _has_traces(folder: Folder) -> bool:
    """Whether something shows that a folder may be a run's."""
    return (
        not SIGNS.isdisjoint(folder.files)
        or "outputs" in folder.others
        or (is_configuration(folder.name) and "eval_metadata.json" in folder.files)
        or (run_number(folder.name) is not None and bool(folder.files))
    )


def _is_whole(folder: Folder) -> bool:
    """Whether a graded folder of an eval's configuration is one run, whatever lies below it.

    Below it may lie what the run worked in, with files of any name, but no runs.
    """
    return (
        is_configuration(folder.name)
        and "grading.json" in folder.files
        and folder.parent is not None
        and is_eval_folder(folder.parent)
        and not any(
            run_number(name) is not None
            or name == "runs"
            or (is_like_a_run(child) and "grading.json" in child.files)
            for name, child in folder.folders.items()
        )
    )


def _is_first_run(folder: Folder) -> bool:
    """Whether a graded folder is the first run beside others that are numbered from 2 on."""
    below = [
        number
        for name, child in folder.folders.items()
        if is_like_a_run(child) and _is_graded(child) and (number := _number_in(name))
    ]
    return _is_graded(folder) and min(below, default=0) > 1


def _is_graded(folder: Folder) -> bool:
    return not RESULTS.isdisjoint(folder.files)


def _has_verdicts(folder: Folder) -> bool:
    """Whether a file of a folder may grade a run, which is known when it was read."""
    return folder.parent is not None and any(name in folder.files for name in ELSEWHERE)


def _is_bare(folder: Folder) -> bool:
    """Whether a folder holds traces of a run, but nothing that came of it."""
    has_results = _is_graded(folder) or _has_verdicts(folder)
    return not has_results and "outputs" not in folder.others


def _runs_of_side(
    side: Folder, ones: list[Folder], above: set[Folder], *, is_twin: bool
) -> list[Folder]:
    """Which of the likely folders of a side are its runs: those with no other below.

    A graded side may be one run, whatever lies below. What holds no more than traces is of the
    results beside it, if it is not called a run, or if its eval is a twin: its name is that of a
    folder beside it, without the number.
    """
    if side in ones and _is_whole(side):
        return [one for one in ones if one is side or is_nested(one)]
    lowest = [one for one in ones if one not in above or _is_first_run(one)]
    if is_twin:
        return [one for one in lowest if not _is_bare(one)]
    if is_configuration(side.name) and any(_is_graded(one) for one in ones if one is not side):
        return [one for one in lowest if one is side or is_like_a_run(one) or not _is_bare(one)]
    return lowest


def _settle_rounds(places: dict[Folder, tuple[Place, int]], problems: Problems) -> None:
    """Rounds are the runs of their version; those of the only version are sides."""
    is_round = re.compile(r"round[-_ ]?\d").match
    rounds = [one for one in places if is_round(one.name) and not _has_traces(one)]
    versions = {place.configuration for place, _ in places.values()}
    message = "rounds count as repeated runs; if each builds on the last, load each on its own"
    for folder in rounds if len(versions) == 1 else ():
        message = "there are no versions to compare: the rounds are the sides"
        places[folder] = places[folder][0]._replace(configuration=folder.name), 1
    if rounds:
        problems.add("warning", "rounds", os.path.dirname(rounds[0].path), message)


def _place_runs(
    side: Folder, roles: Roles, runs: list[Folder], problems: Problems
) -> dict[Folder, tuple[Place, int]]:
    """The place and the number of each run of a side; those of a model share their place."""
    place = place_of(side, roles)
    of_model: dict[Folder | None, Place] = {}
    places: dict[Folder, tuple[Place, int]] = {}
    known = [one.name for one in runs if run_number(one.name) is not None]
    for folder, number in zip(runs, _number_runs(side, runs), strict=True):
        of = folder if model_in(folder) else folder.parent
        if of not in of_model:
            of_model[of] = with_model(place, folder)
        places[folder] = of_model[of], number
        is_beside = known and folder.parent is side and not is_nested(folder)
        if is_beside and not is_like_a_run(folder):
            message = f"beside {', '.join(known[:3])}, but not named like them: run {number}"
            hint = "move it out of this folder if it is not a run"
            problems.add("warning", "run-by-place", folder.path, f"{message}; {hint}")
    return places


def _number_runs(side: Folder, folders: list[Folder]) -> list[int]:
    """The numbers of the runs of a side: as their names say, else those that are free.

    A copy of the side that lies in the side again has the number of the side, and names that are
    the same but for case and punctuation have the same number.
    """
    numbers: list[int | None] = []
    met: dict[int | None, list[Folder]] = {}

    def name_below(folder: Folder) -> str:
        return plain_key(folder.path.removeprefix(side.path))

    for folder in folders:
        wanted = _number_in(folder.name)
        if folder is side or is_nested(folder):
            above = run_number(side.parent.name) if side.parent is not None else None
            wanted = 1 if above is None or not is_configuration(side.name) else above
        others = met.setdefault(wanted, [])
        is_free = not others or is_nested(folder) or name_below(folder) in map(name_below, others)
        numbers.append(wanted if is_free else None)
        others.append(folder)
    free = (number for number in count(1) if number not in met)
    return [next(free) if number is None else number for number in numbers]


@lru_cache
def _number_in(name: str) -> int | None:
    """The number that the name of a run's folder is or ends in, after no more than a word."""
    found = NUMBER.fullmatch(name)
    return int(found[1]) if found else None


def _number_apart(runs: list[RunPlace]) -> None:
    """Number the runs of several models on, where only a folder's name tells them apart."""
    numbers: dict[tuple[Place, int], int] = {}
    taken: set[tuple[Place, int]] = set()
    for run in runs if any(run.place.model for run in runs) else ():
        own, place = (run.place, run.number), run.place._replace(model=None)
        if own not in numbers:
            numbers[own] = next(n for n in count(run.number) if (place, n) not in taken)
            taken.add((place, numbers[own]))
        run.number = numbers[own]
