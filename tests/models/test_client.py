"""The real SDK against a real server on this machine that answers well or badly."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.models import (
    BudgetSpent,
    Connection,
    Meter,
    ModelFault,
    Reply,
    Tally,
    Usage,
    connect,
    worst_case,
)
from skill_eval_nb.models import client as retry
from skill_eval_nb.models.client import Trouble, asked_to_wait
from tests.models.scripted import (
    CUT,
    HANG_UP,
    KEY,
    REQUEST,
    SILENCE,
    Answer,
    Ceiling,
    Scripted,
    bad,
    good,
    message,
    page,
    plain,
)

BUSY = bad(529, "overloaded_error", "Overloaded")
PATIENT = 30.0
"""Seconds within which everything must have ended that has a deadline of seconds."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THE_TEST", f"{KEY}\n")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of hundredths of seconds."""
    monkeypatch.setattr(retry, "FIRST", 0.01)
    monkeypatch.setattr(retry, "LONGEST", 0.05)


def send(
    to: Scripted | Connection, meter: Meter | None = None, deadline: float = 20.0, **changes: Any
) -> Reply:
    connection = to if isinstance(to, Connection) else to.connection

    async def sent() -> Reply:
        async with connect(connection) as client:
            request = REQUEST | changes
            return await client.send(request, meter=meter or Tally(), deadline=deadline)

    return asyncio.run(asyncio.wait_for(sent(), PATIENT))


def fault_of(
    to: Scripted | Connection, meter: Meter | None = None, deadline: float = 20.0
) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        send(to, meter, deadline)
    assert KEY not in str(caught.value)
    return caught.value


def test_the_request_is_sent_as_it_is_and_the_answer_given_as_it_came():
    content = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "Grüße 🎈"}]
    said = message() | {"content": content, "stop_reason": "a_reason_of_tomorrow"}
    request = {"a_field_of_tomorrow": {"x": [None, 1.5, "ü"]}, "stop_sequences": []}
    before = copy.deepcopy(request)
    tally = Tally()
    with Scripted([plain(said)]) as server:
        reply = send(server, tally, **request)
    assert json.loads(server.seen[0].body) == REQUEST | before
    headers = [server.seen[0].headers.get(name) for name in ("authorization", "x-api-key")]
    assert headers in ([f"Bearer {KEY}", None], [None, KEY])
    assert KEY not in repr(server.connection)
    assert reply.content == content
    assert reply.text == "Grüße 🎈"
    assert reply.stop_reason == "a_reason_of_tomorrow"
    assert reply.model == "claude-haiku-4-5-20251001"
    assert reply.usage == tally.usage == Usage(input_tokens=12, output_tokens=4, calls=1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("answer", "billed"),
    [
        (bad(408), 0),
        (bad(429, retry_after="0"), 0),
        (BUSY, 0),
        (page(502), 0),
        (bad(400, x_should_retry="true"), 0),
        (CUT, 1),
        (HANG_UP, 1),
        (page(200), 1),
        (Answer(body=b'{"type": "mess'), 1),
        (plain({"type": "message", "content": []}), 1),
        (good(input_tokens=None), 1),
        (good(output_tokens=-4), 1),
    ],
)
def test_a_fault_that_passes_is_tried_again(answer: Answer, billed: int):
    tally = Tally()
    with Scripted([answer, answer, good()]) as server:
        assert send(server, tally).text == "Good day."
    assert len({seen.body for seen in server.seen}) == 1
    assert len(server.seen) == 3
    assert tally.usage.calls == 1
    assert tally.assumed == worst_case(REQUEST) * (2 * billed)
    assert tally.open == Usage()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (bad(400, "invalid_request_error", "max_tokens: too many"), "max_tokens: too many"),
        (bad(401, "authentication_error"), "KEY_OF_THE_TEST"),
        (bad(403, "permission_error"), "KEY_OF_THE_TEST"),
        (bad(404, "not_found_error", "model: claude-x"), "model: claude-x"),
        (bad(413, "request_too_large"), "too large"),
        (page(404), "HTTP 404 with a page, perhaps of a proxy: Bad gateway here."),
        (bad(529, x_should_retry="false"), "Bad day"),
        (bad(422, request_id="req_7"), "req_7"),
        (Answer(418, b"\xff teapot"), "HTTP 418 \ufffd teapot."),
        (Answer(418, b'{"error": "flat"}'), 'HTTP 418 {"error": "flat"}.'),
        (Answer(418, b"[" * 100_000), "HTTP 418 " + "[" * 300 + "."),
        (Answer(418, b"  \n"), "HTTP 418."),
    ],
)
def test_a_refusal_ends_the_call_at_once_and_says_why(answer: Answer, says: str):
    tally = Tally()
    with Scripted([answer]) as server:
        fault = fault_of(server, tally)
    assert (fault.kind, len(server.seen)) == ("refused", 1)
    assert says in fault.message
    assert f"HTTP {answer.status}" in fault.message
    assert tally.calls == 0


@pytest.mark.parametrize(
    ("answer", "deadline", "says"),
    [
        (BUSY, 2.0, "Overloaded"),
        (bad(429, "rate_limit_error", retry_after="3600"), 600.0, "3.6e+03 s"),
    ],
    ids=["trouble without end", "a pause that passes the deadline ends it at once"],
)
def test_the_deadline_ends_what_is_tried_again(answer: Answer, deadline: float, says: str):
    tally = Tally()
    with Scripted([answer]) as server:
        fault = fault_of(server, tally, deadline)
    assert fault.kind == "overloaded"
    assert says in fault.message
    assert f"{len(server.seen)} attempts" in fault.message or deadline == 600.0
    assert (len(server.seen) > 1) == (deadline == 2.0)
    assert (tally.calls, tally.open) == (0, Usage())


@pytest.mark.usefixtures("quick")
def test_silence_is_given_up_in_time_for_one_more_attempt():
    tally = Tally()
    with Scripted([SILENCE, good()]) as server:
        assert send(server, tally, deadline=2.4).text == "Good day."
    assert tally.assumed == worst_case(REQUEST)
    with Scripted([SILENCE]) as server:
        fault = fault_of(server, deadline=2.4)
    assert (fault.kind, len(server.seen)) == ("timeout", 2)
    assert "No answer came" in fault.message


def test_a_trickle_of_bytes_does_not_outlast_the_deadline():
    """Each byte would begin the wait anew, if only the waits were bounded."""
    over = threading.Event()

    def trickle() -> None:
        with listening.accept()[0] as to, contextlib.suppress(OSError):
            to.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while not over.wait(0.05):
                to.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        fault = fault_of(Connection(url, "KEY_OF_THE_TEST"), deadline=1.0)
        over.set()
        thread.join()
    assert "No answer came" in fault.message


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("answer", [CUT, HANG_UP, page(200)])
def test_what_may_be_billed_is_not_tried_again_and_again(answer: Answer):
    tally = Tally()
    with Scripted([answer]) as server:
        fault = fault_of(server, tally, deadline=60.0)
    assert (fault.kind, len(server.seen)) == ("connection", retry.BILLED)
    assert "may have been billed" in fault.message
    assert tally.assumed == worst_case(REQUEST) * retry.BILLED


@pytest.mark.usefixtures("quick")
def test_a_server_that_is_not_there_bills_nothing():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    tally = Tally()
    fault = fault_of(Connection(f"http://127.0.0.1:{port}", "KEY_OF_THE_TEST"), tally, 0.5)
    assert (fault.kind, fault.sent, tally.calls) == ("connection", False, 0)
    assert "could not be reached" in fault.message


def test_a_cancelled_call_may_be_billed():
    tally = Tally()

    async def cancelled(server: Scripted) -> None:
        async with connect(server.connection) as client:
            task = asyncio.create_task(client.send(REQUEST, meter=tally, deadline=50.0))
            while not server.seen:  # noqa: ASYNC110 -- it is seen by another thread
                await asyncio.sleep(0.01)
            assert tally.open == worst_case(REQUEST)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with Scripted([SILENCE]) as server:
        asyncio.run(asyncio.wait_for(cancelled(server), PATIENT))
    assert tally.assumed == worst_case(REQUEST)
    assert tally.open == Usage()


@pytest.mark.usefixtures("quick")
def test_every_attempt_asks_the_meter():
    tally = Tally(within=Ceiling(2))
    with Scripted([CUT]) as server, pytest.raises(BudgetSpent):
        send(server, tally)
    assert len(server.seen) == 2
    assert tally.assumed == worst_case(REQUEST) * 2
    assert tally.open == Usage()


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    fault = fault_of(Connection("https://models.invalid"))
    assert fault.kind == "key"
    assert "ANTHROPIC_API_KEY is not set" in fault.message


# ── retry ──────────────────────────────────────────────────────────────────────────────────────

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "Mon, 01 Jun 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Mon, 99 Jun 2026 12:00:30 GMT"}, None),
    ],
)
def test_what_the_api_asks_to_wait(headers: dict[str, str], seconds: float | None):
    assert asked_to_wait(headers, NOW) == seconds


TROUBLES = st.builds(
    Trouble,
    st.sampled_from(["overloaded", "timeout", "connection", "refused"]),
    st.just("Trouble."),
    st.booleans() | st.just(value=True),
    st.booleans(),
    st.none() | st.floats(0, 200),
    st.booleans(),
)


@example([(Trouble("overloaded", "Trouble.", True, False, 0.0, False), 0.0, 0.0)], 1.0, False)
@given(
    st.lists(st.tuples(TROUBLES, st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.floats(0.01, 100),
    st.booleans(),
)
def test_whatever_comes_the_deadline_holds(
    script: list[tuple[Trouble, float, float]], deadline: float, once: bool
):
    """The real loop with a clock of our own: troubles, how long they take, and what is drawn."""
    now, taken, begun, draws = 0.0, 0, list[float](), list[float]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def attempt(seconds: float) -> Trouble:
        nonlocal now, taken
        assert 0 < seconds <= (deadline - now) * (1 + 1e-9) + 1e-9
        begun.append(now)
        assert len(begun) < 1000
        trouble, share, drawn = script[min(taken, len(script) - 1)]
        taken += 1
        draws.append(drawn)
        now += seconds if trouble.kind == "timeout" else seconds * share
        return trouble

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: now))
        patch.setattr(retry, "asyncio", SimpleNamespace(sleep=sleep))
        # A draw of nothing for ever would be an endless loop on a clock that only sleep moves.
        patch.setattr(retry, "_draw", lambda: max(draws[-1], 0.1))
        with pytest.raises(ModelFault):
            asyncio.run(retry.until_answered(attempt, deadline=deadline, once=once))
    assert now <= deadline * (1 + 1e-9) + 1e-9
    assert all(at <= deadline * 0.9 * (1 + 1e-9) + 1e-9 for at in begun)
    came = [script[min(n, len(script) - 1)][0] for n in range(taken)]
    assert all(trouble.again for trouble in came[:-1])
    assert sum(trouble.billed for trouble in came) <= retry.BILLED
    assert not once or not any(trouble.sent for trouble in came[:-1])
    for earlier, later, trouble in zip(begun, begun[1:], came, strict=False):
        assert later - earlier >= (trouble.after or 0.0) * (1 - 1e-9) - 1e-9


# ── models ─────────────────────────────────────────────────────────────────────────────────────


def test_the_room_is_light_until_a_model_is_called():
    program = (
        "import sys, skill_eval_nb.models as m\n"
        "heavy = lambda: sorted({'anthropic', 'httpx2', 'pandas', 'polars'} & set(sys.modules))\n"
        "m.Connection, m.Tally, m.load_prices, m.connect, m.batches.submit, m.StandIn\n"
        "print(heavy(), m.load_prices().date and heavy())"  # genai-prices brings its httpx2
    )
    said = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert said.stdout.strip() == "[] ['httpx2']", said.stderr
