"""How far an optimisation is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..measuring import MeasuringProgress
from .optimised import Step


@dataclass(frozen=True, slots=True)
class OptimisingProgress:
    """How far an optimisation is.

    Attributes:
        doing: `measuring` a round, `proposing` the next description, `measuring again` the
            winner on fresh runs.
        round: the round that is at work, from 1; the present description is round 1.
        rounds: rounds at most.
        steps: the rounds that have ended, each with its scores.
        measuring: how far the measurement is; None where none is at work.
        spent_usd: US dollars that were spent, as far as prices are known.
    """

    doing: Literal["measuring", "proposing", "measuring again"]
    round: int
    rounds: int
    steps: tuple[Step, ...]
    measuring: MeasuringProgress | None
    spent_usd: float
