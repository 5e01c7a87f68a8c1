"""Results by the name of their scenario."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .measure import Measured
from .run import Results


@dataclass(frozen=True)
class Found:
    """What was measured, cell by cell."""

    results: Results

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
