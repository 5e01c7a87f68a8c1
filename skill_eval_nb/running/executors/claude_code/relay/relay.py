"""The relay itself: what is asked of it, what it sends on, and what it counts."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from skill_eval_nb.models import BudgetSpent, Connection, Meter, Usage, worst_case

from .answer import Reader, Whole, reader_of
from .upstream import Upstream, upstream
from .wire import MOST_HEAD_BYTES, Request, Unreadable, chunk, head, read_request, refusal

MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"

_HANDED_BACK = ("content-type", "retry-after", "request-id", "anthropic-", "x-should-retry")
_HOPELESS = (401, 403)
"""No other request of this run would fare better, though the harness would try for minutes."""


class Relay:
    """One run's relay.

    Attributes:
        ended: done, with the reason in words, once no further call can succeed: the budget
            is spent, or the key is refused. The run is then to be ended.
        turned_away: what else was asked for and refused, once each, in order.
    """

    def __init__(self, server: Upstream, model: str, meter: Meter) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.turned_away: dict[str, None] = {}
        self._server = server
        self._model = model
        self._meter = meter
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def listening(
        cls, connection: Connection, model: str, meter: Meter, socket: Path | None
    ) -> AsyncIterator[tuple[Relay, int]]:
        """A relay that listens on a Unix socket, or where that is None on loopback.

        Gives the relay and its port, which is 0 on a Unix socket. When it is closed, calls in
        flight are given up and settled at their worst.

        Raises:
            LookupError: where a key is needed and there is none.
            OSError: where it cannot listen.
        """
        async with AsyncExitStack() as stack:
            relay = cls(await stack.enter_async_context(upstream(connection)), model, meter)
            if socket is None:
                server = await asyncio.start_server(
                    relay._accept, "127.0.0.1", 0, limit=MOST_HEAD_BYTES
                )
                port = server.sockets[0].getsockname()[1]
            else:
                server = await asyncio.start_unix_server(
                    relay._accept, str(socket), limit=MOST_HEAD_BYTES
                )
                port = 0
            try:
                yield relay, port
            finally:
                server.close()
                await relay._give_up()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        try:
            request = await read_request(reader)
            if request is None:
                return
            answering = asyncio.ensure_future(self._answer(request, writer))
            leaving = asyncio.ensure_future(_left(reader))
            try:
                await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (answering, leaving):
                    task.cancel()
                how, _ = await asyncio.gather(answering, leaving, return_exceptions=True)
            if isinstance(how, Exception) and not isinstance(how, OSError):
                self._end(f"The relay to the model failed: {how!r}.")
        except Unreadable as fault:
            writer.write(refusal(fault.status, "invalid_request_error", fault.message))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side is gone: there is nobody to tell
        finally:
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        try:
            if request.method == "POST" and request.path == MESSAGES:
                await self._message(request, writer)
            elif request.method == "POST" and request.path == COUNT:
                self._body(request)
                await self._pass_on(request, writer, _Call())
            else:
                what = f"{request.method} {request.path}"[:200]
                self.turned_away[what] = None
                said = f"There is no {what} here: only messages are passed on."
                writer.write(refusal(404, "not_found_error", said))
        except Unreadable as fault:
            kind = "api_error" if fault.status >= 500 else "invalid_request_error"
            writer.write(refusal(fault.status, kind, fault.message))

    def _body(self, request: Request) -> dict[str, Any]:
        """The body of a call, for the one model of this run.

        Raises:
            Unreadable: where it is something else.
        """
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise Unreadable(400, "The body is no JSON object.")
        if body.get("model") != self._model:
            self.turned_away[f"the model {body.get('model')!r}"[:200]] = None
            raise Unreadable(
                400, f"This run uses {self._model}; {body.get('model')!r} is not passed on."
            )
        return body

    async def _message(self, request: Request, writer: asyncio.StreamWriter) -> None:
        body = self._body(request)
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
            await self._pass_on(request, writer, call)
        finally:
            if call.billed:
                self._meter.settle(ticket, call.usage())
            else:
                self._meter.release(ticket)

    async def _pass_on(self, request: Request, writer: asyncio.StreamWriter, call: _Call) -> None:
        """Send a request on, and hand its answer back piece by piece.

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
                back = [(k, v) for k, v in answer.headers.items() if k.startswith(_HANDED_BACK)]
                writer.write(head(status, [*back, ("transfer-encoding", "chunked")]))
                async for piece in answer.aiter_raw():
                    call.reader.feed(piece)
                    if piece:  # an empty one would end the body
                        writer.write(chunk(piece))
                        await writer.drain()
                writer.write(chunk(b""))
                if status in _HOPELESS:
                    self._end(f"The model's API refused the key with {status}. {call.error()}")
        except (ConnectError, ConnectTimeout) as fault:
            call.billed = False
            raise Unreadable(502, f"The model cannot be reached: {fault}") from fault
        except HTTPError:
            writer.transport.abort()  # cut here as it was cut there: the harness asks again

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(reason.strip())


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


async def _left(reader: asyncio.StreamReader) -> None:
    """Wait until the other side has closed; whatever it sends besides is thrown away."""
    with contextlib.suppress(OSError):
        while await reader.read(MOST_HEAD_BYTES):
            pass
