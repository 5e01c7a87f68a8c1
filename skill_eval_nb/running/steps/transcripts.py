"""What happened in a run, as lines of JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LONGEST = 20_000
"""Characters of one piece of text in the Markdown; the lines of JSON hold all of it."""

_TICKS = re.compile(r"`{3,}")


def as_lines(events: Iterable[Mapping[str, Any]]) -> str:
    """`transcript.jsonl`: each event as it came, one a line."""
    return "".join(json.dumps(event, ensure_ascii=True) + "\n" for event in events)


def as_markdown(prompt: str, events: Iterable[Mapping[str, Any]], reason: str | None = None) -> str:
    """`transcript.md`: the prompt, what the agent said and did, and how it ended.

    What was quoted stands in fences, so that nothing in it is taken for Markdown. A piece
    that is longer than `LONGEST` is cut, which is said, with the file that holds all of it.

    Args:
        prompt: what the agent was asked.
        events: what happened, in the form that `Execution` describes.
        reason: why the run errored, where it did.
    """
    pieces = ["# Transcript", "## Prompt", _fenced(prompt)]
    seen: set[str] = set()
    for event in events:
        pieces += _told(event, seen)
    if reason is not None:
        pieces += ["## Errored", _fenced(reason)]
    return "\n\n".join(pieces) + "\n"


def blocks(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The content blocks of an assistant or user event; a bare text counts as one."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping)]


def _told(event: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    kind = event.get("type")
    if kind == "assistant":
        yield from _heading(event, seen)
        for block in blocks(event):
            yield from _of_assistant(block)
    elif kind == "user":
        for block in blocks(event):
            yield from _of_user(block)
    elif kind == "result":
        yield f"## Result: {event.get('subtype') or 'unstated'}"
        if event.get("is_error"):
            yield _fenced(str(event.get("result") or event.get("error") or "no reason was given"))


def _heading(event: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """One heading an answer, though its blocks may come as events of their own."""
    message = event.get("message")
    id_ = message.get("id") if isinstance(message, Mapping) else None
    if not isinstance(id_, str):
        id_ = f"without an id {len(seen)}"
    if id_ not in seen:
        seen.add(id_)
        at = event.get("timestamp")
        yield f"## Answer {len(seen)}" + (f" ({at})" if isinstance(at, str) else "")


def _of_assistant(block: Mapping[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        if str(block.get("text", "")).strip():
            yield _fenced(str(block["text"]))
    elif kind == "thinking":
        if str(block.get("thinking", "")).strip():
            yield "Thinking:"
            yield _fenced(str(block["thinking"]))
    elif kind == "tool_use":
        yield f"Tool `{_plain(block.get('name'))}`:"
        yield from _input(block.get("input"))
    else:
        yield f"A block of type `{_plain(kind)}`."


def _input(given: Any) -> Iterator[str]:
    """A tool's input: what is long or has lines stands for itself, to be read as it is."""
    if not isinstance(given, Mapping):
        yield _fenced(json.dumps(given, ensure_ascii=False), "json")
        return
    long = {key: value for key, value in given.items() if isinstance(value, str) and "\n" in value}
    short = {key: value for key, value in given.items() if key not in long}
    if short or not long:
        yield _fenced(json.dumps(short, ensure_ascii=False), "json")
    for key, value in long.items():
        yield f"`{_plain(key)}`:"
        yield _fenced(value)


def _of_user(block: Mapping[str, Any]) -> Iterator[str]:
    if block.get("type") != "tool_result":
        if block.get("type") == "text":
            yield "Told to the agent:"
            yield _fenced(str(block.get("text", "")))
        return
    yield "Answer of the tool, an error:" if block.get("is_error") else "Answer of the tool:"
    yield _fenced(_text(block.get("content")))


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


def _fenced(text: str, language: str = "text") -> str:
    """Text in a fence that nothing inside can close."""
    if len(text) > LONGEST:
        left_out = len(text) - LONGEST
        text = f"{text[:LONGEST]}\n({left_out:,} more characters: see transcript.jsonl)"
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _plain(name: Any) -> str:
    return re.sub(r"[`\s]+", " ", str(name))[:80]
