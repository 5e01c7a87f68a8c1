"""A transcript, read once: judge, viewer, checks, exports and the run driver read its events.

It has an event on each line (ours, and Claude Code's stream), or is a list of events or messages,
or an object that has one, such as a sample of inspect_ai or a trajectory of Vally. Their
blocks have the form of the Messages API, whatever wrote them: `text`, `thinking`, `tool_use` with
`id`, `name` and `input`, and `tool_result` with `tool_use_id`, `content` and `is_error`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

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
    "tool_call": "assistant",
}


class Event(NamedTuple):
    """A message or an event, and the line that it stands on; 0 if it has none of its own."""

    line: int
    value: Mapping[str, Any]


class Events(NamedTuple):
    """What a transcript tells in order, and how many of its lines or parts are no event."""

    events: list[Event]
    damaged: int


def read_events(text: str) -> Events | None:
    r"""The events of a transcript; None if it is plain text, or JSON of something else.

    Most of its lines are events; one that was cut off is counted as damaged.

    >>> read_events('{"role": "user", "content": "Go."}\n{"role": "assis')
    Events(events=[Event(line=1, value={'role': 'user', 'content': 'Go.'})], damaged=1)
    >>> read_events("# Transcript\n\n[1] said nothing") is None
    True
    """
    whole = _parse_or_none(text)
    if whole is None:
        return _parse_lines(text)
    if isinstance(whole, dict):
        went = whole.get("trajectory")
        whole = went if isinstance(went, dict) else whole
        parts = next((whole[key] for key in LISTS if isinstance(whole.get(key), list)), [whole])
    else:
        parts = whole if isinstance(whole, list) else []
    events = [Event(0, part) for part in parts if _is_event(part)]
    return Events(events, len(parts) - len(events)) if events else None


def _parse_lines(text: str) -> Events | None:
    filled = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    parsed = ((at, _parse_or_none(line)) for at, line in filled if line.lstrip()[0] == "{")
    events = [Event(number, value) for number, value in parsed if isinstance(value, dict)]
    damaged = len(filled) - len(events)
    return Events(events, damaged) if events and damaged <= len(events) else None


def _parse_or_none(text: str) -> Any:
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
    """Who an event is from: `assistant`, `user` (which also returns the result of tools), `system`.

    Else what it says itself, which may be anything, or nothing.
    """
    role = message_of(event).get("role") or event.get("type")
    return _ROLES.get(role, role) if isinstance(role, str) else role


def event_blocks(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What an event says, does and hands over, in blocks; a bare text counts as one.

    >>> call = {"id": "c", "function": {"name": "sh", "arguments": '{"command": "ls"}'}}
    >>> event_blocks({"role": "assistant", "content": None, "tool_calls": [call]})
    [{'type': 'tool_use', 'id': 'c', 'name': 'sh', 'input': {'command': 'ls'}}]
    >>> event_blocks({"role": "tool", "tool_call_id": "c", "content": "a.txt"})
    [{'type': 'tool_result', 'tool_use_id': 'c', 'content': 'a.txt'}]
    >>> event_blocks({"type": "tool_call",
    ...     "data": {"toolName": "sh", "arguments": {"command": "ls"}}})
    [{'type': 'tool_use', 'id': None, 'name': 'sh', 'input': {'command': 'ls'}}]
    """
    if event.get("type") in ("tool_use", "tool_result"):
        return [event]
    if event.get("type") == "tool_call":
        return [_tool_use(event.get("data"))]
    message = message_of(event)
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        call = message.get("tool_call_id")
        failed = {"is_error": True} if message.get("error") else {}
        return [{"type": "tool_result", "tool_use_id": call, "content": content, **failed}]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    parts = content if isinstance(content, list) else []
    calls = message.get("tool_calls")
    return [
        *(part for part in parts if isinstance(part, Mapping)),
        *map(_tool_use, calls if isinstance(calls, list) else []),
    ]


