"""The app as a real HTTP server on 127.0.0.1, a thread a connection."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .app import App, ReceivedRequest, SentAnswer
from .settings import StandIn

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
        self.app = App(stand_in)
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
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        assert isinstance(server, _Server)
        answer = server.app.answer(
            ReceivedRequest(self.command, self.path, headers, body, "server")
        )
        # Silence lasts until the server stops; whoever waits leaves when it likes.
        server.stopping.wait(None if answer.silent else answer.delay)
        if answer.silent:
            self.close_connection = True
        else:
            self._send(answer)

    do_GET = do_HEAD = do_POST  # noqa: N815  the base looks for them

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
        """Say nothing: the log of requests is a file."""

    def _send(self, answer: SentAnswer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        # A stream's length is not known to who sends one; a body's is.
        streamed = answer.headers.get("content-type", "").startswith("text/event-stream")
        if streamed:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(sum(map(len, answer.pieces))))
        self.end_headers()
        pieces = (answer.half(),) if answer.cut else answer.pieces
        for piece in () if self.command == "HEAD" else pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if streamed else piece)
            self.wfile.flush()
        if answer.cut:
            self.close_connection = True
        elif streamed:
            self.wfile.write(b"0\r\n\r\n")
