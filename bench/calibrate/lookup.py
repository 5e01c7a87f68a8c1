"""Results by the name of their scenario."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from . import claims, factors, gates, harder, labelled, looks, pages, small, triggers
from .measure import Measured
from .run import run
from .scenarios import Cell, cells

Results = dict[Cell, dict[str, Measured]]


@dataclass(frozen=True)
class Found:
    """What was measured, cell by cell."""

    results: Results
    harder: dict[harder.Harder, dict[str, Measured]]
    models: dict[factors.Models, dict[str, float]]
    pages: dict[pages.Page, dict[str, float]]
    looks: dict[looks.Looked, dict[str, float]]
    small: dict[small.Small, dict[str, float]]
    gates: dict[gates.Gated, dict[str, float]]
    claims: dict[claims.Claimed, dict[str, float]]
    triggers: dict[triggers.Triggers, dict[str, float]]
    labelled: dict[labelled.Labelled, dict[str, Measured]]

    @classmethod
    def by_running(cls, size: int, seed: int, jobs: int) -> Found:
        """All cells of all kinds."""
        rooms = harder, factors, pages, looks, small, gates, claims, triggers, labelled
        kinds = [cells(), *(room.cells() for room in rooms)]
        every = run([cell for kind in kinds for cell in kind], size, seed, jobs)
        return cls(*({cell: every[cell] for cell in kind} for kind in kinds))

    def get(self, scenario: str, metric: str, n: int, runs: int) -> dict[str, Measured]:
        """Every method in a cell, by name; empty where that was not simulated."""
        return self._by_name.get((scenario, metric, n, runs), {})

    def has(self, scenario: str, metric: str) -> bool:
        """Whether a metric was simulated in a scenario."""
        return any(key[:2] == (scenario, metric) for key in self._by_name)

    def answered(self, who: str) -> bool:
        """Whether a method answered anywhere."""
        return any(who in every for every in self.results.values())

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, int, int], dict[str, Measured]]:
        return {
            (cell.scenario.name, cell.scenario.metric, cell.n, cell.runs): every
            for cell, every in self.results.items()
        }
