"""Analyses on disk: read by what was asked, written as soon as there is an answer."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Analysis, Faults, NotJSON, dump, mend, parse, to_json
from skill_eval_nb.workspace import write_atomic

_NUMBERED = re.compile(r"analysis(?:-(\d+))?\.json")
_WRITING = threading.Lock()


def stored(folders: Iterable[Path]) -> dict[str, tuple[Path, Analysis]]:
    """The analyses in these folders by their fingerprints; what cannot be read has none."""
    return {
        one.fingerprint: (path, one)
        for folder in folders
        for path, one in _read(folder)
        if one.fingerprint is not None
    }


def _read(folder: Path) -> Iterator[tuple[Path, Analysis]]:
    for path in sorted(folder.glob("analysis*.json")):
        try:
            raw = parse(read_bytes(path), Faults())
        except (NotJSON, OSError):  # the loader tells of it
            continue
        if isinstance(raw, dict):
            yield path, mend(raw, Analysis)[0]


def write(folder: Path, analysis: Analysis) -> Path:
    """Write an analysis beside its comparison, under the next number that is free.

    Raises:
        OSError: it cannot be written.
    """
    with _WRITING:
        taken = (_NUMBERED.fullmatch(path.name) for path in folder.iterdir())
        number = 1 + max((int(one[1] or 1) for one in taken if one), default=0)
        return write_atomic(folder / f"analysis-{number}.json", to_json(_plain(analysis)))


def _plain(analysis: Analysis) -> dict[str, Any]:
    """The document; that a side missed nothing is said, as readers expect it."""
    raw = dump(analysis)
    for side, own in raw.get("instruction_following", {}).items():
        raw["instruction_following"][side] = {"score": None, "issues": []} | own
    return raw
