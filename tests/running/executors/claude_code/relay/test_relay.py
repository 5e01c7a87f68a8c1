"""The relay between a plain HTTP client and the stand-in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from skill_eval_nb.models import BudgetSpent, Connection, StandIn, Tally, Usage, serve
from skill_eval_nb.models.standin import Fault
from skill_eval_nb.running.executors.claude_code.relay import Relay

BODY = {
    "model": "stand-in",
    "max_tokens": 500,
    "messages": [{"role": "user", "content": "Say hello."}],
}


def through(
    connection: Connection, work, meter: Tally | None = None, socket: Path | None = None
) -> Any:
    """Do some work with a client of a relay; gives what it gives."""

    async def at_once():
        listening = Relay.listening(connection, "stand-in", meter or Tally(), socket)
        async with listening as (relay, port):
            transport = httpx2.AsyncHTTPTransport(uds=str(socket) if socket else None)
            base = f"http://127.0.0.1:{port or 80}"
            async with httpx2.AsyncClient(
                transport=transport, base_url=base, timeout=30, trust_env=False
            ) as client:
                return await work(client, relay)

    return asyncio.run(asyncio.wait_for(at_once(), 60))


async def post(client, body=BODY, path="/v1/messages?beta=true", **headers):
    return await client.post(path, json=body, headers=headers)


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_is_passed_on_and_counted(stream):
    tally = Tally()

    async def work(client, _):
        return await post(client, {**BODY, "stream": stream})

    answer = through(Connection(stand_in=StandIn()), work, tally)
    assert answer.status_code == 200
    if not stream:
        assert Usage.of(answer.json()["usage"]) == tally.usage
    assert answer.text.rstrip().endswith('{"type":"message_stop"}') is stream
    assert tally.usage.calls == 1
    assert tally.usage.output_tokens > 0
    assert tally.open == tally.assumed == Usage()


def test_on_a_unix_socket_it_is_the_same(tmp_path):
    async def work(client, _):
        return await post(client)

    answer = through(Connection(stand_in=StandIn()), work, socket=tmp_path / "s")
    assert answer.json()["type"] == "message"


def test_the_key_is_added_here_and_nothing_of_the_callers_takes_its_place(tmp_path, monkeypatch):
    from tests.running.executors.claude_code.scripted import say, scripted

    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-host")

    async def work(client, _):
        own = {"authorization": "Bearer dummy", "x-api-key": "dummy", "anthropic-beta": "b"}
        return await client.post("/v1/messages", json=BODY, headers={**own, "cookie": "c"})

    with scripted(say("hello")) as server:
        through(Connection(f"http://127.0.0.1:{server.port}"), work)
    ((path, headers, body),) = server.seen
    assert (path, body) == ("/v1/messages", BODY)
    assert "sk-of-the-host" in json.dumps(headers)
    assert "dummy" not in json.dumps(headers)
    assert "cookie" not in headers
    assert headers["anthropic-beta"] == "b"


def test_only_messages_are_passed_on_and_only_to_the_runs_model():
    async def work(client, relay):
        answers = [
            await client.get("/v1/models"),
            await post(client, path="/v1/messages/batches"),
            await post(client, {**BODY, "model": "claude-opus-4-8"}),
            await client.post("/v1/messages", content=b"[]"),
            await post(client, {**BODY, "max_tokens": "many"}),
        ]
        return [answer.status_code for answer in answers], list(relay.turned_away)

    tally = Tally()
    statuses, told = through(Connection(stand_in=StandIn()), work, tally)
    assert statuses == [404, 404, 400, 400, 400]
    assert told == ["GET /v1/models", "POST /v1/messages/batches", "the model 'claude-opus-4-8'"]
    assert tally.calls == 0
    assert tally.open == Usage()


def test_counting_tokens_is_free():
    async def work(client, _):
        return await post(client, path="/v1/messages/count_tokens")

    tally = Tally()
    answer = through(Connection(stand_in=StandIn()), work, tally)
    assert answer.json()["input_tokens"] > 0
    assert tally.calls == 0


@pytest.mark.parametrize(
    ("kind", "status"),
    [("rate_limited_429", 429), ("overloaded_529", 529), ("bad_request_400", 400)],
)
def test_what_is_refused_is_not_billed(kind, status):
    async def work(client, relay):
        return await post(client), relay.ended.done()

    tally = Tally()
    answer, ended = through(Connection(stand_in=StandIn(faults=(Fault(kind),))), work, tally)
    assert answer.status_code == status
    assert answer.headers.get("retry-after") == ("1" if status == 429 else None)
    assert (tally.calls, tally.open, ended) == (0, Usage(), False)


def test_a_refused_key_ends_the_run():
    async def work(client, relay):
        await post(client)
        return await relay.ended

    fault = Fault("unauthorized_401")
    reason = through(Connection(stand_in=StandIn(faults=(fault,))), work)
    assert reason.startswith("The model's API refused the key with 401.")


@pytest.mark.parametrize("served", [False, True])
def test_a_cut_answer_is_cut_here_too_and_counts_at_its_worst(served):
    async def work(client, _):
        with pytest.raises(httpx2.HTTPError):
            await post(client, {**BODY, "stream": True})

    tally, stand_in = Tally(), StandIn(faults=(Fault("cut"),))
    if served:
        with serve(stand_in) as address:
            through(Connection(address), work, tally)
    else:
        through(Connection(stand_in=stand_in), work, tally)
    assert tally.usage == tally.open == Usage()
    assert tally.assumed.output_tokens == BODY["max_tokens"]


def test_a_spent_budget_sends_nothing_and_ends_the_run(tmp_path):
    class Spent(Tally):
        def reserve(self, model, worst, *, batch=False):
            raise BudgetSpent("no more than $1")

    async def work(client, relay):
        return await post(client), await relay.ended

    log = tmp_path / "log"
    answer, reason = through(Connection(stand_in=StandIn(log=str(log))), work, Spent())
    assert (answer.status_code, reason) == (400, "no more than $1")
    assert answer.headers["x-should-retry"] == "false"
    assert not log.exists()


def test_a_client_that_leaves_ends_its_call():
    class Asked(Tally):
        def settle(self, ticket, usage):
            super().settle(ticket, usage)
            settled.set()

    settled, tally = asyncio.Event(), Asked()

    async def work(client, _):
        with pytest.raises(httpx2.ReadTimeout):
            await client.post("/v1/messages", json=BODY, timeout=0.5)
        await settled.wait()

    through(Connection(stand_in=StandIn(faults=(Fault("silence"),))), work, tally)
    assert tally.assumed.calls == 1
    assert tally.open == Usage()


def test_calls_in_flight_are_given_up_when_it_closes():
    tally = Tally()

    async def work(client, _):
        call = asyncio.create_task(post(client))
        while not tally.open.calls:  # noqa: ASYNC110 -- a meter says nothing by itself
            await asyncio.sleep(0.01)
        return call

    call = through(Connection(stand_in=StandIn(faults=(Fault("silence"),))), work, tally)
    assert call.cancelled() or isinstance(call.exception(), httpx2.HTTPError)
    assert tally.assumed.calls == 1
    assert tally.open == Usage()


def test_a_server_that_is_not_there_is_told_and_not_billed():
    async def work(client, _):
        return await post(client)

    tally = Tally()
    answer = through(Connection("http://127.0.0.1:9"), work, tally)
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["error"]["message"]
    assert (tally.calls, tally.open) == (0, Usage())


def test_without_a_key_it_does_not_begin(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    async def work(client, _):
        raise AssertionError

    with pytest.raises(LookupError, match="NO_SUCH_KEY"):
        through(Connection("https://models.invalid", api_key_name="NO_SUCH_KEY"), work)
