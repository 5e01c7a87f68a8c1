"""`write_description`: another description in SKILL.md, after its diff was seen."""

from __future__ import annotations

import difflib
import stat
from pathlib import Path

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.running.given.front_matter import SKILL_FILE
from skill_eval_nb.running.given.skill import read_skill
from skill_eval_nb.running.refused import Refused, refuse
from skill_eval_nb.workspace import PathLike, write_atomic
from skill_eval_nb.workspace.rewriting import keep_beside

from ..front_matter import with_description
from .limits import faults_of

WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
NO_END = "\\ No newline at end of file"
"""What a diff says of a last line without an end."""


class Diff(str):
    """A unified diff, which prints itself line by line; empty where nothing changes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def write_description(skill: PathLike, description: str, *, dry_run: bool = True) -> Diff:
    """Change the description in a skill's SKILL.md, and nothing else by a byte.

    Args:
        skill: the skill's folder, or its SKILL.md.
        description: the new one.
        dry_run: show the diff and write nothing. Without it the file is written at once and
            whole, and the old one is kept beside it as `SKILL.md.1.bak`, or the next number
            that is free.

    Returns:
        The change as a unified diff; empty where the description is that already, and then
        nothing is written.

    Raises:
        Refused: there is no such skill, its front matter cannot be changed, the description is
            none that can be used (all that is wrong with it at once), or the file is read-only.
        OSError: the file cannot be written.
    """
    source = read_skill(skill)
    faults = [f"the description cannot be used: {one}" for one in faults_of(description)]
    if faults:
        raise Refused(faults)
    path = source.folder / SKILL_FILE
    before = read_bytes(path)
    after = before if source.description == description else with_description(before, description)
    if not dry_run and after != before:
        if not path.stat().st_mode & WRITABLE:
            raise refuse(f"{path} is read-only: make it writable (chmod u+w), and write again")
        keep_beside(path, before)
        write_atomic(path, after)
    return Diff(_diff(path, before, after))


def _diff(path: Path, before: bytes, after: bytes) -> str:
    lines = [data.decode("utf-8-sig").split("\n") for data in (before, after)]
    old, new = (
        [f"{line}\n" for line in own[:-1]] + [line for line in own[-1:] if line] for own in lines
    )
    told = difflib.unified_diff(old, new, str(path), f"{path.name} (new)")
    return "".join(one if one.endswith("\n") else f"{one}\n{NO_END}\n" for one in told)
