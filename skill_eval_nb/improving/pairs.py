"""Two sides, and which run of one is compared with which of the other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.documents import Timing
from skill_eval_nb.running.asking import LeftOut
from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.running.regrading import UnreadableGrading, document
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.pairing import likeness
from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.workspace import NO_ITERATION

from .values import RunRef

Named = str | tuple[str, str] | Path | Workspace
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one side, and what it is called.

    Attributes:
        ws: the workspace that the runs are of.
        rows: their rows of the table `runs`.
        configuration: of all of them.
        iterations: of each workspace, the one that they are of.
        label: what people call it: what sets it apart from the other side.
        version: the same without the configuration; None where nothing else differs.
        notes: what was decided for the user.
    """

    ws: Workspace
    rows: tuple[Row, ...]
    configuration: str
    iterations: dict[str, str]
    label: str = ""
    version: str | None = None
    notes: tuple[str, ...] = ()


def sides_of(ws: Workspace, a: Named, b: Named) -> tuple[Side, Side]:
    """Both sides, with labels that tell them apart.

    Raises:
        Refused: there is no such side, or it could be several.
        FileNotFoundError, NothingToLoad: a path leads to nothing.
    """
    one, other = _named(ws, a), _named(ws, b)
    configurations = [_configuration(*each) for each in (one, other)]
    together = one[0] is other[0] and one[1] is other[1] is None
    sides = [
        _side(own, iteration, mine, configurations if together else [mine])
        for (own, iteration, _), mine in zip((one, other), configurations, strict=True)
    ]
    return _labelled(*sides), _labelled(*reversed(sides))


def _named(ws: Workspace, name: Named) -> tuple[Workspace, str | None, str | None]:
    """The workspace, iteration and configuration that are meant, as far as they are named."""
    if isinstance(name, Workspace | Path):
        return (name if isinstance(name, Workspace) else load(name)), None, None
    there = {
        column: sorted(set(ws.polars("runs")[column]), key=natural)
        for column in ("configuration", "iteration")
    }
    if isinstance(name, tuple):
        if name[0] not in there["iteration"]:
            raise refuse(no_such("iteration", name[0], there["iteration"]))
        return ws, *name
    if name in there["configuration"]:
        return ws, None, name
    iteration, _, configuration = name.partition("/")
    if name in there["iteration"]:
        return ws, name, None
    if configuration and iteration in there["iteration"]:
        return ws, iteration, configuration
    if Path(name).expanduser().exists():
        return load(Path(name).expanduser()), None, None
    known = [*there["configuration"], *there["iteration"]]
    raise refuse(no_such("configuration or iteration", name, known))


def _configuration(ws: Workspace, iteration: str | None, configuration: str | None) -> str:
    """The configuration of a side: the with-skill one, where none was named."""
    there = sorted({row["configuration"] for row in _rows(ws, iteration)}, key=natural)
    if configuration is not None:
        if configuration not in there:
            raise refuse(no_such("configuration", configuration, there))
        return configuration
    skilled = [one for one in there if likeness(one) is None] or there
    if "with_skill" not in skilled and len(skilled) != 1:
        where = f"{iteration} of " if iteration else ""
        raise refuse(
            f"{where}{ws.path} has the configurations {', '.join(there) or 'none'}: say "
            'which one is meant, as in ("iteration-1", "with_skill")'
        )
    return "with_skill" if "with_skill" in skilled else skilled[0]


def _rows(ws: Workspace, iteration: str | None) -> list[Row]:
    rows = ws.polars("runs").to_dicts()
    return [row for row in rows if iteration in (None, row["iteration"])]


