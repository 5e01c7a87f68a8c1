"""What lies below a path: the runs, and the files that tell about them.

No file is read here. A folder is a run because results, or traces of a run, lie in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from sys import intern
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents.base import plainly
from skill_eval_nb.documents.sides import (
    UNSTATED,
    find_side,
    is_model,
    is_side,
    model_and_side,
)
from skill_eval_nb.documents.tools import ENDINGS, TRIAL_FILES, trial_file

from .names import (
    LIKE_A_RUN,
    NUMBER,
    WORDED_RUN,
    eval_parts,
    is_configuration,
    is_container,
    is_eval,
    is_iteration,
    natural,
    run_number,
)
from .problems import Problems

NO_ITERATION = "none"
"""The iteration of runs that lie below no iteration folder."""

OWN = ".skill-eval-nb"
"""A folder of a workspace for what the toolkit keeps there for itself: no loader enters it."""

NOT_ENTERED = frozenset(
    f"outputs inputs judgings skill-snapshot .staging {OWN} .git .hg .svn node_modules "
    "__pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .ipynb_checkpoints "
    "site-packages".split()
)
"""Folders that hold no results of their own; what a run has put out is never taken for results."""


class Folder:
    """A folder: its path, the names of its files, and its sub-folders.

    `others` has the names of the sub-folders that are not entered.
    """

    __slots__ = ("files", "folders", "name", "others", "parent", "path")

    def __init__(self, path: str, name: str, parent: Folder | None) -> None:
        self.path = path
        self.name = name
        self.parent = parent
        self.files: tuple[str, ...] = ()
        self.folders: Mapping[str, Folder] = _NONE
        self.others: tuple[str, ...] = ()


_NONE: Mapping[str, Folder] = MappingProxyType({})

Names = dict[tuple[str, ...], tuple[str, ...]]
"""Names that were listed: thousands of folders hold the same, which are kept once."""


def crawl(path: str, problems: Problems) -> list[Folder]:
    """All folders from `path` down, parents first and in the order of their names.

    Links, and folders that cannot be read, are problems: what a link leads to is listed anyway,
    or lies outside, where it may be any file of whoever looks at somebody else's results.
    """
    root = Folder(path, os.path.basename(os.path.abspath(path)), None)
    names: Names = {}
    found: list[Folder] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        found.append(folder)
        waiting += _list_folder(folder, names, problems, path)
    return found


def _list_folder(folder: Folder, names: Names, problems: Problems, root: str) -> list[Folder]:
    """List a folder; gives its sub-folders, the last one first."""
    files: list[str] = []
    others: list[str] = []
    below: list[Folder] = []
    path = folder.path
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                is_plain = entry.is_file(follow_symlinks=False)  # as most are
                is_link = not is_plain and entry.is_symlink()
                if is_link and not is_followed(entry.path, root, problems):
                    continue
                if is_plain or not is_folder(entry):
                    files.append(name)
                elif name.endswith(".json"):
                    message = "a folder with the name of a file; nothing in it was loaded"
                    problems.add("error", "no-file", entry.path, message)
                elif name in NOT_ENTERED:
                    others.append(name)
                elif is_link:
                    there = f"it leads to {os.path.realpath(entry.path)}, which is loaded anyway"
                    problems.add("info", "link", entry.path, f"not followed: {there}")
                else:
                    below.append(Folder(f"{path}/{name}", intern(name), folder))
    except OSError as error:
        message = f"this folder cannot be listed ({error.strerror}); nothing below it was loaded"
        problems.add(
            "error",
            "no-permission" if isinstance(error, PermissionError) else "unreadable",
            path,
            message,
        )
    folder.files = _once(files, names)
    if others:
        folder.others = _once(others, names)
    if below:
        below.sort(key=lambda subfolder: _natural(subfolder.name))
        folder.folders = {subfolder.name: subfolder for subfolder in below}
        below.reverse()
    return below


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _once(listed: list[str], names: Names) -> tuple[str, ...]:
    key = tuple(listed)
    return names.setdefault(key, key)


_natural = lru_cache(natural)


def is_followed(path: str, root: str, problems: Problems) -> bool:
    """Whether a file or folder is no link, or one that stays below `root`; else it is a problem."""
    why = leads_out(path, root) if os.path.islink(path) else None
    if why is not None:
        problems.add("warning", "link", path, f"not followed: {why}")
    return why is None


_HOLDERS = frozenset("runs results history grading gradings comparisons analyses".split())
"""Folders of a workspace that merely hold what belongs to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something belongs: the folder of its workspace, and the names of the folders below."""

    workspace: str
    iteration: str = NO_ITERATION
    eval: str = UNSTATED
    configuration: str = UNSTATED
    model: str | None = None
    """The model that a folder's name tells."""


