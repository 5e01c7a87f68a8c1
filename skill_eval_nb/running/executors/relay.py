"""The harness's only way to a model: it adds the key, and meters every call.

It listens on a socket that only the sandbox's forwarder reaches, or on loopback if the user works
without a sandbox. Requests may come from the agent's own commands, so they are limited, and refused
early.

Only what the harness itself sends is passed on. Other requests could make the API's servers do
things (tools, addresses, files, a summary) or charge other prices (speed, tier, place), where
neither sandbox nor meter has control. A field that is not listed here is refused, and so is any new
field of the API; `Body` lists what the harness sends with the tools of `harness.TOOLS`. What it
allows costs no more than `worst_case` says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import h11
import msgspec

from skill_eval_nb.models import BudgetSpent, Connection, Meter, Usage, worst_case
from skill_eval_nb.models.client import hide_secrets, secrets_of, without_password
from skill_eval_nb.models.usage import encode_body

VERSION = "2023-06-01"
"""The API's version: in another one, the same fields may mean something else."""
_MOST_PARTS = 1_000_000
"""Ten million parts, which fit into a body, would block all other runs for seconds."""
_HEADERS = ("accept", "user-agent", "x-app", "x-claude-code-session-id")
_BETA = re.compile(
    r"(claude-code|context-management|effort|interleaved-thinking|mid-conversation-tool-changes"
    r"|per-turn-control|thinking-display-updates|thinking-token-count|token-counting)-[\d-]+"
)
"""Features that change what is said, but not what it costs, whatever their date."""


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Cached(_Part):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class _Block(_Part, kw_only=True):
    cache_control: _Cached | None = None


class _Source(_Part):
    type: Literal["base64"]
    media_type: str
    data: str


class _Text(_Block, tag="text"):
    text: str
    citations: None = None  # the API's own answers have it, and are sent back


class _Image(_Block, tag="image"):
    source: _Source


class _Document(_Block, tag="document"):
    source: _Source


class _Use(_Block, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class _Result(_Block, tag="tool_result"):
    tool_use_id: str
    content: str | list[_Text | _Image | _Document] = ""
    is_error: bool = False


class _Thinking(_Part, tag="thinking"):
    thinking: str
    signature: str


class _Redacted(_Part, tag="redacted_thinking"):
    data: str


class _Effort(_Part):
    effort: str


class _Message(_Part):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Text | _Image | _Document | _Use | _Result | _Thinking | _Redacted]
    output_config: _Effort | None = None


class _Tool(_Block):
    name: str
    input_schema: dict[str, Any]
    type: Literal["custom"] = "custom"
    description: str = ""
    defer_loading: bool = False


class _Choice(_Part):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool = False


class _Thought(_Part):
    type: Literal["adaptive", "enabled", "disabled"]
    budget_tokens: int | None = None
    display: str | None = None


class _Turns(_Part):
    type: Literal["thinking_turns"]
    value: int


class _Edit(_Part):
    type: Literal["clear_thinking_20251015"]
    keep: Literal["all"] | _Turns = "all"


class _Management(_Part):
    edits: list[_Edit]


class _User(_Part):
    user_id: str


class Body(_Part):
    """The body of a call; one that counts tokens has no `max_tokens`."""

    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    system: str | list[_Text] = ""
    tools: list[_Tool] = []
    tool_choice: _Choice | None = None
    thinking: _Thought | None = None
    output_config: _Effort | None = None
    context_management: _Management | None = None
    metadata: _User | None = None
    temperature: float | None = None
    stop_sequences: list[str] = []
    stream: bool = False


def allowed_body(data: bytes) -> tuple[dict[str, Any], bytes]:
    """A body that may be passed on, and its bytes, written anew from what was checked.

    Raises:
        ValueError: if it is not a JSON object, or has something that is not passed on; it says
            what.
    """
    if data.count(b"[") + data.count(b"{") > _MOST_PARTS:
        raise ValueError("its body has too many parts")
    try:
        body = json.loads(data)
        msgspec.convert(body, Body)
        return body, encode_body(body)
    except RecursionError:
        raise ValueError("its body is nested too deep") from None
    except msgspec.ValidationError as fault:
        raise ValueError(str(fault)) from None
    except ValueError as fault:
        raise ValueError(f"its body is not JSON ({fault})") from None


