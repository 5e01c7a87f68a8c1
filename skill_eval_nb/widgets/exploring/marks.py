"""Graphics in a cell, made of elements whose places are in percent: lanes, tracks, bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from skill_eval_nb.widgets.panel import Child, Node, h

from .axis import Axis
from .figures import Cell
from .words import Metric, count, delta, interval, mark, size

NEAR = 1.7
"""Percent of a lane within which points would lie on each other: they become one that counts."""
DECIDED = ("helps", "hurts")
"""Verdicts that have a colour: the side's that is better."""
Act = Sequence[Any]


def scale(axis: Axis, meant: Metric, title: str, *, difference: bool = False) -> Node:
    """The marks of an axis above a column, and what it is of, with its unit."""
    marks = [
        h("span", mark(meant, value, difference=difference), style={"left": axis.at(value)})
        for value in axis.marks
    ]
    return h(
        "div",
        h("span", title, cls="sen-x-axis-title"),
        h("div", marks, cls="sen-x-axis", aria_hidden="true"),
    )


def _rules(axis: Axis) -> list[Node]:
    return [h("i", cls="sen-x-rule", style={"left": axis.at(value)}) for value in axis.marks]


def lane(
    axis: Axis,
    sides: Iterable[tuple[str, Cell | None, Callable[..., Act], Namer, frozenset[int]]],
) -> Node:
    """The runs of an eval, with the skill above and the baseline below.

    Args:
        axis: that of all lanes.
        sides: by kind (`with`, `base`) the runs, the action for some of them (by number; for
            all without one), what such are called, and the numbers of those that were clicked.
    """
    halves = [
        h(
            "div",
            None if cell is None else h("i", cls="sen-x-mean", style={"left": axis.at(cell.mean)}),
            _marks(axis, cell, act, named, clicked),
            cls=f"sen-x-half sen-x-{kind}",
        )
        for kind, cell, act, named, clicked in sides
    ]
    return h("div", _rules(axis), halves, cls="sen-x-lane")


Namer = Callable[[Sequence[tuple[int, float]]], str]
"""What the runs of one mark are called, from their numbers and figures."""


def _marks(
    axis: Axis, cell: Cell | None, act: Callable[..., Act], named: Namer, clicked: frozenset[int]
) -> list[Node]:
    if cell is None:
        return []
    if not cell.runs:
        return [_strip(axis, cell, act, named)]
    return [_point(axis, some, act, named, clicked) for some in _together(axis, cell.runs)]


