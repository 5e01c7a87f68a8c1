"""Copy what a run has put out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from skill_eval_nb.disk import open_file

from .layout import RunPlace
from .problems import Problems

DOCUMENTS = frozenset(("metrics.json", "grading.json"))
"""Documents that may lie among the outputs; they are written apart."""


def copy_outputs(run: RunPlace, target: Path, losses: Problems) -> list[Path]:
    """Copy a run's outputs, and the files beside them that are no JSON, into `target`.

    Links to folders, links that lead out of the workspace, and whatever is no regular file or
    cannot be read, are losses.
    """
    return [
        copied
        for source, name in _files(run)
        if (copied := _copy(source, target / name, run.place.workspace, losses)) is not None
    ]


def has_outputs(run: RunPlace) -> bool:
    """Whether there is anything to copy."""
    return any(_files(run))


def _files(run: RunPlace) -> Iterator[tuple[str, str]]:
    """The files to copy, with their names below the run's folder."""
    for name in run.files:
        if not name.lower().endswith(".json"):
            yield f"{run.path}/{name}", name
    for folder, folders, names in os.walk(f"{run.path}/outputs") if run.has_outputs else ():
        below = os.path.relpath(folder, run.path)
        linked = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        for name in names + linked:
            if not (below == "outputs" and name in DOCUMENTS):
                yield f"{folder}/{name}", f"{below}/{name}"


def _copy(source: str, target: Path, root: str, losses: Problems) -> Path | None:
    if not os.path.isfile(source):
        reason = "it is no regular file"
    elif target.exists():
        reason = "another run of the same eval, configuration and number has one"
    else:
        try:
            with open_file(source, root) as file:
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(target, "xb") as copy:
                    shutil.copyfileobj(file, copy)
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return target
    losses.add("warning", "loss", source, f"not copied: {reason}")
    return None
