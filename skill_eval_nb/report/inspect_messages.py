"""The transcript of a run as messages of inspect_ai."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..disk import read_bytes
from ..documents import Faults, NotJSON, parse
from ..documents.tools import Part

if TYPE_CHECKING:
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageTool,
        ChatMessageUser,
        Content,
    )

Block = dict[str, Any]


def messages_of(
    path: Path, root: str, prompt: str | None, own: str, losses: Counter[str]
) -> list[ChatMessage]:
    """The messages of a `transcript.jsonl`, the prompt before them; none where there is none.

    Args:
        path: the transcript.
        root: the folder that no link may lead out of.
        prompt: what the run was asked.
        own: what the ids of the messages begin with.
        losses: what could not be read, or has no place.
    """
    from inspect_ai.model import ChatMessageUser

    try:
        lines = read_bytes(path, root).splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        losses[f"a transcript cannot be read: {fault.strerror}"] += 1
        return []
    found: list[ChatMessage] = []
    calls: dict[str, str] = {}
    answer = None
    for role, message in _events(lines, losses):
        blocks = message.get("content")
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        parts = [block for block in blocks if isinstance(block, dict)] if blocks else []
        if role == "user":
            found += map(lambda block: _input(block, calls), parts)  # noqa: C417
        elif answer is not None and answer == message.get("id") and found[-1].role == "assistant":
            _extend(found[-1], _answer(parts, calls))  # an answer may come a block a line
        else:
            found.append(_answer(parts, calls))
        answer = message.get("id") if role == "assistant" else None
    if found and prompt and not (found[0].role == "user" and prompt in found[0].text):
        found.insert(0, ChatMessageUser(content=prompt))
    for at, message in enumerate(found):
        message.id = f"{own}-{at}"
    return found


def _events(lines: list[bytes], losses: Counter[str]) -> Iterator[tuple[str, Block]]:
    """Who speaks, and the message, of each line that has one; no text of it holds a key."""
    lost = False
    for line in filter(bytes.strip, lines):
        try:
            event = parse(line, Faults())
        except NotJSON:
            event = None
        role = event.get("type") if isinstance(event, dict) else None
        message = event.get("message") if isinstance(event, dict) else None
        if role in ("assistant", "user") and isinstance(message, dict):
            yield role, Part(message).clean()
        elif event is None or role in ("assistant", "user"):
            lost = True
    if lost:
        losses["lines of a transcript that are no JSON, or no message, are left out"] += 1


def _answer(blocks: list[Block], calls: dict[str, str]) -> ChatMessageAssistant:
    """An answer; the names of the tools that it calls are added to `calls`, by their ids."""
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.tool import ToolCall

    tool_calls = []
    for block in blocks:
        if block.get("type") == "tool_use":
            given = block.get("input")
            given = given if isinstance(given, dict) else {"input": given}
            tool_calls.append(ToolCall(str(block.get("id")), str(block.get("name")), given))
    calls |= {call.id: call.function for call in tool_calls}
    content = [_content(block) for block in blocks if block.get("type") != "tool_use"]
    return ChatMessageAssistant(content=content, tool_calls=tool_calls or None)


def _extend(before: ChatMessage, more: ChatMessageAssistant) -> None:
    """Add to an answer what a further line has of it."""
    assert before.role == "assistant"
    before.content = [*before.content, *more.content]  # type: ignore[list-item]
    before.tool_calls = [*(before.tool_calls or []), *(more.tool_calls or [])] or None


def _input(block: Block, calls: dict[str, str]) -> ChatMessageUser | ChatMessageTool:
    """A text of the user, or what a tool gave."""
    from inspect_ai.model import ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCallError

    if block.get("type") != "tool_result":
        return ChatMessageUser(content=[_content(block)])
    text, call = _words(block.get("content")), str(block.get("tool_use_id"))
    return ChatMessageTool(
        content=text,
        tool_call_id=call,
        function=calls.get(call),
        error=ToolCallError("unknown", text) if block.get("is_error") else None,
    )


def _content(block: Block) -> Content:
    """A block as inspect_ai has it; one of another kind as JSON."""
    from inspect_ai.model import ContentReasoning, ContentText

    if block.get("type") == "thinking":
        return ContentReasoning(reasoning=str(block.get("thinking") or ""))
    return ContentText(
        text=str(block.get("text")) if block.get("type") == "text" else json.dumps(block)
    )


def _words(content: Any) -> str:
    """What a tool gave, as text; JSON of what is none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(
        str(block["text"]) if isinstance(block, dict) and "text" in block else json.dumps(block)
        for block in blocks
        if block is not None
    )
