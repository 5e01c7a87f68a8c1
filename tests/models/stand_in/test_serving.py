"""The server: a real one, quiet, and gone when it should be."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import anthropic
import pytest

from skill_eval_nb.models.stand_in import StandIn
from tests.models.stand_in.asking import LISTING, TOOLS, WAYS, ask, judging, plain, read_log
from tests.stand_in import Fault, RiggedStandIn, serve


def connection(address):
    return http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)


def ours():
    """The threads of servers: those of other tests may begin and end meanwhile."""
    names = ("serve_forever", "process_request_thread")
    return {one for one in threading.enumerate() if any(name in one.name for name in names)}


def asked(at, method, path, body=None, **headers):
    at.request(method, path, body, {"x-api-key": "k"} | headers)
    answer = at.getresponse()
    return answer.status, answer.read()


def test_it_listens_on_loopback_prints_nothing_and_leaves_no_thread(capfd):
    before = ours()
    with serve(StandIn()) as address:
        assert address.startswith("http://127.0.0.1:")
        kept = connection(address)
        assert asked(kept, "GET", "/v1/unknown")[0] == 404
        assert asked(kept, "GET", "/v1/unknown")[0] == 404, "the connection is kept"
        assert len(ours() - before) == 2
    assert ours() <= before
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection(("127.0.0.1", urlsplit(address).port), 2)
    kept.close()
    assert capfd.readouterr() == ("", "")


def test_it_stops_at_once_while_clients_wait_in_silence_and_latency():
    stand_in = RiggedStandIn(latency=300, faults=(Fault("silence", holds="be silent"),))
    held = []
    with serve(stand_in) as address:
        for text in ("be silent", "be slow"):
            kept = connection(address)
            kept.request("POST", "/v1/messages", json.dumps(plain(text)), {"x-api-key": "k"})
            held.append(kept)
        began = time.monotonic()
    assert time.monotonic() - began < 150
    for kept in held:
        kept.close()


# ── wire ───────────────────────────────────────────────────────────────────────────────────────

way = pytest.mark.parametrize("way", WAYS)


@way
def test_a_stream_gives_the_same_message_as_a_plain_answer(way):
    request = plain("Write release notes of commits, ünïcode 🦀", tools=TOOLS, system=LISTING)

    async def both(sdk):
        async with sdk.messages.stream(**request) as stream:
            kinds = [event.type async for event in stream]
            return await sdk.messages.create(**request), await stream.get_final_message(), kinds

    whole, streamed, kinds = ask(StandIn(), way, both)
    assert whole.content[1].input == {"skill": "release-notes"}
    assert streamed.to_dict() == whole.to_dict()
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    assert "input_json" in kinds


@way
def test_errors_have_the_form_of_the_api(way):
    async def wrong(sdk):
        with pytest.raises(anthropic.NotFoundError) as missing:
            await sdk.get("/v1/nothing", cast_to=object)
        with pytest.raises(anthropic.BadRequestError) as bad:
            await sdk.messages.create(**plain() | {"messages": []})
        return missing.value, bad.value

    for error in ask(StandIn(), way, wrong):
        assert error.body["type"] == "error"
        assert error.body["request_id"] == error.request_id
        assert error.body["error"]["type"] in ("not_found_error", "invalid_request_error")


def test_a_client_that_waits_in_vain_is_timed_out_or_cancelled():
    async def wait(sdk):
        await sdk.messages.create(**plain())

    async def wait_no_longer(sdk):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await wait(sdk)
        return "cancelled"

    with pytest.raises(anthropic.APITimeoutError):
        ask(RiggedStandIn(latency=100), "transport", wait, timeout=0.2)
    silent = RiggedStandIn(faults=(Fault("silence"),))
    assert ask(silent, "transport", wait_no_longer, timeout=None) == "cancelled"


# ── log ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", WAYS)
def test_a_line_holds_the_whole_request_and_no_credentials(way, tmp_path):
    log = tmp_path / "log.jsonl"
    stand_in = RiggedStandIn(log=str(log), faults=(Fault("overloaded_529", role="judge", first=1),))

    async def run(sdk):
        await sdk.messages.create(**plain("canary-1", session="run-7"))
        await sdk.messages.create(**judging("canary-2"))
        with pytest.raises(anthropic.NotFoundError):
            await sdk.models.list()

    ask(stand_in, way, run, api_key="sk-very-secret", max_retries=1)
    assert "sk-very-secret" not in log.read_text()
    lines = read_log(log)
    assert [(line["role"], line["status"], line["fault"]) for line in lines] == [
        ("executor", 200, None),
        ("judge", 529, "overloaded_529"),
        ("judge", 200, None),
        (None, 404, None),
    ]
    first = lines[0]
    assert first["body"] == plain("canary-1", session="run-7")
    named = {"session": "run-7", "via": way, "path": "/v1/messages", "model": "stand-in"}
    assert first.items() >= (named | {"pid": os.getpid()}).items()
    assert first["usage"]["input_tokens"] > 0
    assert first["answer"]["content"][0]["text"].startswith("No model wrote this")
    assert "canary-2" in json.dumps(lines[1]["body"])
    assert lines[1]["usage"] is None


def test_lines_of_many_processes_do_not_mix(tmp_path):
    path = tmp_path / "log.jsonl"
    program = (
        "import sys; from tests.stand_in.app import write\n"
        "for n in range(40): write(sys.argv[1], {'n': n, 'who': sys.argv[2], 'text': 'x' * 50_000})"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, path, who]) for who in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    lines = sorted((line["who"], line["n"]) for line in read_log(path))
    assert lines == [(who, n) for who in "abc" for n in range(40)]


# ── main ───────────────────────────────────────────────────────────────────────────────────────


def test_it_serves_and_stops(tmp_path):
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.stand_in", "--log", log]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        at = connection(process.stdout.readline().strip())
        assert asked(at, "GET", "/v1/unknown")[0] == 404
        at.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert log.read_text().count("\n") == 1


# ── batches ────────────────────────────────────────────────────────────────────────────────────


def requests(*names, **more):
    return [
        {"custom_id": name, "params": plain(f"hello {name}", session=name) | more} for name in names
    ]


async def collected(sdk, batch_id):
    return {r.custom_id: r.result async for r in await sdk.messages.batches.results(batch_id)}


@way
def test_a_batch_gives_what_single_calls_give(way):
    names = [f"n-{number}" for number in range(12)]

    async def run(sdk):
        made = await sdk.messages.batches.create(requests=requests(*names))
        assert made.processing_status == "in_progress"
        assert made.request_counts.processing == 12
        ended = await sdk.messages.batches.retrieve(made.id)
        assert ended.processing_status == "ended"
        assert ended.request_counts.succeeded == 12
        results = await collected(sdk, made.id)
        single = await sdk.messages.create(**requests("n-3")[0]["params"])
        assert results["n-3"].message.content == single.content
        assert results["n-3"].message.usage.service_tier == "batch"
        return list(results)

    order = ask(StandIn(), way, run)
    assert sorted(order) == sorted(names)
    assert order != names, "nobody may lean on an order that the API does not promise"


@way
def test_it_runs_for_its_time_and_can_be_cancelled(way):
    async def run(sdk):
        name = (await sdk.messages.batches.create(requests=requests("a"))).id
        assert (await sdk.messages.batches.retrieve(name)).processing_status == "in_progress"
        with pytest.raises(anthropic.AnthropicError):
            await sdk.messages.batches.results(name)
        assert (await sdk.messages.batches.cancel(name)).processing_status == "canceling"
        ended = await sdk.messages.batches.retrieve(name)
        assert ended.request_counts.canceled == 1
        assert (await collected(sdk, name))["a"].type == "canceled"

    ask(RiggedStandIn(batch_seconds=3600), way, run)


@way
def test_faults_become_errored_and_expired(way):
    kinds = {"overloaded_529": "hello a", "silence": "hello b", "refusal": "hello c"}
    faults = tuple(Fault(kind, holds=text) for kind, text in kinds.items())

    async def run(sdk):
        wrong = {"custom_id": "d", "params": {"model": "m"}}
        made = await sdk.messages.batches.create(requests=[*requests("a", "b", "c"), wrong])
        return await collected(sdk, made.id)

    results = ask(RiggedStandIn(faults=faults), way, run)
    assert results["a"].error.error.type == "overloaded_error"
    assert results["b"].type == "expired"
    assert results["c"].message.stop_reason == "refusal"
    assert results["d"].error.error.type == "invalid_request_error"


def test_with_a_store_another_process_can_collect(tmp_path):
    stand_in = RiggedStandIn(store=str(tmp_path / "store"), log=str(tmp_path / "log.jsonl"))

    async def submit(sdk):
        params = judging("stand-in quality: 4")
        made = await sdk.messages.batches.create(requests=[{"custom_id": "j", "params": params}])
        return made.id

    name = ask(stand_in, "server", submit)
    for _ in range(2):
        found = ask(stand_in, "transport", lambda sdk: collected(sdk, name))
        assert json.loads(found["j"].message.content[0].text)["dimensions"]
    (worked,) = [line for line in read_log(stand_in.log) if line.get("batch") == name]  # once
    assert (worked["role"], worked["custom_id"]) == ("judge", "j")