def home_of(folder: Folder) -> Place:
    """The workspace and iteration that a folder lies in.

    The iteration is the nearest folder named like one, or one with a benchmark.json beside
    such folders; the workspace is the folder that holds it. Without an iteration the
    workspace is the folder itself, if that does not merely hold runs.
    """
    at: Folder | None = folder
    while at is not None:
        if _is_iteration(at):
            if at.parent:
                return Place(_above_runs(at.parent).path, iteration=at.name)
            # an iteration that is loaded alone is still one of many
            return Place(os.path.dirname(os.path.abspath(at.path)), iteration=at.name)
        at = at.parent
    return Place(_above_runs(folder).path)


def _is_iteration(folder: Folder) -> bool:
    if is_iteration(folder.name):
        return True
    beside = folder.parent.folders if folder.parent is not None else {}
    return "benchmark.json" in folder.files and any(is_iteration(name) for name in beside)


def _above_runs(folder: Folder) -> Folder:
    """The nearest folder that does not merely hold what belongs to the one above it."""
    while folder.parent and (folder.name.lower() in _HOLDERS or model_in(folder)):
        folder = folder.parent
    return folder


def model_in(folder: Folder) -> str | None:
    """The model that a folder is named after: one of several, or in a folder for models."""
    above = folder.parent
    if above is None or not (is_model(folder.name) or "model" in above.name.lower()):
        return None
    several = sum(map(is_model, above.folders)) > 1
    for_models = is_container(above.name) and "model" in above.name.lower()
    return folder.name if for_models or (several and is_model(folder.name)) else None


def with_model(place: Place, folder: Folder) -> Place:
    """A place with the model that its configuration or a folder above it is named after."""
    model, side = model_and_side(place.configuration)
    at: Folder | None = folder
    while model is None and at is not None:
        model, at = model_in(at), at.parent
    return replace(place, configuration=side, model=model) if model else place


def place_of_run(folder: Folder, runs: set[str]) -> Place:
    """The keys of a run's folder; `runs` are the paths of all of them."""
    return _place_of_side(_side_of_run(folder, runs), runs)


def _side_of_run(folder: Folder, runs: set[str]) -> Folder:
    """The folder of a run's side, or of its eval if no folder is of a side.

    The name above a side that is an eval's is the eval, and whatever lies below the side is a
    run, at any depth and of any name. Evals may also lie below their side; runs are then what
    lies below the eval. A folder that is not a part of either stands for itself.
    """
    child, at = folder, None if _is_side_folder(folder) else folder.parent
    while at is not None:
        is_direct = child is folder
        if _is_side_folder(at):
            if _holds_runs_of_eval(at, runs):
                return _outer(at)
            is_of_eval = not is_direct and not is_container(child.name) and _is_like_a_run(folder)
            return child if is_of_eval else _without_number(folder)
        if _is_certain_eval(at):
            if at.parent is not None and is_configuration(at.parent.name):
                return at
            if not (is_direct or _is_like_a_run(child) or model_in(child)):
                return child
        child, at = at, at.parent
    return _without_number(folder)


def _is_side_folder(folder: Folder) -> bool:
    """Whether a folder is a side's: below one of an eval, `v2` or `after` is but a run's name."""
    side = folder.parent
    below = side and side.parent and is_configuration(side.name) and _is_eval_folder(side.parent)
    return is_side(folder.name, sure=True) if below else is_configuration(folder.name)


def _without_number(folder: Folder) -> Folder:
    """The folder above a run that is called one; else the folder itself."""
    above = folder.parent
    worded = WORDED_RUN.fullmatch(folder.name)
    is_run = above and worded and (run_number(folder.name) is not None or _is_eval_folder(above))
    return _outer(folder) if above is None or not is_run else above


