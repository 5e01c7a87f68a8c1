"""Differences on an axis: the estimate, its interval, zero, and what is not worth having."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skill_eval_nb.widgets.panel import Node, h

from .axis import Axis, of_differences
from .words import Metric, delta, interval, mark

DECIDED = ("helps", "hurts")
"""Verdicts that have a colour: that of the side which is better."""


def scale(axis: Axis, meant: Metric, title: str, *, difference: bool = False) -> Node:
    """The marks of an axis above a column, and what it is of, with its unit."""
    marks = [
        h("span", mark(meant, value, difference=difference), style={"left": axis.at(value)})
        for value in axis.labels
    ]
    return h(
        "div",
        h("span", title, cls="sen-x-axis-title"),
        h("div", marks, cls="sen-x-axis", aria_hidden="true"),
    )


def axis_of(rows: Sequence[Mapping[str, Any]], meant: Metric, *, whole: bool = False) -> Axis:
    """One axis for all differences: every estimate is on it, and what is worth having.

    Args:
        rows: the differences.
        meant: their metric.
        whole: whether every interval is on it to its ends; else it may be cut.
    """
    worth = [row["worth"] or 0.0 for row in rows]
    points = [*(row["estimate"] for row in rows), *worth, *(-one for one in worth)]
    ends = [end for row in rows for end in (row["low"], row["high"]) if end is not None]
    return of_differences(meant, [*points, *ends] if whole else points, ends)


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
    ends = {"on-left": low, "on-right": high}
    beyond = "".join(f" sen-x-{end}" for end, value in ends.items() if not axis.holds(value))
    style = {"left": axis.at(low), "width": axis.width(low, high)}
    return h("i", cls=f"sen-x-reach{beyond}", style=style)
