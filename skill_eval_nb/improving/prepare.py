"""The folder of the next iteration, ready for a plan: its evals, and no runs."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import to_json
from skill_eval_nb.running.driver import SUITE, is_ours, metadata_of
from skill_eval_nb.running.iteration import METADATA, PREPARED, is_prepared, iterations_of
from skill_eval_nb.running.journal import NAME
from skill_eval_nb.running.skill import SKILL_FILE
from skill_eval_nb.running.suite import PlannedEval
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.writing import now

from .suite import Suite, planned_evals, text_of


def prepare(suite: Suite, after: bytes, drafts: Sequence[str]) -> tuple[Path | None, str]:
    """Prepare the next iteration for a suite that was changed.

    A folder that was prepared before, and that nothing was run in, is made anew.

    Args:
        suite: the suite as it was.
        after: what was written.
        drafts: the keys of the drafts that were applied.

    Returns:
        the iteration's folder, or None with the reason why there is none.

    Raises:
        OSError: it cannot be written.
    """
    home = suite.workspace
    if home is None:
        return None, "there is no workspace beside this suite: name one with `workspace`"
    there = iterations_of(home)
    if why := _why_not(suite, home, there):
        return None, why
    evals, _ = planned_evals(text_of(suite.path.name, after).document)
    number = max(there, default=0)
    if not (number and is_prepared(there[number])):
        number += 1
    mark = hashlib.sha256(after).hexdigest()
    folder = home / f"iteration-{number}"
    _write(folder, evals, {"suite": mark, "drafts": list(drafts)})
    _keep_suite(suite, home, after)
    return folder, ""


def _why_not(suite: Suite, home: Path, there: Mapping[int, Path]) -> str:
    folders = [home] if there else [home, home.parent]
    if any((folder / SKILL_FILE).is_file() for folder in folders):
        return f"{home} is the skill's own, and runs do not go there: name another folder"
    stated = [one.id for one in planned_evals(suite.text.document)[0]]
    if any(key.id != id_ for key, id_ in zip(suite.keys, stated, strict=True)):
        return (
            "the runs call the evals by other ids than the suite does, and a run from here would "
            "call them as the suite does: make the ids the same first"
        )
    return ""


def _write(folder: Path, evals: Sequence[PlannedEval], about: dict[str, object]) -> None:
    """Make the folder, whole or not at all."""
    half = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    half.chmod(folder.parent.stat().st_mode & 0o777)  # mkdtemp closes it to everybody else
    line = {"event": PREPARED, "at": now(), **about}
    (half / NAME).write_text(json.dumps(line) + "\n")
    for eval_ in evals:
        write_atomic(half / eval_.folder / METADATA, to_json(metadata_of(eval_)))
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        if folder.exists():
            folder.rename(old / folder.name)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _keep_suite(suite: Suite, home: Path, after: bytes) -> None:
    """Bring the suite that the workspace keeps up to date, as the start of its runs would."""
    kept = home / SUITE
    if suite.path.name != SUITE.name or suite.path.is_relative_to(home):
        return
    if kept.is_file():
        there = read_bytes(kept)
        ours = is_ours(home, hashlib.sha256(there).hexdigest())
        if there != suite.data and not ours:
            return
    write_atomic(kept, after)
