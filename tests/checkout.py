"""The checkout that the tests stand in: its folder, its files, what pyproject.toml says."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]


def pyproject() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def files(below: str = ".") -> list[Path]:
    """Every file below a folder of the checkout that .gitignore does not leave out.

    It needs no git: .gitignore holds nothing but plain names and patterns of names.
    """
    patterns = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().split()]
    return sorted(_walk(ROOT / below, [".git", *patterns]))


def _walk(folder: Path, ignored: list[str]) -> Iterator[Path]:
    for path in folder.iterdir():
        if any(fnmatch(path.name, pattern) for pattern in ignored):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, ignored)
        else:
            yield path
