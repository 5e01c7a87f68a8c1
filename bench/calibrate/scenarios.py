"""What is simulated: which worlds, which effects, how many evals and runs, judged by whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from .worlds import CEILING, ONE_CHECK, PLAIN, World

NS = (3, 5, 8, 12, 20)
KS = (1, 3, 10)
METRICS = {"pass_rate": "pass rate", "rubric:clarity": "rubric"}
"""What is measured, and what the page calls it."""
EFFECTS = {"pass_rate": (0.1, 0.2, 0.3), "rubric:clarity": (0.25, 0.5, 0.75)}
"""Mean effects in the plain world: small, medium, large."""
EASY_EFFECT = {"pass_rate": 0.05, "rubric:clarity": 0.2}
"""Mean effects in the ceiling world, where there is little left to gain."""
ONE_CHECK_EFFECT = 0.2
SIZES = ("small", "medium", "large")
FALSE = ("A/A", "A/A over tasks", "ceiling A/A", "one check A/A")
"""Scenarios without a difference; in the second there is one on the evals at hand."""

Kind = Literal["given", "smallest on these evals", "smallest on tasks like these"]


@dataclass(frozen=True)
class Scenario:
    """A world and the effect in it: a given one on the metric, or the smallest detectable."""

    name: str
    world: World
    truth: float = 0.0
    kind: Kind = "given"
    peers: bool = False

    @property
    def metric(self) -> str:
        return self.world.metric.name


@dataclass(frozen=True)
class Cell:
    """A scenario with so many evals and runs."""

    scenario: Scenario
    n: int
    runs: int

    @property
    def cost(self) -> int:
        """About how long it takes, beside the others."""
        return self.n * self.runs + 500 * (self.scenario.peers and self.n > 12 and self.runs < 10)


def even(world: World) -> World:
    """The world in which the skill does the same on every eval, so that nothing is nothing."""
    return replace(world, uneven=0.0)


def scenarios() -> Iterator[Scenario]:
    for world in PLAIN:
        metric = world.metric.name
        yield Scenario("A/A", even(world), peers=True)
        yield Scenario("A/A over tasks", world, peers=True)
        for size, truth in zip(SIZES, EFFECTS[metric], strict=True):
            yield Scenario(size, world, truth, peers=size == "medium")
    for world in CEILING:
        yield Scenario("ceiling A/A", even(world))
        yield Scenario("ceiling", world, EASY_EFFECT[world.metric.name])
    yield Scenario("one check A/A", even(ONE_CHECK))
    yield Scenario("one check", ONE_CHECK, ONE_CHECK_EFFECT)


def cells() -> list[Cell]:
    """All of them; the smallest detectable effect only where a claim can be made at all."""
    given = [Cell(scenario, n, runs) for scenario in scenarios() for n in NS for runs in KS]
    return given + [
        Cell(Scenario(kind, world, kind=kind), n, runs)
        for world in PLAIN
        for kind, least in (("smallest on these evals", 3), ("smallest on tasks like these", 1))
        for n in NS[2:]
        for runs in KS
        if runs >= least
    ]
