"""What lies in a workspace: its runs by their folders, and every version of the skill."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from skill_eval_nb.running.skill_files import contents
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.workspace.snapshots import SKILL_FILE, kept_skills, skill_now

LARGEST_SHOWN = 200_000
"""Bytes of a file whose text is read."""


def stored_at(folders: Iterable[str]) -> dict[str, StoredRun]:
    """The runs that are stored in these folders, by the folder as it was given."""
    real = {str(Path(one).resolve()): one for one in folders if Path(one).is_dir()}
    found = stored_runs(os.path.commonpath(list(real))) if real else []
    return {real[str(run.folder)]: run for run in found if str(run.folder) in real}


def texts(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name and text of each file of a skill, SKILL.md first.

    The text is None where a file is no text, is larger than `LARGEST_SHOWN`, or cannot be read.
    """
    root = folder.resolve()
    for name in sorted(contents(root).files, key=lambda name: (name != SKILL_FILE, name)):
        path = root / name
        try:
            yield name, path.read_text("utf-8") if path.stat().st_size <= LARGEST_SHOWN else None
        except (OSError, UnicodeDecodeError):
            yield name, None


def skill_folders(runs: Iterable[StoredRun]) -> Iterator[Path]:
    """Every version of a skill that lies in the workspaces of these runs, and as it is now."""
    workspaces: dict[Path, list[StoredRun]] = {}
    for run in runs:
        workspaces.setdefault(run.workspace, []).append(run)
    for workspace, own in sorted(workspaces.items()):
        names = ({run.iteration for run in own}, {run.configuration for run in own})
        yield from (kept_skill.folder for kept_skill in kept_skills(workspace, *names))
        if (now := skill_now(workspace)) is not None:
            yield now.folder
