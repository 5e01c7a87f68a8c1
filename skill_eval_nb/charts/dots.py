"""Where dots go that would lie on each other: side by side, or as one that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log10
from statistics import fmean

from .layout import Row, Rows

DOT, HIGH, WIDE = 6.6, 5, 58
"""Pixels from dot to dot; dots above each other; pixels that dots of one score may take."""


def swarm(dots: Rows) -> list[Row]:
    """Dots of one score as a block around it: `right` and `below` are pixels from its middle.

    >>> [dot["below"] for dot in swarm([{"score": 3.0}, {"score": 4.0}, {"score": 4.0}])]
    [0.0, -3.3, 3.3]
    """
    size = Counter(_near(dot) for dot in dots)
    seen: Counter[float] = Counter()
    packed: list[Row] = []
    for dot in dots:
        near = _near(dot)
        columns = -(-size[near] // HIGH)
        column, level = divmod(seen[near], HIGH)
        seen[near] += 1
        inside = min(HIGH, size[near] - column * HIGH)
        right = (column - (columns - 1) / 2) * min(DOT, WIDE / columns)
        packed.append(dot | {"right": right, "below": (level - (inside - 1) / 2) * DOT})
    return packed


def crowd(scores: Iterable[float]) -> list[Row]:
    """One dot for all of about the same score, a quarter of a point wide; `runs` counts them.

    >>> crowd([3.0, 3.1])
    [{'score': 3.0, 'runs': 2, 'right': 0.0, 'below': 0.0}]
    """
    sizes = Counter(round(score * 4) / 4 for score in scores)
    return [
        {"score": score, "runs": runs, "right": 0.0, "below": 0.0}
        for score, runs in sorted(sizes.items())
    ]


def high(dots: Rows) -> float:
    """Pixels that packed dots take from top to bottom."""
    return 2 * max(abs(dot["below"]) for dot in dots) + DOT + 4


def _near(dot: Row) -> float:
    return round(dot["score"], 1)


def thin(dots: Rows, columns: int = 60, rows: int = 40, *, log: bool = False) -> list[Row]:
    """One dot for all of a configuration that lie in the same cell of a grid over `x` and `y`.

    `runs` counts them; `x` and `y` are their means.

    >>> [dot["runs"] for dot in thin([{"configuration": "a", "x": x, "y": 1.0} for x in (1, 1, 9)])]
    [2, 1]
    """
    across, down = [log10(dot["x"]) if log else dot["x"] for dot in dots], [d["y"] for d in dots]
    cells: dict[tuple[str, int, int], list[Row]] = {}
    for dot, x, y in zip(dots, _cells(across, columns), _cells(down, rows), strict=True):
        cells.setdefault((dot["configuration"], x, y), []).append(dot)
    return [
        {
            "configuration": name,
            "runs": len(own),
            **{axis: fmean(d[axis] for d in own) for axis in "xy"},
        }
        for (name, _, _), own in cells.items()
    ]


def _cells(values: Sequence[float], number: int) -> list[int]:
    low = min(values)
    size = (max(values) - low) / number or 1
    return [int((value - low) / size) for value in values]
