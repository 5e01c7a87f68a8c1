"""A skill as it is offered to an executor: read from its folder, copied without its evals."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.skill_md import SKILL_FILE, read_skill_md

from .protocol import Skill
from .refused import Refused
from .skill_files import contents, digest

_CHANGED = (
    "the skill at {source.folder} has changed since the plan was made. Plan again: it becomes a "
    "new iteration"
)


@dataclass(frozen=True, slots=True)
class SkillSource:
    """A skill as it lies on disk, and what of it is offered.

    Attributes:
        name: from the front matter.
        description: from the front matter.
        folder: where it lies.
        files: the paths in the folder that are offered, links among them.
        left_out: the paths that are not, since they tell about the evals or belong to
            other programs; a folder stands for all that is in it.
        digest: a hash of what is offered.
        chars: characters of SKILL.md.
        warnings: what hosts would refuse or pass over in it.
    """

    name: str
    description: str
    folder: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    digest: str
    chars: int
    warnings: tuple[str, ...] = ()


def read_skill(
    folder: str | os.PathLike[str],
    evals: str | os.PathLike[str] | None = None,
    *,
    apart: Iterable[Path] = (),
) -> SkillSource:
    """Read a skill's SKILL.md, and tell what of its folder is offered to an executor.

    Args:
        folder: the skill's folder, or its SKILL.md.
        evals: the evals file; the folder it lies in is left out, or the file alone where it
            lies beside SKILL.md.
        apart: other files and folders that are left out where they lie in the skill, such
            as the workspace.

    Raises:
        Refused: there is no SKILL.md, its front matter lacks a name or a description, or
            the folder cannot be copied; all faults at once. It is a ValueError.
    """
    root = _root(folder)
    excluded = [Path(path) for path in apart if _is_below(Path(path), root)]
    if evals is not None:
        beside = Path(evals).resolve().parent
        excluded.append(beside if _is_below(beside, root) else Path(evals))
    file = root / SKILL_FILE
    skill_md, found = read_skill_md(file), contents(root, excluded)
    if skill_md.faults or found.faults:
        raise Refused([*(f"{file}: {fault}" for fault in skill_md.faults), *found.faults])
    return SkillSource(
        name=skill_md.name,
        description=skill_md.description,
        folder=root,
        files=tuple(sorted([*found.files, *found.links])),
        left_out=tuple(sorted(found.left_out)),
        digest=digest(root, found),
        chars=len(skill_md.text),
        warnings=tuple(f"{SKILL_FILE}: {warning}" for warning in skill_md.warnings),
    )


def stage(
    skill_dir: str | os.PathLike[str],
    evals_path: str | os.PathLike[str] | None,
    to: str | os.PathLike[str],
    *,
    apart: Iterable[Path] = (),
    expected: str | None = None,
) -> Skill:
    """Copy a skill, without what tells about its evals.

    Args:
        skill_dir: the skill's folder.
        evals_path: its evals file, wherever that lies.
        to: the copy, which is made whole or not at all; one that is there is used where it
            is the same.
        apart: what else is left out, as for `read_skill`.
        expected: the digest that the skill had when it was planned.

    Raises:
        Refused: as `read_skill`; or the skill is another one than was planned; or there is
            another one at `to`.
    """
    target = Path(to)
    source = read_skill(skill_dir, evals_path, apart=[*apart, target])
    if expected is not None and source.digest != expected:
        raise Refused([_CHANGED.format(source=source)])
    if not target.exists():
        _copy(source, target)
    copied = digest(target, contents(target))
    if copied != source.digest:
        was = "the skill has changed" if expected is None else "something has changed the copy"
        fault = (
            f"{target} is no copy of the skill at {source.folder}: {was} since it was made. "
            "Take the copy away where nothing was run with it, else plan again"
        )
        raise Refused([fault])
    return Skill(source.name, source.description, target)


def _copy(source: SkillSource, target: Path) -> None:
    """Copy beside the target and rename, so that a copy is never half there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        for inside in source.files:
            here, there = source.folder / inside, half / inside
            there.parent.mkdir(parents=True, exist_ok=True)
            if here.is_symlink():
                there.symlink_to(os.path.relpath(here.resolve(), here.parent))
            else:
                shutil.copy(here, there)
        half.rename(target)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _root(folder: str | os.PathLike[str]) -> Path:
    given = Path(folder).expanduser()
    if given.name == SKILL_FILE and given.is_file():
        given = given.parent
    if not given.is_dir():
        what = "is a file" if given.exists() else "does not exist"
        raise Refused([f"{folder} {what}; a skill is a folder with a {SKILL_FILE}"])
    return given.resolve()


def _is_below(path: Path, root: Path) -> bool:
    real = path.resolve()
    return real != root and real.is_relative_to(root)
