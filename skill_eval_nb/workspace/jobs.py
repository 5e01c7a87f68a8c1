"""What a workspace keeps of its jobs: who is at work, how they go on, versions of the skill."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import leads_out, open_regular
from skill_eval_nb.documents.sides import is_earlier
from skill_eval_nb.skill_md import SKILL_FILE
from skill_eval_nb.text import natural_key

from .evals import slug
from .folders import NOT_ENTERED, OWN, is_eval, is_folder, run_number
from .writing import OPENED, lock_holder, name_process

JOURNAL, LOCK = "journal.jsonl", f"{OWN}.lock"
PLANNED, STARTED = "planned", "started"
"""The events that say what runs have in common, and what a job was asked for."""
A_JOB = "a job"
"""What somebody does who holds the lock of an iteration, and runs it."""


class JobRecord(NamedTuple):
    """What is known of the job of an iteration.

    Attributes:
        looks: runs a side at which a verdict was planned when it was first started; none if empty.
        at_it: which process is at work; None if none is.
    """

    looks: tuple[int, ...] = ()
    at_it: str | None = None


def read_events(iteration: Path, event: str, key: str) -> list[dict[str, Any]]:
    """What the events of a name have under a key, in their order; none without a journal.

    Raises:
        OSError: there is one, and it cannot be read.
    """
    found: list[dict[str, Any]] = []
    with (
        suppress(FileNotFoundError, NotADirectoryError),
        open_regular(iteration / JOURNAL) as lines,
    ):
        for line in lines:
            if event.encode() in line:
                with suppress(ValueError, KeyError, TypeError):  # something else, or another's
                    found.append(dict(json.loads(line)[key]))
    return found


def read_job(iteration: Path) -> JobRecord:
    """What the folder of an iteration says of its job; nothing if there is none."""
    looks: tuple[int, ...] = ()
    with suppress(OSError):
        for asked in read_events(iteration, STARTED, "asked"):
            with suppress(ValueError, TypeError):
                looks = looks or tuple(map(int, asked.get("looks") or ()))
    holder = find_holder(iteration / LOCK) or {}
    return JobRecord(looks, name_process(holder) if holder.get("doing") == A_JOB else None)


def find_holder(path: Path) -> dict[str, Any] | None:
    """What whoever holds a lock says of itself; None if nobody does. Nothing is written."""
    try:
        with open_regular(path) as file:
            if os.name == "posix":
                import fcntl

                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            else:
                file.read(OPENED)
    except (BlockingIOError, PermissionError):
        return lock_holder(path)
    except OSError:
        return None
    return None


USUAL = ("offline", "stand-in", "stand-in-judge", "bubblewrap")
"""What a command does that does not say it."""


class Settings(NamedTuple):
    """With what an iteration was run last.

    Attributes:
        folder: of the iteration.
        plan: what its runs and their grading have in common.
        asked: what its last start was asked for beside that.
    """

    folder: Path
    plan: Mapping[str, Any]
    asked: Mapping[str, Any]

    def word_command(self, runs: int, evals: Collection[str], *, named: bool) -> str:
        """The command that goes on with it until each eval has so many runs a side.

        What is finished is not done again: all that the runs have in common is the same. "" where
        the journal does not say what that is.

        Args:
            runs: of each eval on each side.
            evals: ids of all evals that the suite has.
            named: whether folders are called by their names alone, for readers elsewhere.
        """
        try:
            given = self._options(runs, evals, named=named)
        except (KeyError, TypeError, AttributeError, ValueError, StopIteration):  # not one of ours
            return ""
        words = ["skill-eval-nb", "run", str(given.pop("skill"))]
        for option, value in given.items():
            if value is True:
                words.append(option)
            elif value is not None and value not in USUAL:
                each = value if isinstance(value, list) else [value]
                words += [word for one in each for word in (option, str(one))]
        return shlex.join(words)

    def _options(self, runs: int, evals: Collection[str], *, named: bool) -> dict[str, Any]:
        """What the command is given; None and USUAL need not be said."""

        def place(path: Any) -> str:
            return Path(path).name if named else str(path)

        made, grading, asked = self.plan["runs"], self.plan["grading"], self.asked
        sides, suite = asked["skills"], asked["suite"]
        skill = sides.get("with_skill") or next(filter(None, sides.values()))
        usual = {*sides} == {"with_skill", "without_skill"}
        named_sides = [name if not at else f"{name}={place(at)}" for name, at in sides.items()]
        return {
            "skill": place(skill),
            "--workspace": place(self.folder.parent),
            "--evals": None if Path(suite).is_relative_to(skill) else place(suite),
            "--runs": runs,
            "--configuration": None if usual else named_sides,
            "--eval": None if {*asked["evals"]} >= {*evals} else asked["evals"],
            "--executor": made["executor"]["name"],
            "--executor-model": made["executor_model"],
            "--judge-model": (grading["judge"] or {}).get("model"),
            "--judgings": None if asked["judgings"] == 1 else asked["judgings"],
            "--seed": made["seed"] or None,
            "--run-usd": made["limits"].get("usd"),
            "--sandbox": made["sandbox"],
            "--allow-scripts": grading["allow_scripts"] or None,
        }


def read_settings(iteration: Path) -> Settings:
    """What the journal of an iteration says of its last start; empty if there is none."""
    plans, starts = [], []
    with suppress(OSError):
        plans = read_events(iteration, PLANNED, "fingerprint")
        starts = read_events(iteration, STARTED, "asked")
    return Settings(iteration, plans[-1] if plans else {}, starts[-1] if starts else {})


def find_skill(folder: Path) -> Path | None:
    """The skill that an iteration was run with; else one with evals that lies in or beside it.

    As tdd beside tdd-workspace, of the folder itself or of one of the three above it.
    """
    with suppress(KeyError, TypeError, AttributeError):  # another tool's
        for skill in read_settings(folder).asked["skills"].values():
            if skill and Path(skill, SKILL_FILE).is_file():
                return Path(skill)
    for near in (folder, *list(folder.parents)[:3]):
        for place in (near, near.parent / near.name.removesuffix("-workspace")):
            if (place / SKILL_FILE).is_file() and (place / "evals" / "evals.json").is_file():
                return place
    return None


# ── versions of the skill ────────────────────────────────────────────────────────────────────

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
    return sorted(found, key=lambda version: natural_key(version.name))


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
    return next((folder for folder in (run, *run.parents) if folder.name == iteration), None)


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
        next((name for part in parts for name in names if _has_part(part, slug(name))), None)
        for names in (iterations, configurations)
    )
    earlier = any(map(is_earlier, parts))
    if side is None and (earlier or (iteration is None and _SNAPSHOT.fullmatch(parts[0]))):
        side = next(filter(is_earlier, configurations), "old_skill")
    return KeptSkill(inside.as_posix(), folder, iteration, side)


def _has_part(part: str, name: str) -> bool:
    """Whether a folder's name is this name or holds it as a part.

    >>> _has_part("iteration-2-old-skill", "iteration-2"), _has_part("iteration-20", "iteration-2")
    (True, False)
    """
    return f"-{name}-" in f"-{part}-"
