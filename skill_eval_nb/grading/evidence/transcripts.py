"""A transcript as a judge reads it: what the executor said, did and saw.

What would tell the side is not shown: what the harness said to the executor (its prompt, its
reminders, the list of skills) and calls that opened a skill, with their results and what was
said when nothing else was done. That is the same on all sides, so its absence tells nothing; how
often it was done is recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import decoded, open_file

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
    events = _events(text)
    if events is None:
        return Transcript((text,), None) if text.strip() else Transcript((), None)
    return _transcript(events)


def _events(text: str) -> list[dict[str, Any]] | None:
    """The events of a transcript; None where it is no list of JSON objects."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        found = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
    if len(found) == 1 and isinstance(found, list) and isinstance(found[0], list):
        found = found[0]
    if isinstance(found, dict):
        found = next((found[key] for key in ("messages", "events") if key in found), None)
    if not isinstance(found, list) or not all(isinstance(event, dict) for event in found):
        return None
    known = [event for event in found if isinstance(_message(event).get("content"), (str, list))]
    return found if known else None


def _message(event: dict[str, Any]) -> dict[str, Any]:
    inner = event.get("message")
    return inner if isinstance(inner, dict) else event


def _transcript(events: list[dict[str, Any]]) -> Transcript:
    pieces: list[str] = []
    final: int | None = None
    hidden: set[str] = set()
    result = next(
        (event["result"] for event in reversed(events) if isinstance(event.get("result"), str)),
        None,
    )
    for event in events:
        message = _message(event)
        role = message.get("role") or event.get("type")
        if role not in ("assistant", "user"):
            continue
        for kind, piece in _pieces(message.get("content"), role, hidden):
            if kind == "said":
                final = len(pieces)
            pieces.append(piece)
    if final is None:
        return Transcript(tuple(pieces), result, len(hidden))
    last = pieces.pop(final)
    return Transcript(tuple(pieces), last.removeprefix("[executor] "), len(hidden))


def _pieces(content: Any, role: str, hidden: set[str]) -> Iterator[tuple[str, str]]:
    """What one message tells; calls that opened a skill are added to `hidden`."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts = content if isinstance(content, list) else []
    blocks = [block for block in parts if isinstance(block, dict)]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    set_up = bool(calls) and all(map(_opens_skill, calls))  # "The skill fits this task."
    for block in blocks:
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
            yield "saw", f"[result{failed}] {_result(block.get('content'))}"


def _opens_skill(block: dict[str, Any]) -> bool:
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


def _result(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", f"({part.get('type')})")) if isinstance(part, dict) else str(part)
        for part in parts
    )
