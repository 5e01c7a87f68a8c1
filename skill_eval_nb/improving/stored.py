"""What lies in a workspace: runs by their folders, versions of the skill, answers of models."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import Document, Faults, NotJSON, mend, parse, to_json
from skill_eval_nb.models import Usage
from skill_eval_nb.running.asking import Answers, AskingProgress, Item, LeftOut, Terms
from skill_eval_nb.running.skill import contents
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.text import dollars
from skill_eval_nb.view import Block, Shown, Table, Text, reasons
from skill_eval_nb.workspace.snapshots import SKILL_FILE, kept_skills, skill_now

V = TypeVar("V")
D = TypeVar("D", bound=Document)
Progress = Callable[[AskingProgress], None]
MOST = 30
"""More reasons than these are counted, not listed."""
LARGEST_SHOWN = 200_000
"""Bytes of a file whose text is read."""


def stored_at(folders: Iterable[str]) -> dict[str, StoredRun]:
    """The runs that are stored in these folders, by the folder as it was given."""
    real = {str(Path(folder).resolve()): folder for folder in folders if Path(folder).is_dir()}
    found = stored_runs(os.path.commonpath(list(real))) if real else []
    return {real[str(run.folder)]: run for run in found if str(run.folder) in real}


def texts(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name and text of each file of a skill, SKILL.md first.

    The text is None where a file is no text, is larger than `LARGEST_SHOWN`, or cannot be read.
    """
    root = folder.resolve()
    for name in sorted(contents(root).files, key=lambda name: (name != SKILL_FILE, name)):
        path = root / name
        try:
            yield name, path.read_text("utf-8") if path.stat().st_size <= LARGEST_SHOWN else None
        except (OSError, UnicodeDecodeError):
            yield name, None


def skill_folders(runs: Iterable[StoredRun]) -> Iterator[Path]:
    """Every version of a skill that lies in the workspaces of these runs, and as it is now."""
    workspaces: dict[Path, list[StoredRun]] = {}
    for run in runs:
        workspaces.setdefault(run.workspace, []).append(run)
    for workspace, own in sorted(workspaces.items()):
        names = ({run.iteration for run in own}, {run.configuration for run in own})
        yield from (kept_skill.folder for kept_skill in kept_skills(workspace, *names))
        if (now := skill_now(workspace)) is not None:
            yield now.folder


# ── what models answered ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, repr=False)
class Paid(Shown):
    """What came of asking a model, item by item.

    Attributes:
        status: `done`; `partial` where a question has no answer; `dry run` where nobody was
            asked.
        n_before: answers that were there before.
        n_missing: answers that there are still none of.
        model: who was asked; None where nothing was to be asked and none was named.
        failed: questions without an answer, each with the reason.
        left_out: what could not be asked about, each with the reason.
        usage: tokens of this call's answers.
        cost_usd: what they cost; None where a price is not known.
        worst_usd: what the missing ones could have cost at most before they were asked, in US
            dollars; None where a price is not known.
        notes: what was decided for the user, and what to bear in mind.
    """

    status: str
    n_before: int
    n_missing: int
    model: str | None
    failed: tuple[LeftOut, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    worst_usd: float | None = 0.0
    notes: tuple[str, ...] = ()

    def _counts(self, there: int, nouns: str) -> str:
        """How many answers there are and are missing, and what they cost."""
        if self.status == "dry run":
            return (
                f"{there:,} {nouns} are there, {self.n_missing} to be made, "
                f"{dollars(self.worst_usd)} at most"
            )
        return (
            f"{there:,} {nouns}, {self.n_before} of them from before, {self.n_missing} missing; "
            f"{dollars(self.cost_usd)}"
        )

    def _left(self, caption: str) -> list[Block]:
        """What came to nothing, every reason once, and the notes."""
        why = [("failed", failure.reason) for failure in self.failed]
        why += [("left out", left.reason) for left in self.left_out]
        table: Table = reasons(why, caption, MOST)
        return [table, *(Text(note, soft=True) for note in self.notes)]


def paid(
    items: Iterable[Item[V]], answers: Answers[V], terms: Terms, left_out: Iterable[LeftOut] = ()
) -> dict[str, Any]:
    """The fields of `Paid` that answers give."""
    keys = [item.key for item in items]
    failed = tuple(answers.failed.values())
    return {
        "status": "dry run" if terms.dry_run else "partial" if failed else "done",
        "n_before": sum(key in answers.before for key in keys),
        "n_missing": sum(key not in answers.values for key in keys),
        "failed": failed,
        "left_out": tuple(left_out),
        "usage": answers.usage,
        "cost_usd": answers.cost_usd,
        "worst_usd": answers.worst_usd,
    }


# ── answers that are documents ───────────────────────────────────────────────────────────────

_WRITING = threading.Lock()


def documents_at(paths: Iterable[Path], kind: type[D]) -> Iterator[tuple[Path, D]]:
    """The documents in files, one that somebody has changed by hand included.

    What cannot be read is left out: the loader tells of it.
    """
    for path in paths:
        try:
            raw = parse(read_bytes(path), Faults())
        except (NotJSON, OSError):
            continue
        if isinstance(raw, dict):
            yield path, mend(raw, kind)[0]


def write_numbered(folder: Path, stem: str, content: Any) -> Path:
    """Write JSON as STEM-N.json under the next number that is free, in one step.

    STEM.json, as other tools have it, is the first.

    Raises:
        OSError: it cannot be written.
    """
    with _WRITING:
        folder.mkdir(exist_ok=True)
        names = (re.fullmatch(rf"{stem}(?:-(\d+))?\.json", path.name) for path in folder.iterdir())
        number = 1 + max((int(name[1] or 1) for name in names if name), default=0)
        return write_atomic(folder / f"{stem}-{number}.json", to_json(content))
