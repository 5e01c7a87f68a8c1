"""The runs of an eval as points: with the skill above the line, the baseline below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.widgets.panel import Node, h

from .axis import Axis
from .figures import Cell, EvalKey
from .words import Metric, called, count, size

NEAR = 2.5
"""Percent of a lane within which points would lie on each other: they become one that counts."""
Run = tuple[int, float]
"""A run's number and its figure."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of an eval in an iteration.

    Attributes:
        kind: `with` or `base`.
        configuration: its name.
        iteration: the iteration.
        of: the eval.
        cell: its runs; None where none has the figure.
        errored: runs that errored.
        unscored: runs that lack the figure for another reason.
        clicked: numbers of the runs that were clicked.
    """

    kind: str
    configuration: str
    iteration: str
    of: EvalKey
    cell: Cell | None
    errored: int = 0
    unscored: int = 0
    clicked: frozenset[int] = frozenset()

    def act(self, *numbers: int) -> tuple[Any, ...]:
        """What shows these of its runs; all without a number."""
        return ("pick_runs", self.iteration, *self.of, self.configuration, *numbers)

    @property
    def name(self) -> str:
        """What it is called beside others."""
        return f"{called(self.configuration, 40)}, {called(self.of[1], 60)}"


def lane(axis: Axis, meant: Metric, sides: Iterable[Side]) -> Node:
    """The runs of an eval on the axis of all lanes."""
    rules = [h("i", cls="sen-x-rule", style={"left": axis.at(value)}) for value in axis.marks]
    halves = [
        h("div", _half(axis, meant, side), cls=f"sen-x-half sen-x-{side.kind}") for side in sides
    ]
    return h("div", rules, halves, cls="sen-x-lane")


def _half(axis: Axis, meant: Metric, side: Side) -> list[Node]:
    if side.cell is None:
        return []
    mean = h("i", cls="sen-x-mean", style={"left": axis.at(side.cell.mean)})
    if not side.cell.runs:
        return [mean, _strip(axis, meant, side, side.cell)]
    return [mean, *(_point(axis, meant, side, some) for some in _together(axis, side.cell.runs))]


def _together(axis: Axis, runs: Sequence[Run]) -> list[list[Run]]:
    """Runs, the lowest first, in groups of which each is one mark."""
    groups: list[list[Run]] = []
    for run in runs:
        if groups and axis.place(run[1]) - axis.place(groups[-1][0][1]) < NEAR:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _point(axis: Axis, meant: Metric, side: Side, runs: Sequence[Run]) -> Node:
    """One run, or several that would lie on each other."""
    numbers = [number for number, _ in runs]
    low, high = runs[0][1], runs[-1][1]
    which = f"run {numbers[0]}" if len(runs) == 1 else count(len(runs), "run")
    name = f"{side.name}, {which}: {_between(meant, low, high)}"
    return h(
        "button",
        str(len(runs)) if len(runs) > 1 else None,
        type="button",
        cls="sen-x-point sen-x-several" if len(runs) > 1 else "sen-x-point",
        style={"left": axis.at((low + high) / 2)},
        aria_label=name,
        title=name,
        aria_pressed="true" if side.clicked.issuperset(numbers) else "false",
        tabindex="-1",  # by keyboard they are reached through the means, or the list of runs
        on={"click": side.act(*numbers)},
    )


def _strip(axis: Axis, meant: Metric, side: Side, cell: Cell) -> Node:
    """Many runs in one: from the lowest to the highest, the middle half thick."""
    low, lower, upper, high = cell.ends
    inner = (high - low) or 1.0
    box = {
        "left": f"{100 * (lower - low) / inner:.4g}%",
        "width": f"{100 * (upper - lower) / inner:.4g}%",
    }
    name = (
        f"{side.name}, {count(cell.n, 'run')}: {_between(meant, low, high)}, "
        f"the middle half {_between(meant, lower, upper)}"
    )
    return h(
        "button",
        h("i", cls="sen-x-box", style=box),
        type="button",
        cls="sen-x-strip",
        style={"left": axis.at(low), "width": axis.width(low, high)},
        aria_label=name,
        title=name,
        tabindex="-1",
        on={"click": side.act()},
    )


def _between(meant: Metric, low: float, high: float) -> str:
    ends = size(meant, low), size(meant, high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def mean(meant: Metric, side: Side) -> Node:
    """The mean of a side, and what is left out of it."""
    left = [
        f"{number:,} {what}"
        for number, what in ((side.errored, "errored"), (side.unscored, "not scored"))
        if number
    ]
    cell = side.cell
    return h(
        "div",
        mean_of(
            side.kind,
            meant,
            cell.mean if cell else None,
            cell.n if cell else 0,
            side.name,
            side.act(),
        ),
        h("small", ", ".join(left), cls="sen-soft") if left else None,
    )


def mean_of(
    kind: str, meant: Metric, value: float | None, n: int, name: str, act: Sequence[Any]
) -> Node:
    """A mean with its n, as the way to the runs behind it."""
    shown = size(meant, value)
    return h(
        "button",
        h("i", cls=f"sen-x-swatch sen-x-{kind}"),
        h("b", shown),
        h("span", f"n {n:,}", cls="sen-soft"),
        type="button",
        cls="sen-x-figure",
        aria_label=f"{name}: mean {shown}, {count(n, 'run')}; show them",
        on={"click": tuple(act)},
    )
