"""The folders below a path, and what they are by their names and by what lies in them.

Of the folders above a run one is the iteration, one the eval, one the side, in any order and with
anything between. `roles_of` finds them, `place_of` makes the keys of them. No file is read here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import filterfalse, takewhile
from sys import intern
from typing import NamedTuple

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents.sides import (
    UNSTATED,
    find_side,
    is_model,
    is_side,
    is_word,
    model_and_side,
)
from skill_eval_nb.text import natural_key

from .problems import Problems

OWN = ".skill-eval-nb"
"""A folder of a workspace for what the toolkit keeps there for itself: no loader enters it."""

NOT_ENTERED = frozenset(
    f"outputs inputs judgings skill-snapshot .staging {OWN} .git .hg .svn node_modules "
    "__pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .ipynb_checkpoints "
    "site-packages".split()
)
"""Folders that hold no results of their own; what a run has put out is never taken for results."""


_RUN = re.compile(
    r"(?:run|trial|rep|repeat|repetition|attempt|sample)[-_ ]?(\d{1,9})", re.IGNORECASE
)
WORDED_RUN = re.compile(
    r"(?:run|rerun|retry|trial|rep|repeat|repetition|attempt)(?:[-_. ]?\d.*|[-_. ].+)?"
    r"|(?:sample|try|seed|take|round)[-_. ]?\d.*",
    re.IGNORECASE,
)
"""What people call a run who do not number it: `run-final`, `run-1 (copy)`, `retry`."""
LIKE_A_RUN = re.compile(
    rf"{WORDED_RUN.pattern}|[a-uw-z]?\d{{1,4}}|\d{{4}}-?\d\d-?\d\d.*", re.IGNORECASE
)
"""And names that are a run's only where runs are looked for: `1`, `r1`, `2026-10-01`."""
NUMBER = re.compile(r"(?:[a-z]+[-_. ]?)?(\d{1,9})", re.IGNORECASE)
_ITERATION = re.compile(
    r"(?:iteration|iter|round)(?:[-_ ]?\d.*|[-_ ].+)"
    r"|\d{4}-?\d\d-?\d\d[-T_ ]?\d\d(?:[-:._h]?\d\d){1,2}(?:[-:._]\d+)?Z?",
    re.IGNORECASE,
)
_EVAL = re.compile(
    r"(?:eval|case|test|test[-_]case|tc|task|scenario)"
    r"(?:[-_ ]?(?P<number>\d+)(?:[-_ ]+(?P<rest>.+))?|[-_ ](?P<name>.+))",
    re.IGNORECASE,
)
_HASH = re.compile(r"--[0-9a-f]{8,64}$")
"""What some tools put behind the name of an eval, to tell the versions of its text apart."""

_CONTAINERS = frozenset(
    "runs evals eval cases results outputs benchmarks benchmark gradings grading workspace "
    "evaluations reports tests multi-model multi_model models by-model per-model".split()
)
"""Folders that hold evals, sides, runs or models, and are called after none of them."""


@lru_cache
def run_number(name: str) -> int | None:
    """The number of a run's folder, or None.

    >>> run_number("run-3"), run_number("run_12"), run_number("runs")
    (3, 12, None)
    """
    found = _RUN.fullmatch(name)
    return int(found[1]) if found else None


@lru_cache(maxsize=4096)
def is_iteration(name: str) -> bool:
    """Whether a folder is named like an iteration, or after the time at which it was made.

    >>> [is_iteration(n) for n in ("iteration-5b", "iteration-master", "iterations", "tier2")]
    [True, True, False, False]
    >>> [is_iteration(n) for n in ("2026-07-04T03-53-57-344Z", "2026-03-22-212935", "2026-03-22")]
    [True, True, False]
    """
    return _ITERATION.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_eval(name: str) -> bool:
    """Whether a folder is named like an eval.

    >>> [is_eval(name) for name in ("eval-0", "eval-3-long-name", "eval-basic")]
    [True, True, True]
    >>> [is_eval(name) for name in ("evals", "eval-workspace")]
    [False, False]
    """
    return _EVAL.fullmatch(name) is not None and not name.lower().endswith("workspace")


@lru_cache(maxsize=4096)
def is_configuration(name: str) -> bool:
    """Whether a folder is named like a configuration: after a side, with anything beside it.

    `baseline` may be a word of an eval's name, if it does not begin it.

    >>> [is_configuration(n) for n in ("with_skill", "claude_with_skill", "with_skill (iter5)")]
    [True, True, True]
    >>> [is_configuration(n) for n in ("baseline", "eval-1", "audit-baseline", "testing-skill")]
    [True, False, False, False]
    """
    found = find_side(name)
    return is_side(name) or bool(found and (found.start() == 0 or "skill" in found[0].lower()))


