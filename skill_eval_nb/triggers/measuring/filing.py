"""What is written of a measurement: each attempt at once, and a summary that `load` finds."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, TriggerSet, dump, parse, to_json
from skill_eval_nb.running.executors import Execution
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.running.steps.transcripts import as_lines
from skill_eval_nb.workspace import write_atomic

from ..values import Attempt, Query
from .setting import Setting, mark

SUMMARY = "trigger_eval.json"
KEPT = ("outcome", "reason", "instead", "opened", "seconds", "cost_usd")
"""What of an attempt its file holds, beside the query and the number of its run."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A query × run: what there is one attempt of."""

    query: Query
    run: int

    @property
    def key(self) -> str:
        """What it is called in the journal; the same for the same words and run."""
        return f"{mark(self.query.query)}-{self.run}"


def default_folder(skill: Path) -> Path:
    """Where measurements go that nobody gave a folder: beside the skill."""
    return skill.parent / f"{skill.name}-workspace" / "triggers"


def place(home: Path, cell: Cell) -> Path:
    """The file of an attempt below the folder of its measurement."""
    words = unicodedata.normalize("NFKD", cell.query.query).encode("ascii", "ignore").decode()
    slug = "-".join(re.findall(r"[a-z0-9]+", words.lower()))[:40].strip("-")
    folder = "-".join(filter(None, ["query", slug, mark(cell.query.query)[:8]]))
    return home / folder / f"run-{cell.run}.json"


def read_attempt(home: Path, cell: Cell) -> Attempt | None:
    """The attempt that was made of a cell; None where none was.

    Raises:
        Refused: its file is not what was written there.
    """
    path = place(home, cell)
    try:
        return _attempt(parse(read_bytes(path), Faults()), cell)
    except FileNotFoundError:
        return None
    except (NotJSON, KeyError, TypeError, ValueError) as error:
        raise refuse(
            f"{path} is not what was written there ({type(error).__name__}: {error}): restore it, "
            "or move it away, and the attempt is made anew"
        ) from error


def further_attempts(home: Path, cells: Sequence[Cell]) -> list[Attempt]:
    """Attempts of the cells' queries that were made before, and are none of the cells.

    Raises:
        Refused: as `read_attempt`.
    """
    asked = {(one.query, one.run) for one in cells}
    found: list[Attempt] = []
    for query in dict.fromkeys(one.query for one in cells):
        files = place(home, Cell(query, 1)).parent.glob("run-*.json")
        runs = sorted(int(one.stem.removeprefix("run-")) for one in files)
        read = (read_attempt(home, Cell(query, run)) for run in runs if (query, run) not in asked)
        found += filter(None, read)
    return found


def _attempt(told: Mapping[str, Any], cell: Cell) -> Attempt:
    if told["query"] != cell.query.query:
        raise ValueError(f"it is of the query {told['query']!r}")
    fields: dict[str, Any] = {name: told[name] for name in KEPT}
    fields["opened"] = tuple(fields["opened"])
    return Attempt(cell.query, cell.run, **fields)


def write_attempt(
    home: Path, setting: Setting, attempt: Attempt, execution: Execution, usage: Any
) -> None:
    """Write an attempt, its transcript first: where the attempt is, all of it is.

    Raises:
        OSError: it cannot be written.
    """
    path = place(home, Cell(attempt.query, attempt.run))
    said = path.with_suffix(".transcript.jsonl")
    write_atomic(said, as_lines(execution.events), private=True)
    told = {
        "query": attempt.query.query,
        "run": attempt.run,
        **{name: getattr(attempt, name) for name in KEPT},
        "model": setting.model,
        "executor": setting.executor.name,
        "usage": {name: getattr(usage, name) for name in usage.__slots__},
    }
    write_atomic(path, json.dumps(told, ensure_ascii=True, indent=2) + "\n")


def write_summary(home: Path, document: TriggerSet) -> None:
    """Write the summary; queries that were measured here before and are not in it stay.

    Raises:
        OSError: it cannot be written.
    """
    path = home / SUMMARY
    asked = {one.query for one in document.queries}
    before: Sequence[Any] = ()
    if path.is_file():
        from skill_eval_nb.running.steps.files import read_document

        before = [one for one in read_document(path, TriggerSet).queries if one.query not in asked]
    whole = TriggerSet([*before, *document.queries], document.skill_name, document.description)
    write_atomic(path, to_json(dump(whole)))
