"""A transcript as a judge reads it: what the executor said, did and saw.

What would tell the side is not shown: what the harness said to the executor (its prompt, its
reminders, the list of skills) and calls that opened a skill, with their results and what was
said when nothing else was done. That is the same on all sides, so its absence tells nothing; how
often it was done is recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import decoded, open_file
from skill_eval_nb.documents.transcript import (
    Event,
    blocks,
    message_of,
    read_events,
    role_of,
    text_of,
)

MOST_BYTES = 64 * 2**20
_SKILL_FILES = re.compile(r"SKILL\.md|\.claude/skills/|(?:^|[\s\"'=;|&])/skills/", re.IGNORECASE)
_WRITING = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
"""Tools that change files: a task may be to write a skill."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript in pieces; `final` is the last thing that the executor said."""

    pieces: tuple[str, ...]
    final: str | None
    setup_calls: int = 0
    reason: str | None = None

    @property
    def text(self) -> str:
        """The pieces in one."""
        return "\n".join(self.pieces)


def transcript_of(path: Path) -> Transcript:
    """Read a transcript: one JSON object a line (or a list of them), else plain text.

    Never raises for what is in the file; `reason` says why there is nothing.
    """
    try:
        with open_file(path, path.parent) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return Transcript((), None, reason=f"it cannot be read ({error.strerror or error})")
    if len(data) > MOST_BYTES:
        return Transcript((), None, reason=f"it has more than {MOST_BYTES:,} bytes")
    text = decoded(data)
    if text is None:
        return Transcript((), None, reason="it is no text")
    read = read_events(text)
    if read is None or not any(map(_says, read.events)):
        return Transcript((text,), None) if text.strip() else Transcript((), None)
    return _transcript([event.value for event in read.events])


def _says(event: Event) -> bool:
    """Whether it is a message, in a form that is known."""
    message = message_of(event.value)
    return isinstance(message.get("content"), str | list) or "tool_calls" in message


def _transcript(events: Sequence[Mapping[str, Any]]) -> Transcript:
    pieces: list[str] = []
    final: int | None = None
    hidden: set[str] = set()
    result = next(
        (event["result"] for event in reversed(events) if isinstance(event.get("result"), str)),
        None,
    )
    for event in events:
        role = role_of(event)
        if role not in ("assistant", "user"):
            continue
        for kind, piece in _pieces(blocks(event), role, hidden):
            if kind == "said":
                final = len(pieces)
            pieces.append(piece)
    if final is None:
        return Transcript(tuple(pieces), result, len(hidden))
    last = pieces.pop(final)
    return Transcript(tuple(pieces), last.removeprefix("[executor] "), len(hidden))


def _pieces(
    parts: Sequence[Mapping[str, Any]], role: str, hidden: set[str]
) -> Iterator[tuple[str, str]]:
    """What one message tells; calls that opened a skill are added to `hidden`."""
    calls = [block for block in parts if block.get("type") == "tool_use"]
    set_up = bool(calls) and all(map(_opens_skill, calls))  # "The skill fits this task."
    for block in parts:
        kind = block.get("type")
        if kind == "text" and role == "assistant" and str(block.get("text") or "").strip():
            if not set_up:
                yield "said", f"[executor] {block['text']}"
        elif kind == "tool_use" and _opens_skill(block):
            hidden.add(str(block.get("id", "")))
        elif kind == "tool_use":
            yield "did", f"[call of {block.get('name')}] {_compact(block.get('input'))}"
        elif kind == "tool_result" and str(block.get("tool_use_id")) not in hidden:
            failed = " (an error)" if block.get("is_error") else ""
            yield "saw", f"[result{failed}] {text_of(block.get('content'))}"


def _opens_skill(block: Mapping[str, Any]) -> bool:
    if block.get("name") == "Skill":
        return True
    if str(block.get("name")) in _WRITING:
        return False
    arguments = block.get("input")
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    return any(isinstance(value, str) and _SKILL_FILES.search(value) for value in values)


def _compact(value: Any) -> str:
    """A call's input: one string as it is, more of them as JSON."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return json.dumps(value, ensure_ascii=False)
