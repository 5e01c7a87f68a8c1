from __future__ import annotations

import asyncio
import contextlib
import http.client
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.running.executors.claude_code.relay.wire import (
    MOST_BODY_BYTES,
    MOST_HEAD_BYTES,
    Unreadable,
    chunk,
    head,
    read_request,
    refusal,
)


def read(data: bytes):
    async def at_once():
        reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES)
        reader.feed_data(data)
        reader.feed_eof()
        return await read_request(reader)

    return asyncio.run(at_once())


class Socket:
    """As much of a socket as `http.client` reads from."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, *_):
        return io.BytesIO(self.data)


def answer(data: bytes) -> tuple[int, bytes]:
    got = http.client.HTTPResponse(Socket(data))
    got.begin()
    with got:
        return got.status, got.read()


@given(st.binary(max_size=300), st.sampled_from(["POST", "post"]))
def test_a_request_is_read_as_it_was_sent(body, method):
    data = b"%s /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nA: b: c\r\n\r\n"
    request = read(data % (method.encode(), len(body)) + body + b"more")
    assert request is not None
    assert (request.method, request.path, request.query) == ("POST", "/v1/messages", "beta=true")
    assert request.body == body
    assert request.headers["a"] == "b: c"


@given(st.binary(max_size=400))
def test_whatever_comes_is_read_or_refused(data):
    with contextlib.suppress(Unreadable, asyncio.IncompleteReadError):
        read(data)


def test_nothing_is_no_request():
    assert read(b"") is None


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHos", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY_BYTES + 1), 413),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 2 * MOST_HEAD_BYTES + b"\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX-App: a\x00b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (b"GET /?\x00 HTTP/1.1\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_is_refused(data, status):
    with pytest.raises(Unreadable) as refused:
        read(data)
    assert refused.value.status == status


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_pieces_are_put_together_again_by_others(pieces):
    data = head(200, [("transfer-encoding", "chunked")])
    assert answer(data + b"".join(map(chunk, [*pieces, b""]))) == (200, b"".join(pieces))


def test_a_body_that_is_cut_is_seen_to_be():
    data = head(200, [("transfer-encoding", "chunked")]) + chunk(b"half")
    with pytest.raises(http.client.IncompleteRead):
        answer(data)


@given(st.text(), st.sampled_from([400, 404, 529]))
def test_a_refusal_is_a_whole_answer(message, status):
    got, body = answer(refusal(status, "invalid_request_error", message))
    assert got == status
    assert body.startswith(b'{"type": "error"')