def is_container(name: str) -> bool:
    """Whether a folder's name says only that things are kept in it."""
    return name.lower() in _CONTAINERS


@lru_cache(maxsize=4096)
def eval_parts(name: str) -> tuple[str | None, str]:
    """The id and the name that an eval's folder name holds.

    >>> eval_parts("eval-3-long-name"), eval_parts("eval-2"), eval_parts("crud-api")
    (('3', 'long-name'), ('2', 'eval-2'), (None, 'crud-api'))
    >>> eval_parts("crud-api--0c6d8f9f52ad")
    (None, 'crud-api')
    """
    name = _HASH.sub("", name) or name
    found = _EVAL.fullmatch(name)
    if not found or found["number"] is None:
        return None, name
    return str(int(found["number"])), found["rest"] or name


@dataclass(slots=True, eq=False, repr=False)
class Folder:
    """A folder: its path, the names of its files, and its sub-folders.

    `others` has the names of the sub-folders that are not entered; `holds_run` says whether it is
    the folder of a run, or one lies below it, once that is known.
    """

    path: str
    name: str
    parent: Folder | None
    files: tuple[str, ...] = ()
    folders: dict[str, Folder] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    holds_run: bool = False

    @classmethod
    def below(cls, folder: Folder, name: str) -> Folder:
        """A folder of this name in another, be it there or not."""
        return cls(f"{folder.path}/{name}", name, folder)


def crawl(path: str, problems: Problems) -> list[Folder]:
    """All folders from `path` down, parents first and in the order of their names.

    Links, and folders that cannot be read, are problems: what a link leads to is listed anyway,
    or lies outside, where it may be any file of whoever looks at somebody else's results.
    """
    root = Folder(path, os.path.basename(os.path.abspath(path)), None)
    found: list[Folder] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        found.append(folder)
        waiting += _list_folder(folder, problems, path)
    return found


def _list_folder(folder: Folder, problems: Problems, root: str) -> list[Folder]:
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
                    there = f"it leads to {os.path.realpath(entry.path)}, which is loaded already"
                    problems.add("info", "link", entry.path, f"not followed: {there}")
                else:
                    below.append(Folder(f"{path}/{name}", intern(name), folder))
    except OSError as error:
        code = "no-permission" if isinstance(error, PermissionError) else "unreadable"
        message = f"this folder cannot be listed ({error.strerror}); nothing below it was loaded"
        problems.add("error", code, path, message)
    folder.files, folder.others = tuple(files), tuple(others)
    if below:
        below.sort(key=lambda subfolder: natural_key(subfolder.name))
        folder.folders = {subfolder.name: subfolder for subfolder in below}
        below.reverse()
    return below


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def is_followed(path: str, root: str, problems: Problems) -> bool:
    """Whether a file or folder is no link, or one that stays below `root`; else it is a problem."""
    why = leads_out(path, root) if os.path.islink(path) else None
    if why is not None:
        problems.add("warning", "link", path, f"not followed: {why}")
    return why is None


NO_ITERATION = "none"
"""The iteration of runs that lie below no iteration folder."""

_HOLDERS = frozenset("runs results history grading gradings comparisons analyses".split())
"""Folders of a workspace that merely hold what belongs to it; `evals` may be one itself."""


class Place(NamedTuple):
    """Where something belongs: the folder of its workspace, and the names of the folders below."""

    workspace: str
    iteration: str = NO_ITERATION
    eval: str = UNSTATED
    configuration: str = UNSTATED
    model: str | None = None
    """The model that a folder's name tells."""


class Roles(NamedTuple):
    """The folders on a path that are of an eval and of its side; None where there is none."""

    eval: Folder | None = None
    side: Folder | None = None

    @property
    def lowest(self) -> Folder | None:
        """The lower one, below which the runs lie, or which is one itself."""
        return max(filter(None, self), key=lambda folder: len(folder.path), default=None)


# ── one folder ───────────────────────────────────────────────────────────────────────────────


def is_eval_folder(folder: Folder) -> bool:
    """Whether a folder is an eval's by its name or by the metadata in it."""
    return is_eval(folder.name) or "eval_metadata.json" in folder.files


def is_like_a_run(folder: Folder) -> bool:
    """Whether a folder is named like a run."""
    return LIKE_A_RUN.fullmatch(folder.name) is not None


def is_nested(folder: Folder) -> bool:
    """Whether a configuration's folder lies in one of the same name: a copy that slipped in."""
    above = folder.parent
    return above is not None and above.name == folder.name and is_configuration(folder.name)


