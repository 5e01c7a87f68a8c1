"""An axis, and a figure or a difference with its interval on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.text import MISSING, as_label

from .tree import Child, Node, h

MARKS = 5
"""Marks that an axis has, about."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its two ends, and the figures that are marked."""

    low: float
    high: float
    marks: tuple[float, ...]

    @property
    def labels(self) -> tuple[float, ...]:
        """The marks that have room for a figure: every other one where they are many, and 0.

        >>> Axis(-0.25, 1, (-0.25, 0.0, 0.25, 0.5, 0.75, 1.0)).labels
        (0.0, 0.5, 1.0)
        """
        if len(self.marks) <= MARKS:
            return self.marks
        zero = self.marks.index(0.0) if 0.0 in self.marks else 0
        return self.marks[zero % 2 :: 2]

    def at(self, value: float) -> str:
        """Where a figure lies, for a style; what lies outside is at the nearer end.

        >>> Axis(0, 4, ()).at(1), Axis(0, 4, ()).at(9)
        ('25%', '100%')
        """
        return f"{round(self.place(value), 2):g}%"

    def place(self, value: float) -> float:
        """The same as a number from 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return 100 * min(max(share, 0.0), 1.0)

    def span(self, low: float, high: float) -> dict[str, str]:
        """From one figure to another, as a style."""
        width = round(self.place(high) - self.place(low), 2)
        return {"left": self.at(low), "width": f"{width:g}%"}

    def holds(self, value: float) -> bool:
        """Whether a figure lies on it."""
        return self.low <= value <= self.high


def round_axis(low: float, high: float) -> Axis:
    """The axis with round ends and marks.

    >>> round_axis(0, 1).marks
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> round_axis(130, 980).marks
    (0.0, 250.0, 500.0, 750.0, 1000.0)
    """
    step = _round_step((high - low) / (MARKS - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    marks = tuple(round(at * step, 12) for at in range(first, last + 1))
    return Axis(marks[0], marks[-1], marks)


def _round_step(least: float) -> float:
    """The round step that is nearest above."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * size for size in (1, 2, 2.5, 5, 10) if power * size >= least * (1 - 1e-9))


def interval_track(
    axis: Axis,
    value: float | None,
    ends: tuple[float | None, float | None],
    words: str,
    *,
    look: str = "",
    zone: tuple[float, float] | None = None,
    zero: float | None = None,
) -> Node:
    """A figure on its axis with its interval; where that goes on beyond the axis, it fades out.

    Args:
        axis: the axis.
        value: the figure; None where there is none.
        ends: of its interval.
        words: the same in words.
        look: "with", "base", "good" or "bad", or nothing.
        zone: a part of the axis that is shaded.
        zero: where a line crosses.
    """
    line = None if zero is None else h("i", cls="sen-zero", style={"left": axis.at(zero)})
    if value is None:
        return h("div", line, cls="sen-track", aria_hidden="true")
    low, high = ends
    return h(
        "div",
        None if zone is None else h("i", cls="sen-zone", style=axis.span(*zone)),
        line,
        None if low is None or high is None else _reach_bar(axis, low, high),
        h("i", cls="sen-dot", style={"left": axis.at(value)}),
        cls=f"sen-track sen-of-{look}" if look else "sen-track",
        role="img",
        aria_label=words,
        title=words,
    )


def _reach_bar(axis: Axis, low: float, high: float) -> Node:
    ends = {"on-left": low, "on-right": high}
    beyond = "".join(f" sen-{end}" for end, value in ends.items() if not axis.holds(value))
    return h("i", cls=f"sen-reach{beyond}", style=axis.span(low, high))


NEAR_ZERO = 0.4
"""An axis begins at 0 where the lowest figure is less than this share of the highest."""


def of_figures(meant: Metric, low: float | None, high: float | None) -> Axis:
    """The axis of a metric's figures: all that they can be where that has two ends."""
    if meant.range is not None:
        ends = [*meant.range, *(end for end in (low, high) if end is not None)]
        return round_axis(min(ends), max(ends))
    if low is None or high is None:
        return round_axis(0, 1)
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or 1.0
    if 0 < low < NEAR_ZERO * high:
        low = 0.0
    return round_axis(low, high)


DECIDED = {"helps": "with", "hurts": "base"}
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


