"""Which files of a skill's folder are the skill, and which tell about its evals."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

OF_EVALS = (
    "evals.json",
    "*.json.[0-9]*.bak",
    "skill.md.[0-9]*.bak",
    "eval_metadata.json",
    "grading*.json",
    "structural.json",
    "benchmark*.json",
    "benchmark.md",
    "feedback*.json",
    "eval_feedback*.json",
    "*trigger*eval*",
    "*eval*trigger*",
    "*eval_queries*",
    "*eval-queries*",
    "*eval_set*",
    "*eval-set*",
)
"""Files that tell what outputs are judged by, or how they were, wherever they lie."""

FOLDERS_OF_EVALS = ("*-workspace", "iteration-[0-9]*")
"""Folders of which nothing is the skill, wherever they lie."""

OF_TOOLS = (
    ".git",
    ".hg",
    ".svn",
    ".DS_Store",
    "__pycache__",
    "*.pyc",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    ".skill-eval-nb*",
    ".????????????????.tmp",
)
"""What programs leave behind, this one too; a history may hold the evals as well."""


@dataclass
class Contents:
    """What is in a skill's folder.

    Attributes:
        files: the files that are the skill, by their path in the folder.
        links: the links to such files or folders, and where each leads, in the folder too.
        left_out: what is no part of the skill; a folder stands for all that is in it.
        faults: what cannot be copied, and why.
    """

    files: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def contents(root: Path, apart: Iterable[Path] = ()) -> Contents:
    """Tell the files of a skill's folder apart.

    Args:
        root: the skill's folder, with no links in its path.
        apart: files and folders that are left out as well, where they lie in it.
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
            found.faults.append(f"{path} cannot be read; a skill is copied whole")
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
            content = f"{mark} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        total.update(f"{inside}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _walk(root: Path, folder: Path, excluded: set[Path], found: Contents) -> Iterator[Path]:
    """The files and links below a folder that belong to the skill, in order of name."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        found.faults.append(
            f"{folder} cannot be listed ({error.strerror}); a skill is copied whole"
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
    """Whether a file or folder is no part of the skill, by its name or as the caller says."""
    name = path.name.lower()
    if any(fnmatchcase(name, pattern.lower()) for pattern in OF_TOOLS):
        return True
    if not path.is_symlink() and path.resolve() in excluded:
        return True
    if path.is_dir():
        of_evals = any(fnmatchcase(name, pattern) for pattern in FOLDERS_OF_EVALS)
        return of_evals or (name == "evals" and path.parent == root)
    return any(fnmatchcase(name, pattern) for pattern in OF_EVALS)


def _add_link(root: Path, path: Path, excluded: set[Path], found: Contents) -> None:
    """A link is kept where it leads to a part of the skill."""
    inside = path.relative_to(root).as_posix()
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: links that lead in a circle
        where = path.readlink()
        found.faults.append(f"{path} is a link to {where}, where nothing is; take it away")
        return
    if target == root or not target.is_relative_to(root):
        found.faults.append(
            f"{path} is a link that leaves the skill's folder, to {target}; put a copy of what "
            "it leads to in its place"
        )
        return
    way = [
        target,
        *(parent for parent in target.parents if parent.is_relative_to(root) and parent != root),
    ]
    if any(_is_apart(root, folder, excluded) for folder in way):
        found.left_out.append(inside)
    elif path.is_relative_to(target):
        found.faults.append(f"{path} is a link to a folder that it lies in; take it away")
    else:
        found.links[inside] = os.path.relpath(target, path.parent)