def model_in(folder: Folder) -> str | None:
    """The model that a folder is named after: one of several, or in a folder for models."""
    above = folder.parent
    if above is not None and is_container(above.name) and "model" in above.name.lower():
        return folder.name
    is_one = above is not None and is_model(folder.name) and sum(map(is_model, above.folders)) > 1
    return folder.name if is_one else None


def _is_certain_eval(folder: Folder) -> bool:
    """Whether a folder is an eval's by a number or by metadata, and not by a word alone."""
    return eval_parts(folder.name)[0] is not None or "eval_metadata.json" in folder.files


def _is_side_folder(folder: Folder) -> bool:
    """Whether a folder is a side's: below one of an eval, `v2` or `after` is but a run's name."""
    side = folder.parent
    below = side and side.parent and is_configuration(side.name) and is_eval_folder(side.parent)
    return is_side(folder.name, sure=True) if below else is_configuration(folder.name)


def _is_iteration_folder(folder: Folder) -> bool:
    """Whether a folder is named like an iteration, or has a benchmark.json beside such folders."""
    beside = folder.parent.folders if folder.parent is not None else {}
    states = "benchmark.json" in folder.files and any(map(is_iteration, beside))
    return states or is_iteration(folder.name)


def _has_suite(folder: Folder) -> bool:
    """Whether the suite lies in a folder, so that the folders beside it are its evals."""
    evals = folder.folders.get("evals")
    return any(at is not None and "evals.json" in at.files for at in (folder, evals))


# ── a path ───────────────────────────────────────────────────────────────────────────────────


def list_ancestors(folder: Folder | None) -> Iterator[Folder]:
    """A folder, and those that it lies in."""
    while folder is not None:
        yield folder
        folder = folder.parent


def home_of(folder: Folder) -> Place:
    """The workspace and iteration that a folder lies in.

    The workspace is the folder that holds the nearest iteration. Without an iteration it is the
    folder itself, if that does not merely hold runs.
    """
    at = next(filter(_is_iteration_folder, list_ancestors(folder)), None)
    if at is None:
        return Place(_above_holders(folder).path)
    if at.parent is None:  # an iteration that is loaded alone is still one of many
        return Place(os.path.dirname(os.path.abspath(at.path)), at.name)
    return Place(_above_holders(at.parent).path, at.name)


def _above_holders(folder: Folder) -> Folder:
    """The nearest folder that does not merely hold what belongs to the one above it."""
    while folder.parent and (folder.name.lower() in _HOLDERS or model_in(folder)):
        folder = folder.parent
    return folder


def roles_of(folder: Folder) -> Roles:
    """The eval and the side of a run's folder.

    The name above a side that is an eval's is the eval, and whatever lies below the side is a
    run, at any depth and of any name. Evals may also lie below their side; runs are then what
    lies below the eval. Below an eval without a known side, the first folder that is not called
    a run is one; a word alone, as in `test-data`, names an eval only right above a run or a side.
    A folder that is not a part of either stands for itself: it is an eval, or the side of one.
    """
    side = next(filter(_is_side_folder, list_ancestors(folder)), None)
    if side is not None:
        below, roles = _list_between(folder, side), roles_of_side(side)
        if _holds_runs_of(side, roles.eval) and not _holds_inner_eval(roles, below):
            return roles
        eval_ = _find_eval_below(below)
        is_round = any(is_iteration(at.name) for at in below[:-1])
        if _is_side_above(side, below) and (eval_ or not is_round):
            return Roles(eval_, side) if eval_ else roles
    above = takewhile(lambda at: not is_iteration(at.name), list_ancestors(folder.parent))
    for at in (folder, *above):
        below = _list_between(folder, at)
        is_near = len(below) < 2 or (len(below) == 2 and WORDED_RUN.fullmatch(folder.name))
        if _is_certain_eval(at) or (is_near and is_eval(at.name)):
            first = next(filterfalse(_is_between, below), None)
            is_run = first and (WORDED_RUN.fullmatch(first.name) or is_iteration(first.name))
            return Roles(at, None if is_run else first)
    is_numbered = run_number(folder.name) is not None
    return _roles_of_unknown(folder.parent if is_numbered and folder.parent else folder)


def roles_of_side(side: Folder) -> Roles:
    """The roles where a side's folder stands below that of its eval."""
    while is_nested(side):
        assert side.parent is not None
        side = side.parent
    return Roles(_eval_above(side), side)


def place_of(folder: Folder, roles: Roles) -> Place:
    """The keys of what lies in a folder: what the roles on its path say."""
    top = min(filter(None, roles), key=lambda at: len(at.path), default=None)
    home = home_of(folder if top is None else top.parent or top)
    if roles.eval is not None and roles.eval.parent is not None:  # it may lie below its side
        home = home._replace(iteration=home_of(roles.eval.parent).iteration)
    eval_, side = (at.name if at is not None else UNSTATED for at in roles)
    return home._replace(eval=eval_, configuration=side)


