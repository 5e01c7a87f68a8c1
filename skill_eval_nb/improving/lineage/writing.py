"""Writing history.json; what others wrote is never lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, dump, parse, to_json
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.workspace import write_atomic

if TYPE_CHECKING:
    from .values import Lineage

NAME = "history.json"
OURS = "reason"
"""What every version has that we wrote, and no other tool writes."""


def write(lineage: Lineage, path: Path, *, force: bool = False) -> Path:
    """Write it; see `Lineage.write`."""
    if not lineage.versions:
        raise refuse("there are no versions to write: the workspace has no runs")
    file = path / NAME if path.is_dir() else path
    if file.exists() and not _is_ours(read_bytes(file)):
        if not force:
            raise refuse(
                f"{file} was written by others; with force it is kept as {file.name}.bak and a "
                "new one takes its place, or write to another path"
            )
        shutil.copy2(file, _free(file))
    return write_atomic(file, to_json(_plain(lineage)))


def _plain(lineage: Lineage) -> dict[str, Any]:
    """The document in the order that people know; what there is none of is said."""
    raw = dump(lineage.document())
    versions = [{"version": one["version"], "parent": None} | one for one in raw.pop("iterations")]
    return {"current_best": None} | raw | {"iterations": versions}


def _is_ours(data: bytes) -> bool:
    try:
        raw = parse(data, Faults())
    except NotJSON:
        return False
    versions = raw.get("iterations") if isinstance(raw, dict) else None
    return (
        isinstance(versions, list)
        and bool(versions)
        and all(isinstance(one, dict) and OURS in one for one in versions)
    )


def _free(file: Path) -> Path:
    """A name for what is kept: `….bak`, or with a number where that is taken."""
    kept, number = file.with_name(f"{file.name}.bak"), 2
    while kept.exists():
        kept, number = file.with_name(f"{file.name}.bak{number}"), number + 1
    return kept
