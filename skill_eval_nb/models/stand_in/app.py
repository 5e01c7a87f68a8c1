"""The app: a request of any kind to its answer, in process or as an HTTP server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import secrets
import socket
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import singledispatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from skill_eval_nb.disk import write_atomic

from ..usage import encoded
from . import reading
from .answers import compose
from .reading import complaint
from .settings import MODELS, UNBILLED, Fault, Misfortune, Role, StandIn, digest, uniform

OUTCOMES = ("succeeded", "errored", "canceled", "expired")


class Batches:
    """The batches of one app. Safe among threads.

    A batch is worked off when it is first looked at after its time: until then it is
    `in_progress` and can be cancelled. With a folder each batch is a file in it, so that a
    process that comes later finds it; without one they are kept in memory.
    """

    def __init__(
        self,
        folder: str | None,
        seconds: float,
        work: Callable[[str, str, Any], dict[str, Any]],
    ) -> None:
        """`work(batch id, custom id, request)` gives the result of one request."""
        self._folder = Path(folder) if folder else None
        self._seconds = seconds
        self._work = work
        self._held: dict[str, dict[str, Any]] = {}
        self._lock = threading.RLock()

    def create(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """The new batch."""
        now, name = datetime.now(UTC), "msgbatch_" + secrets.token_hex(12)
        batch = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": dict.fromkeys(OUTCOMES, 0) | {"processing": len(requests)},
            "created_at": now.isoformat(),
            "expires_at": (now + timedelta(hours=24)).isoformat(),
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None,
        }
        due = now.timestamp() + self._seconds
        with self._lock:
            self._keep({"due": due, "requests": requests, "results": None, "batch": batch})
        return batch

    def batch(self, name: str) -> dict[str, Any] | None:
        """A batch as it stands now, None where none has this id."""
        with self._lock:
            entry = self._due(name)
        return entry["batch"] if entry else None

    def cancel(self, name: str) -> dict[str, Any] | None:
        """Cancel what is not worked off; the batch as the canceller sees it."""
        with self._lock:
            entry = self._due(name)
            if entry is None or entry["results"] is not None:
                return entry and entry["batch"]
            entry["batch"]["cancel_initiated_at"] = datetime.now(UTC).isoformat()
            shown = {**entry["batch"], "processing_status": "canceling"}
            self._end(entry, lambda *_: {"type": "canceled"})
        return shown

    def results(self, name: str) -> list[dict[str, Any]] | None:
        """The results in an order of their own, None where there are none (yet)."""
        with self._lock:
            entry = self._due(name)
        return entry["results"] if entry else None

    def _due(self, name: str) -> dict[str, Any] | None:
        entry = self._held.get(name)
        file = self._folder and self._folder / f"{name}.json"
        if file and file.is_file():
            entry = json.loads(file.read_bytes())
        if entry and entry["results"] is None and entry["due"] <= datetime.now(UTC).timestamp():
            self._end(entry, self._work)
        return entry

    def _end(self, entry: dict[str, Any], work: Callable[[str, str, Any], dict[str, Any]]) -> None:
        batch = entry["batch"]
        name = batch["id"]
        entry["results"] = [
            {"custom_id": row["custom_id"], "result": work(name, row["custom_id"], row["params"])}
            for row in entry["requests"]
        ]
        # The API promises no order, so nobody may lean on one.
        entry["results"].sort(key=lambda result: uniform(name, result["custom_id"]))
        kinds = Counter(result["result"]["type"] for result in entry["results"])
        batch["request_counts"] = {kind: kinds[kind] for kind in ("processing", *OUTCOMES)}
        batch["processing_status"] = "ended"
        batch["ended_at"] = datetime.now(UTC).isoformat()
        batch["results_url"] = f"/v1/messages/batches/{name}/results"
        self._keep(entry)

    def _keep(self, entry: dict[str, Any]) -> None:
        name = entry["batch"]["id"]
        if self._folder is None:
            self._held[name] = entry
        else:
            write_atomic(self._folder / f"{name}.json", json.dumps(entry).encode())


ERRORS = {
    400: ("invalid_request_error", "The stand-in was set to refuse this request"),
    401: ("authentication_error", "invalid x-api-key"),
    404: ("not_found_error", "Not found"),
    429: ("rate_limit_error", "This request would exceed your rate limit"),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}
"""By status: the type of an error, and its message where there is no better one."""
PIECES = 200
"""Deltas of one block in a stream, at most, so that a huge answer is no million events."""
SECRET = ("authorization", "x-api-key", "cookie", "proxy-authorization")
JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
LINES = {"content-type": "application/x-jsonl"}


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it came, with headers in lower case; `via` is `server` or `transport`."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    via: str


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """What goes back, after `delay` seconds.

    `pieces` of the body go out one by one. `cut`: the connection breaks after half of the
    body. `silent`: nothing is ever sent.
    """

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    delay: float = 0.0
    cut: bool = False
    silent: bool = False

    def half(self) -> bytes:
        """What comes before the cut."""
        whole = b"".join(self.pieces)
        return whole[: len(whole) // 2]


class RefusedRequest(Exception):
    """An error answer, with its status and headers."""

    def __init__(self, status: int, message: str = "", headers: Mapping[str, str] = {}) -> None:
        super().__init__(message or ERRORS[status][1])
        self.status, self.headers = status, headers

    def body(self, request_id: str) -> dict[str, Any]:
        """The error as the API words it."""
        error = {"type": ERRORS[self.status][0], "message": str(self)}
        return {"type": "error", "error": error, "request_id": request_id}


def event(data: Mapping[str, Any]) -> bytes:
    """One server-sent event, named for its type."""
    return b"event: " + data["type"].encode() + b"\ndata: " + encoded(data) + b"\n\n"


def stream(answer: Mapping[str, Any]) -> Iterator[bytes]:
    """An answered message as server-sent events, one event an item."""
    output = answer["usage"]["output_tokens"]
    start = {**answer, "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**answer["usage"], "output_tokens": min(1, output)}
    yield event({"type": "message_start", "message": start})
    for index, block in enumerate(answer["content"]):
        of_tool = block["type"] == "tool_use"
        kind, name = ("input_json_delta", "partial_json") if of_tool else ("text_delta", "text")
        empty = {**block, "input": {}} if of_tool else {**block, "text": ""}
        yield event({"type": "content_block_start", "index": index, "content_block": empty})
        whole = json.dumps(block["input"]) if of_tool else block["text"]
        size = max(40, len(whole) // PIECES)
        for at in range(0, len(whole), size):
            delta = {"type": kind, name: whole[at : at + size]}
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    delta = {name: answer[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield event({"type": "message_delta", "delta": delta, "usage": answer["usage"]})
    yield event({"type": "message_stop"})


def write(path: str, line: Mapping[str, Any]) -> None:
    """Append one line, with the time and the process before it.

    Raises:
        OSError: where the line cannot be written, or not as a whole.
    """
    stamped = {"time": datetime.now(UTC).isoformat(), "pid": os.getpid(), **line}
    data = json.dumps(stamped).encode() + b"\n"
    # One write on a file opened for appending: lines of several processes do not mix.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = os.write(file, data)
    finally:
        os.close(file)
    if written != len(data):
        raise OSError(f"{path}: only {written} of {len(data)} bytes of a line were written")


@dataclass(slots=True)
class _Note:
    """What the log says about a request, gathered on the way."""

    role: Role | None = None
    session: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    fault: Fault | None = None
    answer: Any = None
    body: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


class App:
    """One stand-in at work: its counters, its cache, its batches. Safe among threads."""

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in
        self._misfortune = Misfortune(stand_in.faults, stand_in.seed)
        self._cache = reading.PrefixCache(stand_in.cache_minimum)
        self._batches = Batches(stand_in.store, stand_in.batch_seconds, self._in_batch)

    def answer(self, request: ReceivedRequest) -> SentAnswer:
        """The answer to a request, whatever it is; it is in the log when this returns."""
        request_id = "req_" + secrets.token_hex(12)
        note = _Note()
        try:
            answer = self._routed(request, note, request_id)
        except RefusedRequest as refused:
            note.answer = refused.body(request_id)
            headers = {**JSON, **refused.headers}
            answer = SentAnswer(refused.status, headers, (encoded(note.answer),))
        self._write(request, note, answer.status, request_id)
        return replace(answer, headers={**answer.headers, "request-id": request_id})

    def _routed(self, request: ReceivedRequest, note: _Note, request_id: str) -> SentAnswer:
        path = request.path.partition("?")[0].strip("/").removeprefix("v1/").split("/")
        if request.method == "POST" and request.body:
            try:
                note.body = json.loads(request.body)
            except ValueError as error:
                raise RefusedRequest(400, f"The body is not valid JSON: {error}") from None
        match request.method, path:
            case "POST", ["messages"]:
                return self._messages(note, request_id)
            case "POST", ["messages", "count_tokens"]:
                return _whole({"input_tokens": reading.count_request(note.body)}, note)
            case "GET", ["models"]:
                return _whole({"data": list(map(_model, MODELS)), "has_more": False}, note)
            case "POST", ["messages", "batches"]:
                return _whole(self._batches.create(note.body["requests"]), note)
            case _, ["messages", "batches", name, *what]:
                return self._of_batch(" ".join([request.method, *what]), name, note)
        raise RefusedRequest(404)

    def _of_batch(self, wanted: str, name: str, note: _Note) -> SentAnswer:
        ways = {"GET": "batch", "POST cancel": "cancel", "GET results": "results"}
        found = getattr(self._batches, ways[wanted])(name) if wanted in ways else None
        if found is None:
            raise RefusedRequest(404)
        if not isinstance(found, list):
            return _whole(found, note)
        note.answer = found
        return SentAnswer(200, LINES, tuple(encoded(result) + b"\n" for result in found))

    def _messages(self, note: _Note, request_id: str) -> SentAnswer:
        message = self._message(note)
        kind = note.fault.kind if note.fault else None
        streamed = bool(note.body.get("stream"))
        pieces = tuple(stream(message)) if streamed else (encoded(message),)
        if streamed and kind == "stream_error":
            broken = RefusedRequest(529).body(request_id)
            pieces = (*pieces[: len(pieces) // 2], event(broken))
        return SentAnswer(
            200,
            EVENTS if streamed else JSON,
            pieces,
            delay=self.stand_in.latency,
            cut=kind == "cut",
            silent=kind == "silence",
        )

    def _message(self, note: _Note) -> dict[str, Any]:
        """The answered message.

        Raises:
            RefusedRequest: the API would not take it, or a fault comes in its place.
        """
        request = note.body
        if wrong := complaint(request):
            raise RefusedRequest(400, wrong)
        note.role = reading.role_of(request)
        note.session = reading.session_of(request)
        note.model = request["model"]
        turn = reading.turn_of(request)
        if self.stand_in.faults:
            text = json.dumps(request, ensure_ascii=False)
            note.fault = self._misfortune.strike(note.role, note.session, turn, text)
        fault = note.fault
        if fault and fault.kind in UNBILLED:
            status = int(fault.kind[-3:])
            waits = status == 429 and fault.retry_after is not None
            raise RefusedRequest(
                status, headers={"retry-after": f"{fault.retry_after:g}"} if waits else {}
            )
        composed = compose(self.stand_in, request, note.role, fault)
        note.usage = {
            **self._cache.usage(request),
            "output_tokens": composed.output_tokens,
            "service_tier": "batch" if "batch" in note.extra else "standard",
        }
        refused = {"type": "refusal", "category": None, "explanation": "The stand-in was set to."}
        note.answer = {
            "id": "msg_" + reading.mark_of(request),
            "type": "message",
            "role": "assistant",
            "model": note.model,
            "content": composed.content,
            "stop_reason": composed.stop_reason,
            "stop_sequence": None,
            "stop_details": refused if composed.stop_reason == "refusal" else None,
            "usage": note.usage,
        }
        return note.answer

    def _in_batch(self, batch_id: str, custom_id: str, body: Any) -> dict[str, Any]:
        """One request of a batch, with a log line of its own."""
        note = _Note(body=body, extra={"batch": batch_id, "custom_id": custom_id})
        request_id, status = "req_" + digest(batch_id, custom_id), 200
        try:
            message = self._message(note)
            gone = note.fault is not None and note.fault.kind in ("silence", "cut")
            result = {"type": "expired"} if gone else {"type": "succeeded", "message": message}
        except RefusedRequest as refused:
            status, note.answer = refused.status, refused.body(request_id)
            result = {"type": "errored", "error": note.answer}
        request = ReceivedRequest("POST", "/v1/messages", {}, b"", "batch")
        self._write(request, note, status, request_id)
        return result

    def _write(self, request: ReceivedRequest, note: _Note, status: int, request_id: str) -> None:
        if self.stand_in.log is None:
            return
        line = {
            "via": request.via,
            "method": request.method,
            "path": request.path,
            "status": status,
            "role": note.role,
            "session": note.session,
            "model": note.model,
            "fault": note.fault.kind if note.fault else None,
            "usage": note.usage,
            "request_id": request_id,
            **note.extra,
            "headers": {k: v for k, v in request.headers.items() if k not in SECRET},
            "body": note.body,
            "answer": note.answer,
        }
        write(self.stand_in.log, line)


def _whole(body: Any, note: _Note) -> SentAnswer:
    note.answer = body
    return SentAnswer(200, JSON, (encoded(body),))


def _model(name: str) -> dict[str, Any]:
    """A model as `/v1/models` has it; its name for display says that it is none."""
    shown = f"{name} (no model: answers by rules and a seed)"
    return {
        "type": "model",
        "id": name,
        "display_name": shown,
        "created_at": "1970-01-01T00:00:00Z",
    }


@singledispatch
def transport(stand_in: StandIn) -> httpx2.AsyncBaseTransport:
    """A transport for an async HTTP client of the SDK; nothing leaves the process.

    Each transport is a server of its own: it counts calls, and remembers prefixes and
    batches, apart from any other. A stand-in of another kind registers its own
    (`functools.singledispatch`).
    """
    return StandInTransport(stand_in)


class StandInTransport(httpx2.AsyncBaseTransport):
    """Answers as the server does, with no socket.

    It keeps the client's read time-out, which is a transport's duty: of silence and of a
    latency that is longer comes `ReadTimeout`.
    """

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in
        self._app = App(stand_in)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to one request.

        Raises:
            httpx2.ReadTimeout: where the answer takes longer than the client waits.
        """
        received = ReceivedRequest(
            request.method,
            request.url.raw_path.decode("ascii", "replace"),
            {name.lower(): value for name, value in request.headers.items()},
            await request.aread(),
            "transport",
        )
        answer = self._app.answer(received)
        await _wait(answer, request)
        return httpx2.Response(
            answer.status, headers=dict(answer.headers), stream=_Body(answer), request=request
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: SentAnswer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._answer.cut:
            yield self._answer.half()
            raise httpx2.RemoteProtocolError("the stand-in cut the connection, as it was set to")
        for piece in self._answer.pieces:
            yield piece


async def _wait(answer: SentAnswer, request: httpx2.Request) -> None:
    patience = request.extensions.get("timeout", {}).get("read") or math.inf
    needed = math.inf if answer.silent else answer.delay
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