def _holds_runs_of_eval(side: Folder, runs: set[str]) -> bool:
    """Whether what lies below a side are the runs of the eval above it, and no evals."""
    above = _eval_above(side)
    if above is not None and _is_eval_folder(above):
        return True
    below = [child for child in side.folders.values() if _holds_run(child, runs)]
    names = [child.name for child in below if child.name.lower() != "runs"]
    numbered = any(re.search(r"\d|[-_ ][a-z]$", name, re.IGNORECASE) for name in names)
    if (numbered or not names) and all(map(WORDED_RUN.fullmatch, names)):
        return True
    if above is None or (holder := above.parent) is None or any(map(is_eval, names)):
        return False
    if is_iteration(above.name) or is_container(above.name) or model_in(above):
        return False
    others = (other for other in holder.folders.values() if other is not above)
    beside = any(is_configuration(name) for other in others for name in other.folders)
    of_eval = is_iteration(holder.name) or _has_suite(holder)
    return of_eval or (beside and all(map(_is_like_a_run, below)))


def _has_suite(folder: Folder) -> bool:
    """Whether the suite lies in a folder, so that the folders beside it are its evals."""
    evals = folder.folders.get("evals")
    return any(at is not None and "evals.json" in at.files for at in (folder, evals))


def _is_like_a_run(folder: Folder) -> bool:
    return LIKE_A_RUN.fullmatch(folder.name) is not None


def _is_eval_folder(folder: Folder) -> bool:
    return is_eval(folder.name) or "eval_metadata.json" in folder.files


def _number_in(name: str) -> int | None:
    """The number that the name of a run's folder is or ends in, after no more than a word."""
    found = NUMBER.fullmatch(name)
    return int(found[1]) if found else None


def _is_certain_eval(folder: Folder) -> bool:
    """Whether a folder is an eval's by a number or by metadata, and not by a word alone."""
    return "eval_metadata.json" in folder.files or (
        is_eval(folder.name) and eval_parts(folder.name)[0] is not None
    )


def _place_of_side(folder: Folder, runs: set[str]) -> Place:
    above = folder.parent
    if above is None:
        return _place_of_root(folder)
    if is_configuration(folder.name):
        return _side_of(folder)
    if is_configuration(above.name):
        return replace(home_of(above.parent or above), eval=folder.name, configuration=above.name)
    if is_iteration(folder.name) or is_container(folder.name):
        return home_of(folder)
    if is_eval(folder.name) and not is_eval(above.name):
        return replace(home_of(above), eval=folder.name)
    if above.parent is not None and above.parent.name.lower() == "results":  # <version>/<eval>
        return replace(home_of(above.parent), eval=folder.name, configuration=above.name)
    if _is_eval_folder(above) or _is_side(folder, runs):
        return _side_of(folder)
    return replace(home_of(above), eval=folder.name)


def place_of_file(folder: Folder) -> Place:
    """The keys of a file that lies in `folder` and is not part of a run."""
    folder = _outer(folder)
    if folder.parent is None:
        return _place_of_root(folder) if is_configuration(folder.name) else home_of(folder)
    if is_configuration(folder.name):
        return _side_of(folder)
    holds = is_iteration(folder.name) or is_container(folder.name)
    if holds or "benchmark.json" in folder.files or not _is_eval_folder(folder):
        return home_of(folder)
    return replace(home_of(folder.parent), eval=folder.name)


def is_nested(folder: Folder) -> bool:
    """Whether a configuration's folder lies in one of the same name: a copy that slipped in."""
    above = folder.parent
    return above is not None and above.name == folder.name and is_configuration(folder.name)


def _outer(folder: Folder) -> Folder:
    while is_nested(folder):
        assert folder.parent is not None
        folder = folder.parent
    return folder


def _side_of(side: Folder) -> Place:
    """A side's folder: above it stands the eval, or nothing but an iteration."""
    above = _eval_above(side)
    assert above is not None
    if is_iteration(above.name) or is_container(above.name):
        return replace(home_of(above), configuration=side.name)
    return replace(home_of(above.parent or above), eval=above.name, configuration=side.name)


def _eval_above(side: Folder) -> Folder | None:
    """What stands above a side, past a numbered run and another side that it slipped into."""
    above = side.parent
    if above and above.parent and run_number(above.name) is not None:
        above = above.parent
    if above and above.parent and is_container(above.name) and _is_eval_folder(above.parent):
        above = above.parent
    if above and above.parent and is_configuration(above.name) and _is_eval_folder(above.parent):
        above = above.parent
    return above


