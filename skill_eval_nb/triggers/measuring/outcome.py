"""What a run says of the description: its outcome, which skills it opened, what it did instead."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from skill_eval_nb.running.executors import Execution
from skill_eval_nb.running.steps.transcripts import blocks

from ..values import Outcome

LONGEST = 80
"""Characters of a tool's input that are told."""
AT_ONCE = "answered at once"

Block = Mapping[str, Any]


def outcome_of(execution: Execution) -> tuple[Outcome, str | None]:
    """What came of a run, and why where it errored.

    Once the skill was opened, nothing that came afterwards takes that back. A run that came to
    its limit of turns without it has had its chance.
    """
    if execution.skill_used:
        return "triggered", None
    if execution.status == "done" or execution.out_of_turns:
        if execution.skill_used is None:
            return "errored", "the executor cannot tell whether the skill was opened"
        return "not triggered", None
    return "errored", execution.reason or "the executor gave no reason"


def opened_in(execution: Execution, skill: str, offered: Container[str]) -> tuple[str, ...]:
    """The skills that a run opened, each once, in order.

    Opened is what the tool Skill gave, or whose own SKILL.md another tool has read; a name that
    only stands in a path or in a command is not.

    Args:
        execution: the run.
        skill: the one that is measured; whether that was opened the executor says.
        offered: the names of all skills on offer.
    """
    found: dict[str, None] = {}
    for use, result in _uses(execution.events):
        name = _asked(use)
        given = result is not None and not result.get("is_error")
        if given and name is not None and name in offered:
            found[name] = None
    if execution.skill_used:
        found[skill] = None
    else:
        found.pop(skill, None)
    return tuple(found)


def instead_of(execution: Execution, opened: Sequence[str]) -> str:
    """What a run did in place of opening the skill, in a few words."""
    if opened:
        return f"opened the skill {opened[0]}"
    use = next((use for use, _ in _uses(execution.events)), None)
    if use is None:
        return AT_ONCE
    given = use.get("input")
    values = given.values() if isinstance(given, Mapping) else ()
    told = " ".join(next((one for one in values if isinstance(one, str)), "").split())
    told = told if len(told) <= LONGEST else f"{told[:LONGEST]} …"
    return f"used {use.get('name')}: {told}" if told else f"used {use.get('name')}"


def _asked(use: Block) -> str | None:
    """The skill that a use of a tool would open; None where it would open none."""
    given = use.get("input")
    if not isinstance(given, Mapping):
        return None
    if use.get("name") == "Skill":
        wanted = given.get("skill")
        return wanted.strip().lstrip("/") if isinstance(wanted, str) else None
    path = given.get("file_path")
    if use.get("name") != "Read" or not isinstance(path, str):
        return None
    file = PurePosixPath(path)
    return file.parent.name if file.name == "SKILL.md" else None


def _uses(events: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Block, Block | None]]:
    """The uses of tools, in order, each with its result; None where none came."""
    every = [
        (event.get("type"), block)
        for event in events
        for block in blocks(event)
        if block.get("type") in ("tool_use", "tool_result")
    ]
    results = {
        block.get("tool_use_id"): block for _, block in every if block["type"] == "tool_result"
    }
    for kind, block in every:
        if kind == "assistant" and block["type"] == "tool_use":
            yield block, results.get(block.get("id"))
