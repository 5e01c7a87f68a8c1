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
    train_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    train_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None
    test_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    test_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None


class Optimization(Document):
    """The result of a search for a better description."""

    best_description: Annotated[str, says("the winner")]
    iterations: Annotated[
        list[OptimizationStep], says("what was tried, in order", also=("history",))
    ]
    best_score: Annotated[Rate | None, says("the winner's score")] = None
    best_low: Annotated[Rate | None, says("lower end of its 95 % interval")] = None
    best_high: Annotated[Rate | None, says("upper end of its 95 % interval")] = None
    selected_score: Annotated[
        Rate | None, says("the held-out score that it was chosen by, which flatters it")
    ] = None
    why: Annotated[str | None, says("why it was chosen")] = None
    skill_name: Annotated[str | None, says("the skill")] = None