def _place_of_root(folder: Folder) -> Place:
    """The keys of a run's folder that is itself what was loaded: nothing above it is known."""
    if is_configuration(folder.name):
        return Place(folder.path, configuration=folder.name)
    return Place(folder.path, eval=folder.name)


def _is_side(folder: Folder, runs: set[str]) -> bool:
    """Whether a folder whose name says nothing is a configuration.

    It is where runs lie beside it too, and where its name comes again under another eval.
    """
    above = folder.parent
    if above is None or above.parent is None or is_iteration(above.name):
        return False
    beside = [sibling for sibling in above.folders.values() if _holds_run(sibling, runs)]
    cousins = [
        other.folders.get(folder.name)
        for other in above.parent.folders.values()
        if other is not above
    ]
    return len(beside) > 1 and any(
        cousin is not None and _holds_run(cousin, runs) for cousin in cousins
    )


def _holds_run(folder: Folder, runs: set[str]) -> bool:
    return folder.path in runs or any(child.path in runs for child in folder.folders.values())


RESULTS = frozenset(("grading.json", "structural.json"))
TRACES = frozenset(
    ("timing.json", "metrics.json", "transcript.md", "transcript.jsonl", "transcript.json")
)
"""Files that show that a run took place, graded or not."""

OF_RUNS = RESULTS | TRACES | {"run_info.json", "run_result.json"}
"""Files that belong to the run in whose folder they lie."""

RESULTS_INSIDE = frozenset(("metrics.json", "grading.json"))
"""Results that may lie among the outputs of a run."""

_GRADING_OF_SIDE = re.compile(r"grading[-_. ]+(?P<configuration>.+)\.json", re.IGNORECASE)
_ABOUT_EVAL = re.compile(
    r"(?P<eval>.+?)[-_. ]+(?:config|timing|metrics|metadata|meta|info|usage|stats)\.json",
    re.IGNORECASE,
)
"""Files beside `<eval>-grading.json`: what is measured of this run, or known of its eval."""

_GRADING_OF_EVAL = re.compile(r"(?P<eval>.+?)[-_. ]+grading\.json", re.IGNORECASE)
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

    `perhaps` are runs if the files that would grade them turn out to.
    """

    runs: list[RunPlace] = field(default_factory=list)
    perhaps: list[RunPlace] = field(default_factory=list)
    files: list[FilePlace] = field(default_factory=list)


def lay_out(folders: list[Folder], problems: Problems) -> Layout:
    """Tell the runs and the other files in `folders` (as `crawl` lists them, parents first).

    A run whose name is none, beside runs whose names are, is a problem.
    """
    layout = Layout()
    folders = list(_without_trials(folders, layout))
    runs = _run_folders(folders)
    graded = _graded_elsewhere(folders, runs)
    places = _place_runs(folders, runs | graded.keys(), problems)
    _settle_rounds(graded, places, problems)
    for folder in folders:
        mine = OF_RUNS if folder.path in runs else frozenset[str]()
        if mine:
            place, number = places[folder.path]
            has = ("outputs" in folder.others, "judgings" in folder.others)
            layout.runs.append(RunPlace(place, number, folder.path, folder.files, *has))
        if folder.name.lower() in ("grading", "gradings"):
            for name in sorted(folder.files):
                if sums_up(name):
                    file = FilePlace(f"{folder.path}/{name}", place_of_file(folder))
                    layout.files.append(file)
                else:
                    layout.runs.append(_run_in_grading_folder(folder, name))
            continue
        if mine.issuperset(folder.files):
            continue
        _lay_out_files(folder, mine, layout)
    for path, name in graded.items():
        layout.perhaps.append(RunPlace(*places[path], path, (), grading=f"{path}/{name}"))
    _attach_files(layout)
    _number_apart(layout.runs)
    return layout


def _lay_out_files(folder: Folder, mine: frozenset[str], layout: Layout) -> None:
    """Tell the files of a folder but for those of its own run, which was added last."""
    # a benchmark.json counts before other files that state the same
    for name in sorted(folder.files, key=lambda name: (name != "benchmark.json", name)):
        if name in mine or not name.lower().endswith(LISTED):
            continue
        run = None if name == "grading.json" else _run_by_file(folder, name)
        if run is not None:
            layout.runs.append(run)
        else:
            place = layout.runs[-1].place if mine else place_of_file(folder)
            about = _place_named(folder, name)
            of_run = about is not None and about.configuration != UNSTATED
            layout.files.append(FilePlace(f"{folder.path}/{name}", about or place, of_run))


def _without_trials(folders: list[Folder], layout: Layout) -> Iterator[Folder]:
    """The folders without those of a tool's trials, of which one file is added to the layout."""
    trials: set[str] = set()
    for folder in folders:
        if folder.parent is not None and folder.parent.path in trials:
            trials.add(folder.path)
        elif trial := _trial_file(folder):
            trials.add(folder.path)
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


