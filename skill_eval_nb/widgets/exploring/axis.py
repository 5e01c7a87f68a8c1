"""Axes: from what figures lie between to places in percent, with round figures marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from skill_eval_nb.charts.metrics import Metric

MARKS = 5
"""Marks that an axis has, about."""
NEAR_ZERO = 0.4
"""An axis begins at 0 where the lowest figure is less than this share of the highest."""


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

    def holds(self, value: float) -> bool:
        """Whether a figure lies on it."""
        return self.low <= value <= self.high


def of_figures(meant: Metric, low: float | None, high: float | None) -> Axis:
    """The axis of a metric's figures: all that they can be where that has two ends."""
    if meant.range is not None:
        ends = [*meant.range, *(end for end in (low, high) if end is not None)]
        return _rounded(min(ends), max(ends))
    if low is None or high is None:
        return _rounded(0, 1)
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or 1.0
    if 0 < low < NEAR_ZERO * high:
        low = 0.0
    return _rounded(low, high)


def of_differences(meant: Metric, whole: Iterable[float | None], loose: Iterable[float]) -> Axis:
    """The axis of differences: zero, and all of `whole`.

    Args:
        meant: the metric.
        whole: figures that are on it in any case; None is passed over.
        loose: ends of intervals, which may reach far beyond; the axis goes no further for
            them than half as far again as it does without.
    """
    ends = [0.0, *(end for end in whole if end is not None)]
    low, high = min(ends), max(ends)
    spare = (high - low) / 2
    far = [end for end in loose if math.isfinite(end)]
    low = min(low, max(min(far, default=low), low - spare))
    high = max(high, min(max(far, default=high), high + spare))
    if low == high:
        low, high = -1.0, 1.0
    if meant.unit == "rate":
        low, high = max(low, -1.0), min(high, 1.0)
    return _rounded(low, high)


def _rounded(low: float, high: float) -> Axis:
    """The axis with round ends and marks.

    >>> _rounded(0, 1).marks
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> _rounded(130, 980).marks
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