def _together(axis: Axis, runs: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Runs, the lowest first, in groups of which each is one mark."""
    groups: list[list[tuple[int, float]]] = []
    for run in runs:
        if groups and axis.place(run[1]) - axis.place(groups[-1][0][1]) < NEAR:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _point(
    axis: Axis,
    runs: Sequence[tuple[int, float]],
    act: Callable[..., Act],
    named: Namer,
    clicked: frozenset[int],
) -> Node:
    numbers = [number for number, _ in runs]
    middle = (runs[0][1] + runs[-1][1]) / 2
    name = named(runs)
    several = len(runs) > 1
    return h(
        "button",
        str(len(runs)) if several else None,
        type="button",
        cls="sen-x-point sen-x-several" if several else "sen-x-point",
        style={"left": axis.at(middle)},
        aria_label=name,
        title=name,
        aria_pressed="true" if clicked.issuperset(numbers) else "false",
        tabindex="-1",  # by keyboard they are reached through the means, or the list of runs
        on={"click": tuple(act(*numbers))},
    )


def _strip(axis: Axis, cell: Cell, act: Callable[..., Act], named: Namer) -> Node:
    """Many runs in one: from the lowest to the highest, the middle half thick."""
    low, lower, upper, high = cell.ends
    inner = (high - low) or 1.0
    name = named([(0, low), (0, lower), (0, upper), (0, high)])
    return h(
        "button",
        h(
            "i",
            cls="sen-x-box",
            style={
                "left": f"{100 * (lower - low) / inner:.4g}%",
                "width": f"{100 * (upper - lower) / inner:.4g}%",
            },
        ),
        type="button",
        cls="sen-x-strip",
        style={"left": axis.at(low), "width": axis.width(low, high)},
        aria_label=name,
        title=name,
        tabindex="-1",
        on={"click": tuple(act())},
    )


def track(axis: Axis, row: Mapping[str, Any] | None, meant: Metric) -> Node:
    """A difference with its interval, zero, and the zone in which none is worth having."""
    if row is None or row["estimate"] is None:
        return h("div", _zero(axis), cls="sen-x-track", aria_hidden="true")
    low, high, worth = row["low"], row["high"], row["worth"]
    words = f"{delta(meant, row['estimate'])}, {interval(meant, row)}"
    return h(
        "div",
        _zone(axis, worth),
        _zero(axis),
        [] if low is None or high is None else _reach(axis, low, high),
        h("i", cls="sen-x-dot", style={"left": axis.at(row["estimate"])}),
        cls=f"sen-x-track sen-x-{row['verdict'] if row['verdict'] in DECIDED else 'open'}",
        role="img",
        aria_label=words,
        title=words,
    )


def _zero(axis: Axis) -> Node:
    return h("i", cls="sen-x-zero", style={"left": axis.at(0)})


def _zone(axis: Axis, worth: float | None) -> Node | None:
    if not worth:
        return None
    style = {"left": axis.at(-worth), "width": axis.width(-worth, worth)}
    return h("i", cls="sen-x-zone", style=style)


def _reach(axis: Axis, low: float, high: float) -> Node:
    """An interval; where it goes on beyond the axis, its end has no cap."""
    beyond = "".join(
        f" sen-x-{end}"
        for end, value in (("on-left", low), ("on-right", high))
        if not _on(axis, value)
    )
    style = {"left": axis.at(low), "width": axis.width(low, high)}
    return h("i", cls=f"sen-x-reach{beyond}", style=style)


def _on(axis: Axis, value: float) -> bool:
    return axis.holds(value)


PARTS = {"eval": "evals", "run": "runs", "judge": "judge"}
"""Where variance comes from, and what it is called."""


def stack(rows: Sequence[Mapping[str, Any]], kind: str, name: str) -> Child:
    """Where a configuration's variance comes from, as one bar; a sentence where none is known."""
    known = [row for row in rows if row["component"] != "judge severity"]
    shares = [row for row in known if row["share"] is not None]
    if not shares:
        return h("p", _why_no_share(known), cls="sen-soft sen-small")
    words = ", ".join(f"{_parted(row)} {row['share']:.0%}" for row in shares)
    return h(
        "div",
        h("i", cls=f"sen-x-swatch sen-x-{kind}"),
        h(
            "div",
            [
                h(
                    "i",
                    h("span", f"{row['share']:.0%}") if row["share"] > 0.13 else None,
                    cls=f"sen-x-part sen-x-of-{row['component'].replace(' + ', '-')}",
                    style={"width": f"{100 * row['share']:.4g}%"},
                    title=f"{_parted(row)}: {row['share']:.0%}",
                )
                for row in shares
            ],
            cls="sen-x-stack",
            role="img",
            aria_label=f"{name}: {words}",
        ),
        cls="sen-x-stack-row",
    )


def _parted(row: Mapping[str, Any]) -> str:
    return " and ".join(PARTS.get(one, one) for one in row["component"].split(" + "))


def _why_no_share(rows: Sequence[Mapping[str, Any]]) -> str:
    notes = [row["note"] for row in rows if row["note"]]
    if not rows:
        return "nothing was scored"
    if all(row["variance"] == 0 for row in rows):
        return "all the same"
    return notes[0] if notes else "not known"


def legend(components: Iterable[str]) -> Node:
    """What the parts of the bars are."""
    there = list(dict.fromkeys(components))
    return h(
        "p",
        [
            h(
                "span",
                h("i", cls=f"sen-x-swatch sen-x-of-{one.replace(' + ', '-')}"),
                " and ".join(PARTS.get(name, name) for name in one.split(" + ")),
            )
            for one in there
        ],
        cls="sen-x-legend",
    )


def mean_of(kind: str, meant: Metric, mean: float | None, n: int, name: str, act: Act) -> Node:
    """A mean with its n, as the way to the runs behind it."""
    shown = size(meant, mean)
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
