"""List the folders below a path, once, with what lies in each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType

from skill_eval_nb.disk import leads_out

from .names import OWN, natural
from .problems import Problems

NOT_ENTERED = frozenset(
    f"outputs inputs judgings skill-snapshot .staging {OWN} .git .hg .svn node_modules "
    "__pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .ipynb_checkpoints "
    "site-packages".split()
)
"""Folders that hold no results of their own; what a run has put out is never taken for results."""


class Folder:
    """A folder: its path, the names of its files, and its sub-folders.

    `others` has the names of the sub-folders that are not entered.
    """

    __slots__ = ("files", "folders", "name", "others", "parent", "path")

    def __init__(self, path: str, name: str, parent: Folder | None) -> None:
        self.path = path
        self.name = name
        self.parent = parent
        self.files: tuple[str, ...] = ()
        self.folders: Mapping[str, Folder] = _NONE
        self.others: tuple[str, ...] = ()


_NONE: Mapping[str, Folder] = MappingProxyType({})

Names = dict[tuple[str, ...], tuple[str, ...]]
"""Names that were listed: thousands of folders hold the same, which are kept once."""


def crawl(path: str, problems: Problems, *, out: bool = True) -> list[Folder]:
    """All folders from `path` down, parents first and in the order of their names.

    Links are followed where they lead outside of what is listed; other links, and folders
    that cannot be read, are problems. Where `out` is false, links that lead out of `path` are
    problems, too: what is there goes on to somebody else.
    """
    root = Folder(path, os.path.basename(os.path.abspath(path)), None)
    linked = {os.path.realpath(path)}
    names: Names = {}
    found: list[Folder] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        found.append(folder)
        waiting += _list(folder, linked, names, problems, None if out else path)
    return found


def _list(
    folder: Folder, linked: set[str], names: Names, problems: Problems, root: str | None
) -> list[Folder]:
    """List a folder; gives its sub-folders, the last one first."""
    files: list[str] = []
    others: list[str] = []
    below: list[Folder] = []
    path = folder.path
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if root and entry.is_symlink() and (why := leads_out(entry.path, root)):
                    problems.add("warning", "link", entry.path, f"not followed: {why}")
                elif not is_folder(entry):
                    files.append(name)
                elif name.endswith(".json"):
                    message = "a folder with the name of a file; nothing in it was loaded"
                    problems.add("error", "no-file", entry.path, message)
                elif name in NOT_ENTERED:
                    others.append(name)
                elif not entry.is_symlink() or _leads_outside(entry.path, linked, problems):
                    below.append(Folder(f"{path}/{name}", intern(name), folder))
    except OSError as error:
        problems.add(
            "error",
            "no-permission" if isinstance(error, PermissionError) else "unreadable",
            path,
            f"this folder cannot be listed ({error.strerror}); nothing below it was loaded",
        )
    folder.files = _once(files, names)
    if others:
        folder.others = _once(others, names)
    if below:
        below.sort(key=_by_name)
        folder.folders = {one.name: one for one in below}
        below.reverse()
    return below


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _once(listed: list[str], names: Names) -> tuple[str, ...]:
    key = tuple(listed)
    return names.setdefault(key, key)


_natural = lru_cache(natural)


def _by_name(folder: Folder) -> tuple[tuple[int, int | str], ...]:
    return _natural(folder.name)


def _leads_outside(path: str, linked: set[str], problems: Problems) -> bool:
    """Whether a link to a folder leads to somewhere that is not listed anyway."""
    real = os.path.realpath(path)
    if any(f"{real}/".startswith(f"{one}/") or f"{one}/".startswith(f"{real}/") for one in linked):
        problems.add(
            "info", "link", path, f"not followed: it leads to {real}, which is loaded anyway"
        )
        return False
    linked.add(real)
    return True
