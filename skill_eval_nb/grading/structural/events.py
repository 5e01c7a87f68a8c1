"""A transcript of messages, in whichever form, and the failures that it tells of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .error_lines import is_error

TEXT_KEYS = ("text", "content", "output", "stdout", "stderr", "message", "error", "result")
_EXIT_CODE = re.compile(r"Exit code \d+")


class Event(NamedTuple):
    """A message or event, and the line that it begins on; 0 where that is not known."""

    line: int
    value: Mapping[str, Any]


def read_events(text: str) -> list[Event] | None:
    """The messages of a transcript: a JSON value a line, or one JSON list or object of them.

    None where it is plain text. A last line that was cut off is passed over, and so are
    lines that hold something else.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    whole = _parsed(text)
    if whole is not None:
        return [Event(0, one) for one in _messages(whole)] or None
    lines = text.split("\n")
    events = [
        Event(number, one)
        for number, line in enumerate(lines, 1)
        if line.lstrip()[:1] == "{" and isinstance(one := _parsed(line), dict)
    ]
    n_lines = sum(1 for line in lines if line.strip())
    return events if events and 2 * len(events) >= n_lines else None


def _parsed(text: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _messages(whole: Any) -> list[Mapping[str, Any]]:
    if isinstance(whole, dict):
        for key in ("messages", "transcript", "events", "conversation", "turns"):
            if isinstance(whole.get(key), list):
                return _messages(whole[key])
        return [whole] if "role" in whole or "type" in whole else []
    return [one for one in whole if isinstance(one, dict)] if isinstance(whole, list) else []


def failures(events: Iterable[Event]) -> Iterator[tuple[int | str, str]]:
    """Each failure: where it is told (a line, or the number of the message), and what it says."""
    tools: dict[str, str] = {}
    for number, (line, event) in enumerate(events, 1):
        where = line or f"message {number}"
        for block in _blocks(event):
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                tools[block["id"]] = str(block.get("name"))
            elif block.get("type") == "tool_result" and block.get("is_error") is True:
                tool = tools.get(str(block.get("tool_use_id")), "a tool")
                yield where, f"{tool} failed: {_first_line(block.get('content'))}"
        if told := _own_failure(event):
            yield where, told


def _blocks(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if event.get("type") in ("tool_use", "tool_result"):
        return [event]
    message = event.get("message")
    content = (message if isinstance(message, dict) else event).get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _own_failure(event: Mapping[str, Any]) -> str | None:
    """What an event itself says of a failure: the run's end, an API's error, a tool's answer."""
    kind = event.get("type")
    if kind == "result" and (event.get("is_error") is True or _ended_badly(event)):
        why = _first_line(event.get("result") or event.get("errors") or "")
        return f"the run ended with {event.get('subtype') or 'an error'}{f': {why}' if why else ''}"
    if kind == "error":
        return f"an error was reported: {_first_line(event.get('error') or event.get('message'))}"
    if event.get("role") in ("tool", "function"):
        lines = _text(event.get("content")).split("\n")
        told = next((line for line in lines if is_error(line)), None)
        return None if told is None else f"{event.get('name') or 'a tool'} failed: {told}"
    return None


def _ended_badly(event: Mapping[str, Any]) -> bool:
    return str(event.get("subtype") or "").startswith("error")


def _text(value: Any, depth: int = 8) -> str:
    """The text in a value, also where it is wrapped in others, up to a depth."""
    if isinstance(value, str) or value is None:
        return value or ""
    if depth == 0:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(one, depth - 1) for one in value)))
    if isinstance(value, dict):
        return next((_text(value[key], depth - 1) for key in TEXT_KEYS if value.get(key)), "")
    return str(value)


def _first_line(value: Any) -> str:
    lines = [one for line in _text(value).split("\n") if (one := line.strip())]
    at = next((place for place, line in enumerate(lines) if is_error(line)), 0)
    # Claude Code puts the exit code before what the command said.
    last = at + 2 if lines[at : at + 1] and _EXIT_CODE.fullmatch(lines[at]) else at + 1
    return ": ".join(lines[at:last]) or "without a word"
