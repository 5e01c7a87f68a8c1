"""A real server with a model that has its agent run what a test wants; the stand-in judges."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from skill_eval_nb.models import StandIn
from tests.models.scripted import Answer, Scripted, Seen, message, plain
from tests.running.executors.claude_code.scripted import say, streamed, use
from tests.stand_in import serve

Commands = Mapping[str, Sequence[str]]
"""A word of a prompt, and the commands that its agent runs, one a turn."""

DONE = "I have done what I wanted."


@contextmanager
def scripted_agent(commands: Commands) -> Iterator[Scripted]:
    """The server, while it answers: executors with tools to be used, judges by the stand-in."""
    with serve(StandIn()) as judge, Scripted(lambda seen: _answer(seen, commands, judge)) as server:
        yield server


def _answer(seen: Seen, commands: Commands, judge: str) -> Answer:
    request = json.loads(seen.body)
    if "output_config" in request and "format" in request["output_config"]:
        return _forwarded(seen, judge)
    first = json.dumps(request["messages"][0])
    turn = sum(one["role"] == "assistant" for one in request["messages"])
    wanted = next(steps for word, steps in commands.items() if word in first)
    block = use("Bash", command=wanted[turn]) if turn < len(wanted) else say(DONE)
    if request.get("stream"):
        sent = streamed(block, request["model"], turn)
        return Answer(body=sent, headers={"content-type": "text/event-stream"})
    whole: dict[str, Any] = message() | {"id": f"msg_{turn}", "content": [block]}
    if block["type"] == "tool_use":
        whole |= {"stop_reason": "tool_use", "content": [block | {"id": f"toolu_{turn}"}]}
    return plain(whole)


def _forwarded(seen: Seen, judge: str) -> Answer:
    kept = {name: seen.headers[name] for name in ("content-type", "anthropic-version")}
    asked = urllib.request.Request(judge + seen.path, seen.body, {**kept, "x-api-key": "none"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return Answer(body=answer.read(), headers={"content-type": "application/json"})
