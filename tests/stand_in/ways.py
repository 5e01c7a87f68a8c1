"""Two ways to the rigged stand-in: a transport in process, and an HTTP server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.app import transport, unread

from .app import RiggedApp
from .faults import RiggedStandIn
from .validating import ValidatingApp


def rigged(stand_in: StandIn) -> RiggedStandIn:
    """A stand-in as a rigged one that does nothing of its own."""
    if isinstance(stand_in, RiggedStandIn):
        return stand_in
    fields = {one.name: getattr(stand_in, one.name) for one in dataclasses.fields(stand_in)}
    return RiggedStandIn(**fields)


@transport.register
def _(stand_in: RiggedStandIn) -> httpx2.AsyncBaseTransport:
    return _Transport(stand_in)


@transport.register
def _(stand_in: StandIn) -> httpx2.AsyncBaseTransport:
    app = ValidatingApp(stand_in)
    return httpx2.MockTransport(lambda request: unread(app.answer(request)))


class _Transport(httpx2.AsyncBaseTransport):
    """Answers as the server does, with no socket.

    It keeps the client's read time-out, which is a transport's duty: of silence and of a
    latency that is longer comes `ReadTimeout`.
    """

    def __init__(self, stand_in: RiggedStandIn) -> None:
        self._app = RiggedApp(stand_in)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        response = self._app.answer(request)
        await _wait(response, request)
        if response.extensions.get("fault") == "cut":
            body = response.content[: len(response.content) // 2]
            headers = [
                (name, value)
                for name, value in response.headers.items()
                if name.lower() != "content-length"
            ]
            return httpx2.Response(response.status_code, headers=headers, stream=_Half(body))
        return unread(response)


class _Half(httpx2.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
        raise httpx2.RemoteProtocolError("the stand-in cut the connection, as it was set to")


async def _wait(response: httpx2.Response, request: httpx2.Request) -> None:
    patience = request.extensions.get("timeout", {}).get("read") or math.inf
    told = response.extensions
    needed = math.inf if told.get("fault") == "silence" else told.get("delay", 0.0)
    if needed <= patience and needed < math.inf:
        await asyncio.sleep(needed)
        return
    if patience == math.inf:
        # A client that waits for ever is left to whoever cancels it.
        await asyncio.Event().wait()
    await asyncio.sleep(patience)
    raise httpx2.ReadTimeout("the stand-in did not answer in time", request=request)


HOST = "127.0.0.1"


@contextmanager
def serve(stand_in: StandIn, port: int = 0) -> Iterator[str]:
    """Serve the stand-in, and give its address: `http://127.0.0.1:PORT`.

    Nothing is printed. On leaving, all connections are closed.

    Args:
        stand_in: how it answers.
        port: 0 takes a free one.

    Raises:
        OSError: where the port is taken.
    """
    server = _Server(stand_in, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.stopping.set()
        server.shutdown()
        for connection in tuple(server.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    # Not as daemons: closing the server waits for its threads, whose sockets are shut before.
    daemon_threads = False

    def __init__(self, stand_in: StandIn, port: int) -> None:
        self.app = RiggedApp(rigged(stand_in))
        self.stopping = threading.Event()
        self.open: set[socket.socket] = set()
        super().__init__((HOST, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error; anything else is told on stderr."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        server = self.server
        assert isinstance(server, _Server)
        request = httpx2.Request(
            self.command,
            f"http://{HOST}{self.path}",
            headers=self.headers.items(),
            content=body,
            extensions={"via": "server"},
        )
        response = server.app.answer(request)
        silent = response.extensions.get("fault") == "silence"
        # Silence lasts until the server stops; whoever waits leaves when it likes.
        server.stopping.wait(None if silent else response.extensions.get("delay", 0.0))
        if silent:
            self.close_connection = True
        else:
            self._send(response)

    do_GET = do_HEAD = do_POST  # noqa: N815  the base looks for them

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
        """Say nothing: the log of requests is a file."""

    def _send(self, response: httpx2.Response) -> None:
        self.send_response(response.status_code)
        streamed = response.headers["content-type"].startswith("text/event-stream")
        for name, value in response.headers.items():
            if not (streamed and name.lower() == "content-length"):
                self.send_header(name, value)
        # A stream's length is not known to who sends one; a body's is.
        if streamed:
            self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        cut = response.extensions.get("fault") == "cut"
        body = response.content[: len(response.content) // 2] if cut else response.content
        pieces = body.splitlines(keepends=True) if streamed else [body]
        for piece in () if self.command == "HEAD" else pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if streamed else piece)
            self.wfile.flush()
        if cut:
            self.close_connection = True
        elif streamed:
            self.wfile.write(b"0\r\n\r\n")
