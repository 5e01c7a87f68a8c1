"""Two sides, and which run of one is compared with which of the other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.documents.results import ComparedRun
from skill_eval_nb.documents.sides import likeness
from skill_eval_nb.running.asking import LeftOut
from skill_eval_nb.running.judge_tasks import UnreadableGrading, why_not_shown
from skill_eval_nb.running.protocol import no_such, refuse
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.stats.values import natural_key, order_iterations
from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.workspace import NO_ITERATION

from .values import RunRef, only_suite

Named = str | tuple[str, str] | Path | Workspace
Row = dict[str, Any]
KEYS = RunRef._fields[2:]
"""The keys of a run in its workspace."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The runs of one side, and its name.

    Attributes:
        ws: the workspace that the runs are of.
        rows: their rows of the table `runs`.
        configuration: of all of them.
        iteration: of all of them.
        label: its name for people: whatever tells it from the other side.
        version: the same without the configuration; None if nothing else differs.
        notes: choices made for the user.
    """

    ws: Workspace
    rows: tuple[Row, ...]
    configuration: str
    iteration: str
    label: str = ""
    version: str | None = None
    notes: tuple[str, ...] = ()


def sides_of(ws: Workspace, a: Named, b: Named) -> tuple[ComparedSide, ComparedSide]:
    """Both sides, with labels that tell them apart.

    Raises:
        Refused: there is no such side, it could be several, or it is of several skills.
        FileNotFoundError, NothingToLoad: a path does not exist.
    """
    first, second = _resolve_name(ws, a), _resolve_name(ws, b)
    for own, *_ in (first, second):
        only_suite(own, "a comparison")
    configurations = [_choose_configuration(*each) for each in (first, second)]
    together = first[0] is second[0] and first[1] is second[1] is None
    sides = [
        _latest_side(own, iteration, mine, configurations if together else [mine])
        for (own, iteration, _), mine in zip((first, second), configurations, strict=True)
    ]
    return _label_side(*sides), _label_side(*reversed(sides))


def _resolve_name(ws: Workspace, name: Named) -> tuple[Workspace, str | None, str | None]:
    """The workspace, iteration and configuration, if they are named."""
    if isinstance(name, Workspace):
        return name, None, None
    configurations, iterations = (
        sorted(set(ws.polars("runs")[column]), key=natural_key)
        for column in ("configuration", "iteration")
    )
    if isinstance(name, tuple):
        if name[0] not in iterations:
            raise refuse(no_such("iteration", name[0], iterations))
        return ws, *name
    if isinstance(name, str):
        iteration, _, configuration = name.partition("/")
        if name in configurations:
            return ws, None, name
        if name in iterations or (configuration and iteration in iterations):
            return (ws, name, None) if name in iterations else (ws, iteration, configuration)
        if not Path(name).expanduser().exists():
            known = [*configurations, *iterations]
            raise refuse(no_such("configuration or iteration", name, known))
    return load(Path(name).expanduser()), None, None


def _choose_configuration(ws: Workspace, iteration: str | None, configuration: str | None) -> str:
    """The configuration of a side: the with-skill one, if none was named."""
    there = sorted({row["configuration"] for row in _run_rows(ws, iteration)}, key=natural_key)
    if configuration is not None:
        if configuration not in there:
            raise refuse(no_such("configuration", configuration, there))
        return configuration
    skilled = [name for name in there if likeness(name) is None] or there
    if "with_skill" not in skilled and len(skilled) != 1:
        where = f"{iteration} of " if iteration else ""
        raise refuse(
            f"{where}{ws.path} has the configurations {', '.join(there) or 'none'}: say "
            'which one is meant, as in ("iteration-1", "with_skill")'
        )
    return "with_skill" if "with_skill" in skilled else skilled[0]


def _run_rows(ws: Workspace, iteration: str | None) -> list[Row]:
    rows = ws.polars("runs").to_dicts()
    return [row for row in rows if iteration in (None, row["iteration"])]


def _latest_side(
    ws: Workspace, iteration: str | None, configuration: str, needed: Iterable[str]
) -> ComparedSide:
    """The runs of a side, of the latest iteration that has all configurations that are needed."""
    rows = _run_rows(ws, iteration)
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["iteration"], set()).add(row["configuration"])
    order = order_iterations(ws.polars("runs"))
    fitting = [name for name in order if found.get(name, set()).issuperset(needed)]
    if not fitting:
        raise refuse(f"no iteration has both {' and '.join(sorted(needed))}")
    taken = fitting[-1]
    note = (
        f"{taken} was used, the latest of {len(fitting)} iterations; for another name it before "
        f"each side, as in {fitting[0]}/with_skill"
    )
    here = (configuration, taken)
    own = tuple(row for row in rows if (row["configuration"], row["iteration"]) == here)
    notes = (note,) if len(fitting) > 1 else ()
    return ComparedSide(ws, own, configuration, taken, notes=notes)


def _label_side(side: ComparedSide, other: ComparedSide) -> ComparedSide:
    """A side with its label, made of whatever tells it from the other."""
    version = None
    if side.ws is not other.ws:
        names = (
            [", ".join(dict.fromkeys(row[what] for row in each.rows)) for each in (side, other)]
            for what in ("skill", "workspace")
        )
        path = Path(side.ws.path).resolve().as_posix()
        version = next((mine for mine, others in names if mine != others), path)
    elif side.iteration != other.iteration:
        version = side.iteration
    alike = version and side.configuration == other.configuration
    label = " ".join(filter(None, (version, None if alike else side.configuration)))
    return replace(side, label=label, version=version)


def run_identity(run: StoredRun) -> tuple[Any, ...]:
    """Identifies a run, wherever its workspace is."""
    return run.workspace.name, *(getattr(run, key) for key in KEYS if key != "eval_name")


def compared_run(run: StoredRun, skill: str | None = None) -> ComparedRun:
    """A run as a comparison or an analysis names it."""
    fields = {name: getattr(run, name) for name in KEYS}
    return ComparedRun(workspace=run.workspace.name, skill=skill, **fields, path=run.within)


def _task_of(run: StoredRun) -> str:
    """The prompt of its eval, regardless of white space."""
    return " ".join(run.eval.prompt.split()) if run.eval else ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs of the same eval.

    Attributes:
        key: opaque, and the same whichever side is named first.
        a: the run of side a.
        b: the run of side b.
    """

    key: str
    a: StoredRun
    b: StoredRun

    @property
    def named(self) -> str:
        """The pair in words."""
        return f"eval {self.a.eval_id} ({self.a.eval_name}), run {self.a.run_number}"


