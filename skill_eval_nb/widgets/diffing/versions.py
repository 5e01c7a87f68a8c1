"""Which versions of the skill are kept, and which two a diff of iterations compares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.stats.pairing import WITHOUT, likeness
from skill_eval_nb.workspace.snapshots import (
    KeptSkill,
    iteration_folder,
    kept_skills,
    skill_now,
    skill_of,
)

from .two import Suite, Two

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a skill that are there: those kept by name, and the one as it is now."""

    kept: tuple[KeptSkill, ...] = ()
    now: KeptSkill | None = None

    @property
    def every(self) -> dict[str, KeptSkill]:
        """All of them by name, the present one last."""
        return {one.name: one for one in (*self.kept, *filter(None, (self.now,)))}


def versions(ws: Workspace, suite: Suite) -> Versions:
    """Look for them where the suite's runs lie; there are none where that is not on disk."""
    folder = _workspace_folder(ws, suite)
    if folder is None:
        return Versions()
    kept = kept_skills(folder, suite.iterations, suite.configurations)
    return Versions(tuple(kept), skill_now(folder))


def of_two(
    found: Versions, two: Two, configuration: str
) -> tuple[KeptSkill | None, KeptSkill | None]:
    """The version that the configuration had in either iteration."""
    alone = likeness(configuration) is None
    first, second = (
        skill_of(found.kept, one, configuration, alone=alone) for one in (two.a, two.b)
    )
    return first, second


def offers_none(configuration: str) -> bool:
    """Whether a configuration is by its name one without the skill.

    >>> offers_none("without_skill"), offers_none("old_skill")
    (True, False)
    """
    like = likeness(configuration)
    return like is not None and like[0] < len(WITHOUT)


def _workspace_folder(ws: Workspace, suite: Suite) -> Path | None:
    """The folder above the suite's iterations."""
    if not ws.path:
        return None
    base = Path(ws.path).absolute()
    runs = ws.polars("runs").filter(workspace=suite.workspace, skill=suite.skill)
    for iteration in suite.iterations:
        path = next(iter(runs.filter(iteration=iteration)["path"]), None)
        folder = iteration_folder(base / path, iteration) if path else None
        if folder is not None:
            return folder.parent
    return base if base.is_dir() else None
