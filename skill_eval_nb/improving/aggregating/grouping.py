"""The same thing said in other words is one group: by wording, and by what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from .complaints import agreement, complaints
from .likeness import Measured, likeness, measure
from .said import Said

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 9
"""Distances are rounded to so many: neither order nor machine may decide what is joined."""

Block = tuple[str, ...]
"""What is compared with each other: a suite, and what in it is spoken of."""


def grouped(many: Sequence[Said], threshold: float) -> list[tuple[Said, ...]]:
    """Suggestions that say the same, the wording first that is nearest to all others.

    The distance of two wordings is 0 for the same words and 1 where they share none
    (`likeness`). Where both are about the same known expectation, the same complaint brings
    them nearer and an opposite one parts them (`agreement`). Suggestions about different
    expectations, and those of different suites, are never compared. Groups are joined by
    average linkage as long as their mean distance is at most `threshold`.

    Args:
        many: what was said; the order does not matter.
        threshold: 0 joins the same words alone, 1 whatever is about the same.

    Returns:
        The groups, each with the nearest wording's members first.
    """
    groups: list[tuple[Said, ...]] = []
    for suite in sorted({one.suite for one in many}):
        groups += _of_suite([one for one in many if one.suite == suite], threshold)
    return groups


def _of_suite(many: Sequence[Said], threshold: float) -> list[tuple[Said, ...]]:
    texts = sorted({one.text for one in many})
    measured = measure(texts)
    place = {text: row for row, text in enumerate(texts)}
    blocks: dict[Block, list[Said]] = {}
    for one in many:
        blocks.setdefault(_block(one), []).append(one)
    groups: list[tuple[Said, ...]] = []
    for name in sorted(blocks):
        sayers: dict[str, list[Said]] = {}
        for one in blocks[name]:
            sayers.setdefault(one.text, []).append(one)
        wordings = sorted(sayers)
        apart = distances(measured, [place[text] for text in wordings], known=name[0] == "about")
        rows_of: dict[int, list[int]] = {}
        for row, label in enumerate(_cut(apart, threshold)):
            rows_of.setdefault(label, []).append(row)
        for rows in rows_of.values():
            nearest = _nearest(apart, rows, [len(sayers[wordings[row]]) for row in rows])
            others = [row for row in rows if row != nearest]
            groups.append(tuple(one for row in (nearest, *others) for one in sayers[wordings[row]]))
    return groups


def distances(measured: Measured, rows: Sequence[int], *, known: bool) -> NDArray[np.float64]:
    """How far texts are apart, 0-1; `known`: all are about one known expectation."""
    alike = likeness(measured, rows)
    if known:
        found = [complaints(measured.texts[row]) for row in rows]
        kinds = {one: place for place, one in enumerate(dict.fromkeys(found))}
        more = np.array([[agreement(one, other) for other in kinds] for one in kinds])
        places = [kinds[one] for one in found]
        alike += more[np.ix_(places, places)]
    apart = 1 - np.clip(alike, 0, 1)
    np.fill_diagonal(apart, 0)
    return np.round((apart + apart.T) / 2, DIGITS)


def _block(one: Said) -> Block:
    if one.about is not None:
        return ("about", one.about.identity)
    return ("missing",) if one.source.expectation is None else ("unknown",)


def _cut(apart: NDArray[np.float64], threshold: float) -> list[int]:
    """A number of its group for each row."""
    if len(apart) == 1:
        return [1]
    tree = linkage(squareform(apart, checks=False), method="average")
    return fcluster(tree, threshold + 0.1**DIGITS, criterion="distance").tolist()


def _nearest(apart: NDArray[np.float64], rows: Sequence[int], counts: Sequence[int]) -> int:
    """The row that is nearest to all others, each as often as it was said."""
    far = apart[np.ix_(rows, rows)] @ np.array(counts, dtype=float)
    return rows[int(np.argmin(np.round(far, DIGITS)))]
