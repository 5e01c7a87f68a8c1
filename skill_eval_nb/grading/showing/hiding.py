"""Covering up what tells the side: a judge must not know which configuration it judges."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

COVERED = "[name]"

SIDES = ("with_skill", "without_skill", "old_skill", "new_skill")
"""Covered up wherever they stand: they are names of configurations and nothing else."""


class Cover:
    """Covers names in texts, and counts how often it had to.

    A name of six letters or more with a digit, a hyphen or an underscore in it is covered
    wherever it stands. A short one or a plain word (`v2`, `pdf`, `tables`) may belong to the
    task, so it is covered only where it is spoken of as a skill (`the pdf skill`,
    `skills/pdf`) and in paths of runs (`v2/run-1`). Paths of the run's own folder become
    relative.

    Give the names of all sides, for every side: a cover that only one side has would tell it.

    >>> cover = Cover(["invoice-reader", "pdf"])
    >>> cover("I used the pdf skill of invoice-reader to write report.pdf")
    'I used the [name] of [name] to write report.pdf'
    >>> cover.count
    2
    """

    def __init__(self, names: Iterable[str], folders: Iterable[Path] = ()) -> None:
        self.count = 0
        given = sorted({*SIDES, *(name for name in names if name)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern, given)), re.IGNORECASE)
        paths = {form for folder in folders for form in _forms(folder)}
        longest = sorted(paths, key=len, reverse=True)
        ends = r"(?![\w.-])"
        self._folders = (
            re.compile(f"(?:{'|'.join(map(re.escape, longest))}){ends}") if longest else None
        )

    def __call__(self, text: str) -> str:
        """The text with the names covered."""
        if self._folders is not None:
            text, times = self._folders.subn(".", text)
            self.count += times
        text, times = self._pattern.subn(COVERED, text)
        self.count += times
        return text


def _forms(folder: Path) -> set[str]:
    """The paths by which a run's folder may be spoken of; never one that is short and common."""
    forms = {os.fspath(folder.absolute()), os.path.realpath(folder)}
    return {form for form in forms if form.count(os.sep) > 1}


def _pattern(name: str) -> str:
    spelled = "[-_]".join(re.escape(piece) for piece in re.split(r"[-_]", name))
    if name in SIDES:
        return spelled
    if len(name) >= 6 and re.search(r"[\d_-]", name):
        return rf"(?<![^\W_]){spelled}(?![^\W_])"
    spoken = rf"\b{spelled}\b"
    ticks = r"[\"'`]?"
    return (
        rf"{ticks}{spoken}{ticks}\s+skill\b|\bskills?[/\\]{spoken}"
        rf"|\bskill{ticks}\s*[:=]?\s*{ticks}{spoken}{ticks}|{spoken}[/\\]SKILL\.md"
        rf"|(?<=[/\\]){spoken}(?=[/\\](?:run-\d|outputs\b))"
    )
