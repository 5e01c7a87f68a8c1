"""What things are called in a layout: a workspace, its evals, runs and documents."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from .catalogue import Catalogue
from .homes import Home
from .identity import EvalKey
from .names import NO_ITERATION
from .numbering import EvalName, safe
from .places import Place


class Piece(NamedTuple):
    """A document on its way: its kind, its file, its shared form, the names in its new path."""

    kind: str
    source: str
    document: Any
    names: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """What a workspace becomes: its dialect and layout, its evals and iterations by name."""

    workspace: str
    dialect: str
    home: Home
    evals: dict[EvalKey, EvalName]
    iterations: dict[str, str]
    configurations: frozenset[str]


def unfit(target: Target, configuration: str, number: int) -> str | None:
    """Why the target cannot hold a run; None where it can."""
    sides = target.home.sides
    if sides is not None and configuration not in sides:
        return f"left out: a run of {configuration}; there is only {' and '.join(sides)}"
    if not target.home.runs and number != 1:
        return f"left out: run {number} of its side; there is room for run 1 only"
    return None


def run_names(place: Place, number: int, who: Catalogue, target: Target) -> dict[str, Any]:
    """The names in the paths of a run's documents."""
    iteration = target.iterations[place.iteration]
    alone = place.iteration == NO_ITERATION
    return eval_names(place, who, target) | {
        "configuration": safe(place.configuration),
        "run": number,
        "pass": f"run-{number}" if alone else f"{iteration}-run-{number}",
    }


def eval_names(place: Place, who: Catalogue, target: Target) -> dict[str, Any]:
    """The names in the paths of what belongs to an eval."""
    name = target.evals[who.eval_of(place)]
    return {
        "iteration": target.iterations[place.iteration],
        "eval": name.folder,
        "id": name.file,
    }


def stem(path: str) -> str:
    """The name of a file without its ending, safe in a path."""
    return safe(os.path.basename(path).rsplit(".", 1)[0])


def same(old: str | int | None, new: str | int) -> str | int:
    """The new id; written as the old one was, where it is the same."""
    return old if old is not None and str(old) == str(new) else new


def with_(document: Any, **changes: Any) -> Any:
    """A copy with other values, which keeps what no dialect knows."""
    copy = msgspec.structs.replace(document, **changes)
    vars(copy).update(vars(document))
    return copy