def _side(ws: Workspace, iteration: str | None, configuration: str, needed: Iterable[str]) -> Side:
    """The runs of a side, of the latest iteration that has all configurations that are needed."""
    rows = _rows(ws, iteration)
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        own = found.setdefault(row["workspace"], {})
        own.setdefault(row["iteration"], set()).add(row["configuration"])
    taken, notes = {}, []
    for workspace, iterations in found.items():
        fitting = [one for one, has in iterations.items() if has.issuperset(needed)]
        fitting.sort(key=natural)
        if fitting:
            taken[workspace] = fitting[-1]
        if len(fitting) > 1:
            notes.append(
                f"{fitting[-1]} was taken, the latest of {len(fitting)} iterations of {workspace}; "
                f"for another name it before each side, as in {fitting[0]}/with_skill"
            )
    if not taken:
        raise refuse(f"no iteration has both {' and '.join(sorted(needed))}")
    own_rows = tuple(
        row
        for row in rows
        if row["configuration"] == configuration and row["iteration"] == taken.get(row["workspace"])
    )
    return Side(ws, own_rows, configuration, taken, notes=tuple(notes))


def _labelled(side: Side, other: Side) -> Side:
    """A side with its label, made of whatever sets it apart from the other."""
    parts = []
    if side.ws is not other.ws:
        names = [_listed(row["skill"] for row in one.rows) for one in (side, other)]
        if names[0] == names[1]:
            names = [_listed(row["workspace"] for row in one.rows) for one in (side, other)]
        if names[0] == names[1]:
            names[0] = Path(side.ws.path).resolve().as_posix()
        parts.append(names[0])
    elif side.iterations != other.iterations:
        parts.append(_listed(side.iterations.values()))
    version = " ".join(parts) or None
    if side.configuration != other.configuration or not parts:
        parts.append(side.configuration)
    return replace(side, label=" ".join(parts), version=version)


