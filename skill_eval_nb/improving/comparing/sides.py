"""What a user calls a side: a configuration, an iteration, both, or another workspace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.stats.names import natural
from skill_eval_nb.stats.pairing import likeness
from skill_eval_nb.tables import Workspace, load

Asked = str | tuple[str, str] | Path | Workspace
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


@dataclass(frozen=True, slots=True)
class _Wanted:
    ws: Workspace
    iteration: str | None = None
    configuration: str | None = None


def sides_of(ws: Workspace, a: Asked, b: Asked) -> tuple[Side, Side]:
    """Both sides, with labels that tell them apart.

    Raises:
        Refused: there is no such side, or it could be several.
        FileNotFoundError, NothingToLoad: a path leads to nothing.
    """
    first, second = (_with_configuration(_wanted(ws, one)) for one in (a, b))
    shared = None
    if first.iteration is None and second.iteration is None and first.ws is second.ws:
        shared = [first.configuration, second.configuration]
    one, other = _side(first, shared), _side(second, shared)
    return _labelled(one, other), _labelled(other, one)


def _wanted(ws: Workspace, asked: Asked) -> _Wanted:
    if isinstance(asked, Workspace):
        return _Wanted(asked)
    if isinstance(asked, tuple):
        iteration, configuration = asked
        return _Wanted(ws, _known(ws, "iteration", iteration), configuration)
    if isinstance(asked, Path):
        return _Wanted(load(asked))
    for column in ("configuration", "iteration"):
        if asked in _names(ws, column):
            return _Wanted(ws, **{column: asked})
    iteration, _, configuration = asked.partition("/")
    if configuration and iteration in _names(ws, "iteration"):
        return _Wanted(ws, iteration, configuration)
    if Path(asked).expanduser().exists():
        return _Wanted(load(Path(asked).expanduser()))
    known = [*_names(ws, "configuration"), *_names(ws, "iteration")]
    raise refuse(no_such("configuration or iteration", asked, known))


def _known(ws: Workspace, column: str, name: str) -> str:
    names = _names(ws, column)
    if name not in names:
        raise refuse(no_such(column, name, names))
    return name


def _names(ws: Workspace, column: str) -> list[str]:
    return sorted(set(ws.polars("runs")[column]), key=natural)


def _with_configuration(wanted: _Wanted) -> _Wanted:
    """The side with its configuration: the with-skill one, where none was named."""
    rows = _rows(wanted)
    there = sorted({row["configuration"] for row in rows}, key=natural)
    if wanted.configuration is not None:
        if wanted.configuration not in there:
            raise refuse(no_such("configuration", wanted.configuration, there))
        return wanted
    skilled = [one for one in there if likeness(one) is None] or there
    if "with_skill" not in skilled and len(skilled) != 1:
        where = f"{wanted.iteration} of " if wanted.iteration else ""
        raise refuse(
            f"{where}{wanted.ws.path} has the configurations {', '.join(there) or 'none'}: say "
            'which one is meant, as in ("iteration-1", "with_skill")'
        )
    return replace(wanted, configuration="with_skill" if "with_skill" in skilled else skilled[0])


def _rows(wanted: _Wanted) -> list[Row]:
    rows = wanted.ws.polars("runs").to_dicts()
    return [row for row in rows if wanted.iteration in (None, row["iteration"])]


def _side(wanted: _Wanted, shared: list[str | None] | None) -> Side:
    """The runs of a side, of the latest iteration where none was named.

    With `shared`, of the latest one that has all of these configurations.
    """
    configuration = wanted.configuration
    assert configuration is not None
    rows = _rows(wanted)
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        own = found.setdefault(row["workspace"], {})
        own.setdefault(row["iteration"], set()).add(row["configuration"])
    needed = set(shared or [configuration])
    taken, notes = {}, []
    for workspace, iterations in found.items():
        fitting = sorted((one for one, has in iterations.items() if needed <= has), key=natural)
        if fitting:
            taken[workspace] = fitting[-1]
        if len(fitting) > 1:
            notes.append(
                f"{fitting[-1]} was taken, the latest of {len(fitting)} iterations of {workspace}; "
                f"for another name it before each side, as in {fitting[0]}/with_skill"
            )
    if not taken:
        raise refuse(f"no iteration has both {' and '.join(sorted(map(str, needed)))}")
    own_rows = tuple(
        row
        for row in rows
        if row["configuration"] == configuration and row["iteration"] == taken.get(row["workspace"])
    )
    return Side(wanted.ws, own_rows, configuration, taken, notes=tuple(notes))


def _labelled(side: Side, other: Side) -> Side:
    """A side with its label, made of whatever sets it apart from the other."""
    parts = []
    if side.ws is not other.ws:
        names = [_named(row["skill"] for row in one.rows) for one in (side, other)]
        if names[0] == names[1]:
            names = [_named(row["workspace"] for row in one.rows) for one in (side, other)]
        if names[0] == names[1]:
            names[0] = Path(side.ws.path).resolve().as_posix()
        parts.append(names[0])
    elif side.iterations != other.iterations:
        parts.append(_named(side.iterations.values()))
    version = " ".join(parts) or None
    if side.configuration != other.configuration or not parts:
        parts.append(side.configuration)
    return replace(side, label=" ".join(parts), version=version)


def _named(names: Iterable[str]) -> str:
    """Names that several runs have in common, each once."""
    return ", ".join(dict.fromkeys(names))
