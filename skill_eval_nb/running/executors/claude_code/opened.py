"""Whether the agent opened the skill, read off what happened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_eval_nb.running.executors.protocol import Skill

_FRONT_MATTER = re.compile(r"\A---[ \t]*+\n.*?\n---[ \t]*+\n", re.DOTALL)


def body_of(skill: Skill) -> str:
    """The text of a skill's SKILL.md behind its front matter.

    Raises:
        OSError: where it cannot be read.
    """
    text = (skill.folder / "SKILL.md").read_text(encoding="utf-8-sig", errors="replace")
    return _FRONT_MATTER.sub("", text)


def was_opened(name: str, body: str, events: Iterable[Mapping[str, Any]]) -> bool:
    """True where the tool Skill opened it, or another tool showed most lines of its body.

    Args:
        name: the skill's.
        body: the skill's.
        events: what happened.
    """
    lines = {line.strip() for line in body.splitlines()} - {""}
    asked: set[Any] = set()
    for block in _blocks(events):
        if block.get("type") == "tool_use" and block.get("name") == "Skill":
            given = block.get("input")
            wanted = given.get("skill") if isinstance(given, Mapping) else None
            if isinstance(wanted, str) and wanted.strip().lstrip("/") == name:
                asked.add(block.get("id"))
        elif block.get("type") == "tool_result" and not block.get("is_error"):
            if block.get("tool_use_id") in asked:
                return True
            shown = _text(block.get("content"))
            if sum(line in shown for line in lines) * 2 > len(lines):
                return True
    return False


def _blocks(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for event in events:
        message = event.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, Mapping))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""
