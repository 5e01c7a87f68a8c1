"""An axis, and a figure with its interval on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .tree import Node, h

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

    def width(self, low: float, high: float) -> str:
        """How far it is from one figure to another."""
        return f"{round(self.place(high) - self.place(low), 2):g}%"

    def span(self, low: float, high: float) -> dict[str, str]:
        """From one figure to another, as a style."""
        return {"left": self.at(low), "width": self.width(low, high)}

    def holds(self, value: float) -> bool:
        """Whether a figure lies on it."""
        return self.low <= value <= self.high


def rounded(low: float, high: float) -> Axis:
    """The axis with round ends and marks.

    >>> rounded(0, 1).marks
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> rounded(130, 980).marks
    (0.0, 250.0, 500.0, 750.0, 1000.0)
    """
    step = _step((high - low) / (MARKS - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    marks = tuple(round(at * step, 12) for at in range(first, last + 1))
    return Axis(marks[0], marks[-1], marks)


def _step(least: float) -> float:
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
        None if low is None or high is None else _reach(axis, low, high),
        h("i", cls="sen-dot", style={"left": axis.at(value)}),
        cls=f"sen-track sen-of-{look}" if look else "sen-track",
        role="img",
        aria_label=words,
        title=words,
    )


def _reach(axis: Axis, low: float, high: float) -> Node:
    ends = {"on-left": low, "on-right": high}
    beyond = "".join(f" sen-{end}" for end, value in ends.items() if not axis.holds(value))
    return h("i", cls=f"sen-reach{beyond}", style=axis.span(low, high))
