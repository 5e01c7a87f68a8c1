"""The file that says which batch of judgings is under way."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.grading.judge import Judge

from ..refused import refuse

FILE = "batch.json"


@dataclass(frozen=True, slots=True)
class Item:
    """One judging in a batch, by its run's folder and the number it was to have."""

    run: str
    number: int


def under_way(path: Path) -> dict[str, Any] | None:
    """The batch that is under way; None where there is none.

    Raises:
        Refused: there may be one, and it cannot be taken up.
    """
    if not path.is_file():
        return None
    try:
        state = parse(path.read_bytes(), Faults())
        ids = state["ids"]
        whole = {"judge", "items"} <= set(state)
    except (NotJSON, KeyError, TypeError) as error:
        raise refuse(f"{path} is not what was written there; look at it ({error})") from error
    if not ids or not whole:
        raise refuse(
            f"a batch may have been submitted, and was interrupted before its id was kept in "
            f"{path}. Look among the batches of your account whether it is there and cancel it; "
            "then remove that file, and start again"
        )
    return state


def fits(state: dict[str, Any], judge: Judge, path: Path) -> None:
    """Refuse to take up a batch that another judge was asked for."""
    mine = json.loads(json.dumps(asdict(judge)))
    theirs = {name: state["judge"].get(name) for name in mine}
    differs = [name for name in mine if mine[name] != theirs[name]]
    if differs:
        told_so = ", ".join(f"{name}={theirs[name]!r}" for name in differs)
        raise refuse(
            f"a batch is under way with other settings ({told_so}): call judge_again with those "
            f"to collect it first, or cancel it and remove {path}"
        )
