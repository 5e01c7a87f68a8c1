"""What makes an iteration: its cells in their order, and the fingerprint that they share.

Every eval × configuration × run is a cell. The order is that of blocks: all first runs, then all
second ones, so that a job that ends early has whole pairs and not whole evals. Inside a block the
evals are shuffled, and inside an eval the configurations, so that what changes with the hour
(load, limits, a new version behind the same name) falls on both sides alike. The shuffle is
seeded, and by what a cell is called alone: more runs, or evals left out, leave the order of the
others as it was.

The journal of an iteration opens with its fingerprint: runs of it are comparable, since all that
matters was the same. A plan with the same one continues the iteration, with more runs, more
judgings or more money; any other begins the next one, and can say what has changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from .journal import NAME, PLANNED, read
from .protocol import Refused
from .suite import PlannedEval


@dataclass(frozen=True, slots=True)
class Cell:
    """One run that is planned.

    Attributes:
        eval_id: the eval's id, as text.
        eval_name: the eval's name.
        configuration: the side: with_skill, without_skill, …
        run_number: 1, 2, …
        folder: where its files go, relative to the workspace.
        key: an opaque id, the same whenever the same plan is made; it tells an executor
            neither the eval nor the side.
    """

    eval_id: str
    eval_name: str
    configuration: str
    run_number: int
    folder: str
    key: str


def make_cells(
    evals: Iterable[PlannedEval],
    configurations: Sequence[str],
    runs: int,
    *,
    seed: int,
    iteration: int,
    fingerprint: str,
) -> tuple[Cell, ...]:
    """All cells, in the order in which they are to be launched.

    Args:
        evals: the evals to run.
        configurations: the names of the sides.
        runs: runs of each eval on each side.
        seed: of the order; the same seed gives the same order.
        iteration: the number of the iteration that the runs belong to.
        fingerprint: of the plan; it makes the keys of two plans differ.
    """
    cells = []
    for eval_ in evals:
        for configuration in configurations:
            for number in range(1, runs + 1):
                key = _hash(fingerprint, iteration, eval_.id, configuration, number)[:24]
                home = f"iteration-{iteration}/{eval_.folder}/{configuration}/run-{number}"
                cells.append(Cell(eval_.id, eval_.name, configuration, number, home, key))

    def drawn(cell: Cell) -> tuple[int, str, str]:
        block = (seed, cell.run_number, cell.eval_id)
        return cell.run_number, _hash(*block), _hash(*block, cell.configuration)

    return tuple(sorted(cells, key=drawn))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


NOT_COMPARED = frozenset(("batch_seconds", "faults", "latency", "log", "store"))
"""Settings of a stand-in that change nothing about what it answers in the end."""

PREPARED = "prepared"
"""The one event in the journal of an iteration that waits for a plan."""

METADATA = "eval_metadata.json"
"""What a prepared iteration has of each eval."""

_ITERATION = re.compile(r"iteration-(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the runs of an iteration have in common.

    Attributes:
        runs: what outputs depend on: skills, evals, executor, model, limits, seed.
        grading: what verdicts depend on beside that: the judge, whether scripts may run. A
            judge of None fits any: nothing has been judged so far.
    """

    runs: Mapping[str, Any]
    grading: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """A hash of `runs`."""
        return hashlib.sha256(json.dumps(self.runs, sort_keys=True).encode()).hexdigest()

    def differences(self, other: Fingerprint) -> list[str]:
        """The names of what differs; none where one continues the other."""
        names = [*dict.fromkeys([*self.runs, *other.runs])]
        differs = [name for name in names if self.runs.get(name) != other.runs.get(name)]
        for name in dict.fromkeys([*self.grading, *other.grading]):
            mine, theirs = self.grading.get(name), other.grading.get(name)
            open_ = name == "judge" and (mine is None or theirs is None)
            if mine != theirs and not open_:
                differs.append(name)
        return differs

    def event(self) -> dict[str, Any]:
        """What the journal opens with: a plain JSON object."""
        fingerprint = {"runs": dict(self.runs), "grading": dict(self.grading)}
        return {"event": PLANNED, "fingerprint": fingerprint}


