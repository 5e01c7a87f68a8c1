"""A real server with a model that has its agent run what a test wants; the stand-in judges."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skill_eval_nb.models import StandIn
from tests.models.scripted import Answer, Scripted, Seen
from tests.running.executors.claude_code.scripted import answered, say, use
from tests.stand_in import serve

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

    with serve(StandIn()) as judge, Scripted(said) as server:
        yield server
