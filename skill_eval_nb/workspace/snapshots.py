"""The versions of a skill that a workspace keeps, and which iteration and side each is of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.disk import leads_out
from skill_eval_nb.skill_md import SKILL_FILE

from .layout import NOT_ENTERED, is_eval, is_folder, natural, run_number, slug

DEEPEST = 4
"""Levels below a workspace at which a version may lie: iteration, snapshots, side, skill."""

_HOLDS = re.compile(r"skill|snapshot|version|^v\d+([._-]\d+)*$|^(runs|results)$", re.IGNORECASE)
"""Names of folders in which versions are kept, or above which they are."""
_EARLIER = re.compile(r"(?:^|-)(?:old|previous|prev|prior|original|before|pre)(?:-|$)")
_SNAPSHOT = re.compile(r"skill-?snapshots?")
_NOT_ENTERED = NOT_ENTERED - {"skill-snapshot"}


@dataclass(frozen=True, slots=True)
class KeptSkill:
    """A version of a skill on disk.

    Attributes:
        name: what it is called: its path below the workspace.
        folder: where it lies.
        iteration: the iteration it is of; None where it is of none alone.
        configuration: the configuration that it was offered to; None where nothing says.
    """

    name: str
    folder: Path
    iteration: str | None = None
    configuration: str | None = None


def kept_skills(
    workspace: Path, iterations: Iterable[str], configurations: Iterable[str]
) -> list[KeptSkill]:
    """Every version of the skill that lies in a workspace, in the order of their names.

    A folder is a version because a SKILL.md lies in it; its path says of what. Our own runs
    keep `iteration-N/skill-snapshot/<configuration>/`; people also have
    `skill-snapshot/` (the skill before the first change, so `old_skill`),
    `skill-snapshot-iteration-1/`, `skill-snapshot/iteration-2-old-skill/`,
    `iteration-2/skill-snapshot-old/`, `v1/skill/`. Folders of evals and runs are not entered.
    """
    known = sorted(iterations, key=len, reverse=True), sorted(configurations, key=len, reverse=True)
    found = [_kept_skill(workspace, folder, *known) for folder in _folders(workspace, known[0])]
    return sorted(found, key=lambda version: natural(version.name))


def skill_now(workspace: Path) -> KeptSkill | None:
    """The skill as it is at this moment, where its folder is beside the workspace or above it."""
    name = workspace.name.removesuffix("-workspace")
    beside = [workspace.with_name(name)] if name != workspace.name else []
    for folder in (*beside, workspace.parent, workspace.parent.parent):
        if (folder / SKILL_FILE).is_file():
            return KeptSkill(f"{folder.name}, as it is now", folder)
    return None


def skill_of(
    kept: Iterable[KeptSkill], iteration: str, configuration: str, *, alone: bool = True
) -> KeptSkill | None:
    """The version that a side of an iteration had; None where it was not kept, or had none.

    Args:
        kept: the versions of the workspace.
        iteration: its name.
        configuration: the side.
        alone: whether a version whose side nothing says is of this side.
    """
    ours = [copy for copy in kept if copy.iteration == iteration]
    exact = [copy for copy in ours if copy.configuration == configuration]
    unsaid = [copy for copy in ours if copy.configuration is None] if alone else []
    of_all = [
        copy for copy in kept if copy.iteration is None and copy.configuration == configuration
    ]
    return next(iter([*exact, *unsaid, *of_all]), None)


def iteration_folder(run: Path, iteration: str) -> Path | None:
    """The folder of the iteration that a run's folder or file lies in, by its name."""
    above = (folder for folder in (run, *run.parents) if folder.name == iteration)
    return next(above, None)


def _folders(workspace: Path, iterations: list[str]) -> Iterator[Path]:
    """The folders with a SKILL.md, without those inside of one."""
    waiting = [(workspace, 0, False)]
    while waiting:
        folder, depth, inside = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                below = [entry for entry in entries if depth or entry.name != SKILL_FILE]
        except OSError:  # `problems` tells of folders that cannot be listed
            continue
        if any(entry.name == SKILL_FILE for entry in below):
            yield folder
            continue
        for entry in below if depth < DEEPEST else ():
            name = entry.name
            if name.startswith(".") or name in _NOT_ENTERED or not _is_folder(entry, workspace):
                continue
            if is_eval(name) or run_number(name) is not None:
                continue
            holds = _HOLDS.search(name) is not None
            if inside or holds or name in iterations:
                waiting.append((Path(entry.path), depth + 1, inside or "snapshot" in name.lower()))


def _is_folder(entry: os.DirEntry[str], workspace: Path) -> bool:
    """Whether it is a folder of the workspace: what a model is shown is never elsewhere."""
    return is_folder(entry) and not (entry.is_symlink() and leads_out(entry.path, workspace))


def _kept_skill(
    workspace: Path, folder: Path, iterations: list[str], configurations: list[str]
) -> KeptSkill:
    """What the path of a version says of it."""
    inside = folder.relative_to(workspace)
    parts = [slug(part) for part in reversed(inside.parts)]
    iteration = next(
        (name for part in parts for name in iterations if _names(part, slug(name))), None
    )
    side = next(
        (
            configuration
            for part in parts
            for configuration in configurations
            if _names(part, slug(configuration))
        ),
        None,
    )
    earlier = any(_EARLIER.search(part) for part in parts)
    if side is None and (earlier or (iteration is None and _SNAPSHOT.fullmatch(parts[0]))):
        side = next(
            (
                configuration
                for configuration in configurations
                if _EARLIER.search(slug(configuration))
            ),
            "old_skill",
        )
    return KeptSkill(inside.as_posix(), folder, iteration, side)


def _names(part: str, name: str) -> bool:
    """Whether a folder's name is this name or holds it as a part.

    >>> _names("iteration-2-old-skill", "iteration-2"), _names("iteration-20", "iteration-2")
    (True, False)
    """
    return f"-{name}-" in f"-{part}-"
