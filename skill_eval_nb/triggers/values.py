"""What passes through this room: queries, and what came of asking them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["triggered", "not triggered", "errored", "not run"]
"""Four, not two: a run that broke, or never was, says nothing of the description."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a user might say.

    Attributes:
        query: the words.
        should_trigger: whether the skill should be picked up for it.
        tags: what kind of query it is, such as `near miss`.
        split: what an optimisation uses it for; None outside of one.
    """

    query: str
    should_trigger: bool
    tags: tuple[str, ...] = ()
    split: Literal["train", "test"] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one query.

    Attributes:
        query: what was asked.
        run: 1, 2, …
        outcome: what came of it.
        reason: why it errored or was not run; None otherwise.
        instead: what the model did where the skill was not opened, in a few words, such as
            `opened the skill tidy-tables`; None where it was opened, or nothing is known.
        opened: the names of all skills that were opened, in order.
        seconds: how long it took; None where it was not run.
        cost_usd: what it cost in US dollars; None where no price is known.
    """

    query: Query
    run: int
    outcome: Outcome
    reason: str | None = None
    instead: str | None = None
    opened: tuple[str, ...] = ()
    seconds: float | None = None
    cost_usd: float | None = None
