"""The search itself, whatever measures and proposes: rounds, their end, the choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .choosing import Choice, Round, choose
from .scoring import Asked, mean

PATIENCE = 2
"""Rounds without a better train score after which a search ends."""


class Over(Exception):
    """Nothing more can be measured or proposed, for a reason; `halt`: nor is it to be."""

    def __init__(self, reason: str, *, halt: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.halt = halt


class Measure(Protocol):
    """What measures descriptions."""

    def __call__(
        self, description: str, *, fresh: bool = False
    ) -> tuple[tuple[Asked, ...], str | None]:
        """Give each query as it went, and why not all runs were made; None where they were.

        With `fresh`, of new runs of the held-out queries alone.

        Raises:
            Over: nothing was measured.
        """
        ...


Propose = Callable[[Sequence[Round], Round], str]
"""Gives the next description, from all rounds and the one to build on; raises `Over`."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        rounds: the descriptions that were measured, in order.
        choice: the one that was chosen; None where none was measured.
        fresh: the held-out queries under it on fresh runs; empty where they were not made.
        ended: why the search ended, in words.
        early: whether something else than its own rules ended it, such as the budget.
        broken: whether the first measurement cannot be trusted.
    """

    rounds: tuple[Round, ...]
    choice: Choice | None
    fresh: tuple[Asked, ...]
    ended: str
    early: bool = False
    broken: bool = False


def search(
    present: str,
    measure: Measure,
    propose: Propose,
    *,
    rounds: int,
    doubt: Callable[[Round], str | None] = lambda _: None,
) -> Found:
    """Search for a better description.

    What is proposed, and when the search ends, rests on train queries alone; what is chosen, on
    held-out ones alone. The score of the choice flatters it, so it is measured once more.

    Args:
        present: the description that there is, which is measured first.
        measure: measures a description.
        propose: gives the next one.
        rounds: descriptions that are measured at most, the present one included.
        doubt: why the first measurement cannot be trusted; None where it can.
    """
    made: list[Round] = []
    ended, early, halted = "", False, False
    try:
        while not ended:
            description = propose(made, leading(made)) if made else present
            asked, lacking = measure(description)
            made.append(Round(len(made) + 1, description, asked, lacking is None))
            if lacking is not None:
                ended, early = f"round {len(made)} was not finished: {lacking}", True
                halted = len(made) == 1
            elif len(made) == 1 and (why := doubt(made[0])) is not None:
                return Found(tuple(made), Choice(made[0], why), (), why, broken=True)
            else:
                ended = _end(made, rounds)
    except Over as over:
        ended, early, halted = over.reason, True, over.halt
    if not made:
        return Found((), None, (), ended, early)
    choice = choose(made)
    fresh: tuple[Asked, ...] = ()
    if not halted:
        try:
            fresh, lacking = measure(choice.round.description, fresh=True)
        except Over as over:
            lacking = over.reason
        if lacking is not None:
            ended, early = f"{ended}; the last measurement was not finished: {lacking}", True
    return Found(tuple(made), choice, fresh, ended, early)


def leading(rounds: Sequence[Round]) -> Round:
    """The round to build on: the best on the train queries; of several, the last."""
    return max(rounds, key=lambda one: (_train(one), one.number))


def _train(one: Round) -> float:
    return mean(one.asked, "train") or 0.0


def _end(made: Sequence[Round], rounds: int) -> str:
    """Why a search ends after these rounds; empty where it goes on."""
    train = [one for one in made[-1].asked if one.query.split == "train"]
    if all(one.passes for one in train):
        return f"every train query passes in round {len(made)}"
    scores = [_train(one) for one in made]
    if len(made) > PATIENCE and max(scores[-PATIENCE:]) <= max(scores[:-PATIENCE]):
        return f"the train score did not improve in the last {PATIENCE} rounds"
    if len(made) < rounds:
        return ""
    return f"all {rounds} rounds were made" if rounds > 1 else "no more than one round was wanted"
