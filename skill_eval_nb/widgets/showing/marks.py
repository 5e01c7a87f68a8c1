"""Verdicts and scores as marks that are seen at a glance, with the word for who cannot see."""

from __future__ import annotations

from collections.abc import Sequence

from skill_eval_nb.widgets.panel import Node, h

HIGHEST = 5
"""Points of the scale of a score."""
_VERDICTS = {
    True: ("✓", "passed", "sen-mark-good"),
    False: ("✗", "failed", "sen-mark-bad"),
    None: ("–", "not scored", "sen-mark-none"),
}
STRIP = 60
"""Verdicts that a strip can hold: more would be too narrow to be seen."""


def word(passed: bool | None) -> str:
    """The outcome of a check.

    >>> word(True), word(None)
    ('passed', 'not scored')
    """
    return _VERDICTS[passed][1]


def verdict(passed: bool | None, *, said: str | None = None) -> Node:
    """The outcome of a check as a mark; a screen reader says the word."""
    sign, usual, look = _VERDICTS[passed]
    return h(
        "span",
        h("span", sign, " ", aria_hidden="true"),
        h("span", said or usual, cls="sen-unseen"),
        cls=f"sen-mark-of {look}",
        title=said or usual,
    )


def strip(verdicts: Sequence[bool | None]) -> Node | None:
    """All outcomes in a row, the words beside it say the same."""
    if not 1 < len(verdicts) <= STRIP:
        return None
    cells = [h("i", cls=_VERDICTS[one][2]) for one in verdicts]
    return h("span", cells, cls="sen-strip", aria_hidden="true")


def dots(score: float | None, *, highest: int = HIGHEST) -> Node:
    """A score as dots, filled as far as it goes."""
    if score is None:
        return h("span", "not scored", cls="sen-soft")
    fills = [min(max(score - at, 0.0), 1.0) for at in range(highest)]
    cells = [h("i", style={"--sen-fill": f"{fill:.0%}"}) for fill in fills]
    return h(
        "span",
        h("span", cells, cls="sen-dots", aria_hidden="true"),
        h("b", figure(score), cls="sen-score"),
        h("span", f" of {highest}", cls="sen-soft sen-small"),
        cls="sen-scored",
    )


def figure(score: float) -> str:
    """A score or a mean of scores.

    >>> figure(4.0), figure(3.6666)
    ('4', '3.67')
    """
    return f"{score:.2f}".rstrip("0").rstrip(".")
