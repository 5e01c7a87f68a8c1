"""A run on its way through the steps, as the driver keeps it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..steps.orders import Run

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Prepared


@dataclass(slots=True, eq=False)
class Going:
    """A run that is being made.

    Attributes:
        run: which.
        judgings: the numbers of the judgings that are still to be launched.
        in_flight: how many are being done.
        failed: why one of them failed.
        prepared: the run made ready to be judged, once it is.
        worst_usd: the most that one judging may cost, once that is known.
    """

    run: Run
    judgings: deque[int] = field(default_factory=deque)
    in_flight: int = 0
    failed: str | None = None
    prepared: Prepared | None = None
    worst_usd: float | None = None