def allowed_headers(headers: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The headers that are passed on, and the values of `anthropic-beta` that are not.

    >>> allowed_headers({"cookie": "c", "x-app": "cli", "anthropic-beta": "effort-2025-11-24,web"})
    ({'x-app': 'cli', 'content-type': 'application/json', 'anthropic-version': '2023-06-01',
      'anthropic-beta': 'effort-2025-11-24'}, ['web'])

    Raises:
        ValueError: if they ask for another version of the API.
    """
    if headers.get("anthropic-version", VERSION) != VERSION:
        raise ValueError(f"`anthropic-version` is {headers['anthropic-version']}, not {VERSION}")
    own = {name: headers[name] for name in _HEADERS if name in headers}
    own |= {"content-type": "application/json", "anthropic-version": VERSION}
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
    kept = [beta for beta in betas if _BETA.fullmatch(beta)]
    if kept:
        own["anthropic-beta"] = ",".join(kept)
    return own, [beta for beta in betas if beta and beta not in kept]


class AnswerReader:
    """Reads the usage of an answer from its bytes, which come in pieces of any size.

    An answer is one JSON object, or a stream of events (SSE): the first one states the input's
    tokens, the last but one the output's in total; it is complete with `message_stop`.

    >>> reader = AnswerReader("application/json")
    >>> reader.feed(b'{"usage": {"input_tokens": 3, ')
    >>> reader.usage() is None
    True
    >>> reader.feed(b'"output_tokens": 7}}')
    >>> reader.usage().total
    10
    """

    def __init__(self, content_type: str) -> None:
        self._streamed = content_type.startswith("text/event-stream")
        self._data = bytearray()  # for a stream: an incomplete line
        self._counts: dict[str, Any] = {}
        self._whole = False

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        self._data += data
        if not self._streamed:
            return
        *lines, rest = self._data.split(b"\n")
        self._data = bytearray(rest)
        for line in lines:
            # Most lines are deltas of text, which are not needed.
            if line.startswith(b"data:") and b'"message_' in line:
                self._take_event(_object(line[5:]))

    def usage(self) -> Usage | None:
        """The usage of the answer; None if it is incomplete, or does not state it."""
        if not self._streamed:
            counts = _object(self._data).get("usage")
        else:
            counts = self._counts if self._whole else None
        try:
            return Usage.of(counts) if isinstance(counts, dict) else None
        except ValueError:  # if counts cannot be read, the worst case counts
            return None

    def error(self) -> str:
        """The message if the answer is an error of the API; else empty."""
        error = {} if self._streamed else _object(self._data).get("error")
        return str(error.get("message", "")) if isinstance(error, dict) else ""

    def _take_event(self, event: dict[str, Any]) -> None:
        self._whole = self._whole or event.get("type") == "message_stop"
        holder = event.get("message") if event.get("type") == "message_start" else event
        usage = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(usage, dict) and event.get("type") in ("message_start", "message_delta"):
            self._counts |= {name: value for name, value in usage.items() if value is not None}


def _object(data: bytes | bytearray) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@asynccontextmanager
async def open_upstream(connection: Connection) -> AsyncIterator[tuple[Any, str, dict[str, str]]]:
    """The connection to the model: a client for one relay, the address, and the key's headers.

    Raises:
        LookupError: if a key is needed and there is none.
    """
    key = connection.key()
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout

    from skill_eval_nb.models.stand_in.app import transport

    standin = connection.stand_in
    extra: dict[str, Any] = {} if standin is None else {"transport": transport(standin)}
    # An answer may take as long as the run. A redirect would send the key elsewhere.
    timeout = Timeout(None, connect=30.0)
    async with DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False, **extra) as http:
        base_url = "http://stand-in.invalid" if standin is not None else connection.base_url
        # The SDK only says how and where a key is sent; the requests are the harness's.
        sdk = AsyncAnthropic(api_key=key, base_url=base_url, http_client=http, max_retries=0)
        yield http, str(sdk.base_url).rstrip("/"), dict(sdk.auth_headers)


MOST_HEAD_BYTES = 64 * 1024
MOST_BODY_BYTES = 32 * 1024 * 1024
"""The most that the Messages API itself accepts."""
_PIECE = 64 * 1024


class UnreadableRequest(Exception):
    """A request that is not passed on, but answered with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Request(NamedTuple):
    """One request; header names are in lower case, and repeated headers are joined."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Exchange:
    """Reads a whole request, and writes its answer in pieces."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)
        self._bodiless = False

    async def read_request(self) -> Request | None:
        """Read the request; None if the other side closed before it sent one.

        Raises:
            UnreadableRequest: if it is not a request, too long, or incomplete.
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
                        raise UnreadableRequest(
                            413, f"A body over {MOST_BODY_BYTES} bytes is refused."
                        )
                else:
                    return None
        except h11.RemoteProtocolError as fault:
            raise UnreadableRequest(
                fault.error_status_hint, f"That is not a request: {fault}."
            ) from fault
        assert head is not None  # h11 lets none end that did not begin
        headers: dict[str, str] = {}
        for name, value in ((k.decode(), v.decode("latin-1")) for k, v in head.headers):
            headers[name] = f"{headers[name]},{value}" if name in headers else value
        return Request(head.method.decode(), head.target.decode("latin-1"), headers, bytes(body))

    async def wait_for_close(self) -> None:
        """Wait until the other side has closed; anything else it sends is ignored."""
        while await self._reader.read(_PIECE):
            pass

    def begin_answer(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Begin the answer; without a length it is chunked, so that a cut is noticed."""
        plain = [(k.encode(), v.encode("latin-1", "replace")) for k, v in headers]
        self._send(h11.Response(status_code=status, headers=[*plain, (b"connection", b"close")]))

    async def send_piece(self, data: bytes) -> None:
        """Send a piece of the answer's body."""
        self._send(h11.Data(data=data))
        await self._writer.drain()

    def end_answer(self) -> None:
        """End the answer's body."""
        self._send(h11.EndOfMessage())

    def abort(self) -> None:
        """Close the connection in the middle of an answer."""
        self._writer.transport.abort()

    def refuse(self, status: int, message: str) -> None:
        """Write a complete answer in the form of the API's errors, with a note not to retry."""
        kind = "api_error" if status >= 500 else "invalid_request_error"
        kind = "not_found_error" if status == 404 else kind
        body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
        length = ("content-length", str(len(body)))
        self.begin_answer(
            status, [("content-type", "application/json"), ("x-should-retry", "false"), length]
        )
        if not self._bodiless:
            self._send(h11.Data(data=body))
        self.end_answer()

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")


MESSAGES = ("/v1/messages", "/v1/messages?beta=true")
COUNT = ("/v1/messages/count_tokens", "/v1/messages/count_tokens?beta=true")

_HANDED_BACK = (
    "content-type",
    "retry-after",
    "request-id",
    "anthropic-ratelimit-",
    "x-should-retry",
)
_HOPELESS = (401, 403)
"""Other requests of this run would fail as well, though the harness would retry for minutes."""
_MOST_OPEN = 64
"""Connections at a time: each is an open file of this process, and other runs need some, too."""
_MOST_CALLS = 8
"""Calls at a time; others wait. Each may have a body of the largest size."""
_MOST_NAMED = 20
_LONGEST = 200


class Relay:
    """One run's relay.

    Attributes:
        ended: done, with the reason in words, once no further call can succeed because the budget
            is spent or the key is refused. Then the run must be ended. With None, it may end.
        turned_away: what was not passed on, each thing once, in order; limited in number.
    """

    def __init__(
        self,
        server: tuple[Any, str, dict[str, str]],
        model: str,
        output_tokens: int,
        meter: Meter,
    ) -> None:
        self.ended: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.turned_away: dict[str, None] = {}
        self._http, self._base_url, self._credentials = server
        self._model = model
        self._output_tokens = output_tokens
        self._meter = meter
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(_MOST_CALLS)

    @classmethod
    @asynccontextmanager
    async def listen(
        cls,
        connection: Connection,
        model: str,
        output_tokens: int,
        meter: Meter,
        socket: Path | None,
    ) -> AsyncIterator[tuple[Relay, int]]:
        """A relay that listens on a Unix socket, or on loopback if that is None.

        Yields the relay and its port, which is 0 on a Unix socket. At the end, calls in flight are
        given up and counted at their worst case.

        Args:
            connection: how it reaches the model.
            model: the only model that may be called.
            output_tokens: the most tokens of one answer.
            meter: the meter for every call.
            socket: where it listens.

        Raises:
            LookupError: if a key is needed and there is none.
            OSError: if it cannot listen.
        """
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(open_upstream(connection))
            relay = cls(server, model, output_tokens, meter)
            if socket is None:
                listener = await asyncio.start_server(relay._accept, "127.0.0.1", 0)
                port = listener.sockets[0].getsockname()[1]
            else:
                listener = await asyncio.start_unix_server(relay._accept, str(socket))
                port = 0
            try:
                yield relay, port
            finally:
                listener.close()
                await relay._give_up()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= _MOST_OPEN:
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _give_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close; give up as soon as the other side does."""
        exchange = Exchange(reader, writer)
        try:
            async with self._turns:
                request = await exchange.read_request()
                if request is None:
                    return
                answering = asyncio.ensure_future(self._answer(request, exchange))
                leaving = asyncio.ensure_future(exchange.wait_for_close())
                try:
                    await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in (answering, leaving):
                        task.cancel()
                    how, _ = await asyncio.gather(answering, leaving, return_exceptions=True)
                if isinstance(how, Exception) and not isinstance(how, OSError):
                    self._end(f"The relay to the model failed: {how!r}.")
        except UnreadableRequest as fault:
            exchange.refuse(fault.status, fault.message)
        except OSError:
            pass  # the other side is gone
        finally:
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.close()

    async def _answer(self, request: Request, exchange: Exchange) -> None:
        try:
            if request.method != "POST" or request.target not in (*MESSAGES, *COUNT):
                raise self._note_refusal(f"{request.method} {request.target}", 404)
            body, safe = self._check_request(request)
            if request.target in MESSAGES:
                await self._forward(body, safe, exchange)
            else:
                await self._pass_on(safe, exchange, _Call())
        except UnreadableRequest as fault:
            exchange.refuse(fault.status, fault.message)

    def _note_refusal(self, what: str, status: int = 400) -> UnreadableRequest:
        """Note what is not passed on, in printable words; returns the refusal."""
        plain = "".join(char if char.isprintable() else "?" for char in what[:_LONGEST])
        if len(self.turned_away) < _MOST_NAMED:
            self.turned_away[plain] = None
        return UnreadableRequest(
            status,
            f"Only what the harness is known to send is passed on, not {plain}. If the harness "
            "itself sent it, it is newer than this skill-eval-nb: update skill-eval-nb, or "
            "downgrade claude-agent-sdk.",
        )

    def _check_request(self, request: Request) -> tuple[dict[str, Any], Request]:
        """The body of a call to this run's model, and the request to pass on.

        Raises:
            UnreadableRequest: if it is something else.
        """
        try:
            headers, betas = allowed_headers(request.headers)
            body, content = allowed_body(request.body)
        except ValueError as fault:
            raise self._note_refusal(f"a call like this one: {fault}") from fault
        if body["model"] != self._model:
            raise self._note_refusal(f"the model {body['model']!r}: this run uses {self._model}")
        most, limit = body.get("max_tokens"), self._output_tokens
        if most is not None and most > limit:
            raise self._note_refusal(f"max_tokens={most}: the limit of this run is {limit}")
        for beta in betas:  # without it, the API refuses what it would allow
            self._note_refusal(f"the beta {beta}")
        return body, request._replace(headers=headers, body=content)

    async def _forward(self, body: dict[str, Any], request: Request, exchange: Exchange) -> None:
        """Pass a call for a message on, with what it may cost reserved, and settle what it did."""
        try:
            worst = worst_case(body, size=len(request.body))
            ticket = self._meter.reserve(self._model, worst)
        except ValueError as fault:
            raise UnreadableRequest(400, str(fault)) from fault
        except BudgetSpent as spent:
            self._end(str(spent))
            raise UnreadableRequest(400, str(spent)) from spent
        call = _Call()
        try:
            await self._pass_on(request, exchange, call)
        finally:
            if call.billed:
                self._meter.settle(ticket, call.reader.usage() if call.reader is not None else None)
            else:
                self._meter.release(ticket)

    async def _pass_on(self, request: Request, exchange: Exchange, call: _Call) -> None:
        """Pass a request on, and return its answer line by line, without the key.

        Raises:
            UnreadableRequest: if the server cannot be reached.
        """
        from httpx2 import ConnectError, ConnectTimeout, HTTPError

        call.billed = True
        try:
            # Compressed pieces could not be read on the way.
            own = {**request.headers, "accept-encoding": "identity", **self._credentials}
            url = f"{self._base_url}{request.target}"
            stream = self._http.stream("POST", url, headers=own, content=request.body)
            async with stream as answer:
                status = answer.status_code
                call.billed = status < 400
                reader = call.reader = AnswerReader(answer.headers.get("content-type", ""))
                secrets = secrets_of(answer.request)
                back = {
                    name: hide_secrets(value.encode(), secrets).decode()
                    for name, value in answer.headers.items()
                    if name.startswith(_HANDED_BACK)
                }
                exchange.begin_answer(status, back.items())
                held = bytearray()  # an incomplete line: a key may end in the next piece
                async for piece in answer.aiter_raw():
                    lines, end, rest = piece.rpartition(b"\n")
                    if end:
                        whole = hide_secrets(bytes(held) + lines + end, secrets)
                        held.clear()
                        reader.feed(whole)
                        await exchange.send_piece(whole)
                    held += rest
                last = hide_secrets(bytes(held), secrets)
                reader.feed(last)
                await exchange.send_piece(last)
                exchange.end_answer()
                if status in _HOPELESS:
                    self._end(f"The model's API refused the key with {status}. {reader.error()}")
        except (ConnectError, ConnectTimeout) as fault:
            call.billed = False
            message = without_password(f"The model cannot be reached: {fault}")
            raise UnreadableRequest(502, message) from fault
        except HTTPError:
            exchange.abort()  # cut here, too, so that the harness asks again

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(without_password(reason.strip()))


class _Call:
    """Whether a call may be billed, and its answer; None counts as its worst case."""

    billed = False
    reader: AnswerReader | None = None