def axis_of(rows: Iterable[Mapping[str, Any]], meant: Metric, *, whole: bool = False) -> Axis:
    """One axis for all differences: zero, every estimate, and what is worth having.

    Args:
        rows: the differences.
        meant: their metric.
        whole: whether every interval is on it to its ends, which may reach far beyond; else the
            axis goes no further for them than half as far again as it does without.
    """
    points, ends = [0.0], []
    for row in rows:
        worth = row["worth"] or 0.0
        points += [worth, -worth, row["estimate"] or 0.0]
        own = [end for end in (row["low"], row["high"]) if end is not None]
        (points if whole else ends).extend(end for end in own if math.isfinite(end))
    low, high = min(points), max(points)
    spare = (high - low) / 2
    low = min(low, max(min(ends, default=low), low - spare))
    high = max(high, min(max(ends, default=high), high + spare))
    if low == high:
        low, high = -1.0, 1.0
    if meant.unit == "rate":
        low, high = max(low, -1.0), min(high, 1.0)
    return round_axis(low, high)


def track(axis: Axis, row: Mapping[str, Any] | None, meant: Metric) -> Node:
    """A difference with its interval, zero, and the zone in which none is worth having."""
    if row is None or row["estimate"] is None:
        return interval_track(axis, None, (None, None), "", zero=0.0)
    worth, words = row["worth"], f"{meant.difference(row['estimate'])}, {interval(meant, row)}"
    return interval_track(
        axis,
        row["estimate"],
        (row["low"], row["high"]),
        words,
        look=DECIDED.get(row["verdict"], ""),
        zone=(-worth, worth) if worth else None,
        zero=0.0,
    )


def mark(meant: Metric, value: float, *, difference: bool = False) -> str:
    """A figure at an axis: short, without the unit that the title has.

    >>> from skill_eval_nb.charts.metrics import metric
    >>> mark(metric("pass_rate"), 0.25), mark(metric("tokens"), 15_000, difference=True)
    ('25%', '+15k')
    """
    scaled = value * meant.style.factor
    small, big = abs(scaled), ""
    for power, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if small >= power * 10 or (power > 1e3 and small >= power):
            small, big = small / power, letter
            break
    sign = "−" if scaled < 0 else "+" if difference and scaled > 0 else ""
    percent = "%" if meant.unit == "rate" and not difference else ""
    return f"{sign}{meant.style.before}{round(small, 6):,.10g}{big}{percent}"


def figure_or_dash(meant: Metric, value: float | None) -> str:
    """A figure with its unit, or a dash where it is not known."""
    return MISSING if value is None else meant.figure(value)


def amount(meant: Metric, value: float) -> str:
    r"""A difference that stands alone, with its unit.

    >>> from skill_eval_nb.charts.metrics import metric
    >>> amount(metric("tokens"), -1700), amount(metric("rubric:clarity"), 0.5)
    ('−1,700 tokens', '+0.50 points')
    """
    word = {"tokens": " tokens", "characters": " characters", "1-5": " points"}
    return meant.difference(value) + word.get(meant.unit, "")


def delta_view(
    meant: Metric, row: Mapping[str, Any] | None, *more: Child, none: str = MISSING
) -> Node:
    """A difference with its interval; why it is so is there where one points at it.

    Args:
        meant: its metric.
        row: the difference; None where it is being counted.
        more: what stands behind it.
        none: what stands where there is none.
    """
    if row is None:
        return h("span", "…", cls="sen-soft")
    if row["estimate"] is None:
        cls = None if none == MISSING else "sen-soft sen-small"
        return h("span", none, cls=cls, title=as_label(row["reason"], 300))
    return h(
        "span",
        h("b", meant.difference(row["estimate"])),
        " ",
        h("small", interval(meant, row), cls="sen-soft"),
        more,
        title=as_label(row["reason"], 300),
    )


def interval(meant: Metric, row: Mapping[str, Any]) -> str:
    """The interval of a difference, or that it has none.

    >>> from skill_eval_nb.charts.metrics import metric
    >>> interval(metric("pass_rate"), {"low": 0.1, "high": 0.3})
    '+10 to +30'
    """
    if row["low"] is None or row["high"] is None:
        return "no interval"
    unit = meant.style.apart or meant.style.after
    low, high = (meant.difference(row[end]).removesuffix(unit) for end in ("low", "high"))
    return f"{low} to {high}"
