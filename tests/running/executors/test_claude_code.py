"""The real harness, started for real, with no network: against the stand-in, or a script."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import signal

import pytest

from skill_eval_nb.grading.sandbox import Box, BoxLimits
from skill_eval_nb.models import Connection
from skill_eval_nb.running.executors import harness
from skill_eval_nb.running.executors.claude_code import ClaudeCode, converse, events_of
from skill_eval_nb.running.executors.harness import Process
from skill_eval_nb.running.protocol import Execution
from tests.corpus.build import lay
from tests.grading.made import marker, pdf, picture, running
from tests.running.agents import NAME, Conversation, execute, needs_harness, say, skill, task, use
from tests.running.made_jobs import until
from tests.stand_in import Fault, RiggedStandIn

PROMPT = "@c.txt /do it"


@pytest.fixture(scope="module")
def real() -> None:
    needs_harness()


def results(execution: Execution) -> str:
    """What the agent's tools gave, one after the other."""
    said = (one["message"]["content"] for one in execution.events if one["type"] == "user")
    blocks = itertools.chain.from_iterable(said)
    return "\n".join(str(one["content"]) for one in blocks if one["type"] == "tool_result")


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5"])
def test_whatever_the_harness_itself_sends_goes_on(tmp_path, model):
    """What models think, pictures, papers, and files that are counted before they are shown."""
    steps = [use("Read", file_path=f"/box/{name}") for name in ("a.png", "b.pdf", "c.txt", "none")]
    more = use("Skill", skill=NAME), use("Bash", command="exit 3"), use("Nope", x={"y": [None]})
    with Conversation(*steps, *more, say("done")) as server:
        given = {"model": model, "skill": skill(tmp_path), "prompt": PROMPT}
        one = task(tmp_path / "run", Connection(server.base_url), **given)
        lorem = f"{'lorem ipsum ' * 1000}\n" * 20
        lay(one.folder, {"a.png": picture("PNG"), "b.pdf": pdf("A song"), "c.txt": lorem})
        execution = execute(ClaudeCode(), one)
    assert (execution.status, execution.reason) == ("done", None)
    assert set(execution.events[0]["tools"]) == set(harness.TOOLS)
    assert "turned_away" not in {event.get("subtype") for event in execution.events}
    first, *_, last = (json.dumps(body["messages"]) for body in server.bodies)
    assert PROMPT in first
    assert "lorem" not in first  # nothing in a prompt is looked up
    for sent in ("image/png", "application/pdf", '"signature"', "tool_use_error"):
        assert sent in last
    assert {seen.path for seen in server.seen} == {
        "/v1/messages?beta=true",
        "/v1/messages/count_tokens?beta=true",
    }


@pytest.mark.usefixtures("real")
def test_without_a_sandbox_no_key_is_seen_and_nothing_is_left(tmp_path, monkeypatch):
    secret, mark = "sk-ant-SECRET-OF-THE-HOST", marker()
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    (tmp_path / "CLAUDE.md").write_text("MEMORY-OF-THE-USER")
    script = f"env; pwd; (setsid sleep {mark} > /dev/null 2>&1 &); echo end"
    with Conversation(use("Bash", command=script), say("done")) as server:
        one = task(tmp_path / "run", Connection(server.base_url), sandbox="none")
        execution = execute(ClaudeCode(), one)
    assert execution.reason is None
    assert results(execution).rstrip().endswith("end")
    assert str(one.folder) in results(execution)
    assert secret not in results(execution)
    assert not any("MEMORY-OF-THE-USER" in json.dumps(body) for body in server.bodies)
    until(lambda: not running(mark), 20)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("kind", "told"),
    [("unauthorized_401", "refused the key with 401"), ("refusal", "The model refused")],
)
def test_what_the_model_will_not_do_is_the_reason(tmp_path, kind, told):
    stand_in = RiggedStandIn(faults=(Fault(kind),))
    execution = execute(ClaudeCode(), task(tmp_path / "run", Connection(stand_in=stand_in)))
    assert execution.status == "errored"
    assert told in (execution.reason or "")


# ── a harness that behaves badly ─────────────────────────────────────────────────────────────────


@pytest.mark.skipif(
    importlib.util.find_spec("claude_agent_sdk") is None,
    reason="left out: claude-agent-sdk is not installed",
)
def test_a_message_without_end_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "MOST_LINE_BYTES", 1_000_000)
    box = Box(tmp_path, limits=BoxLimits(seconds=60.0), kind="none")

    async def talk() -> str | None:
        stopped = asyncio.get_running_loop().create_future()
        return await converse(Process(["cat", "/dev/zero"], box), "do it", box, stopped)

    assert asyncio.run(talk()) == "The harness wrote a message of more than 1,000,000 bytes."


def test_one_whose_output_nobody_reads_is_ended_too(tmp_path):
    async def at_once() -> int | None:
        process = Process(["cat", "/dev/zero"], Box(tmp_path, kind="none"))
        await process.connect()
        await asyncio.sleep(0.3)  # until what is kept of its output is full
        await asyncio.wait_for(process.close(), timeout=20)
        assert [message async for message in process.read_messages()] == []  # nor left open
        return process.exit_code

    assert asyncio.run(at_once()) == -signal.SIGKILL


# ── events ───────────────────────────────────────────────────────────────────────────────────────


def test_of_an_event_usage_stays_in_the_result_and_paths_of_this_machine_are_left_out():
    result = {"type": "result", "timestamp": "t", "usage": {"input_tokens": 4}}
    init = {"type": "system", "subtype": "init", "timestamp": "t", "skills": ["one"]}
    own = {"modelUsage": {"m": {"inputTokens": 4}}, "total_cost_usd": 0.1}  # at its own price
    here = {"memory_paths": {"auto": "/home/x"}, "messaging_socket_path": "/tmp/1.sock"}
    assert events_of([init | here | {"session_id": "s"}]) == (init,)
    assert events_of([result | own]) == (result,)
