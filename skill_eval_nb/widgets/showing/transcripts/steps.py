"""What an agent said and did, as steps: from whichever of the known forms tells it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

Who = Literal["agent", "thinking", "call", "result", "told", "system", "end"]
Event = Mapping[str, Any]

LISTS = ("messages", "events", "transcript")
"""Where an object that is a transcript has its events."""


@dataclass
class Step:
    """One thing that was said or done.

    Attributes:
        who: who said or did what.
        text: the words; of a call, the name of the tool.
        given: what a call was given.
        result: what a call gave; None where nothing is known of it.
        failed: whether it is an error.
        at: seconds since the first step; None where that is not known.
    """

    who: Who
    text: str
    given: Any = None
    result: str | None = None
    failed: bool = False
    at: float | None = None


@dataclass
class Course:
    """The steps in order, and what is not among them.

    Attributes:
        steps: what was said and done.
        others: events that are no steps, by type.
        damaged: lines that are no JSON object.
    """

    steps: list[Step] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    damaged: int = 0


def course_of(text: str) -> Course | None:
    """The steps that a transcript in JSON tells; None where it tells none.

    It has an event on each line (as ours, and Claude Code's stream), or is a list of events or
    messages, or an object that has one.
    """
    events, damaged = _events(text)
    course = Course(damaged=damaged)
    calls: dict[str, Step] = {}
    start: datetime | None = None
    for event in events:
        now = _instant(event)
        start = start or now
        at = (now - start).total_seconds() if now is not None and start is not None else None
        made = list(_steps(event, calls))
        for step in made:
            step.at = at
            if step.who != "result" or not _answered(step, calls):
                course.steps.append(step)
        if not made and not _is_answer(event):
            course.others[str(event.get("type") or event.get("role") or "unnamed")[:60]] += 1
    return course if course.steps else None


def _events(text: str) -> tuple[list[Event], int]:
    """The events, and how many lines are none."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return _by_line(text)
    if isinstance(whole, dict):
        listed = next((whole[key] for key in LISTS if isinstance(whole.get(key), list)), [whole])
    else:
        listed = whole if isinstance(whole, list) else []
    events: list[Event] = [one for one in listed if isinstance(one, dict)]
    return events, len(listed) - len(events)


def _by_line(text: str) -> tuple[list[Event], int]:
    events: list[Event] = []
    damaged = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            events.append(event)
        else:
            damaged += 1
    return events, damaged


def _steps(event: Event, calls: dict[str, Step]) -> Iterator[Step]:
    inner = event.get("message")
    message = inner if isinstance(inner, dict) else event
    role = message.get("role") or event.get("type")
    if event.get("type") == "result":
        yield _end(event)
    elif event.get("type") == "system" or role in ("system", "developer"):
        yield from _system(event, message)
    elif role in ("assistant", "user", "tool", "human", "ai"):
        for block in _blocks(message):
            yield from _of_block(block, role, calls)
        yield from _of_functions(message, calls)


def _blocks(message: Event) -> Iterator[Event]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield {
            "type": "tool_result",
            "tool_use_id": message.get("tool_call_id"),
            "content": content,
        }
    elif isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (one for one in content if isinstance(one, dict))


def _of_block(block: Event, role: Any, calls: dict[str, Step]) -> Iterator[Step]:
    kind = block.get("type")
    if kind in ("text", "output_text", "input_text"):
        if str(block.get("text", "")).strip():
            yield Step("agent" if role in ("assistant", "ai") else "told", str(block["text"]))
    elif kind == "thinking":
        if str(block.get("thinking", "")).strip():
            yield Step("thinking", str(block["thinking"]))
    elif kind in ("tool_use", "server_tool_use"):
        step = Step("call", str(block.get("name")), block.get("input"))
        calls[str(block.get("id"))] = step
        yield step
    elif isinstance(kind, str) and kind.endswith("tool_result"):
        said = _words(block.get("content"))
        of = str(block.get("tool_use_id"))
        yield Step("result", of, result=said, failed=bool(block.get("is_error")))
    else:
        yield Step("system", f"A block of type {kind}")


def _of_functions(message: Event, calls: dict[str, Step]) -> Iterator[Step]:
    """Calls as other models' messages have them."""
    asked = message.get("tool_calls")
    for one in asked if isinstance(asked, list) else []:
        function = one.get("function") if isinstance(one, dict) else None
        if isinstance(function, dict):
            step = Step("call", str(function.get("name")), _read(function.get("arguments")))
            calls[str(one.get("id"))] = step
            yield step


def _read(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        return arguments


def _answered(step: Step, calls: dict[str, Step]) -> bool:
    """Put a result to its call, where that is known and has none."""
    call = calls.get(step.text)
    if call is None or call.result is not None:
        return False
    call.result, call.failed = step.result, step.failed
    return True


def _is_answer(event: Event) -> bool:
    inner = event.get("message")
    message = inner if isinstance(inner, dict) else event
    return message.get("content") in ("", [], None) and "role" in message


def _system(event: Event, message: Event) -> Iterator[Step]:
    said = message.get("content")
    if isinstance(said, str) and said.strip():
        yield Step("system", said)
    elif event.get("subtype") == "init" or "model" in event:
        told = [f"Model {event['model']}"] if isinstance(event.get("model"), str) else []
        for key in ("tools", "skills"):
            names = event.get(key)
            if isinstance(names, list):
                told.append(f"{key}: {', '.join(map(str, names)) or 'none'}")
        yield Step("system", "; ".join(told) or "Begun")


def _end(event: Event) -> Step:
    failed = bool(event.get("is_error")) or event.get("subtype") not in (None, "success")
    told = [str(event.get("subtype") or ("error" if failed else "success"))]
    milliseconds, cost = event.get("duration_ms"), event.get("total_cost_usd")
    if isinstance(milliseconds, int | float):
        told.append(f"{milliseconds / 1000:,.1f} s")
    if isinstance(cost, int | float):
        told.append(f"${cost:,.4f}")
    said = event.get("result") or event.get("error")
    return Step("end", ", ".join(told), result=str(said) if said else None, failed=failed)


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False)
    return "\n".join(
        str(one.get("text", f"({one.get('type')})")) if isinstance(one, dict) else str(one)
        for one in content
    )


def _instant(event: Event) -> datetime | None:
    try:
        at = datetime.fromisoformat(event.get("timestamp", ""))
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