def _tool_use(call: Any) -> dict[str, Any]:
    """A call of a function as other models' messages and tools have it."""
    call = call if isinstance(call, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {"name": function} | call
    given = function.get("arguments")
    if isinstance(given, str):
        parsed = _parse_or_none(given)
        given = given if parsed is None else parsed
    id_ = call.get("id", call.get("toolCallId"))
    name = function.get("name") or call.get("toolName")
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


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


def event_time(event: Mapping[str, Any]) -> datetime | None:
    """When an event came, in UTC; None if it does not say so."""
    try:
        at = datetime.fromisoformat(event.get("timestamp", ""))
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


Who = Literal["agent", "thinking", "call", "result", "told", "system", "other", "end"]


@dataclass(slots=True)
class Step:
    """One thing that was said or done.

    Attributes:
        who: who said or did what; "other" is a block of another kind.
        text: the words; of a call, the name of the tool; of another block, its type.
        given: what a call was given; of a result, what came, as it came.
        result: what a call gave, for whom tells both as one; None if nothing is known of it.
        failed: whether it is an error.
        at: seconds since the first event with a time; None if that is not known.
        id: of a call and its results; None if it has none.
        call: of a result, the call that it answers; None if that is not known.
        turn: which of the agent's answers it is in, from 1; 0 if it is in none.
    """

    who: Who
    text: str
    given: Any = None
    result: str | None = None
    failed: bool = False
    at: float | None = None
    id: str | int | None = None
    call: Step | None = None
    turn: int = 0


class Told(NamedTuple):
    """An event, when it came (as `Step.at`), the steps that it tells, and the turn it is in.

    Turns are the agent's answers, counted from 1; 0 before the first.
    """

    event: Mapping[str, Any]
    at: float | None
    steps: list[Step]
    turn: int


def read_steps(events: Iterable[Mapping[str, Any]], other: str = "({})") -> Iterator[Told]:
    """What each event tells, in steps; blank words are none.

    Args:
        events: what happened.
        other: what stands for a part of a result that has no text, as in `text_of`.
    """
    calls: dict[str | int | None, Step] = {}
    answers: dict[Any, int] = {}
    start: datetime | None = None
    turn = 0
    for place, event in enumerate(events):
        now = event_time(event)
        start = start or now
        at = (now - start).total_seconds() if now is not None and start is not None else None
        role = role_of(event)
        if role == "assistant":
            id_ = message_of(event).get("id")  # its blocks may come as events of their own
            turn = answers.setdefault(id_ if isinstance(id_, str) else place, len(answers) + 1)
        speaker: Who = "agent" if role == "assistant" else "told" if role == "user" else "system"
        steps = [step for block in event_blocks(event) if (step := _step(block, speaker, other))]
        for step in steps:
            step.at = at
            step.turn = turn if role == "assistant" else 0
            if step.who == "call":
                calls[step.id] = step
            elif step.who == "result":
                step.call = calls.get(step.id)
        yield Told(event, at, steps, turn)


def _step(block: Mapping[str, Any], speaker: Who, other: str) -> Step | None:
    kind = str(block.get("type"))
    if kind in ("text", "output_text", "input_text", "thinking"):
        thinks = kind == "thinking"
        words = str(block.get("thinking" if thinks else "text") or "")
        return Step("thinking" if thinks else speaker, words) if words.strip() else None
    if kind.endswith("tool_use"):
        return Step("call", str(block.get("name")), block.get("input"), id=_id(block.get("id")))
    if kind.endswith("tool_result"):
        content, of = block.get("content"), _id(block.get("tool_use_id"))
        failed = block.get("is_error") is True
        return Step("result", text_of(content, other), content, failed=failed, id=of)
    return Step("other", kind)


def _id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) else None


def calls_once(steps: Iterable[Step]) -> list[Step]:
    """The calls of tools, each once, though it may have come twice in a turn."""
    calls = [step for step in steps if step.who == "call"]
    ids = ((call.turn, call.id, call.text) if call.id else at for at, call in enumerate(calls))
    return [*dict(zip(ids, calls, strict=True)).values()]


def bare_names(names: Iterable[Any]) -> set[str]:
    """Names of skills, without those of their plugins.

    >>> bare_names(["/tidy", "plugin:notes", None]) == {"tidy", "notes"}
    True
    """
    texts = (name for name in names if isinstance(name, str))
    return {text.strip().lstrip("/").rpartition(":")[2] for text in texts}


def skill_asked_for(call: Step) -> str | None:
    """The skill that a call of the tool Skill names; None if it is of another tool, or names none.

    >>> skill_asked_for(Step("call", "Skill", {"skill": "/tidy", "args": "notes"}))
    'tidy'
    """
    if call.text.lower() != "skill" or not isinstance(call.given, Mapping):
        return None
    named = (call.given.get(key) for key in ("skill", "command", "name"))
    return next((name.strip().lstrip("/") for name in named if isinstance(name, str)), None)


def has_failed(end: Mapping[str, Any]) -> bool:
    """Whether the event that ends a run says that it failed."""
    return bool(end.get("is_error")) or end.get("subtype") not in (None, "success")
