"""One request and its answer over a connection, which ends with it: HTTP/1.1, read by h11.

What arrives may come from the agent's own commands, so it is bounded and refused early.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass

import h11

MOST_HEAD_BYTES = 64 * 1024
MOST_BODY_BYTES = 32 * 1024 * 1024
"""What the Messages API itself takes at most."""
_PIECE = 64 * 1024


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
        method: as it was written.
        path: without the query.
        query: behind the question mark; empty where there is none.
        headers: names in small letters; of one that comes twice, both, with a comma between.
        body: the bytes.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


class Exchange:
    """A request that is read whole, and an answer that is written in pieces."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)
        self._bodiless = False

    async def request(self) -> Request | None:
        """Read the request; None where the other side closed before it sent one.

        Raises:
            Unreadable: where it is no request, is too long, or ends too early.
        """
        head, body = None, bytearray()
        try:
            while not isinstance(event := self._http.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    self._http.receive_data(await self._reader.read(_PIECE))
                elif isinstance(event, h11.Request):
                    head = event
                    self._bodiless = event.method == b"HEAD"
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > MOST_BODY_BYTES:
                        raise Unreadable(413, f"A body over {MOST_BODY_BYTES} bytes is refused.")
                else:
                    return None
        except h11.RemoteProtocolError as fault:
            raise Unreadable(fault.error_status_hint, f"That is no request: {fault}.") from fault
        assert head is not None  # h11 lets none end that did not begin
        headers: dict[str, str] = {}
        for name, value in ((k.decode(), v.decode("latin-1")) for k, v in head.headers):
            headers[name] = f"{headers[name]},{value}" if name in headers else value
        path, _, query = head.target.decode("latin-1").partition("?")
        return Request(head.method.decode(), path, query, headers, bytes(body))

    async def gone(self) -> None:
        """Wait until the other side has closed; whatever it sends besides is thrown away."""
        while await self._reader.read(_PIECE):
            pass

    def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Begin the answer; without a length it comes in pieces, and is seen where it is cut."""
        plain = [(k.encode(), v.encode("latin-1", "replace")) for k, v in headers]
        self._send(h11.Response(status_code=status, headers=[*plain, (b"connection", b"close")]))

    async def piece(self, data: bytes) -> None:
        """Send a piece of the answer's body."""
        self._send(h11.Data(data=data))
        await self._writer.drain()

    def end(self) -> None:
        """End the answer's body."""
        self._send(h11.EndOfMessage())

    def cut(self) -> None:
        """Close the connection in the middle of an answer."""
        self._writer.transport.abort()

    def refuse(self, status: int, message: str) -> None:
        """A whole answer in the form of the API's errors, told not to be tried again."""
        kind = "api_error" if status >= 500 else "invalid_request_error"
        kind = "not_found_error" if status == 404 else kind
        body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
        length = ("content-length", str(len(body)))
        self.begin(
            status, [("content-type", "application/json"), ("x-should-retry", "false"), length]
        )
        if not self._bodiless:
            self._send(h11.Data(data=body))
        self.end()

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