def place_of_file(folder: Folder) -> Place:
    """The keys of a file that lies in `folder` and is not part of a run."""
    if is_configuration(folder.name):
        return place_of(folder, roles_of_side(folder))
    holds = is_iteration(folder.name) or is_container(folder.name) or folder.parent is None
    if holds or "benchmark.json" in folder.files or not is_eval_folder(folder):
        return home_of(folder)
    return place_of(folder, Roles(folder))


def with_model(place: Place, folder: Folder) -> Place:
    """A place with the model that its configuration or a folder above it is named after."""
    model, side = model_and_side(place.configuration)
    model = model or next(filter(None, map(model_in, list_ancestors(folder))), None)
    return place._replace(configuration=side, model=model) if model else place


def _is_between(folder: Folder) -> bool:
    """Whether a folder may stand between an eval and its sides: a model's, or a mere holder."""
    return is_container(folder.name) or bool(model_in(folder))


def _list_between(folder: Folder, above: Folder) -> list[Folder]:
    """The folders from below `above` down to a folder that lies in it."""
    return [*takewhile(lambda at: at is not above, list_ancestors(folder))][::-1]


def _roles_of_unknown(folder: Folder) -> Roles:
    """What a folder is that holds runs, without a side or an eval by their names on its path."""
    above = folder.parent
    if is_iteration(folder.name) or is_container(folder.name):
        return Roles()
    if above and above.parent and above.parent.name.lower() == "results":  # <version>/<eval>
        return Roles(folder, above)
    return Roles(_eval_above(folder), folder) if _is_repeated(folder) else Roles(folder)


def _is_repeated(folder: Folder) -> bool:
    """Whether a folder beside others with runs has its name again under another eval."""
    above = folder.parent
    if above is None or above.parent is None or is_iteration(above.name):
        return False
    others = (other for other in above.parent.folders.values() if other is not above)
    cousins = (other.folders.get(folder.name) for other in others)
    beside = sum(sibling.holds_run for sibling in above.folders.values())
    return beside > 1 and any(cousin is not None and cousin.holds_run for cousin in cousins)


def _find_eval_below(below: list[Folder]) -> Folder | None:
    """The eval on the way from a side down to a run: the first with a number, else the first."""
    named = (at for at in below if not (is_container(at.name) or is_iteration(at.name)))
    evals = [at for at in named if run_number(at.name) is None]
    return next(filter(_is_certain_eval, evals), evals[0] if evals else None)


def _is_side_above(side: Folder, below: list[Folder]) -> bool:
    """Whether a side's name is one on the way down to a run.

    A word that often means something else is one only right above an eval or a run.
    """
    if not below or not is_word(side.name):
        return True
    first, *others = below
    if is_container(first.name) or is_iteration(first.name) or any(map(_is_certain_eval, others)):
        return False
    return not others or is_like_a_run(others[-1])


def _holds_inner_eval(roles: Roles, below: list[Folder]) -> bool:
    """Whether a numbered eval right below a side is the eval, and not what stands above."""
    if not below or eval_parts(below[0].name)[0] is None:
        return False
    return len(below) > 1 or roles.eval is None or not _is_certain_eval(roles.eval)


def _holds_runs_of(side: Folder, above: Folder | None) -> bool:
    """Whether what lies below a side are the runs of the eval above it, and no evals."""
    if above is not None and is_eval_folder(above):
        return True
    below = [child for child in side.folders.values() if child.holds_run]
    names = [child.name for child in below if child.name.lower() != "runs"]
    numbered = any(re.search(r"\d|[-_ ][a-z]$", name, re.IGNORECASE) for name in names)
    if (numbered or not names) and all(map(WORDED_RUN.fullmatch, names)):
        return True
    if above is None or above.parent is None or any(map(is_eval, names)):
        return False
    if is_iteration(above.parent.name) or _has_suite(above.parent):
        return True
    beside = (other for other in above.parent.folders.values() if other is not above)
    alike = (is_configuration(name) for other in beside for name in other.folders)
    return all(map(is_like_a_run, below)) and any(alike)


def _eval_above(side: Folder) -> Folder | None:
    """What stands above a side, past a numbered run and another side that it slipped into.

    It is no eval's if it is an iteration's or a model's, or merely holds evals.
    """
    above = side.parent
    if above and above.parent and run_number(above.name) is not None:
        above = above.parent
    slipped = above and (_is_between(above) or is_configuration(above.name))
    if above and above.parent and slipped and is_eval_folder(above.parent):
        above = above.parent
    return None if above is None or is_iteration(above.name) or _is_between(above) else above
