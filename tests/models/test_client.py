"""The real SDK against a real server on this machine that answers well or badly."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import pickle
import socket
import threading
import traceback
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.models import (
    Client,
    Connection,
    Meter,
    ModelFault,
    Reply,
    StandIn,
    Tally,
    Usage,
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
    Scripted,
    bad,
    good,
    message,
    page,
    plain,
    with_client,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a key, and pauses are hundredths of seconds."""
    monkeypatch.setenv("KEY_OF_THE_TEST", f"{KEY}\n")
    monkeypatch.setattr(retry, "FIRST", 0.01)
    monkeypatch.setattr(retry, "LONGEST", 0.05)


def send(to: Any, meter: Meter | None = None, deadline: float = 20.0, **more: Any) -> Reply:
    how = {"meter": meter or Tally(), "deadline": deadline}
    return with_client(to, lambda client: client.send(REQUEST | more, **how))


def fault_of(to: Any, meter: Meter | None = None, deadline: float = 20.0) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        send(to, meter, deadline)
    assert KEY not in str(caught.value)
    return caught.value


def test_the_request_is_sent_as_it_is_and_the_answer_given_as_it_came():
    content = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "Grüße 🎈"}]
    said = message() | {"content": content, "stop_reason": "a_reason_of_tomorrow"}
    request = {"a_field_of_tomorrow": {"x": [None, 1.5, "ü"]}, "stop_sequences": []}
    tally = Tally()
    with Scripted([plain(said)]) as server:
        reply = send(server, tally, **copy.deepcopy(request))
    assert json.loads(server.seen[0].body) == REQUEST | request
    headers = [server.seen[0].headers.get(name) for name in ("authorization", "x-api-key")]
    assert headers in ([f"Bearer {KEY}", None], [None, KEY])
    assert (reply.content, reply.text) == (content, "Grüße 🎈")
    assert reply.stop_reason == "a_reason_of_tomorrow"
    assert reply.model == "claude-haiku-4-5-20251001"
    assert reply.usage == tally.usage == Usage(input_tokens=12, output_tokens=4, calls=1)


@pytest.mark.parametrize(
    ("answer", "billed"),
    [
        *((one, 0) for one in (bad(408), bad(429, retry_after="0"), page(502))),
        (bad(400, x_should_retry="true"), 0),
        *((one, 1) for one in (CUT, HANG_UP, page(200))),
        (plain({"type": "message", "content": []}), 1),
        (good(output_tokens=-4), 1),
    ],
)
def test_a_fault_that_passes_is_tried_again_but_not_what_may_be_billed_for_ever(answer, billed):
    tally = Tally()
    with Scripted([answer, answer, good()]) as server:
        assert send(server, tally).text == "Good day."
    assert len({seen.body for seen in server.seen}) == 1
    assert (len(server.seen), tally.usage.calls, tally.open) == (3, 1, Usage())
    assert tally.assumed == worst_case(REQUEST) * (2 * billed)
    if billed:
        tally = Tally()
        with Scripted([answer]) as server:
            fault = fault_of(server, tally, deadline=60.0)
        assert (fault.kind, len(server.seen)) == ("connection", retry.BILLED)
        assert "3 attempts may have been billed. (3 attempts in " in fault.message
        assert (tally.assumed, tally.open) == (worst_case(REQUEST) * 3, Usage())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (bad(400, "invalid_request_error", "max_tokens: too many"), "max_tokens: too many"),
        (bad(401, "authentication_error"), "KEY_OF_THE_TEST"),
        (bad(404, "not_found_error", "model: claude-x"), "model: claude-x"),
        (page(404), "HTTP 404 with a page, perhaps of a proxy: Bad gateway here."),
        (bad(529, x_should_retry="false"), "Bad day"),
        (bad(422, request_id="req_7"), "req_7"),
        (Answer(418, b"\xff teapot"), "HTTP 418 \ufffd teapot."),
        (Answer(418, b"[" * 100_000), "HTTP 418 " + "[" * 300 + "."),
    ],
)
def test_a_refusal_ends_the_call_at_once_and_says_why(answer: Answer, says: str):
    tally = Tally()
    with Scripted([answer]) as server:
        fault = fault_of(server, tally)
    assert (fault.kind, len(server.seen), tally.calls) == ("refused", 1, 0)
    assert says in fault.message
    assert f"HTTP {answer.status}" in fault.message


