"""Paths as somebody at the notebook writes them."""

from __future__ import annotations

from pathlib import Path


def shown(path: str | Path) -> str:
    """A path from the current folder on where it is below that, else the whole of it.

    >>> shown(Path.cwd() / "my-workspace"), shown(Path.cwd())
    ('my-workspace', '.')
    """
    whole, here = Path(path).absolute(), Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(whole)
