"""The folders below a path, and the names of the files in them. No file is read here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from sys import intern
from types import MappingProxyType

from skill_eval_nb.disk import leads_out
from skill_eval_nb.text import natural

from .problems import Problems

OWN = ".skill-eval-nb"
"""A folder of a workspace for what the toolkit keeps there for itself: no loader enters it."""

NOT_ENTERED = frozenset(
    f"outputs inputs judgings skill-snapshot .staging {OWN} .git .hg .svn node_modules "
    "__pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .ipynb_checkpoints "
    "site-packages".split()
)
"""Folders that hold no results of their own; what a run has put out is never taken for results."""


class Folder:
    """A folder: its path, the names of its files, and its sub-folders.

    `others` has the names of the sub-folders that are not entered; `holds_run` says whether it is
    the folder of a run, or one lies below it, once that is known.
    """

    __slots__ = ("files", "folders", "holds_run", "name", "others", "parent", "path")

    def __init__(self, path: str, name: str, parent: Folder | None) -> None:
        self.path = path
        self.name = name
        self.parent = parent
        self.files: tuple[str, ...] = ()
        self.folders: Mapping[str, Folder] = _NONE
        self.others: tuple[str, ...] = ()
        self.holds_run = False

    @classmethod
    def below(cls, folder: Folder, name: str) -> Folder:
        """A folder of this name in another, be it there or not."""
        return cls(f"{folder.path}/{name}", name, folder)


_NONE: Mapping[str, Folder] = MappingProxyType({})

Names = dict[tuple[str, ...], tuple[str, ...]]
"""Names that were listed: thousands of folders hold the same, which are kept once."""


def crawl(path: str, problems: Problems) -> list[Folder]:
    """All folders from `path` down, parents first and in the order of their names.

    Links, and folders that cannot be read, are problems: what a link leads to is listed anyway,
    or lies outside, where it may be any file of whoever looks at somebody else's results.
    """
    root = Folder(path, os.path.basename(os.path.abspath(path)), None)
    names: Names = {}
    found: list[Folder] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        found.append(folder)
        waiting += _list_folder(folder, names, problems, path)
    return found


def _list_folder(folder: Folder, names: Names, problems: Problems, root: str) -> list[Folder]:
    """List a folder; gives its sub-folders, the last one first."""
    files: list[str] = []
    others: list[str] = []
    below: list[Folder] = []
    path = folder.path
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                is_plain = entry.is_file(follow_symlinks=False)  # as most are
                is_link = not is_plain and entry.is_symlink()
                if is_link and not is_followed(entry.path, root, problems):
                    continue
                if is_plain or not is_folder(entry):
                    files.append(name)
                elif name.endswith(".json"):
                    message = "a folder with the name of a file; nothing in it was loaded"
                    problems.add("error", "no-file", entry.path, message)
                elif name in NOT_ENTERED:
                    others.append(name)
                elif is_link:
                    there = f"it leads to {os.path.realpath(entry.path)}, which is loaded anyway"
                    problems.add("info", "link", entry.path, f"not followed: {there}")
                else:
                    below.append(Folder(f"{path}/{name}", intern(name), folder))
    except OSError as error:
        message = f"this folder cannot be listed ({error.strerror}); nothing below it was loaded"
        problems.add(
            "error",
            "no-permission" if isinstance(error, PermissionError) else "unreadable",
            path,
            message,
        )
    folder.files = _once(files, names)
    if others:
        folder.others = _once(others, names)
    if below:
        below.sort(key=lambda subfolder: natural(subfolder.name))
        folder.folders = {subfolder.name: subfolder for subfolder in below}
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


def is_followed(path: str, root: str, problems: Problems) -> bool:
    """Whether a file or folder is no link, or one that stays below `root`; else it is a problem."""
    why = leads_out(path, root) if os.path.islink(path) else None
    if why is not None:
        problems.add("warning", "link", path, f"not followed: {why}")
    return why is None
