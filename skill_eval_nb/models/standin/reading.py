"""What a request to `/v1/messages` asks for, read out of its JSON; never raises.

The request has passed `validating.complaint`, so its outer form holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .chance import digest
from .misbehaviour import Role
from .tokens import unmarked

REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
SKILL_BODY = "Base directory for this skill"
"""How a harness's message begins that brings the body of an opened skill."""

_ROLES: dict[str, Role] = {
    "winner": "comparator",
    "improvement_suggestions": "analyst",
    "drafts": "drafter",
    "same": "merger",
    "queries": "query_drafter",
    "dimensions": "judge",
    "expectations": "judge",
    "description": "proposer",
}
"""By what an answer has to hold, who gives it; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the conversation shows to have been used, with what it gave back."""

    name: str
    input: Mapping[str, Any]
    result: str = ""
    failed: bool = False


def schema_of(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that the answer must follow, if one is asked for."""
    config = request.get("output_config")
    wanted = config.get("format") if isinstance(config, dict) else None
    wanted = wanted or request.get("output_format")
    schema = wanted.get("schema") if isinstance(wanted, dict) else None
    return schema if isinstance(schema, dict) else None


def role_of(request: Mapping[str, Any]) -> Role:
    """Told by what the asked-for schema has; executor where none is asked for."""
    schema = schema_of(request)
    if schema is None:
        return "executor"
    properties = schema.get("properties")
    names = set(properties) if isinstance(properties, dict) else set()
    for name, role in _ROLES.items():
        if name in names:
            return role
    return "other"


def session_of(request: Mapping[str, Any]) -> str:
    """What the request belongs to: `metadata.user_id`, else a digest of how it began."""
    metadata = request.get("metadata")
    named = metadata.get("user_id") if isinstance(metadata, dict) else None
    if isinstance(named, str) and named:
        return _session_in(named)
    return digest(request.get("model"), request.get("system"), request["messages"][0])


def mark_of(request: Mapping[str, Any], length: int = 24) -> str:
    """A digest of all that a request asks: neither a stream nor the cache makes it another."""
    asked = {name: value for name, value in request.items() if name != "stream"}
    return digest(unmarked(asked), length=length)


def turn_of(request: Mapping[str, Any]) -> int:
    """Which turn of its conversation it is, from 1."""
    return 1 + sum(message["role"] == "assistant" for message in request["messages"])


def tools_of(request: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The tools it offers, by name."""
    offered = request.get("tools")
    tools = offered if isinstance(offered, list) else []
    return {str(tool.get("name")): tool for tool in tools if isinstance(tool, dict)}


def system_of(request: Mapping[str, Any]) -> str:
    """The system prompt as one text."""
    return "\n".join(texts(request.get("system")))


def texts(content: Any) -> Iterator[str]:
    """The texts of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def task_of(request: Mapping[str, Any]) -> str:
    """The first message of the user: its last text that no harness put there."""
    for message in request["messages"]:
        if message["role"] != "user" or _holds(message["content"], "tool_result"):
            continue
        own = [REMINDER.sub("", text).strip() for text in texts(message["content"])]
        own = [text for text in own if text and not text.startswith(SKILL_BODY)]
        if own:
            return own[-1]
    return ""


def last_user_text(request: Mapping[str, Any]) -> str:
    """The last text block of the last message of the user that has one."""
    for message in reversed(request["messages"]):
        found = list(texts(message["content"])) if message["role"] == "user" else []
        if found:
            return found[-1]
    return ""


def every_text(request: Mapping[str, Any]) -> str:
    """The system prompt, the tools' descriptions and all texts but the assistant's, as one."""
    said = [message for message in request["messages"] if message["role"] != "assistant"]
    users = [text for message in said for text in texts(message["content"])]
    tools = [str(tool.get("description", "")) for tool in tools_of(request).values()]
    return "\n".join([system_of(request), *tools, *users])


def tool_uses(request: Mapping[str, Any]) -> list[ToolUse]:
    """The tools used so far, in order."""
    blocks = [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = {b.get("tool_use_id"): b for b in blocks if b.get("type") == "tool_result"}
    uses: list[ToolUse] = []
    for block in blocks:
        if block.get("type") != "tool_use" or not isinstance(block.get("input"), dict):
            continue
        result = results.get(block.get("id"), {})
        text = "\n".join(texts(result.get("content")))
        failed = bool(result.get("is_error")) or not result
        uses.append(ToolUse(str(block.get("name")), block["input"], text, failed))
    return uses


def after_skill(request: Mapping[str, Any]) -> str | None:
    """The text that an opened skill brought into the context. None: none was opened.

    A harness brings it as the tool's result, or as a text of the user beside or after it.
    """
    opened = [use for use in tool_uses(request) if use.name == "Skill" and not use.failed]
    if not opened:
        return None
    bodies = [use.result for use in opened]
    for message in request["messages"]:
        if message["role"] == "user":
            bodies += [t for t in texts(message["content"]) if t.lstrip().startswith(SKILL_BODY)]
    return "\n".join(bodies)


def _holds(content: Any, kind: str) -> bool:
    return isinstance(content, list) and any(block.get("type") == kind for block in content)


def _session_in(user_id: str) -> str:
    """Claude Code's user id names its session, as JSON or after an underscore."""
    try:
        named = json.loads(user_id)
    except ValueError:
        return user_id.rpartition("_session_")[2] or user_id
    session = named.get("session_id") if isinstance(named, dict) else None
    return session if isinstance(session, str) and session else user_id
