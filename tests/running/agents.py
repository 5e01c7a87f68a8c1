"""Agents that do what a test wants: skills and tasks for them, and servers that lead them.

And the real harness in its sandbox, left out where it is missing unless that is forbidden.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.models import Connection, Tally
from skill_eval_nb.models.stand_in.app import event, stream_events
from skill_eval_nb.running.executors.claude_code import ClaudeCode
from skill_eval_nb.running.protocol import Execution, Limits, Skill, Task
from tests.bubblewrap import required
from tests.corpus.build import lay
from tests.models.scripted import Answer, Scripted, Seen, message, plain
from tests.stand_in import RiggedStandIn, serve

NAME = "zebrafinch"
BODY = """# How it is done

Always begin with the word CANARY-BODY, whatever is asked.
Then write what was asked for into a file of its own.
Read more.md where a question stays open.
"""


def task(root: Path, connection: Connection, **given: Any) -> Task:
    """A task with its folders made, for a model whose name is in no other run's environment."""
    folder, scratch = root / "work", root / "scratch"
    for one in (folder, scratch):
        one.mkdir(parents=True, exist_ok=True)
    plain: dict[str, Any] = {
        "prompt": "Write release notes for version 2.0 from mixed.txt.",
        "skill": None,
        "model": f"stand-in-{secrets.token_hex(4)}",
        "limits": Limits(seconds=60.0),
        "key": root.name,
        "sandbox": "bubblewrap",
    }
    return Task(folder=folder, scratch=scratch, connection=connection, **{**plain, **given})


def skill(root: Path, name: str = NAME, body: str = BODY, **files: str) -> Skill:
    """A skill in a folder of its own."""
    text = f"---\nname: {name}\ndescription: Does {name}\n---\n\n{body}"
    folder = lay(root / f"staged-{name}", {"SKILL.md": text, **files})
    return Skill(name, f"Does {name}", folder)


def execute(executor: Any, one: Task, meter: Tally | None = None) -> Execution:
    """Execute a task as the driver does: in the loop of a thread that is not the first."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, executor.execute(one, meter or Tally())).result()


class Conversation(Scripted):
    """Answers the n-th turn of a conversation with the n-th step, and any more with the last."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        super().__init__(self._turn)
        self.steps: Sequence[dict[str, Any]] = steps

    def _turn(self, seen: Seen) -> Answer:
        return answered(json.loads(seen.body), self.steps)

    @property
    def bodies(self) -> list[Any]:
        """What was asked, request by request."""
        return [json.loads(one.body) for one in self.seen]


def use(name: str, /, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def say(text: str, stop: str = "end_turn") -> dict[str, Any]:
    return {"type": "text", "text": text, "stop": stop}


THOUGHT = (
    {"type": "content_block_start", "index": 0}
    | {"content_block": {"type": "thinking", "thinking": "Well.", "signature": ""}},
    {"type": "content_block_delta", "index": 0}
    | {"delta": {"type": "signature_delta", "signature": "c2lnbmVk"}},
    {"type": "content_block_stop", "index": 0},
)
"""What a model thinks, as the events of a stream."""


def answered(request: dict[str, Any], steps: Sequence[dict[str, Any]]) -> Answer:
    """The step of a request's turn, of 100 tokens read and 20 written: as a stream if asked for."""
    turn = sum(one["role"] == "assistant" for one in request["messages"])
    block = dict(steps[min(turn, len(steps) - 1)])
    stop = {"stop_reason": block.pop("stop", "tool_use"), "stop_details": None}
    if block["type"] == "tool_use":
        block["id"] = f"toolu_{turn}"
    whole = message(input_tokens=100, output_tokens=20) | stop
    whole |= {"id": f"msg_{turn}", "model": request["model"]}
    if not request.get("stream"):
        return plain(whole | {"content": [block] if block != {"type": "text", "text": ""} else []})
    begin, *events = stream_events(whole | {"content": [block, block]})
    events = [begin, *map(event, THOUGHT), *events[len(THOUGHT) :]]
    return Answer(body=b"".join(events), headers={"content-type": "text/event-stream"})


DONE = "I have done what I wanted."


@contextmanager
def scripted_agent(commands: Mapping[str, Sequence[str]]) -> Iterator[Scripted]:
    """The server, while it answers: executors with commands by a word of the prompt, one a turn."""

    def said(seen: Seen) -> Answer:
        request = json.loads(seen.body)
        if "format" in request.get("output_config", ()):
            kept = {name: seen.headers[name] for name in ("content-type", "anthropic-version")}
            asked = urllib.request.Request(judge + seen.path, seen.body, kept | {"x-api-key": "x"})
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return Answer(body=answer.read(), headers={"content-type": "application/json"})
        first = json.dumps(request["messages"][0])
        wanted = next(steps for word, steps in commands.items() if word in first)
        return answered(request, [*(use("Bash", command=one) for one in wanted), say(DONE)])

    with serve(RiggedStandIn()) as judge, Scripted(said) as server:
        yield server


def needs_harness() -> None:
    """Skip where the harness cannot run here; fail where the tests of it may not be left out."""
    why = ClaudeCode().why_not("bubblewrap")
    if why is None:
        return
    if required():
        pytest.fail(f"SKILL_EVAL_NB_REQUIRE_SANDBOX is set, but: {why}")
    pytest.skip(f"left out: {why}")
