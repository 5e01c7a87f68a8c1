"""A part of a choice that is counted by itself: one iteration, two configurations, some evals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .choice import Choice

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True, slots=True)
class Part:
    """One iteration of a choice. Statistics never cross iterations, so each is counted alone."""

    workspace: str
    skill: str
    iteration: str
    configuration: str | None
    baseline: str | None
    evals: tuple[str, ...]

    def of(self, ws: Workspace) -> Workspace:
        """The part of a workspace that it is, in polars: what is counted of it is for here."""
        sides = [name for name in (self.configuration, self.baseline) if name is not None]
        evals = {"eval_id": self.evals} if self.evals else {}
        found = ws.select(
            workspace=self.workspace,
            skill=self.skill,
            iteration=self.iteration,
            configuration=sides,
            **evals,
        )
        found.backend = "polars"
        return found


def parts_of(choice: Choice) -> list[Part]:
    """The parts of a settled choice, an iteration each, in order."""
    if choice.workspace is None or choice.skill is None:
        return []
    return [
        Part(
            choice.workspace,
            choice.skill,
            iteration,
            choice.configuration,
            choice.baseline,
            choice.evals,
        )
        for iteration in choice.iterations
    ]