def plain(value: Any) -> Any:
    """A value as plain JSON, the same in every process and on every machine.

    >>> plain({"b": (1, 2), "a": None})
    {'a': None, 'b': [1, 2]}
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [
            field
            for field in dataclasses.fields(value)
            if field.compare and field.name not in NOT_COMPARED and not field.name.startswith("_")
        ]
        fields_ = {field.name: plain(getattr(value, field.name)) for field in fields}
        return {"is": type(value).__name__, **fields_}
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(element) for element in value), key=json.dumps)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(element) for element in value]
    if isinstance(value, Path):
        return str(value)
    return getattr(value, "__qualname__", type(value).__qualname__)


def planned(iteration: Path) -> list[Fingerprint] | None:
    """The fingerprints in the journal of an iteration; None where it has no journal.

    A line that is no JSON, as one that was cut off, tells nothing.
    """
    found: list[Fingerprint] = []
    try:
        with (iteration / NAME).open("rb") as lines:
            for line in lines:
                if PLANNED.encode() in line:
                    with suppress(ValueError, KeyError, TypeError):
                        event = json.loads(line)
                        mark = event["fingerprint"]
                        made = Fingerprint(mark["runs"], mark["grading"])
                        found += [made] if event["event"] == PLANNED else []
    except FileNotFoundError:
        return None
    return found


def choose_iteration(
    workspace: Path, mine: Fingerprint, wanted: int | None = None
) -> tuple[int, str]:
    """Which iteration a plan belongs to, and why, in words.

    Args:
        workspace: the workspace's folder; it need not be there.
        mine: the plan's fingerprint.
        wanted: the number that the user asked for.

    Raises:
        Refused: the iteration that was asked for is there, and is another one.
    """
    there = iterations_of(workspace)
    if wanted is not None:
        if wanted in there and (others := _others(there[wanted], mine)) is not None:
            raise Refused(
                [f"iteration-{wanted} is there, but {others}; leave `iteration` out for the next"]
            )
        return wanted, "continued" if wanted in there else "as asked for"
    for number in sorted(there, reverse=True):
        if planned(there[number]) and _others(there[number], mine) is None:
            return number, "continued: skill, evals, models, executor, limits and seed are the same"
    if not there:
        return 1, "the first"
    last = max(there)
    if _others(there[last], mine) is None:
        return last, "prepared, and nothing was run in it so far"
    return last + 1, f"new: in iteration-{last} {_others(there[last], mine)}"


def iterations_of(workspace: Path) -> dict[int, Path]:
    """The folders of a workspace's iterations by their numbers."""
    if not workspace.is_dir():
        return {}
    folders = (entry for entry in workspace.iterdir() if entry.is_dir())
    named = ((_ITERATION.fullmatch(folder.name), folder) for folder in folders)
    return {int(found[1]): path for found, path in named if found}


def is_prepared(iteration: Path) -> bool:
    """Whether an iteration was prepared, and holds nothing but the evals that it is for."""
    try:
        events = read(iteration).events
    except ValueError:  # something else wrote there
        return False
    if not events or any(event.get("event") != PREPARED for event in events):
        return False
    files = (path for path in iteration.rglob("*") if not path.is_dir())
    return all(file.name in (NAME, METADATA) for file in files)


def _others(iteration: Path, mine: Fingerprint) -> str | None:
    """In what an iteration differs from a plan; None where the plan continues it."""
    found = planned(iteration)
    if not found:
        free = is_prepared(iteration) or not any(iteration.iterdir())
        return None if free else "there is no journal of a plan"
    for other in found:
        if differs := mine.differences(other):
            return f"{' and '.join(_difference(name, other, mine) for name in differs)} differed"
    return None


def _difference(name: str, old: Fingerprint, new: Fingerprint) -> str:
    """A difference in words, with its values where they are short."""
    before = {**old.runs, **old.grading}.get(name)
    after = {**new.runs, **new.grading}.get(name)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return f"{name} ({', '.join(names)})"
    shown = f"{name} ({before!r}, now {after!r})"
    return shown if len(shown) <= 80 else name
