"""A model that says what a test tells it to, behind the real SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection
from skill_eval_nb.models.stand_in.app import transport
from skill_eval_nb.running.protocol import Skill, Task
from tests.models.scripted import message
from tests.running.executors.made_tasks import skill, task

SECRETS = {
    "name": "canary-name-81c",
    "description": "canary-description-27e",
    "body": "canary-body-5d0",
    "file": "canary-file-93a",
}
BODY = f"""# How it is done

Always begin with the word {SECRETS["body"]}, whatever is asked.
Then write what was asked for into a file of its own.
Read references/more.md where a question stays open.
"""


class Scripted:
    """Stands where a stand-in does: each request gets the next answer of the script.

    An answer is the content of a message and its stop reason, or a function of the request
    that gives these. The last one is given again and again.
    """

    def __init__(self, *script: Any, status: int = 200) -> None:
        self.script = script
        self.status = status
        self.requests: list[dict[str, Any]] = []

    def transport(self) -> Any:
        import httpx2

        return httpx2.MockTransport(self._answer)

    def _answer(self, asked: Any) -> Any:
        import httpx2

        request = json.loads(asked.content)
        self.requests.append(request)
        if self.status != 200:
            error = {"type": "invalid_request_error", "message": "not this way"}
            return httpx2.Response(self.status, json={"type": "error", "error": error})
        step = self.script[min(len(self.requests), len(self.script)) - 1]
        content, reason = step(request) if callable(step) else step
        said = {"id": f"msg_{len(self.requests)}", "model": request["model"]}
        said |= {"content": content, "stop_reason": reason}
        answer = message(input_tokens=10, output_tokens=5) | said
        sent = json.dumps(answer)  # with half a character in it, if a test wants that
        return httpx2.Response(200, content=sent, headers={"content-type": "application/json"})

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results of tools that the last request brought, with their texts alone."""
        return [
            {"text": block["content"][0]["text"], "is_error": block["is_error"]}
            for message in self.requests[-1]["messages"]
            if message["role"] == "user"
            for block in message["content"]
            if block["type"] == "tool_result"
        ]


@transport.register
def _(stand_in: Scripted) -> Any:
    return stand_in.transport()


def uses(*calls: tuple[str, Mapping[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """An answer that uses tools."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": dict(given)}
        for number, (name, given) in enumerate(calls)
    ]
    return blocks, "tool_use"


def bash(command: str) -> tuple[list[dict[str, Any]], str]:
    """An answer that runs a command."""
    return uses(("Bash", {"command": command}))


def says(text: str, reason: str = "end_turn") -> tuple[list[dict[str, Any]], str]:
    """An answer that is a text."""
    return [{"type": "text", "text": text}] if text else [], reason


DONE = says("Done.")


def a_skill(root: Path) -> Skill:
    """A skill with a canary in each of its parts."""
    more = {"references/more.md": SECRETS["file"]}
    return skill(root / "skill", SECRETS["name"], SECRETS["description"], BODY, **more)


def a_task(root: Path, model: Any, **given: Any) -> Task:
    """A task whose model is the given one, a `Scripted` or a stand-in."""
    return task(root, Connection(stand_in=model), **{"model": "stand-in", **given})
