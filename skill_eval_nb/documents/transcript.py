"""A transcript, read once: judge, viewer, checks, exports and the run driver read its events.

It has an event on each line (ours, and Claude Code's stream), or is a list of events or messages,
or an object that has one. Whoever's messages they are, their blocks are those of the Messages
API: `text`, `thinking`, `tool_use` with `id`, `name` and `input`, and `tool_result` with
`tool_use_id`, `content` and `is_error`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

LISTS = ("messages", "transcript", "events", "conversation", "turns")
"""Where an object that is a transcript has its events."""

_ROLES = {
    "ai": "assistant",
    "human": "user",
    "tool": "user",
    "function": "user",
    "developer": "system",
    "tool_use": "assistant",
    "tool_result": "user",
}


class Event(NamedTuple):
    """A message or an event, and the line that it stands on; 0 where it has none of its own."""

    line: int
    value: Mapping[str, Any]


class Events(NamedTuple):
    """What a transcript tells in order, and how many of its lines or parts are no event."""

    events: list[Event]
    damaged: int


def read_events(text: str) -> Events | None:
    r"""The events of a transcript; None where it is plain text, or JSON of something else.

    Most of its lines are events; one that was cut off is counted as damaged.

    >>> read_events('{"role": "user", "content": "Go."}\n{"role": "assis')
    Events(events=[Event(line=1, value={'role': 'user', 'content': 'Go.'})], damaged=1)
    >>> read_events("# Transcript\n\n[1] said nothing") is None
    True
    """
    whole = _parsed(text)
    if whole is None:
        return _by_line(text)
    if isinstance(whole, dict):
        parts = next((whole[key] for key in LISTS if isinstance(whole.get(key), list)), [whole])
    else:
        parts = whole if isinstance(whole, list) else []
    events = [Event(0, part) for part in parts if _is_event(part)]
    return Events(events, len(parts) - len(events)) if events else None


def _by_line(text: str) -> Events | None:
    filled = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    parsed = ((at, _parsed(line)) for at, line in filled if line.lstrip()[0] == "{")
    events = [Event(number, value) for number, value in parsed if isinstance(value, dict)]
    damaged = len(filled) - len(events)
    return Events(events, damaged) if events and damaged <= len(events) else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and not {"role", "type", "message"}.isdisjoint(value)


def message_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of an event; of one that has none, the event, which may be a message."""
    message = event.get("message")
    return message if isinstance(message, Mapping) else event


def role_of(event: Mapping[str, Any]) -> Any:
    """Whose event it is: `assistant`, `user` (who also hands over what a tool gave), `system`.

    Else what it says itself, which may be anything, or nothing.
    """
    role = message_of(event).get("role") or event.get("type")
    return _ROLES.get(role, role) if isinstance(role, str) else role


def blocks(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What an event says, does and hands over, in blocks; a bare text counts as one.

    >>> call = {"id": "c", "function": {"name": "sh", "arguments": '{"command": "ls"}'}}
    >>> blocks({"role": "assistant", "content": None, "tool_calls": [call]})
    [{'type': 'tool_use', 'id': 'c', 'name': 'sh', 'input': {'command': 'ls'}}]
    >>> blocks({"role": "tool", "tool_call_id": "c", "content": "a.txt"})
    [{'type': 'tool_result', 'tool_use_id': 'c', 'content': 'a.txt'}]
    """
    if event.get("type") in ("tool_use", "tool_result"):
        return [event]
    message = message_of(event)
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        call = message.get("tool_call_id")
        return [{"type": "tool_result", "tool_use_id": call, "content": content}]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    parts = content if isinstance(content, list) else []
    calls = message.get("tool_calls")
    return [
        *(part for part in parts if isinstance(part, Mapping)),
        *map(_tool_use, calls if isinstance(calls, list) else []),
    ]


def _tool_use(call: Any) -> dict[str, Any]:
    """A call of a function as other models' messages have it."""
    call = call if isinstance(call, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    given = function.get("arguments")
    if isinstance(given, str):
        parsed = _parsed(given)
        given = given if parsed is None else parsed
    return {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": given}


def text_of(content: Any, other: str = "({})") -> str:
    r"""What a tool gave, as text; of a block that has none, its type, in the words of `other`.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image"}])
    'a\n(image)'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False)
    return "\n".join(
        str(block.get("text", other.format(block.get("type"))))
        if isinstance(block, Mapping)
        else str(block)
        for block in content
    )


def instant(event: Mapping[str, Any]) -> datetime | None:
    """When an event came, in UTC; None where it does not say so."""
    try:
        at = datetime.fromisoformat(event.get("timestamp", ""))
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
