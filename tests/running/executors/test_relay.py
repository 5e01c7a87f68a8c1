"""The relay between a plain HTTP client and the stand-in."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Connection, StandIn, Tally, Usage
from skill_eval_nb.running.executors import relay as relay_room
from skill_eval_nb.running.executors.relay import AnswerReader, Relay
from tests.models.scripted import CUT, Answer, Scripted, Seen
from tests.running.agents import Conversation, say

BODY = {
    "model": "stand-in",
    "max_tokens": 500,
    "messages": [{"role": "user", "content": "Say hello."}],
}


def through(connection: Connection, work, meter: Tally | None = None) -> Any:
    """Do some work with a client of a relay; gives what it gives."""

    async def at_once():
        listening = Relay.listen(connection, "stand-in", 500, meter or Tally(), None)
        async with listening as (relay, port):
            base = f"http://127.0.0.1:{port}"
            async with httpx2.AsyncClient(base_url=base, timeout=30, trust_env=False) as client:
                return await work(client, relay)

    return asyncio.run(asyncio.wait_for(at_once(), 60))


async def post(client, body=BODY, path="/v1/messages?beta=true", **headers):
    return await client.post(path, json=body, headers=headers)


def posted(connection: Connection, meter: Tally | None = None, **more: Any) -> Any:
    """The answer to one call."""
    return through(connection, lambda client, _: post(client, {**BODY, **more}), meter)


@pytest.mark.parametrize("chunked", [False, True])
def test_the_key_is_added_here_and_nothing_of_the_callers_takes_its_place(monkeypatch, chunked):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-host")

    async def piecemeal():
        for byte in json.dumps(BODY).encode():
            yield bytes([byte])

    async def work(client, relay):
        own = {"authorization": "Bearer dummy", "x-api-key": "dummy"}
        own |= {"anthropic-beta": "effort-2025-11-24, context-1m-2025-08-07", "cookie": "c"}
        own |= {"x-app": "cli", "content-type": "application/json"}
        said = piecemeal() if chunked else json.dumps(BODY).encode()
        answer = await client.post("/v1/messages", content=said, headers=own)
        return answer, list(relay.turned_away)

    with Conversation(say("hello")) as server:
        _, told = through(Connection(server.base_url), work)
    ((_, _, path, headers, raw),) = server.seen
    body = json.loads(raw)
    assert (path, body) == ("/v1/messages", BODY)
    assert "sk-of-the-host" in json.dumps(dict(headers))
    assert "dummy" not in json.dumps(dict(headers))
    assert "cookie" not in headers
    sent = {name: headers[name] for name in ("anthropic-beta", "anthropic-version", "x-app")}
    assert list(sent.values()) == ["effort-2025-11-24", "2023-06-01", "cli"]
    assert told == ["the beta context-1m-2025-08-07"]


def test_only_messages_are_passed_on_and_only_to_the_runs_model():
    async def work(client, relay):
        answers = [
            await client.get("/v1/models"),
            await post(client, path="/v1/messages/batches"),
            await post(client, {**BODY, "model": "claude-opus-4-8"}),
            await post(client, {**BODY, "max_tokens": "many"}),
        ]
        return [answer.status_code for answer in answers], list(relay.turned_away)

    tally = Tally()
    statuses, told = through(Connection(stand_in=StandIn()), work, tally)
    assert statuses == [404, 404, 400, 400]
    assert told[:2] == ["GET /v1/models", "POST /v1/messages/batches"]
    assert told[2] == "the model 'claude-opus-4-8': this run uses stand-in"
    assert (tally.calls, tally.open) == (0, Usage())


def holding(*blocks: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def result(*blocks: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t", "content": list(blocks)}


URL = {"type": "url", "url": "https://example.org/secret"}
FILE = {"type": "file", "file_id": "file_1"}
ATTACKS = {
    "server tool": ({"tools": [{"type": "web_search_20250305", "name": "s"}]}, "web_search"),
    "tool's extra": ({"tools": [{"name": "t", "input_schema": {}, "url": "x"}]}, "url"),
    "mcp": ({"mcp_servers": [{"type": "url", "url": "https://example.org"}]}, "mcp_servers"),
    "summary": ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "edits[0].type"),
    "fallbacks": ({"fallbacks": [{"model": "claude-opus-4-8"}]}, "fallbacks"),
    "image": (holding({"type": "image", "source": URL}), "content[0].source.type"),
    "nested": (holding(result({"type": "image", "source": URL})), "content[0].content[0]"),
    "file": (holding(result({"type": "document", "source": FILE})), "content[0].content[0]"),
    "upload": (holding({"type": "container_upload", "file_id": "f"}), "container_upload"),
    "server's use": (
        holding({"type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {}}),
        "server_tool_use",
    ),
    "system": ({"system": [{"type": "image", "source": URL}]}, "system[0].type"),
    "cache": ({"cache_control": {"type": "ephemeral"}}, "cache_control"),
    "output": ({"max_tokens": 501}, "max_tokens=501"),
    "unnamed": ({"\x1b[31m" + "x" * 9999: 1}, "unknown field"),
}


def test_what_the_harness_does_not_send_goes_no_further():
    async def work(client, relay):
        for attack, (more, named) in ATTACKS.items():
            counted = await post(client, {**BODY, **more}, "/v1/messages/count_tokens")
            answer = await post(client, {**BODY, **more})
            assert (counted.status_code, answer.status_code) == (400, 400), attack
            assert answer.json()["error"]["type"] == "invalid_request_error", attack
            assert named in answer.json()["error"]["message"], attack
            told = [one for one in relay.turned_away if named in one]
            assert told, attack
            assert all(one.isprintable() and len(one) <= 200 for one in told), attack

    tally = Tally()
    with Conversation(say("hello")) as server:
        through(Connection(server.base_url), work, tally)
    assert not server.seen
    assert (tally.calls, tally.open) == (0, Usage())


WIDE = json.dumps({**BODY, "tools": [{"name": "t", "input_schema": {"x": []}}]}).encode()
WIDE = WIDE.replace(b"[]", b"[" + b"[]," * 1_000_000 + b"1]")
BODIES = {
    "deep": b"[" * 200_000,
    "deep names": b'{"model":' * 50_000,
    "wide": WIDE,
    "no text": b"\xff",
    "no number": b'{"temperature": NaN}',
}
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
REQUESTS = [
    (b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "4"),
    (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "4"),
    (b"PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n", "4"),
    (b"\r\n\r\n\r\n\x16\x03\x01", "4"),
    (b"hello\r\n\r\n", "400"),
    (POST + b"Content-Length: 9\r\n\r\nhalf", "400"),
    (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
    (POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", "400"),
    (POST + b"X-App: a\x00b\r\n\r\n", "400"),
    (POST + b"Transfer-Encoding: gzip\r\n\r\n", "501"),
    (POST + b"Content-Length: 1001\r\n\r\n" + b"a" * 1001, "413"),
    (POST + b"A: " + b"a" * (relay_room.MOST_HEAD_BYTES + 1), "431"),
]


def test_no_request_and_no_body_is_too_odd_to_be_refused(monkeypatch):
    async def work(client, relay):
        for name, body in BODIES.items():
            answer = await client.post("/v1/messages", content=body)
            assert (answer.status_code, relay.ended.done()) == (400, False), name
        monkeypatch.setattr(relay_room, "MOST_BODY_BYTES", 1000)
        for said, status in REQUESTS:
            reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
            writer.write(said)
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            assert answer.startswith(f"HTTP/1.1 {status}".encode()), said[:80]
            assert not relay.ended.done()
        return (await post(client)).status_code

    assert through(Connection(stand_in=StandIn()), work) == 200


def test_many_connections_take_few_files_and_names_are_not_kept_for_ever():
    async def work(client, relay):
        port = client.base_url.port
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        for reader, _ in opened[64:]:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
        for _, writer in opened:
            writer.close()
        for number in range(40):
            await client.get(f"/{number}")
        return len(relay.turned_away), (await post(client)).status_code

    assert through(Connection(stand_in=StandIn()), work) == (20, 200)


KEY = "sk-of-the-host-0123456789"


def echo(seen: Seen, status: int, kind: str) -> Answer:
    """A gateway that says what it was sent, so often that some of it is cut by every reader."""
    said = json.dumps({"error": {"message": f"no such key {dict(seen.headers)}" * 500}})
    body = f"event: error\ndata: {said}\n\n{said}".encode()
    return Answer(status, body, {"content-type": kind, "request-id": seen.headers["authorization"]})


@pytest.mark.parametrize("status", [200, 400, 401])
@pytest.mark.parametrize(
    ("kind", "user"), [("text/event-stream", ""), ("application/json", "me:hunter2-hunter2@")]
)
def test_no_answer_brings_the_key_back(monkeypatch, status, user, kind):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    async def work(client, relay):
        answer = await post(client)
        ended = relay.ended.result() if relay.ended.done() else ""
        return f"{answer.headers} {answer.text} {ended}"

    with Scripted(lambda seen: echo(seen, status, kind)) as server:
        url = server.base_url.replace("//", f"//{user}")
        said = through(Connection(url), work)
    scheme, sent = server.seen[0].headers["authorization"].split()
    assert scheme == "Basic" if user else sent == KEY
    assert "no such key" in said
    assert "[hidden]" in said
    assert not [one for one in (KEY, sent, "hunter2") if one in said]


def test_an_address_that_cannot_be_reached_is_told_without_its_password(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    answer = posted(Connection("http://me:hunter2-hunter2@127.0.0.1:9"))
    assert (answer.status_code, "cannot be reached" in answer.text) == (502, True)
    assert "hunter2" not in answer.text


def test_a_cut_answer_is_cut_here_too_and_counts_at_its_worst():
    tally = Tally()
    with Scripted([CUT]) as server, pytest.raises(httpx2.HTTPError):
        posted(Connection(server.base_url), tally, stream=True)
    assert tally.usage == tally.open == Usage()
    assert tally.assumed.output_tokens == BODY["max_tokens"]


# ── answer ───────────────────────────────────────────────────────────────────────────────────────

START = {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}
TEXT = {"type": "content_block_delta", "delta": {"text": 'data: {"type": "message_stop"}\n\n'}}
DELTA = {"type": "message_delta", "usage": {"output_tokens": 30, "input_tokens": None}}
STOP = {"type": "message_stop"}


def sse(*events: dict, end: str = "\n") -> bytes:
    lines = (f"event: {e['type']}{end}data: {json.dumps(e)}{end}{end}" for e in events)
    return "".join(lines).encode()


def read(data: bytes, cuts: list[int]):
    reader = AnswerReader("text/event-stream")
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    for begin, end in itertools.pairwise(places):
        reader.feed(data[begin:end])
    return reader.usage()


@given(st.lists(st.integers(0, 600)), st.sampled_from(["\n", "\r\n"]))
def test_it_is_the_same_however_it_is_cut_and_says_nothing_without_its_end(cuts, end):
    data = sse(START, TEXT, DELTA, STOP, end=end)
    assert read(data, cuts) == Usage(input_tokens=9, output_tokens=30, calls=1)
    assert read(data[:-30], cuts) is read(sse(START, TEXT, DELTA, end=end), cuts) is None
