"""The harness's lines, as a transcript keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from skill_eval_nb.grading.sandbox import left_words

_INIT = "cwd tools model permissionMode skills mcp_servers plugins claude_code_version".split()
_RESULT = (
    "subtype is_error result errors stop_reason terminal_reason api_error api_error_status "
    "num_turns duration_ms duration_api_ms usage permission_denials"
).split()
_MESSAGE = "id type role model content stop_reason".split()
_SAID = ("attempt", "max_retries", "retry_delay_ms", "error_status", "error", "content", "level")


def events_of(lines: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Lines of stream-json as events: each message once, and nothing about this machine.

    The harness writes an answer of the model as one line a content block, each under the
    message's id and with the usage of its beginning: they become one event without usage,
    which the result's line has for all. Of other lines, what no reader needs is left out.

    >>> lines = [
    ...     {"type": "assistant", "timestamp": "t1", "uuid": "u",
    ...      "message": {"id": "m", "content": [{"type": "text", "text": "Hi"}], "usage": {}}},
    ...     {"type": "assistant", "timestamp": "t2", "message": {"id": "m", "content": [{}]}},
    ...     {"type": "rate_limit_event", "timestamp": "t3"},
    ... ]
    >>> events_of(lines)
    ({'type': 'assistant', 'timestamp': 't1',
      'message': {'id': 'm', 'content': [{'type': 'text', 'text': 'Hi'}, {}]}},)
    """
    events: list[dict[str, Any]] = []
    answers: dict[str, list[Any]] = {}
    for line in lines:
        kind = line.get("type")
        event = {name: line[name] for name in ("type", "subtype", "timestamp") if name in line}
        if kind == "system":
            event |= _of(line, _INIT if line.get("subtype") == "init" else _SAID)
            if len(event) == 3:  # nothing that is kept: a signal from program to program
                continue
        elif kind == "result":
            event |= _of(line, _RESULT)
        elif kind in ("assistant", "user") and isinstance(line.get("message"), dict):
            message = _of(line["message"], _MESSAGE)
            if kind == "assistant" and isinstance(message.get("content"), list):
                message["content"] = content = list(message["content"])
                known = answers.setdefault(str(message.get("id")), content)
                if known is not content:
                    known.extend(content)
                    continue
            event |= _of(line, ("isSynthetic", "parent_tool_use_id")) | {"message": message}
        else:
            continue
        events.append(event)
    return tuple(events)


def event_of_left(left: int) -> tuple[dict[str, Any], ...]:
    """An event that tells what the harness left behind; none where that is nothing.

    >>> event_of_left(1)[0]["content"]
    '1 process it left behind was ended.'
    """
    return _told("left_behind", left_words(left)) if left else ()


def event_of_refusals(turned_away: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """An event that tells what was asked of the relay and refused; none where nothing was.

    >>> event_of_refusals(["GET /secret"])[0]["content"]
    'Not passed on to the model: GET /secret.'
    """
    if not turned_away:
        return ()
    return _told("turned_away", f"Not passed on to the model: {', '.join(turned_away)}.")


def _told(subtype: str, content: str) -> tuple[dict[str, Any], ...]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return ({"type": "system", "subtype": subtype, "timestamp": now, "content": content},)


def _of(value: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if value.get(name) is not None}