READ = (".json", *ENDINGS)
"""How the names of files end that may tell of evals."""

LISTED = tuple(ending for ending in READ if not ending.startswith("reward"))
"""Those that tell of them wherever they lie."""


def _place_named(folder: Folder, name: str) -> Place | None:
    """The place that `<configuration>/<eval>-config.json` or a flat file's name tells of."""
    found = _ABOUT_EVAL.fullmatch(name)
    if found is None:
        return None
    if is_configuration(folder.name):
        place = replace(place_of_file(folder), eval=found["eval"])
        return place if is_eval(found["eval"]) else None
    place, _ = _flat_place(folder, found["eval"])
    return place if place.configuration != UNSTATED or is_eval(found["eval"]) else None


def _parts_in(stem: str) -> dict[str, str]:
    """What a flat file's name tells.

    >>> _parts_in("eval-0-inbox.with_skill.iter2")
    {'side': 'with_skill', 'iteration': '2', 'eval': 'eval-0-inbox'}
    """
    parts: dict[str, str] = {}
    for part, find in _PARTS.items():
        if found := find(stem):
            parts[part] = found[found.re.groups]
            stem = stem[: found.start()].rstrip("-_. ") + stem[found.end() :]
    return parts | {"eval": stem.strip("-_. ")}


def _flat_place(folder: Folder, stem: str, side: str = UNSTATED) -> tuple[Place, int]:
    """The place and number of what a flat file tells; without an eval it is the folder's."""
    parts = {"side": side, **_parts_in(stem)}
    eval_ = parts["eval"] or (UNSTATED if is_container(folder.name) else folder.name)
    place = home_of(folder if parts["eval"] else folder.parent or folder)
    place = replace(place, eval=eval_, configuration=parts["side"])
    if "iteration" in parts:
        place = replace(place, iteration=f"iteration-{parts['iteration']}")
    return with_model(place, folder), int(parts.get("run", 1))


def _attach_files(layout: Layout) -> None:
    """Give the runs that are one file each the files that tell of them beside it."""
    about: dict[str, list[str]] = {}
    for file in layout.files:
        if file.of_run and (found := _ABOUT_EVAL.fullmatch(file.path)):
            about.setdefault(found["eval"], []).append(file.path)
    for run in layout.runs if about else ():
        if run.grading == run.path and (found := _GRADING_OF_EVAL.fullmatch(run.path)):
            run.about = tuple(about.get(found["eval"], ()))


def _number_apart(runs: list[RunPlace]) -> None:
    """Number the runs of several models on, where only a folder's name tells them apart."""
    numbers: dict[tuple[Place, int], int] = {}
    taken: set[tuple[Place, int]] = set()
    several = {replace(run.place, model=None) for run in runs if run.place.model}
    for run in runs if several else ():
        place = replace(run.place, model=None)
        if place in several:
            own = run.place, run.number
            if own not in numbers:
                numbers[own] = next(n for n in count(run.number) if (place, n) not in taken)
                taken.add((place, numbers[own]))
            run.number = numbers[own]


def _is_whole(folder: Folder) -> bool:
    """Whether a graded folder of an eval's configuration is one run, whatever lies below it.

    Below it may lie what the run worked in, with files of any name, but no runs.
    """
    return (
        is_configuration(folder.name)
        and "grading.json" in folder.files
        and folder.parent is not None
        and _is_eval_folder(folder.parent)
        and not any(
            run_number(name) is not None
            or name == "runs"
            or (_is_like_a_run(child) and "grading.json" in child.files)
            for name, child in folder.folders.items()
        )
    )


def _is_first_run(folder: Folder) -> bool:
    """Whether a graded folder is the first run beside others that are numbered from 2 on."""
    below = [
        number
        for name, child in folder.folders.items()
        if _is_like_a_run(child) and RESULTS & {*child.files} and (number := _number_in(name))
    ]
    return bool(RESULTS & {*folder.files}) and min(below, default=0) > 1