def pairs_of(
    a: ComparedSide, b: ComparedSide, evals: Iterable[str | int] | None = None
) -> tuple[list[Pair], list[LeftOut]]:
    """The pairs in the order of the evals, and every run without a pair, with the reason.

    Within a workspace, evals are matched by id; between workspaces of different skills by prompt,
    and also by id if a prompt occurs twice.

    Args:
        a: one side.
        b: the other.
        evals: ids or names of evals; all if not given.

    Raises:
        Refused: there is no such eval, or both sides are the same runs.
    """
    left: list[LeftOut] = []
    wanted = _eval_ids([*a.rows, *b.rows], evals)
    first = _stored_by_folder(a.ws)
    stored = (first, first if b.ws is a.ws else _stored_by_folder(b.ws))
    both = [[*_runs(side, wanted, own, left)] for side, own in zip((a, b), stored, strict=True)]
    ours, theirs = both
    if {run.folder for run in ours} & {run.folder for run in theirs}:
        raise refuse(f"both sides are {a.configuration} of {a.iteration}: name two that differ")
    twice: set[str] = set()
    for side in both if a.ws is not b.ws else ():
        tasks = {(_task_of(run), run.eval_id) for run in side}
        twice |= {task for task, _ in tasks if sum(task == other for other, _ in tasks) > 1}

    def match_key(run: StoredRun) -> tuple[Any, ...]:
        if a.ws is b.ws:
            return run.eval_id, run.run_number
        task = _task_of(run)
        return task, run.eval_id if task in twice else None, run.run_number

    waiting = {match_key(run): run for run in theirs}
    pairs = []
    for run in ours:
        partner = waiting.pop(match_key(run), None)
        if partner is None:
            left.append(_left_alone(run, b))
        else:
            names = json.dumps(sorted(map(run_identity, (run, partner)))).encode("utf-8", "replace")
            pairs.append(Pair(hashlib.sha256(names).hexdigest()[:12], run, partner))
    return pairs, [*left, *(_left_alone(run, a) for run in waiting.values())]


def _left_alone(run: StoredRun, other: ComparedSide) -> LeftOut:
    return LeftOut(_name_run(run), f"{other.label} has no such run of the same eval")


def _eval_ids(rows: Iterable[Row], evals: Iterable[str | int] | None) -> set[str]:
    """The ids of evals that are named by id or name; all if none is named."""
    names = {row[name]: row["eval_id"] for name in ("eval_name", "eval_id") for row in rows}
    wanted = names if evals is None else [str(eval_) for eval_ in evals]
    for name in wanted:
        if name not in names:
            raise refuse(no_such("eval", name, names))
    return {names[name] for name in wanted}


def _runs(
    side: ComparedSide, evals: set[str], stored: dict[Path, StoredRun], left: list[LeftOut]
) -> Iterator[StoredRun]:
    """The runs of a side that can be compared, with the keys of the tables; others are noted."""
    for row in side.rows:
        if row["eval_id"] not in evals:
            continue
        ref = RunRef(*(row[name] for name in RunRef._fields))
        found = stored.get(Path(side.ws.path, row["path"]).resolve())
        reason = _why_not(found)
        if found is None or reason is not None:
            left.append(LeftOut(_name_run(ref), str(reason)))
        else:
            yield replace(found, **{key: row[key] for key in KEYS})


def _stored_by_folder(ws: Workspace) -> dict[Path, StoredRun]:
    if not ws.path:
        raise refuse("this workspace was made of tables: there are no outputs to compare")
    return {run.folder.resolve(): run for run in stored_runs(ws.path)}


def _why_not(run: StoredRun | None) -> str | None:
    if run is None:
        return "it has no folder of its own, so there are no outputs of it"
    try:
        return why_not_shown(run)
    except UnreadableGrading as error:
        return str(error)


def _name_run(run: RunRef | StoredRun) -> str:
    of = "" if run.iteration == NO_ITERATION else f" of {run.iteration}"
    return f"eval {run.eval_id}, {run.configuration}, run {run.run_number}{of}"
