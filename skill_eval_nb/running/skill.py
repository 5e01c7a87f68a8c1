"""Prepare a skill for an executor: decide which of its files are the skill, and copy them.

Anything about its evals is left out.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from skill_eval_nb.disk import open_regular
from skill_eval_nb.skill_md import SKILL_FILE, read_skill_md

from .protocol import Refused, Skill, refuse

OF_EVALS = (
    "evals.json *.json.[0-9]*.bak skill.md.[0-9]*.bak eval_metadata.json "
    "grading*.json structural.json benchmark*.json benchmark.md feedback*.json eval_feedback*.json "
    "*trigger*eval* *eval*trigger* *eval_queries* *eval-queries* *eval_set* *eval-set*"
).split()
"""Files that say how outputs are judged, or were, wherever they are."""

FOLDERS_OF_EVALS = ("*-workspace", "iteration-[0-9]*")
"""Folders that are never part of the skill, wherever they are."""

OF_TOOLS = (
    ".git .hg .svn .ds_store __pycache__ *.pyc .ipynb_checkpoints .mypy_cache .pytest_cache "
    ".ruff_cache .venv .skill-eval-nb* .????????????????.tmp"
).split()
"""What programs leave behind, including this one; a history may also contain the evals."""


@dataclass
class Contents:
    """The contents of a skill's folder.

    Attributes:
        files: the files that are the skill, by their path in the folder.
        links: the links to such files or folders, and where each leads, in the folder too.
        left_out: what is not part of the skill; a folder includes everything in it.
        faults: what cannot be copied, and why.
    """

    files: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def contents(root: Path, apart: Iterable[Path] = ()) -> Contents:
    """Sort the files of a skill's folder.

    Args:
        root: the skill's folder, with no links in its path.
        apart: other files and folders in it to leave out.
    """
    found = Contents()
    excluded = {path.resolve() for path in apart}
    for path in _walk(root, root, excluded, found):
        inside = path.relative_to(root).as_posix()
        if path.is_symlink():
            _add_link(root, path, excluded, found)
        elif not path.is_file():
            found.left_out.append(inside)  # a socket, a pipe: nothing that could be copied
        elif not os.access(path, os.R_OK):
            found.faults.append(f"{path} cannot be read; a skill is copied as a whole")
        else:
            found.files.append(inside)
    return found


def digest(root: Path, found: Contents) -> str:
    """A hash over the names, contents and executable bits of a skill's files.

    Raises:
        OSError: a file cannot be read.
    """
    total = hashlib.sha256()
    for inside in sorted([*found.files, *found.links]):
        if inside in found.links:
            content = f"link {found.links[inside]}"
        else:
            path = root / inside
            mark = "x" if path.stat().st_mode & 0o100 else "-"
            with open_regular(path) as file:
                content = f"{mark} {hashlib.file_digest(file, 'sha256').hexdigest()}"
        total.update(f"{inside}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _walk(root: Path, folder: Path, excluded: set[Path], found: Contents) -> Iterator[Path]:
    """The files and links below a folder that belong to the skill, in order of name."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        found.faults.append(
            f"{folder} cannot be listed ({error.strerror}); a skill is copied as a whole"
        )
        return
    for path in paths:
        if _is_apart(root, path, excluded):
            inside = path.relative_to(root).as_posix()
            found.left_out.append(f"{inside}/" if path.is_dir() else inside)
        elif path.is_dir() and not path.is_symlink():
            yield from _walk(root, path, excluded, found)
        else:
            yield path


def _is_apart(root: Path, path: Path, excluded: set[Path]) -> bool:
    """Whether a file or folder is not part of the skill, by its name or the caller's choice."""
    name = path.name.lower()
    if any(fnmatchcase(name, pattern) for pattern in OF_TOOLS):
        return True
    if not path.is_symlink() and path.resolve() in excluded:
        return True
    if path.is_dir():
        of_evals = any(fnmatchcase(name, pattern) for pattern in FOLDERS_OF_EVALS)
        return of_evals or (name == "evals" and path.parent == root)
    return any(fnmatchcase(name, pattern) for pattern in OF_EVALS)