def _find_strays(folders: list[Folder], found: list[Folder]) -> set[str]:
    """The paths of those that hold no more than traces, beside the results that they must be of.

    They lie below a side with graded runs, in a folder that is not called a run, or below an
    eval's name without its number, beside the folder that has it.
    """
    bare = [one for one in found if not RESULTS & {*one.files} and "outputs" not in one.others]
    twins: set[str] = set()
    for folder in folders if bare else ():
        number, rest = eval_parts(folder.name)
        twin = folder.parent.folders.get(rest) if number and folder.parent else None
        if twin is not None and twin is not folder and _holds_results(folder):
            twins.add(twin.path)
    strays: set[str] = set()
    paths = {folder.path for folder in found}
    for folder in bare:
        side = _side_of_run(folder, paths)
        unlike = is_configuration(side.name) and not _is_like_a_run(folder) and side is not folder
        if _is_in(folder, twins) or (unlike and any(map(_holds_results, side.folders.values()))):
            strays.add(folder.path)
    return strays


def _holds_results(folder: Folder) -> bool:
    return bool(RESULTS & {*folder.files}) or any(map(_holds_results, folder.folders.values()))


def _run_folders(folders: list[Folder]) -> set[str]:
    """The paths of the folders that are runs: there are traces of one, and no runs below.

    What lies below a whole run is none, but for another configuration that slipped into it.
    """
    candidates = [
        folder
        for folder in folders
        if not RESULTS.isdisjoint(folder.files)
        or not TRACES.isdisjoint(folder.files)
        or "outputs" in folder.others
        or (is_configuration(folder.name) and "eval_metadata.json" in folder.files)
        or (run_number(folder.name) is not None and folder.files)
    ]
    whole = {folder.path for folder in candidates if _is_whole(folder)}
    candidates = [
        folder for folder in candidates if folder.path in whole or not _is_below(folder, whole)
    ]
    above: set[str] = set()
    for folder in candidates:
        parent = folder.parent
        if is_nested(folder) and parent is not None:
            parent = parent.parent
        while parent is not None and parent.path not in above:
            above.add(parent.path)
            parent = parent.parent
    above -= whole
    found = [folder for folder in candidates if folder.path not in above or _is_first_run(folder)]
    return {folder.path for folder in found} - _find_strays(folders, found)


def _graded_elsewhere(folders: list[Folder], runs: set[str]) -> dict[str, str]:
    """The folders that may be runs by a results.json, if no other run lies at any level.

    Whether it holds verdicts on a run is known when it was read.
    """
    around: set[str] = set()
    for folder in folders:
        at: Folder | None = folder if folder.path in runs else None
        while at is not None and at.path not in around:
            around.add(at.path)
            at = at.parent
    return {
        folder.path: name
        for folder in folders
        if folder.parent is not None and folder.path not in around
        for name in folder.files
        if name in ELSEWHERE
    }


def _settle_rounds(
    graded: Iterable[str], places: dict[str, tuple[Place, int]], problems: Problems
) -> None:
    """Rounds are the runs of their version; those of the only version are sides."""
    rounds = [path for path in graded if re.match(r"round[-_ ]?\d", os.path.basename(path))]
    versions = {place.configuration for place, _ in places.values()}
    message = "rounds are counted as repeated runs; if one builds on the other, load each alone"
    for path in rounds if len(versions) == 1 else ():
        message = "there are no versions to compare: the rounds are the sides"
        places[path] = replace(places[path][0], configuration=os.path.basename(path)), 1
    if rounds:
        problems.add("warning", "rounds", os.path.dirname(rounds[0]), message)


ELSEWHERE = ("results.json", "result.json")
"""Files that grade the run in whose folder they lie, if it has no grading.json."""


def _is_below(folder: Folder, whole: set[str]) -> bool:
    """Whether a folder lies in a whole run, and is no side of the same eval itself."""
    above = folder.parent
    slipped = above is not None and above.path in whole and is_configuration(folder.name)
    return not slipped and above is not None and _is_in(above, whole)


def _is_in(folder: Folder, paths: set[str]) -> bool:
    at: Folder | None = folder
    while at is not None and at.path not in paths:
        at = at.parent
    return at is not None


