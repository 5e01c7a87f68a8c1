"""What an iteration says that an eval was: the metadata that lies above its runs."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.documents import EvalMetadata

from .problems import Problems
from .reading import load_if_there

METADATA = "eval_metadata.json"


def asked(run: Path, iteration: Path) -> EvalMetadata | None:
    """The nearest metadata from a run's folder up to that of its iteration; None without any.

    What had to be repaired in it is a row of `problems` already, and is not told again.
    """
    for folder in (run, *run.parents):
        found = load_if_there(str(folder / METADATA), EvalMetadata, Problems())
        if found is not None or folder == iteration:
            return found
    return None
