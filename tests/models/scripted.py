"""A real HTTP server that answers as a test tells it to, well or badly."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self, TypeVar

from skill_eval_nb.models import BudgetSpent, Client, Connection, Usage, connect
from skill_eval_nb.models.ask import TEXT, AnswerCheck, Question, an_object, check_form

T = TypeVar("T")

REQUEST = {
    "model": "claude-haiku-4-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Good day?"}],
}
KEY = "sk-secret-of-the-test"
PATIENT = 30.0
"""Seconds within which everything must have ended that has a deadline of seconds."""


@dataclass(frozen=True)
class Answer:
    """What the server does with a request.

    `promised` bytes are announced where there are more than are sent: the connection is then
    cut. `silent`: nothing is sent, for so many seconds or until the server stops. `late`: it is
    sent after so many seconds.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    promised: int | None = None
    silent: float = 0.0
    late: float = 0.0
    hang_up: bool = False


def message(text: str = "Good day.", **usage: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 4} | usage,
    }


def plain(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, json.dumps(value).encode(), {"content-type": "application/json"} | named)


def good(text: str = "Good day.", **usage: Any) -> Answer:
    return plain(message(text, **usage))


def bad(status: int, kind: str = "api_error", words: str = "Bad day", **headers: str) -> Answer:
    error = {"type": "error", "error": {"type": kind, "message": words}}
    return plain(error, status, **headers)


def page(status: int) -> Answer:
    body = b"<!DOCTYPE html><html><head><style>p {}</style></head><p>Bad gateway here</p></html>"
    return Answer(status, body, {"content-type": "text/html"})


CUT = Answer(body=b'{"type": "message", "content": [{"ty', promised=900)
SILENCE = Answer(silent=60.0)
HANG_UP = Answer(hang_up=True)


@dataclass
class Ceiling:
    """A meter that allows so many attempts."""

    left: int

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        if not self.left:
            raise BudgetSpent("no more")
        self.left -= 1
        return model, worst, batch

    def settle(self, ticket: object, usage: Usage | None) -> None: ...

    def release(self, ticket: object) -> None:
        self.left += 1


class Seen(NamedTuple):
    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Scripted:
    """Answers one after the other, and the last one for ever; or what a function says."""

    def __init__(self, answers: Iterable[Answer] | Callable[[Seen], Answer]) -> None:
        self._say = answers if callable(answers) else None
        self._answers = [] if callable(answers) else list(answers)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.seen: list[Seen] = []

    @property
    def connection(self) -> Connection:
        return Connection(self.base_url, api_key_name="KEY_OF_THE_TEST")

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, seen: Seen) -> Answer:
        with self._lock:
            self.seen.append(seen)
            if self._say is None:
                return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        assert self._say is not None
        return self._say(seen)

    def wait(self, seconds: float) -> None:
        self._over.wait(seconds)


def with_client(to: Scripted | Connection, work: Callable[[Client], Awaitable[T]]) -> T:
    """What some work comes to with a client of a server."""

    async def connected() -> T:
        async with connect(to if isinstance(to, Connection) else to.connection) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(connected(), PATIENT))


def word(raw: Any) -> str:
    """The word of an answer to `QUESTION`."""
    look = AnswerCheck()
    said = look.read_text(check_form(raw, an_object(word=TEXT)), "word", "the answer")
    look.raise_faults()
    return said


QUESTION = Question(
    key="k1",
    model="claude-haiku-4-5",
    system="Say a word.",
    content=({"type": "text", "text": "Which?"},),
    schema=an_object(word=TEXT),
    read=word,
    max_tokens=50,
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""


def _handler(server: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(time.monotonic(), self.command, self.path, headers, body)
            answer = server.answer(seen)
            server.wait(answer.silent or answer.late)
            if answer.silent or answer.hang_up:
                self.close_connection = True
                return
            length = len(answer.body) if answer.promised is None else answer.promised
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)
                self.wfile.flush()
            if length > len(answer.body):
                self.close_connection = True

        do_GET = do_HEAD = do_POST = _any  # noqa: N815 -- names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    return Handler
