"""Read a request to `/v1/messages`: what it asks for, and its tokens.

A request is expected to have the form that the API accepts.

A token is four bytes of compact JSON, rounded up, so there are always fewer tokens than bytes in
the request. An image or document in base64 counts as 1,600 tokens, whatever its size. Nothing is
cached, whatever is marked for the cache.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..usage import encode_body
from . import Role, digest

BYTES_A_TOKEN = 4
MEDIA_TOKENS = 1_600


_MEDIA = re.compile(rb'"data":"[^"]*"')


def count(value: Any) -> int:
    """The tokens of a JSON value.

    >>> count("four"), count({"type": "image", "source": {"data": "A" * 10_000}}) < 1_700
    (2, True)
    """
    text, media = _MEDIA.subn(b"", encode_body(without_marks(value)))
    return -(-len(text) // BYTES_A_TOKEN) + MEDIA_TOKENS * media


def count_request(request: Mapping[str, Any]) -> int:
    """The input tokens of a request to `/v1/messages`."""
    parts = [*request.get("tools", ()), *_list_blocks(request.get("system"))]
    for message in request["messages"]:
        role = {"role": message["role"]}
        parts += [role | part for part in _list_blocks(message["content"])]
    return sum(map(count, [*parts, *filter(None, [request.get("output_config")])]))


def _list_blocks(content: Any) -> list[Any]:
    """The blocks of a content; a plain text is one block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def without_marks(value: Any) -> Any:
    """A JSON value without its `cache_control` marks."""
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    if isinstance(value, dict):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    return value


REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
SKILL_BODY = "Base directory for this skill"
"""The beginning of a harness's message with the body of an opened skill."""

_ROLES: dict[str, Role] = {
    "winner": "comparator",
    "improvement_suggestions": "analyst",
    "drafts": "drafter",
    "same": "merger",
    "queries": "query_drafter",
    "evals": "eval_drafter",
    "dimensions": "judge",
    "expectations": "judge",
    "description": "proposer",
}
"""The role by a field that the answer must have; the first match counts."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that was used in the conversation, with its result."""

    name: str
    input: Mapping[str, Any]
    result: str = ""
    failed: bool = False


def schema_of(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that the answer must follow, if one is asked for."""
    return request.get("output_config", {}).get("format", {}).get("schema")


def role_of(request: Mapping[str, Any]) -> Role:
    """The role, by the fields of the requested schema; executor if there is no schema."""
    schema = schema_of(request)
    if schema is None:
        return "executor"
    names = schema.get("properties", ())
    found: list[Role] = [role for name, role in _ROLES.items() if name in names]
    return found[0] if found else "other"


_SESSION = re.compile(r'session_(?:id"\s*:\s*")?([\w-]+)')
"""The session in the user id of Claude Code, which is JSON, or ends with it."""


def session_of(request: Mapping[str, Any]) -> str:
    """The session of the request: `metadata.user_id`, else a digest of its beginning."""
    named = request.get("metadata", {}).get("user_id")
    if not named:
        return digest(request["model"], request.get("system"), request["messages"][0])
    found = _SESSION.search(named)
    return found[1] if found else named


def mark_of(request: Mapping[str, Any], length: int = 24) -> str:
    """A digest of everything a request asks; streaming and cache marks do not change it."""
    content = {name: value for name, value in request.items() if name != "stream"}
    return digest(without_marks(content), length=length)


def turn_of(request: Mapping[str, Any]) -> int:
    """The number of the request in its conversation, from 1."""
    return 1 + sum(message["role"] == "assistant" for message in request["messages"])


def texts(content: Any) -> Iterator[str]:
    """The texts of a message's content, which is a text or a list of blocks."""
    return (block["text"] for block in _list_blocks(content) if block["type"] == "text")


def message_texts(request: Mapping[str, Any]) -> list[str]:
    """All texts of the messages, in their order."""
    return [text for message in request["messages"] for text in texts(message["content"])]


def fences(tags: str) -> re.Pattern[str]:
    """A pattern for material between tags with a nonce: its `tag`, `name` (if any) and `text`.

    >>> fences("a|b").search('<a name="x" nonce="1">told</a nonce="2"></a nonce="1">')["text"]
    'told</a nonce="2">'
    """
    return re.compile(
        rf'<(?P<tag>{tags})(?: (?:name|file)="(?P<name>[^"]*)")?[^>]*? nonce="(?P<nonce>[^"]+)"'
        r'[^>]*>\n?(?P<text>.*?)\n?</(?P=tag) nonce="(?P=nonce)">',
        re.DOTALL,
    )


def task_of(request: Mapping[str, Any]) -> str:
    """The task: the last text in the user's first message that no harness added."""
    for message in request["messages"]:
        blocks = _list_blocks(message["content"])
        if message["role"] != "user" or any(block["type"] == "tool_result" for block in blocks):
            continue
        own = [REMINDER.sub("", text).strip() for text in texts(message["content"])]
        own = [text for text in own if text and not text.startswith(SKILL_BODY)]
        if own:
            return own[-1]
    return ""


def every_text(request: Mapping[str, Any]) -> str:
    """The system prompt, the tools' descriptions and all texts but the assistant's, joined."""
    others = [message for message in request["messages"] if message["role"] != "assistant"]
    tools = [tool.get("description", "") for tool in request.get("tools", ())]
    return "\n".join([*texts(request.get("system")), *tools, *message_texts({"messages": others})])


def tool_uses(request: Mapping[str, Any]) -> list[ToolUse]:
    """The tools used so far, in order."""
    messages = request["messages"]
    blocks = [block for message in messages for block in _list_blocks(message["content"])]
    results = {b["tool_use_id"]: b for b in blocks if b["type"] == "tool_result"}
    uses: list[ToolUse] = []
    for block in blocks:
        if block["type"] == "tool_use":
            result = results.get(block["id"], {})
            text = "\n".join(texts(result.get("content")))
            failed = bool(result.get("is_error")) or not result
            uses.append(ToolUse(block["name"], block["input"], text, failed))
    return uses


def after_skill(request: Mapping[str, Any]) -> str | None:
    """The text that an opened skill added to the context; None if none was opened.

    A harness adds it as the tool's result, or as a user's text next to or after that.
    """
    opened = [use for use in tool_uses(request) if use.name == "Skill" and not use.failed]
    if not opened:
        return None
    added = (text for text in message_texts(request) if text.lstrip().startswith(SKILL_BODY))
    return "\n".join([*(use.result for use in opened), *added])


def as_score(quality: float) -> int:
    """A quality as a whole score from 1 to 5.

    >>> [as_score(quality) for quality in (-3.0, 2.4, 2.6, 7.0)]
    [1, 2, 3, 5]
    """
    return max(1, min(5, math.floor(quality + 0.5)))
