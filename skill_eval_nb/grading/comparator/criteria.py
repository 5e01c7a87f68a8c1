"""What two works are scored by: the eval's rubric, else criteria that fit any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_eval_nb.documents import Dimension

CONTENT, STRUCTURE = "content", "structure"
GROUPS = (CONTENT, STRUCTURE)

_USUAL = {
    CONTENT: {
        "correctness": "What it says and does is right.",
        "completeness": "Everything that the task asks for is there.",
        "accuracy": "Figures, names and quotations agree with what was given.",
    },
    STRUCTURE: {
        "organization": "Its parts come in an order that helps.",
        "formatting": "Its form is tidy, consistent and the one that was asked for.",
        "usability": "Whoever asked for it can use it as it is.",
    },
}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that both works are scored by, from 1 to 5.

    Attributes:
        group: content or structure.
        name: as documents keep it.
        about: what it means, and what scores look like.
    """

    group: str
    name: str
    about: tuple[str, ...]


def criteria_of(dimensions: Sequence[Dimension]) -> tuple[Criterion, ...]:
    """The criteria: every dimension of the rubric as content, else the usual six.

    >>> [one.name for one in criteria_of([Dimension(name="depth")])], len(criteria_of([]))
    (['depth'], 6)
    """
    if dimensions:
        return tuple(Criterion(CONTENT, one.name, tuple(_about(one))) for one in dimensions)
    return tuple(
        Criterion(group, name, (about,))
        for group, criteria in _USUAL.items()
        for name, about in criteria.items()
    )


def _about(one: Dimension) -> list[str]:
    scores = [f"- {score}: {text}" for score, text in sorted(one.scoring.items())]
    return [*([one.description] if one.description else []), *scores]