def _listed(names: Iterable[str]) -> str:
    """Names that several runs have in common, each once."""
    return ", ".join(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Run:
    """A run that can be compared: its keys, who executed it, and what is stored of it."""

    ref: RunRef
    executor_model: str | None
    stored: StoredRun

    @property
    def who(self) -> tuple[Any, ...]:
        """What tells it from every other run; the same wherever its workspace lies."""
        ref = self.ref
        return (
            self.stored.workspace.name,
            ref.iteration,
            ref.eval_id,
            ref.configuration,
            ref.run_number,
        )

    @property
    def within(self) -> str:
        """Its folder, below its workspace."""
        return self.stored.folder.relative_to(self.stored.workspace).as_posix()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs of the same eval.

    Attributes:
        key: opaque, and the same whichever side is named first.
        a: the run of side a.
        b: the run of side b.
    """

    key: str
    a: Run
    b: Run

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from the pairs of every workspace."""
        return self.a.ref.workspace, self.key

    @property
    def named(self) -> str:
        """The pair in words."""
        ref = self.a.ref
        return f"eval {ref.eval_id} ({ref.eval_name}), run {ref.run_number}"


def pairs_of(
    a: Side, b: Side, evals: Iterable[str | int] | None = None
) -> tuple[list[Pair], list[LeftOut]]:
    """The pairs in the order of the evals, and every run that is in none, with the reason.

    Args:
        a: one side.
        b: the other.
        evals: ids or names of evals; without it all of them.

    Raises:
        Refused: there is no such eval, or both sides are the same runs.
    """
    if _places_of(a) & _places_of(b):
        of = ", ".join(dict.fromkeys(a.iterations.values()))
        raise refuse(f"both sides are {a.configuration} of {of}: name two that differ")
    left: list[LeftOut] = []
    rows = [*a.rows, *b.rows]
    wanted = _ids(rows, {row["eval_id"] for row in rows} if evals is None else evals)
    first = _stored(a.ws)
    second = first if b.ws is a.ws else _stored(b.ws)
    ours, theirs = list(_runs(a, wanted, first, left)), list(_runs(b, wanted, second, left))
    place = _places(ours, theirs, apart=a.ws is not b.ws)
    waiting = {place(run): run for run in theirs}
    pairs = []
    for run in ours:
        partner = waiting.pop(place(run), None)
        if partner is None:
            left.append(_alone(run, b))
        else:
            pairs.append(_pair(run, partner))
    return pairs, [*left, *(_alone(run, a) for run in waiting.values())]


def _places_of(side: Side) -> set[tuple[Any, ...]]:
    """What tells the runs of a side from all others, those of one file too."""
    names = ("eval_id", "configuration", "run_number")
    return {
        (Path(side.ws.path, row["path"]).resolve(), *(row[name] for name in names))
        for row in side.rows
    }


def _places(
    ours: Iterable[Run], theirs: Iterable[Run], *, apart: bool
) -> Callable[[Run], tuple[Any, ...]]:
    """By what runs of two sides are the same draw of the same task.

    Within a workspace an eval is told by its id; workspaces of different skills have it in
    common where the prompts are equal, and the ids, too, where a prompt comes twice.
    """
    if not apart:
        return lambda run: (run.ref.workspace, run.ref.eval_id, run.ref.run_number)
    twice: set[str] = set()
    for side in (ours, theirs):
        ids: dict[str, set[str]] = {}
        for run in side:
            ids.setdefault(_task(run), set()).add(run.ref.eval_id)
        twice |= {task for task, own in ids.items() if len(own) > 1}
        if len({run.ref.workspace for run in side}) > 1:
            raise refuse(
                "a side that is another workspace must be one alone: choose it with "
                "ws.select(workspace=…)"
            )

    def place(run: Run) -> tuple[Any, ...]:
        task = _task(run)
        return task, run.ref.eval_id if task in twice else None, run.ref.run_number

    return place


def _task(run: Run) -> str:
    assert run.stored.eval is not None
    return " ".join(run.stored.eval.prompt.split())


def _pair(a: Run, b: Run) -> Pair:
    both = json.dumps(sorted((a.who, b.who)))
    return Pair(hashlib.sha256(both.encode("utf-8", "replace")).hexdigest()[:12], a, b)


def _alone(run: Run, other: Side) -> LeftOut:
    return LeftOut(_run_named(run.ref), f"{other.label} has no such run of the same eval")


def _ids(rows: Iterable[Row], evals: Iterable[str | int]) -> set[str]:
    """The ids of evals that are named by id or name."""
    ids = {row["eval_id"]: row["eval_id"] for row in rows}
    names = {row["eval_name"]: row["eval_id"] for row in rows} | ids
    for eval_ in evals:
        if str(eval_) not in names:
            raise refuse(no_such("eval", str(eval_), names))
    return {names[str(eval_)] for eval_ in evals}


def _runs(
    side: Side, evals: set[str], stored: dict[Path, StoredRun], left: list[LeftOut]
) -> Iterator[Run]:
    """The runs of a side that can be compared; others are noted."""
    for row in side.rows:
        if row["eval_id"] not in evals:
            continue
        ref = RunRef(*(row[name] for name in RunRef._fields))
        found = stored.get(Path(side.ws.path, row["path"]).resolve())
        reason = _why_not(found)
        if found is None or reason is not None:
            left.append(LeftOut(_run_named(ref), reason or ""))
        else:
            yield Run(ref, row["executor_model"], found)


def _stored(ws: Workspace) -> dict[Path, StoredRun]:
    if not ws.path:
        raise refuse("this workspace was made of tables: there are no outputs to compare")
    return {run.folder.resolve(): run for run in stored_runs(ws.path)}


def _why_not(run: StoredRun | None) -> str | None:
    if run is None:
        return "it has no folder of its own, so there are no outputs of it"
    if run.eval is None:
        return "its eval is not defined: no evals.json or eval_metadata.json has its prompt"
    if run.outputs is None:
        return "it has no outputs"
    try:
        timing = document(run.folder / "timing.json", Timing)
    except UnreadableGrading as error:
        return str(error)
    if timing is not None and timing.status == "errored":
        reason = timing.reason or "no reason was noted"
        if not reason.startswith("judge:"):
            return f"the run is errored ({reason})"
    return None


def _run_named(ref: RunRef) -> str:
    of = "" if ref.iteration == NO_ITERATION else f" of {ref.iteration}"
    return f"eval {ref.eval_id}, {ref.configuration}, run {ref.run_number}{of}"
