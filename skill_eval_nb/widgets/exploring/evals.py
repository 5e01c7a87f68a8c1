"""The evals: every run as a point, both means, and the difference with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skill_eval_nb.stats.names import natural
from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import choose

from . import figures
from .axis import Axis, of_differences, of_figures
from .figures import MANY, Cell, Cells, EvalKey
from .grid import grid, head, of_page, pager, row
from .look import Look, sides_legend
from .marks import lane, mean_of, scale, track
from .part import Part
from .selection import Place
from .words import called, count, delta, interval, of_difference, size

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
    found = {part: look.figures(figures.cells, part) for part in look.parts}
    deltas, counting = _deltas(look)
    lines = _in_order(lines, deltas, look.seen.order)
    shown = of_page(lines, look.seen.page("evals"))
    axis = of_figures(look.meant, *_ends(found.values()))
    apart = _axis_of_deltas(look, deltas)
    rows: list[Node] = []
    above: EvalKey | None = None
    for line in shown:
        key, part = line
        first = key != above
        rows.append(_row(look, line, found[part], deltas.get(line), (axis, apart), first=first))
        rows += look.below(_at(line), COLUMNS)
        above = key
    titles = look.meant.axis, of_difference(look.meant)
    heads: list[Child] = [
        "Eval",
        scale(axis, look.meant, titles[0]),
        "Mean",
        scale(apart, look.meant, titles[1], difference=True),
    ]
    paging = pager(len(lines), look.seen.page("evals"), "evals", "row" if look.several else "eval")
    return h(
        "div",
        h(
            "div",
            sides_legend(look),
            choose("Order", ORDERS, look.seen.order, ("choose_order",)) if len(lines) > 1 else None,
            cls="sen-row sen-spread",
        ),
        _aggregated(look, found),
        h("p", counting, cls="sen-soft", role="status") if counting else None,
        grid(f"Every run’s {look.meant.name}, eval by eval", heads, rows, cls="sen-x-evals"),
        paging,
    )


def _lines(look: Look) -> list[Line]:
    """A row for each eval of each iteration, those of an eval together."""
    known = [(part, look.figures(figures.evals, part) or []) for part in look.parts]
    lines = [(key, part) for part, keys in known for key in keys]
    places = {part.iteration: at for at, part in enumerate(look.parts)}
    return sorted(
        lines,
        key=lambda line: (natural(line[0][0]), natural(line[0][1]), places[line[1].iteration]),
    )


def _at(line: Line) -> Place:
    """Which row it is, for what is clicked there."""
    key, part = line
    return ("evals", part.iteration, *key)


def _deltas(look: Look) -> tuple[Deltas, str]:
    """The difference of each row, and what is still being counted."""
    deltas: Deltas = {}
    missing = 0
    for part in look.parts:
        rows = look.figures(figures.by_eval, part)
        missing += rows is None
        for one in rows or []:
            deltas[(one["eval_id"], one["eval_name"]), part] = one
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
    return min(one.low or 0.0 for one in known), max(one.high or 0.0 for one in known)


def _axis_of_deltas(look: Look, deltas: Deltas) -> Axis:
    rows = deltas.values()
    return of_differences(
        look.meant,
        [end for one in rows for end in (one["estimate"], one["worth"], -(one["worth"] or 0))],
        [end for one in rows for end in (one["low"], one["high"]) if end is not None],
    )


def _aggregated(look: Look, found: Mapping[Part, Cells | None]) -> Child:
    """What is said where cells hold too many runs to draw each."""
    cells = [cell for one in found.values() if one is not None for cell in one.by_eval.values()]
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
    found: Cells | None,
    delta_row: Row | None,
    axes: tuple[Axis, Axis],
    *,
    first: bool,
) -> Node:
    (eval_id, name), part = line
    at = _at(line)
    axis, apart = axes
    sides = [
        _side(look, kind, configuration, line, found, delta_row)
        for kind, configuration in look.kinds
    ]
    act = ("pick_eval", part.iteration, eval_id, name)
    return row(
        head(called(name), look.called(part.iteration), act, first=first),
        [
            lane(axis, [(s.kind, s.cell, s.act, s.named, s.clicked) for s in sides]),
            h("div", [_mean(look, side) for side in sides], cls="sen-x-means"),
            [_delta(look, delta_row), track(apart, delta_row, look.meant)],
        ],
        key="/".join(at),
        chosen=look.is_at(at),
        joined=not first,
    )


class Side:
    """One side of a row: its runs, its mean, what is left out of it."""

    __slots__ = (
        "act",
        "cell",
        "clicked",
        "errored",
        "kind",
        "mean",
        "n",
        "name",
        "named",
        "unscored",
    )

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name
        self.cell: Cell | None = None
        self.mean: float | None = None
        self.n = self.errored = self.unscored = 0
        self.clicked: frozenset[int] = frozenset()
        self.act: Callable[..., Sequence[Any]] = tuple
        self.named: Callable[[Sequence[tuple[int, float]]], str] = str


def _side(
    look: Look, kind: str, name: str, line: Line, found: Cells | None, delta_row: Row | None
) -> Side:
    (eval_id, eval_name), part = line
    side = Side(kind, name)
    side.cell = found.by_eval.get((line[0], name)) if found is not None else None
    if side.cell is not None:
        side.n, side.mean = side.cell.n, side.cell.mean
    if delta_row is not None:
        end = "_baseline" if delta_row["baseline"] == name else ""
        side.errored, side.unscored = delta_row[f"n_errored{end}"], delta_row[f"n_unscored{end}"]

    def act(*numbers: int) -> tuple[Any, ...]:
        return ("pick_runs", part.iteration, eval_id, eval_name, name, *numbers)

    def named(runs: Sequence[tuple[int, float]]) -> str:
        who = f"{called(name, 40)}, {called(eval_name, 60)}"
        low, high = size(look.meant, runs[0][1]), size(look.meant, runs[-1][1])
        figure = low if low == high else f"{low} to {high}"
        if not runs[0][0]:
            return f"{who}: {count(side.n, 'run')}, {figure}"
        if len(runs) == 1:
            return f"{who}, run {runs[0][0]}: {figure}"
        return f"{who}, {count(len(runs), 'run')}: {figure}"

    clicked = look.seen.clicked
    if look.is_at(_at(line)) and clicked is not None:
        side.clicked = frozenset(clicked.numbers if clicked.configuration == name else ())
    side.act, side.named = act, named
    return side


def _mean(look: Look, side: Side) -> Node:
    name = f"{called(side.name, 40)}"
    left = [
        f"{number:,} {what}"
        for number, what in ((side.errored, "errored"), (side.unscored, "not scored"))
        if number
    ]
    return h(
        "div",
        mean_of(side.kind, look.meant, side.mean, side.n, name, side.act()),
        h("small", ", ".join(left), cls="sen-soft") if left else None,
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
