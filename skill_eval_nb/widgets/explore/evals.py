"""The evals: every run as a point, both means, and the difference with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.stats.values import natural
from skill_eval_nb.text import called, count

from ..ui import Child, Node, h
from ..ui.parts import button, choose, table
from ..ui.track import Axis, axis_of, delta, interval, of_difference, of_figures, scale, size, track
from . import figures
from .choice import Part, Place
from .figures import MANY, Cell, Cells, EvalKey
from .look import Look, head, listed, row, sides_legend

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
        return ("pick", "runs", self.iteration, *self.of, self.configuration, *numbers)

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
    return button(
        str(len(runs)) if len(runs) > 1 else None,
        side.act(*numbers),
        cls="sen-x-point sen-x-several" if len(runs) > 1 else "sen-x-point",
        style={"left": axis.at((low + high) / 2)},
        aria_label=name,
        title=name,
        aria_pressed=side.clicked.issuperset(numbers),
        tabindex="-1",  # by keyboard they are reached through the means, or the list of runs
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
    return button(
        h("i", cls="sen-x-box", style=box),
        side.act(),
        cls="sen-x-strip",
        style={"left": axis.at(low), "width": axis.width(low, high)},
        aria_label=name,
        title=name,
        tabindex="-1",
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
    swatch = h("i", cls=f"sen-x-swatch sen-x-{kind}")
    return button(
        [swatch, h("b", shown), h("span", f"n {n:,}", cls="sen-soft")],
        act,
        cls="sen-x-figure",
        aria_label=f"{name}: mean {shown}, {count(n, 'run')}; show them",
    )


Row = Mapping[str, Any]
ORDERS = {
    "suite": "as in the suite",
    "largest": "largest delta first",
    "smallest": "smallest delta first",
}
COLUMNS = 4

Line = tuple[EvalKey, Part]
"""What a row is: an eval in an iteration."""
Deltas = dict[Line, Row]


def evals(look: Look) -> Node:
    """The view of evals."""
    lines = _lines(look)
    found = look.figures(figures.cells)
    deltas, counting = _deltas(look)
    lines = _in_order(lines, deltas, look.seen.order)
    axes = of_figures(look.meant, *_ends(found.values())), axis_of([*deltas.values()], look.meant)

    def draw(line: Line, at: Place, first: bool) -> Node:
        return _row(look, line, at, found[line[1]], deltas.get(line), axes, first=first)

    rows, paging = listed(look, "evals", lines, "eval", draw, COLUMNS)
    titles = look.meant.axis, of_difference(look.meant)
    heads: list[Child] = ["Eval", scale(axes[0], look.meant, titles[0]), "Mean"]
    if look.compares:
        heads.append(scale(axes[1], look.meant, titles[1], difference=True))
    return h(
        "div",
        h(
            "div",
            sides_legend(look),
            choose("Order", ORDERS, look.seen.order, ("see", "order")) if len(lines) > 1 else None,
            cls="sen-row sen-spread",
        ),
        _aggregated(found),
        h("p", counting, cls="sen-soft", role="status") if counting else None,
        table(
            heads, rows, caption=f"Every run’s {look.meant.name}, eval by eval", cls="sen-x-evals"
        ),
        paging,
    )


def _lines(look: Look) -> list[Line]:
    """A row for each eval of each iteration, those of an eval together."""
    known: dict[Part, set[EvalKey]] = {
        part: set(own or ()) for part, own in look.figures(figures.evals).items()
    }
    keys = {key for own in known.values() for key in own}
    ordered = sorted(keys, key=lambda key: [natural(name) for name in key])
    return [(key, part) for key in ordered for part, own in known.items() if key in own]


def _deltas(look: Look) -> tuple[Deltas, str]:
    """The difference of each row, and what is still being counted."""
    deltas: Deltas = {}
    missing = 0
    for part, rows in look.of_metric(figures.headline_by_eval, figures.others_by_eval).items():
        missing += rows is None
        for delta_row in rows or []:
            deltas[(delta_row["eval_id"], delta_row["eval_name"]), part] = delta_row
    if not missing:
        return deltas, ""
    of = f" of {missing:,} of {count(len(look.parts), 'iteration')}" if look.several else ""
    return deltas, f"The deltas{of} are being counted, exactly; they appear when they are there."


def _in_order(lines: list[Line], deltas: Deltas, order: str) -> list[Line]:
    if order == "suite":
        return lines
    sign = -1 if order == "largest" else 1

    def place(line: Line) -> tuple[bool, float]:
        estimate = deltas.get(line, {}).get("estimate")
        return (estimate is None, sign * (estimate or 0.0))

    return sorted(lines, key=place)


def _ends(found: Any) -> tuple[float | None, float | None]:
    """Between what all figures lie."""
    known: list[Cells] = [one for one in found if one is not None and one.low is not None]
    if not known:
        return None, None
    return min(cells.low or 0.0 for cells in known), max(cells.high or 0.0 for cells in known)


def _aggregated(found: Mapping[Part, Cells | None]) -> Child:
    """What is said where cells hold too many runs to draw each."""
    cells = [cell for part in found.values() if part is not None for cell in part.by_eval.values()]
    many = [cell for cell in cells if not cell.runs]
    if not many:
        return None
    runs = sum(cell.n for cell in many)
    return h(
        "p",
        f"Where an eval has more than {MANY} runs of a configuration ({count(runs, 'run')} here), "
        "they are drawn as one: a line from the lowest to the highest, thick for the middle half.",
        cls="sen-soft",
    )


def _row(
    look: Look,
    line: Line,
    at: Place,
    found: Cells | None,
    delta_row: Row | None,
    axes: tuple[Axis, Axis],
    *,
    first: bool,
) -> Node:
    (eval_id, name), part = line
    axis, apart = axes
    sides = [
        _side(look, kind, configuration, line, at, found, delta_row)
        for kind, configuration in look.kinds
    ]
    act = ("pick", "eval", part.iteration, eval_id, name)
    cells: list[Child] = [
        lane(axis, look.meant, sides),
        h("div", [mean(look.meant, side) for side in sides], cls="sen-x-means"),
    ]
    if look.compares:
        cells.append([_delta(look, delta_row), track(apart, delta_row, look.meant)])
    about = f"eval {called(eval_id, 40)}" if look.suite.has_twins else ""
    return row(
        head(called(name), look.called(part.iteration), act, first=first, about=about),
        cells,
        key=str(at),
        chosen=look.is_at(at),
        joined=not first,
    )


def _side(
    look: Look,
    kind: str,
    name: str,
    line: Line,
    at: Place,
    found: Cells | None,
    delta_row: Row | None,
) -> Side:
    key, part = line
    end = "_baseline" if delta_row and delta_row["baseline"] == name else ""
    clicked = look.seen.clicked if look.is_at(at) else None
    return Side(
        kind=kind,
        configuration=name,
        iteration=part.iteration,
        of=key,
        cell=found.by_eval.get((key, name)) if found is not None else None,
        errored=delta_row[f"n_errored{end}"] if delta_row else 0,
        unscored=delta_row[f"n_unscored{end}"] if delta_row else 0,
        clicked=frozenset(clicked.numbers if clicked and clicked.configuration == name else ()),
    )


def _delta(look: Look, found: Row | None) -> Child:
    """The difference in words, or why there is none."""
    if found is None:
        return h("span", "…", cls="sen-soft")
    if found["estimate"] is None:
        return h("span", called(found["unpaired"] or "no difference", 80), cls="sen-soft sen-small")
    return h(
        "span",
        h("b", delta(look.meant, found["estimate"])),
        h("small", f" {interval(look.meant, found)}", cls="sen-soft"),
        title=called(found["reason"], 300),
    )