def _place_runs(
    folders: list[Folder], runs: set[str], problems: Problems
) -> dict[str, tuple[Place, int]]:
    """The place and the number of each run's folder, by its path; a side's share their place."""
    sides: dict[str, tuple[Folder, list[Folder]]] = {}
    for folder in folders:
        if folder.path in runs:
            side = _side_of_run(folder, runs)
            sides.setdefault(side.path, (side, []))[1].append(folder)
    places: dict[str, tuple[Place, int]] = {}
    for side, ones in sides.values():
        place = _place_of_side(side, runs)
        of_model: dict[Place, Place] = {}
        for folder, number in zip(ones, _number_runs(side, ones), strict=True):
            own = with_model(place, folder)
            places[folder.path] = of_model.setdefault(own, own), number
            if folder.parent is side and not _is_like_a_run(folder) and not is_nested(folder):
                known = [other.name for other in ones if run_number(other.name) is not None]
                message = f"beside {', '.join(known[:3])}, but not named like it: run {number}"
                hint = "move it out of this folder if it is none"
                if known:
                    problems.add("warning", "run-by-place", folder.path, f"{message}; {hint}")
    return places


def _number_runs(side: Folder, folders: list[Folder]) -> list[int]:
    """The numbers of the runs of a side: as their names say, else those that are free.

    A copy of the side that lies in the side again has the number of the side, and names that are
    the same but for case and punctuation have the same number.
    """
    numbers: list[int | None] = []
    known: set[str] = set()
    for folder in folders:
        name = plainly(folder.path.removeprefix(side.path))
        wanted = _number_in(folder.name)
        if folder is side or is_nested(folder):
            above = run_number(side.parent.name) if side.parent is not None else None
            wanted = 1 if above is None or not is_configuration(side.name) else above
        again = name in known or is_nested(folder)
        known.add(name)
        numbers.append(None if wanted in numbers and not again else wanted)
    free = (number for number in count(1) if number not in numbers)
    return [next(free) if number is None else number for number in numbers]


def _run_by_file(folder: Folder, name: str) -> RunPlace | None:
    """A run of which one file tells: grading_with_skill.json, with_skill/eval-3-grading.json."""
    path = f"{folder.path}/{name}"
    side, match = _GRADING_OF_SIDE.fullmatch(name), _GRADING_OF_EVAL.fullmatch(name)
    if side and is_configuration(side["configuration"]):
        place, _ = _flat_place(folder, "", side["configuration"])
        return RunPlace(place, 1, path, (), grading=path)
    if match and "side" in _parts_in(match["eval"]):
        return RunPlace(*_flat_place(folder, match["eval"]), path, (), grading=path)
    if match and (is_configuration(folder.name) or is_eval(match["eval"])):
        configuration = folder.name if is_configuration(folder.name) else UNSTATED
        place = replace(home_of(folder), eval=match["eval"], configuration=configuration)
        return RunPlace(with_model(place, folder), 1, path, (), grading=path)
    return None


def _run_in_grading_folder(folder: Folder, name: str) -> RunPlace:
    """A run told by `runs/<run>/grading/<eval>.json`, or by a file with all keys in its name."""
    path = f"{folder.path}/{name}"
    match = _GRADING_OF_EVAL.fullmatch(name)
    stem = match["eval"] if match else name.removesuffix(".json")
    if "side" in _parts_in(stem):
        return RunPlace(*_flat_place(folder, stem), path, (), grading=path)
    run, number = folder.parent, 1
    if run is not None and run.parent is not None and run.parent.name.lower() == "runs":
        number = run_number(run.name) or sorted(run.parent.folders).index(run.name) + 1
        folder = run.parent
    place = replace(home_of(folder), eval=name.removesuffix(".json"), configuration="with_skill")
    return RunPlace(place, number, path, (), grading=path)


def sums_up(name: str) -> bool:
    """Whether a file is called a summary of those beside it.

    >>> sums_up("grading-summary.json"), sums_up("summary.json"), sums_up("eval-3.json")
    (True, True, False)
    """
    return _SUMMARY.search(name) is not None


class EvalFolder(NamedTuple):
    """The folder of an eval in an iteration of a workspace."""

    workspace: str
    iteration: str
    folder: str


def folder_of(place: Place) -> EvalFolder:
    """The eval's folder that a place lies in."""
    return EvalFolder(place.workspace, place.iteration, place.eval)
