"""The result of a search for a better description of a skill."""

from __future__ import annotations

from typing import Annotated

from .document import Count, Document, Rate, says


class OptimizationStep(Document):
    """One description that was tried."""

    description: Annotated[str, says("the description")]
    iteration: Annotated[Count | None, says("1, 2, …")] = None
    train_score: Annotated[Rate | None, says("share right on the train queries")] = None
    test_score: Annotated[Rate | None, says("share right on the held-out queries")] = None


class Optimization(Document):
    """The result of a search for a better description."""

    best_description: Annotated[str, says("the winner")]
    iterations: Annotated[
        list[OptimizationStep], says("what was tried, in order", also=("history",))
    ]
    best_score: Annotated[Rate | None, says("the winner's score")] = None
