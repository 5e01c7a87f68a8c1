"""The files of an outputs folder: by name and size, with no link followed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

TOOLS_OWN = frozenset(
    ".git .hg .svn node_modules __pycache__ .venv venv .tox .mypy_cache .pytest_cache "
    ".ruff_cache .ipynb_checkpoints .cache".split()
)
"""Folders that tools fill: they are named with their size, and not looked into."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the outputs; `reason` says why it cannot be looked into, where it cannot."""

    name: str
    path: str
    size: int
    reason: str | None = None


def entries(outputs: Path, ignored: Collection[str] = ()) -> list[Entry]:
    """The files below a folder in the natural order of their names.

    `ignored` are names of files directly in the folder that are not listed at all.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    root = os.fspath(outputs)
    return sorted(_below(root, "", set(ignored)), key=lambda one: natural(one.name))


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key that puts `a-2` before `a-10`, and a folder's files together.

    >>> sorted(["a-10", "B", "a-2"], key=natural)
    ['a-2', 'a-10', 'B']
    """
    pieces = re.split(r"(\d{1,18})", name.lower())
    ranked = ((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in pieces if piece)
    return (*ranked, (2, name))


def safe(name: str) -> str:
    r"""A file's name as it can be shown: on one line, with no quotes and no half characters.

    >>> print(safe('a"b<c>\n.txt'))
    a&quot;b&lt;c&gt;\x0a.txt
    """
    quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    quoted = quoted.replace('"', "&quot;")
    return "".join(one if one.isprintable() else _escaped(one) for one in quoted)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _below(folder: str, prefix: str, ignored: set[str]) -> Iterator[Entry]:
    waiting = [(folder, prefix)]
    while waiting:
        path, above = waiting.pop()
        try:
            with os.scandir(path) as listed:
                there = list(listed)
        except OSError as error:
            if not above:
                raise
            yield Entry(above, path, 0, f"a folder that cannot be listed ({error.strerror})")
            continue
        for one in there:
            name = f"{above}{one.name}"
            if not above and one.name in ignored:
                continue
            try:
                mode = one.stat(follow_symlinks=False)
            except OSError as error:
                yield Entry(name, one.path, 0, f"it cannot be read ({error.strerror})")
                continue
            if not stat.S_ISDIR(mode.st_mode):
                yield _entry(name, one.path, mode)
            elif one.name in TOOLS_OWN:
                yield _tools_own(name, one.path)
            else:
                waiting.append((one.path, f"{name}/"))


def _entry(name: str, path: str, mode: os.stat_result) -> Entry:
    if stat.S_ISLNK(mode.st_mode):
        return Entry(name, path, 0, "a link; links are not followed")
    if not stat.S_ISREG(mode.st_mode):
        return Entry(name, path, 0, "no regular file (a pipe, a socket or a device)")
    return Entry(name, path, mode.st_size)


def _tools_own(name: str, path: str) -> Entry:
    count = size = 0
    for folder, _, names in os.walk(path):
        for one in names:
            count += 1
            try:
                size += os.lstat(f"{folder}/{one}").st_size
            except OSError:  # it has gone meanwhile: there is nothing to count
                continue
    return Entry(f"{name}/", path, size, f"a folder that tools fill, with {count:,} files")
