"""What an iteration tells everybody of its job: who is at work, its looks, and how it goes on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import open_regular
from skill_eval_nb.skill_md import SKILL_FILE

from .folders import OWN
from .writing import find_holder, name_process

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
