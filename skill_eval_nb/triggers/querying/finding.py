"""Where the trigger set of a folder lies."""

from __future__ import annotations

import os
from pathlib import Path

from skill_eval_nb.documents import TriggerSet, mend
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.stats.phrases import some
from skill_eval_nb.workspace import Problems, find, read_files
from skill_eval_nb.workspace.reading import load_raw


def set_in(folder: Path) -> Path:
    """The trigger set of a folder: the one that lies highest.

    A file of evals that say `should_trigger` counts where there is no other set.

    Raises:
        Refused: there is none, or several that differ lie equally high.
        NothingToLoad: there is no evaluation document at all.
    """
    found = find(folder)
    files = read_files(found.layout.files, Problems())
    sets = {file.path: document for kind, file, document in files.others if kind == "triggers"}
    sets = {path: one for path, one in sets.items() if Path(path).name != "evals.json"} or sets
    sets = sets or {one.path: as_set for one in files.suites if (as_set := _labelled(one.path))}
    if not sets:
        raise refuse(f"{folder} holds no trigger set: name its file, or draft one")
    highest = min(map(_depth, sets))
    near = {path: one for path, one in sets.items() if _depth(path) == highest}
    words = {tuple((one.query, one.should_trigger) for one in own.queries) for own in near.values()}
    if len(words) > 1:
        names = [os.path.relpath(path, folder) for path in near]
        raise refuse(f"{folder} holds several trigger sets: {some(names, 9)}. Name the one's file")
    return Path(min(near))


def _labelled(path: str) -> TriggerSet | None:
    """A suite as a trigger set, where its evals say whether the skill should be picked up."""
    document, _ = mend(load_raw(path, Problems()), TriggerSet)
    said = any(one.should_trigger is not None for one in document.queries)
    return document if said else None


def _depth(path: str) -> int:
    return len(Path(path).parts)