def _add_link(root: Path, path: Path, excluded: set[Path], found: Contents) -> None:
    """Links are kept if they lead to a part of the skill."""
    inside = path.relative_to(root).as_posix()
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        target = root
    if not target.is_relative_to(root) or path.is_relative_to(target):
        found.faults.append(
            f"{path} is a link to {path.readlink()}, and not to another file or folder of the "
            "skill; remove it, or put a copy of what it leads to in its place"
        )
        return
    way = [
        target,
        *(parent for parent in target.parents if parent.is_relative_to(root) and parent != root),
    ]
    if any(_is_apart(root, folder, excluded) for folder in way):
        found.left_out.append(inside)
    else:
        found.links[inside] = os.path.relpath(target, path.parent)


@dataclass(frozen=True, slots=True)
class SkillSource:
    """A skill on disk, and which of its files are offered.

    Attributes:
        name: from the front matter.
        description: from the front matter.
        folder: its folder.
        files: the paths in the folder that are offered, links among them.
        left_out: the paths that are not offered, since they are about the evals or belong to other
            programs; a folder includes everything in it.
        digest: a hash of what is offered.
        chars: characters of SKILL.md.
        warnings: what hosts would refuse or ignore in it.
    """

    name: str
    description: str
    folder: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    digest: str
    chars: int
    warnings: tuple[str, ...] = ()


def folder_beside(
    skill: Path, folder: str | os.PathLike[str] | None, *below: str | os.PathLike[str]
) -> Path:
    """The given folder, else the one that is `below` in NAME-workspace next to a skill's folder."""
    if folder is not None:
        return Path(folder).expanduser()
    return skill.with_name(f"{skill.name}-workspace").joinpath(*below)


def read_skill(
    folder: str | os.PathLike[str],
    evals: str | os.PathLike[str] | None = None,
    *,
    apart: Iterable[Path] = (),
) -> SkillSource:
    """Read a skill's SKILL.md, and decide what of its folder is offered to an executor.

    Args:
        folder: the skill's folder, or its SKILL.md.
        evals: the evals file; its folder is left out, or only the file if it is next to SKILL.md.
        apart: other files and folders to leave out if they are in the skill, such as the workspace.

    Raises:
        Refused: there is no SKILL.md, its front matter lacks a name or a description, or
            the folder cannot be copied; all faults at once. It is a ValueError.
    """
    root = _skill_root(folder)
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
    """Copy a skill without anything about its evals.

    Args:
        skill_dir: the skill's folder.
        evals_path: its evals file, wherever it is.
        to: the copy, which is made completely or not at all; an existing one is used if it is the
            same.
        apart: what else is left out, as for `read_skill`.
        expected: the digest that the skill had when it was planned.

    Raises:
        Refused: as `read_skill`; or the skill has changed since it was planned; or there is another
            one at `to`.
    """
    target = Path(to)
    source = read_skill(skill_dir, evals_path, apart=[*apart, target])
    if expected is not None and source.digest != expected:
        changed = f"the skill at {source.folder} has changed since the plan was made"
        raise refuse(f"{changed}. Plan again: it becomes a new iteration")
    if not target.exists():
        _copy_skill(source, target)
    copied = digest(target, contents(target))
    if copied != source.digest:
        raise refuse(
            f"{target} is not a copy of the skill at {source.folder}: one of the two has changed. "
            "Delete the copy if nothing was run with it; otherwise plan again"
        )
    return Skill(source.name, source.description, target)


def _copy_skill(source: SkillSource, target: Path) -> None:
    """Copy next to the target and rename, so that a copy is never incomplete."""
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


def _skill_root(folder: str | os.PathLike[str]) -> Path:
    given = Path(folder).expanduser()
    if given.name == SKILL_FILE and given.is_file():
        given = given.parent
    if not given.is_dir():
        what = "is a file" if given.exists() else "does not exist"
        raise refuse(f"{folder} {what}; a skill is a folder with a {SKILL_FILE}")
    return given.resolve()


def _is_below(path: Path, root: Path) -> bool:
    real = path.resolve()
    return real != root and real.is_relative_to(root)
