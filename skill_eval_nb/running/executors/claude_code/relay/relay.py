"""The relay itself: what is asked of it, what it sends on, and what it counts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from skill_eval_nb.models import BudgetSpent, Connection, Meter, Usage, worst_case
from skill_eval_nb.models.faults import hidden, secrets_of, without_password

from .allowed import QUERIES, allowed_body, allowed_headers
from .answer import Reader, Whole, reader_of
from .upstream import Upstream, upstream
from .wire import Exchange, Request, Unreadable

MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"

_HANDED_BACK = (
    "content-type",
    "retry-after",
    "request-id",
    "anthropic-ratelimit-",
    "x-should-retry",
)
_HOPELESS = (401, 403)
"""No other request of this run would fare better, though the harness would try for minutes."""
_MOST_OPEN = 64
"""Connections at a time: files of this process, which other runs need too."""
_MOST_CALLS = 8
"""Calls at a time; others wait for their turn. Each may have a body of the greatest size."""
_MOST_NAMED = 20
_LONGEST = 200


class Relay:
    """One run's relay.

    Attributes:
        ended: done, with the reason in words, once no further call can succeed: the budget
            is spent, or the key is refused. The run is then to be ended.
        turned_away: what else was asked for and not passed on, once each, in order; no more
            than can be read.
    """

    def __init__(self, server: Upstream, model: str, output_tokens: int, meter: Meter) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.turned_away: dict[str, None] = {}
        self._server = server
        self._model = model
        self._output_tokens = output_tokens
        self._meter = meter
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(_MOST_CALLS)

    @classmethod
    @asynccontextmanager
    async def listening(
        cls,
        connection: Connection,
        model: str,
        output_tokens: int,
        meter: Meter,
        socket: Path | None,
    ) -> AsyncIterator[tuple[Relay, int]]:
        """A relay that listens on a Unix socket, or where that is None on loopback.

        Gives the relay and its port, which is 0 on a Unix socket. When it is closed, calls in
        flight are given up and settled at their worst.

        Args:
            connection: how it reaches the model.
            model: the only one that is called.
            output_tokens: of one answer, at most.
            meter: what every call goes through.
            socket: where it listens.

        Raises:
            LookupError: where a key is needed and there is none.
            OSError: where it cannot listen.
        """
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(upstream(connection))
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
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close; give up as soon as the other side does."""
        exchange = Exchange(reader, writer)
        try:
            async with self._turns:
                request = await exchange.request()
                if request is None:
                    return
                answering = asyncio.ensure_future(self._answer(request, exchange))
                leaving = asyncio.ensure_future(exchange.gone())
                try:
                    await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in (answering, leaving):
                        task.cancel()
                    how, _ = await asyncio.gather(answering, leaving, return_exceptions=True)
                if isinstance(how, Exception) and not isinstance(how, OSError):
                    self._end(f"The relay to the model failed: {how!r}.")
        except Unreadable as fault:
            exchange.refuse(fault.status, fault.message)
        except OSError:
            pass  # the other side is gone: there is nobody to tell
        finally:
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.close()

    async def _answer(self, request: Request, exchange: Exchange) -> None:
        try:
            known = request.path in (MESSAGES, COUNT) and request.query in QUERIES
            if request.method != "POST" or not known:
                query = f"?{request.query}" if request.query else ""
                what = f"{request.method} {request.path}{query}"
                raise self._turned_away(what, 404)
            body, safe = self._checked(request)
            if request.path == MESSAGES:
                await self._message(body, safe, exchange)
            else:
                await self._pass_on(safe, exchange, _Call())
        except Unreadable as fault:
            exchange.refuse(fault.status, fault.message)

    def _turned_away(self, what: str, status: int = 400) -> Unreadable:
        """Note what is not passed on, in words that may be shown; gives the refusal of it."""
        plain = "".join(char if char.isprintable() else "?" for char in what[:_LONGEST])
        if len(self.turned_away) < _MOST_NAMED:
            self.turned_away[plain] = None
        return Unreadable(
            status,
            f"Only what the harness is known to send is passed on, not {plain}. Where the harness "
            "itself sent it, it is newer than this skill-eval-nb: update that, or downgrade "
            "claude-agent-sdk.",
        )

    def _checked(self, request: Request) -> tuple[dict[str, Any], Request]:
        """The body of a call for the one model of this run, and what is sent on of the call.

        Raises:
            Unreadable: where it is something else.
        """
        try:
            headers, betas = allowed_headers(request.headers)
            body, content = allowed_body(request.body)
        except ValueError as fault:
            raise self._turned_away(f"a call like this one: {fault}") from fault
        if body["model"] != self._model:
            raise self._turned_away(f"the model {body['model']!r}: this run uses {self._model}")
        most, limit = body.get("max_tokens"), self._output_tokens
        if most is not None and most > limit:
            raise self._turned_away(f"max_tokens={most}: the limit of this run is {limit}")
        for beta in betas:  # without it, the API refuses what it would have allowed
            self._turned_away(f"the beta {beta}")
        return body, replace(request, headers=headers, body=content)

    async def _message(self, body: dict[str, Any], request: Request, exchange: Exchange) -> None:
        try:
            worst = worst_case(body, size=len(request.body))
            ticket = self._meter.reserve(self._model, worst)
        except ValueError as fault:
            raise Unreadable(400, str(fault)) from fault
        except BudgetSpent as spent:
            self._end(str(spent))
            raise Unreadable(400, str(spent)) from spent
        call = _Call()
        try:
            await self._pass_on(request, exchange, call)
        finally:
            if call.billed:
                self._meter.settle(ticket, call.usage())
            else:
                self._meter.release(ticket)

    async def _pass_on(self, request: Request, exchange: Exchange, call: _Call) -> None:
        """Send a request on, and hand its answer back line by line, without the key.

        Raises:
            Unreadable: where the server cannot be reached.
        """
        from httpx2 import ConnectError, ConnectTimeout, HTTPError

        call.billed = True
        try:
            async with self._server.stream(
                request.path, request.query, request.headers, request.body
            ) as answer:
                status = answer.status_code
                call.billed = status < 400
                call.reader = reader_of(answer.headers.get("content-type", ""))
                secrets = secrets_of(answer.request)
                back = {
                    name: hidden(value.encode(), secrets).decode()
                    for name, value in answer.headers.items()
                    if name.startswith(_HANDED_BACK)
                }
                exchange.begin(status, back.items())
                held = bytearray()  # a line that is not whole: a key may end in the next piece
                async for piece in answer.aiter_raw():
                    lines, end, rest = piece.rpartition(b"\n")
                    if end:
                        whole = hidden(bytes(held) + lines + end, secrets)
                        held.clear()
                        call.reader.feed(whole)
                        await exchange.piece(whole)
                    held += rest
                last = hidden(bytes(held), secrets)
                call.reader.feed(last)
                await exchange.piece(last)
                exchange.end()
                if status in _HOPELESS:
                    self._end(f"The model's API refused the key with {status}. {call.error()}")
        except (ConnectError, ConnectTimeout) as fault:
            call.billed = False
            message = without_password(f"The model cannot be reached: {fault}")
            raise Unreadable(502, message) from fault
        except HTTPError:
            exchange.cut()  # here as it was cut there: the harness asks again

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(without_password(reason.strip()))


class _Call:
    """Whether a call may be billed, and what is known of its answer."""

    billed = False
    reader: Reader | None = None

    def usage(self) -> Usage | None:
        """What it used; None where that is not known, so that it counts at its worst."""
        return self.reader.usage() if self.reader is not None else None

    def error(self) -> str:
        """What the API said, where it refused the call; empty where it said nothing."""
        return self.reader.error() if isinstance(self.reader, Whole) else ""
