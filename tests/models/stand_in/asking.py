"""How the tests ask the stand-in: the real SDK over both ways, and an agent's loop."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import anthropic
import httpx2

from skill_eval_nb.grading.judge import SCHEMA
from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.app import transport
from tests.stand_in import serve

WAYS = ["server", "transport"]
TOOLS = [
    {
        "name": name,
        "description": what,
        "input_schema": {"type": "object", "properties": {takes: {"type": "string"}}},
    }
    for name, what, takes in (
        ("Bash", "Runs a command.", "command"),
        ("Skill", "Opens a skill.", "skill"),
    )
]
LISTING = (
    "These skills can be opened:\n\n- release-notes: Turns a list of commits or merged changes "
    "into release notes for the people who use the software.\n- pancakes: Bakes pancakes.\n"
)
BODY = "# Release notes\n\nReaders of release notes use the software; they do not read its code."


@asynccontextmanager
async def client(stand_in, way, **options):
    """The real SDK's client, with its own retries off."""
    given = {"api_key": "k", "max_retries": 0} | options
    if way == "server":
        with serve(stand_in) as address:
            async with anthropic.AsyncAnthropic(base_url=address, **given) as sdk:
                yield sdk
        return
    http = anthropic.DefaultAsyncHttpxClient(transport=transport(stand_in))
    async with anthropic.AsyncAnthropic(
        base_url="http://stand-in", http_client=http, **given
    ) as sdk:
        yield sdk


def ask(stand_in, way, do, **options):
    """What `do(sdk)` gives."""

    async def asked():
        async with client(stand_in, way, **options) as sdk:
            return await do(sdk)

    return asyncio.run(asked())


def post(app, request):
    """The app's answer to a request, without a wire between."""
    answer = app.answer(httpx2.Request("POST", "http://stand-in/v1/messages", json=request))
    assert answer.status_code == 200, answer.text
    return answer.json()


def plain(text="hello", session=None, **more):
    """A request with one text."""
    metadata = {"metadata": {"user_id": session}} if session else {}
    messages = [{"role": "user", "content": text}]
    return {"model": "stand-in", "max_tokens": 4000, "messages": messages} | metadata | more


async def work(sdk, task, folder: Path, *, session="run-1", skill=True, tools=TOOLS, turns=12):
    """An agent's loop: every message of the conversation, the model's last one included.

    Commands are really run, in `folder`; those of the stand-in only write and read there.
    """
    messages = [{"role": "user", "content": task}]
    system = "Do the task." + ("\n\n" + LISTING if skill else "")
    for _ in range(turns):
        answer = await sdk.messages.create(
            model="stand-in",
            max_tokens=4000,
            system=system,
            tools=tools,
            messages=messages,
            metadata={"user_id": session},
        )
        content = [block.model_dump(exclude_none=True) for block in answer.content]
        messages.append({"role": "assistant", "content": content})
        if answer.stop_reason != "tool_use":
            return messages
        results = [_used(block, folder) for block in content if block["type"] == "tool_use"]
        messages.append({"role": "user", "content": results})
    raise AssertionError(f"no end after {turns} turns: {messages[-2]}")


def _used(block, folder):
    result = {"type": "tool_result", "tool_use_id": block["id"]}
    if block["name"] == "Skill":
        return result | {"content": BODY}
    ran = subprocess.run(
        ["bash", "-c", block["input"]["command"]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return result | {"content": ran.stdout + ran.stderr, "is_error": ran.returncode != 0}


def judging(text, session="judging-1", *, dimensions=("reader_view",), expectations=("It is so",)):
    """A judge's request, in the form that the judge of this package sends."""
    shown = f'<output file="RELEASE_NOTES.md" nonce="n1">\n{text}\n</output nonce="n1">'
    rubric = [f"### {name} (weight 1.0)\nAs {name} as can be." for name in dimensions]
    checks = [f"[E{n}] {check}" for n, check in enumerate(expectations, start=1)]
    content = [
        {"type": "text", "text": "Task and outputs.\n\n" + shown},
        {"type": "text", "text": "\n\n".join([*rubric, *checks])},
    ]
    return {
        "model": "stand-in-judge",
        "max_tokens": 8000,
        "messages": [{"role": "user", "content": content}],
        "metadata": {"user_id": session},
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def quiet(**fields):
    """A stand-in without chance."""
    return StandIn(**({"eval_sd": 0.0, "run_sd": 0.0, "judging_sd": 0.0, "check_sd": 0.0} | fields))
