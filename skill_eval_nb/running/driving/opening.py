"""What a start does before its first step: the suite is put beside the runs, the past is told.

Steps that a killed job left open are closed with what they can have cost by their notes, and
what it had in the staging folder goes: it holds nothing finished.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import EvalMetadata, Evals, Expectation, dump, to_json
from skill_eval_nb.workspace import write_atomic

from ..given.suite import PlannedEval
from ..lock import sweep
from ..money.spending import noted
from ..planning.planned import SNAPSHOTS, Plan
from ..steps.folders import clear, notes_of, remove
from ..steps.orders import Hidden
from .journal import INTERRUPTED, NAME, Journal, Launch

NOT_SWEPT = frozenset(("outputs", "inputs", SNAPSHOTS))
"""Folders that hold what others made."""

SUITE = Path("evals", "evals.json")
"""Where the suite is kept in a workspace."""


def close_interrupted(journal: Journal, iteration: Path) -> tuple[list[str], dict[int, Launch]]:
    """Close the steps that nobody closed, and take away what they left.

    Returns:
        what to tell the user, and the launches that are still to be collected: batches that
        were submitted, and go on at the provider's.
    """
    told, batches = [], {}
    count, total = 0, 0.0
    for number, launch in journal.told.open.items():
        if number in journal.told.batches:
            batches[number] = launch
            continue
        notes = noted(notes_of(iteration, number))
        worst = launch.worst_usd
        usd = worst if notes is None else notes if worst is None else min(notes, worst)
        by = "worst" if notes is None else "notes"
        journal.add(INTERRUPTED, launch=number, usd=usd, by=by)
        count += 1
        total += usd or 0.0
    clear(iteration)
    if count:
        told.append(
            f"{count} step(s) of an earlier start were interrupted; they are done anew, and what "
            f"they can have cost, ${total:.4f}, stays counted"
        )
    return told, batches


def tidy(plan: Plan) -> None:
    """Take away what a killed job was writing: in this iteration, and of the suite."""
    for folder in plan.workspace.glob(f".{plan.folder.name}.*"):
        remove(folder)
    sweep(plan.workspace / SUITE.parent)
    sweep(plan.folder)  # reports, for one, are put there by others
    for at, names, _ in os.walk(plan.folder):
        names[:] = [name for name in names if name not in NOT_SWEPT]
        for name in names:
            sweep(Path(at, name), 0)


def write_suite(plan: Plan) -> tuple[str | None, list[str]]:
    """Keep the suite in the workspace, so that it can be loaded by itself.

    A suite that is there and was not put there by us is left as it is.

    Returns:
        the hash of what was written, for the journal, and what to tell the user.
    """
    path, target = plan.suite.path, plan.workspace / SUITE
    if path.resolve().is_relative_to(plan.workspace.resolve()):
        return None, []
    data = read_bytes(path) if path.name == SUITE.name else _as_suite(plan)
    mark = hashlib.sha256(data).hexdigest()
    if target.is_file():
        there = read_bytes(target)
        if there == data:
            return mark, []
        if not is_ours(plan.workspace, hashlib.sha256(there).hexdigest()):
            told = (
                f"{target} is another suite than {path}, and is left as it is: the tables may "
                "describe the evals by it"
            )
            return None, [told]
    write_atomic(target, data)
    return mark, []


def _as_suite(plan: Plan) -> bytes:
    """The suite in the usual form, where its file has another one."""
    suite = Evals(
        evals=[one.definition for one in plan.suite.evals],
        skill_name=plan.suite.skill_name or plan.skill_name,
        eval_config=plan.suite.config,
    )
    return to_json(dump(suite))


def is_ours(workspace: Path, mark: str) -> bool:
    """Whether a journal of the workspace speaks of what has this mark."""
    journals = workspace.glob(f"iteration-*/{NAME}")
    return any(mark.encode() in read_bytes(journal) for journal in journals)


def write_metadata(plan: Plan) -> None:
    """Write eval_metadata.json at the level of each eval that has a cell."""
    for one in plan.evals:
        data = to_json(metadata_of(one))
        target = plan.folder / one.folder / "eval_metadata.json"
        if not target.is_file() or read_bytes(target) != data:
            write_atomic(target, data)


def metadata_of(one: PlannedEval) -> Any:
    """What eval_metadata.json says of an eval."""
    told = dump(
        EvalMetadata(
            eval_id=int(one.id) if one.id.isdecimal() else one.id,
            eval_name=one.name,
            prompt=one.definition.prompt,
        )
    )
    return {**told, "assertions": [_assertion(each) for each in one.definition.expectations]}


def _assertion(one: Expectation) -> Any:
    return one.text if one.type is None else dump(one)


def hidden_names(plan: Plan) -> Hidden:
    """Names that would tell a judge which side it looks at: covered up on all sides alike."""
    return Hidden(tuple(dict.fromkeys(_skill_names(plan))), plan.configurations)


def _skill_names(plan: Plan) -> Iterator[str]:
    for side in plan.sides:
        if side.skill is not None:
            yield side.skill.name
            yield side.skill.folder.name