def test_silence_is_given_up_in_time_for_one_more_attempt():
    tally = Tally()
    with Scripted([SILENCE, good()]) as server:
        assert send(server, tally, deadline=1.5).text == "Good day."
    assert tally.assumed == worst_case(REQUEST)
    with Scripted([SILENCE]) as server:
        fault = fault_of(server, deadline=0.9)
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
        fault = fault_of(at_port(listening), deadline=0.5)
        over.set()
        thread.join()
    assert "No answer came" in fault.message


def at_port(listening: socket.socket) -> Connection:
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    return Connection(url, "KEY_OF_THE_TEST")


def test_a_server_that_is_not_there_bills_nothing():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        nobody = at_port(listening)
    tally = Tally()
    fault = fault_of(nobody, tally, 0.3)
    assert (fault.kind, fault.sent, tally.calls) == ("connection", False, 0)
    assert "could not be reached" in fault.message


def test_a_cancelled_call_may_be_billed():
    tally = Tally()

    async def cancelled(client: Client) -> None:
        task = asyncio.create_task(client.send(REQUEST, meter=tally, deadline=50.0))
        while not server.seen:  # noqa: ASYNC110 -- it is seen by another thread
            await asyncio.sleep(0.01)
        assert tally.open == worst_case(REQUEST)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Scripted([SILENCE]) as server:
        with_client(server, cancelled)
    assert (tally.assumed, tally.open) == (worst_case(REQUEST), Usage())


# ── connection ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "says"),
    [
        *((empty, "KEY_OF_THE_TEST is not set") for empty in ("", "  \n")),
        *((odd, "KEY_OF_THE_TEST does not hold") for odd in ("sk-very\nsecret", "sk-very…secret")),
    ],
)
def test_without_a_key_nothing_is_sent_and_its_name_is_told(monkeypatch, value: str, says: str):
    monkeypatch.setenv("KEY_OF_THE_TEST", value)
    connection = Connection("https://models.invalid", "KEY_OF_THE_TEST")
    fault = fault_of(connection)
    assert (fault.kind, fault.message) == ("key", connection.why_not())
    assert says in fault.message
    assert "very" not in fault.message
    assert Connection(api_key_name="KEY_OF_THE_TEST", stand_in=StandIn()).why_not() is None


def test_a_connection_is_a_value_that_shows_neither_key_nor_password():
    connection = Connection("https://me:planted@models.example.org/v1", "KEY_OF_THE_TEST")
    sent = pickle.dumps(connection)
    assert connection.key() == KEY
    assert hash(pickle.loads(sent)) == hash(connection)
    assert pickle.loads(sent) == connection
    assert KEY not in f"{connection!r} {sent!r}"
    assert "models.example.org/v1" in repr(connection)
    told = f"{connection!r} {ModelFault('connection', f'{connection.base_url} is not there')}"
    for url in ("ftp://me:planted@host", "me:planted@host", "http://me:planted/x@host"):
        with pytest.raises(ValueError, match="is not a server address") as refused:
            Connection(url)
        told += "".join(traceback.format_exception(refused.value))
    assert "planted" not in told


# ── retry ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "0"}, 0.0),
        *(({"retry-after": odd}, None) for odd in ("-1", "nan")),
    ],
)
def test_what_the_api_asks_to_wait(headers: dict[str, str], seconds: float | None):
    assert asked_to_wait(headers) == seconds


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
@example([(Trouble("overloaded", "Trouble.", True, False, 0.0, False), 0.0, 0.0)], 50.0, False)
@given(
    st.lists(st.tuples(TROUBLES, st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.floats(0.01, 50),
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
        patch.setattr(retry, "_draw", lambda: max(draws[-1], 0.1, deadline / 50))
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
