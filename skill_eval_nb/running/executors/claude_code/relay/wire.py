"""HTTP/1.1 as far as one harness needs it: a request read whole, an answer written in pieces.

What arrives may come from the agent's own commands, so it is bounded and refused early. Every
answer ends its connection, which leaves nothing to keep in step.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

MOST_HEAD_BYTES = 64 * 1024
MOST_BODY_BYTES = 32 * 1024 * 1024
"""What the Messages API itself takes at most."""

_QUERY = re.compile(r"[\w.=&-]*", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,12}")


class Unreadable(Exception):
    """A request that is answered with a status and a message, and goes no further."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        method: in capitals.
        path: without the query.
        query: behind the question mark; empty where there is none.
        headers: names in small letters; of one that comes twice, the last.
        body: the bytes.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read one request; None where the other side closed before it sent one.

    The reader's own limit bounds the head: give it `MOST_HEAD_BYTES`.

    Raises:
        Unreadable: where it is no request, is too long, or has no stated length.
        asyncio.IncompleteReadError: where the other side closed in its body.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as short:
        if not short.partial.strip():
            return None
        raise Unreadable(400, "The request ended before its headers did.") from short
    except asyncio.LimitOverrunError as long:
        raise Unreadable(431, f"Headers over {MOST_HEAD_BYTES} bytes are refused.") from long
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        raise Unreadable(400, "The first line is not that of an HTTP request.")
    headers = _headers(lines)
    if "transfer-encoding" in headers:
        raise Unreadable(411, "A body needs a stated Content-Length here.")
    length = headers.get("content-length", "0")
    if not _LENGTH.fullmatch(length):
        raise Unreadable(400, "Content-Length is not a number.")
    if int(length) > MOST_BODY_BYTES:
        raise Unreadable(413, f"A body over {MOST_BODY_BYTES} bytes is refused.")
    path, _, query = words[1].partition("?")
    if not _QUERY.fullmatch(query):
        raise Unreadable(400, "The query holds what no query of the harness does.")
    body = await reader.readexactly(int(length))
    return Request(words[0].upper(), path, query, headers, body)


def _headers(lines: Iterable[str]) -> dict[str, str]:
    headers = {}
    for line in filter(None, lines):
        name, colon, value = line.partition(":")
        if not (colon and line.isascii() and value.strip().isprintable()):
            raise Unreadable(400, "A header is no plain text.")
        headers[name.strip().lower()] = value.strip()
    return headers


def head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    r"""The first lines of an answer, which ends its connection.

    >>> head(200, [("content-type", "text/plain")]).decode().splitlines()
    ['HTTP/1.1 200 OK', 'content-type: text/plain', 'connection: close', '']
    """
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:  # 529, which the API answers when it is overloaded, has no name
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers)]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1", "replace")


def chunk(data: bytes) -> bytes:
    r"""A piece of a body whose length is not known beforehand; an empty one ends the body.

    A body that is cut is then seen to be cut, where one that ends with its connection is not.

    >>> chunk(b"four"), chunk(b"")
    (b'4\r\nfour\r\n', b'0\r\n\r\n')
    """
    return b"%x\r\n%s\r\n" % (len(data), data)


def refusal(status: int, kind: str, message: str) -> bytes:
    """A whole answer in the form of the API's errors, told not to be tried again."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    headers = [
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("x-should-retry", "false"),
    ]
    return head(status, headers) + body
