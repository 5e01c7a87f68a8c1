"""What an agent said and did, as pieces of Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .quoting import code, fenced, folded, named, quoted

_BASE = "Base directory for this skill:"
"""What leads in a skill's body where an agent opens the skill."""
_WRITING = ("Write", "Edit", "MultiEdit")
_INLINE = 100
"""Characters of an argument that may stand in the line of its call."""

Event = Mapping[str, Any]


def blocks(event: Event) -> list[Mapping[str, Any]]:
    """The content blocks of an assistant or user event; a bare text counts as one."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping)]


@dataclass
class Course:
    """The events, with what one must know of all of them to tell one.

    Attributes:
        events: what happened.
        calls: each call of a tool by its id.
        final: the place of the event that holds the agent's last words.
        start: when the first event came.
        turns: the ids of the answers that have been told.
    """

    events: tuple[Event, ...]
    calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    final: int | None = None
    start: datetime | None = None
    turns: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, events: tuple[Event, ...]) -> Course:
        """Look through the events."""
        run = cls(events)
        for place, event in enumerate(events):
            run.start = run.start or _instant(event)
            if event.get("type") != "assistant":
                continue
            kinds = [block.get("type") for block in blocks(event)]
            uses = [block for block in blocks(event) if block.get("type") == "tool_use"]
            for number, block in enumerate(uses):
                id_ = block.get("id")
                run.calls[id_ if isinstance(id_, str) else f"{place} {number}"] = block
            run.final = None if uses else place if "text" in kinds else run.final
        return run

    def since(self, event: Event) -> str:
        """When an event came, in seconds since the first, in brackets."""
        at = _instant(event)
        if at is None or self.start is None:
            return ""
        return f" ({(at - self.start).total_seconds():.1f} s)"


def _instant(event: Event) -> datetime | None:
    try:
        at = datetime.fromisoformat(event.get("timestamp", ""))
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def told(event: Event, run: Course) -> Iterator[str]:
    """One event in Markdown; events are told in the order they came."""
    if event.get("type") == "assistant":
        yield from _heading(event, run)
        final = run.final is not None and event is run.events[run.final]
        for block in blocks(event):
            yield from _of_assistant(block, final=final)
            final = final and block.get("type") != "text"  # one heading for all of it
    elif event.get("type") == "system" and isinstance(event.get("content"), str):
        yield "Told by the executor:"
        yield quoted(event["content"])
    elif event.get("type") == "user":
        for block in blocks(event):
            yield from _of_user(block, event, run)


def _heading(event: Event, run: Course) -> Iterator[str]:
    """One heading an answer, though its blocks may come as events of their own."""
    message = event.get("message")
    id_ = message.get("id") if isinstance(message, Mapping) else None
    if not isinstance(id_, str):
        id_ = f"without an id {len(run.turns)}"
    if id_ not in run.turns:
        run.turns.append(id_)
        yield f"## Turn {len(run.turns)}{run.since(event)}"


def _of_assistant(block: Mapping[str, Any], *, final: bool) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        if str(block.get("text", "")).strip():
            if final:
                yield "### Final message"
            yield quoted(str(block["text"]))
    elif kind == "thinking":
        if str(block.get("thinking", "")).strip():
            yield "Thinking:"
            yield fenced(str(block["thinking"]))
    elif kind == "tool_use":
        yield from _call(block.get("name"), block.get("input"))
    else:
        yield f"A block of type {code(kind)}."


def _call(name: Any, given: Any) -> Iterator[str]:
    """A call of a tool: what is long or has lines stands for itself, to be read as it is."""
    if not isinstance(given, Mapping):
        yield f"Calls {named(name)}:"
        yield fenced(json.dumps(given, ensure_ascii=False), "json")
        return
    rest = dict(given)
    command = rest.pop("command") if isinstance(rest.get("command"), str) else None
    long = {key: rest.pop(key) for key in [*rest] if "\n" in str(rest[key])}
    only = next(iter(rest.values())) if len(rest) == 1 else None
    if isinstance(only, str) and len(only) <= _INLINE and "`" not in only:
        yield f"Calls {named(name)}: {code(only)}"
        rest = {}
    else:
        yield f"Calls {named(name)}:"
    if command is not None:
        yield fenced(command, "sh")
    if rest:
        yield fenced(json.dumps(rest, ensure_ascii=False), "json")
    for key, value in long.items():
        yield f"{code(key)}:"
        yield fenced(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _of_user(block: Mapping[str, Any], event: Event, run: Course) -> Iterator[str]:
    if block.get("type") == "text":
        said = str(block.get("text", ""))
        yield "### Told to the agent"
        yield _body(said) if said.startswith(_BASE) else fenced(said)
    if block.get("type") != "tool_result":
        return
    name, said = tool_of(run, block), _text(block.get("content"))
    error = ", an error" if block.get("is_error") else ""
    yield f"### Result of {'a tool' if name is None else named(name)}{error}{run.since(event)}"
    if name == "Skill" and said.startswith(_BASE):
        yield _body(said)
    elif not error and name not in _WRITING and _asked_for_skill(run, block):
        yield folded(f"what it showed of SKILL.md, {len(said):,} characters", said)
    else:
        yield fenced(said)


def _body(said: str) -> str:
    body = said.partition("\n\n")[2]
    return folded(f"body of SKILL.md, {len(body):,} characters", said)


def _asked_for_skill(run: Course, block: Mapping[str, Any]) -> bool:
    id_ = block.get("tool_use_id")
    call = run.calls.get(id_) if isinstance(id_, str) else None
    return call is not None and "SKILL.md" in str(call.get("input"))


def tool_of(run: Course, block: Mapping[str, Any]) -> Any:
    """The tool that a result is of; None where it is not known."""
    id_ = block.get("tool_use_id")
    return run.calls[id_].get("name") if isinstance(id_, str) and id_ in run.calls else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False)
    parts = []
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "text":
            parts.append(str(block.get("text", "")))
        else:
            kind = block.get("type") if isinstance(block, Mapping) else type(block).__name__
            parts.append(f"({kind}, see transcript.jsonl)")
    return "\n".join(parts)
