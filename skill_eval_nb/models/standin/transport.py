"""The app as a transport inside the process: for `httpx2.AsyncClient(transport=…)`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import httpx2

from .app import App
from .exchange import Answer, Asked
from .stand_in import StandIn


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
        url = request.url
        port = f":{url.port}" if url.port else ""
        asked = Asked(
            request.method,
            url.raw_path.decode("ascii", "replace"),
            {name.lower(): value for name, value in request.headers.items()},
            await request.aread(),
            f"{url.scheme}://{url.host}{port}",
            "transport",
        )
        answer = self._app.answer(asked)
        await _wait(answer, request)
        return httpx2.Response(
            answer.status, headers=dict(answer.headers), stream=_Body(answer), request=request
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._answer.cut:
            yield self._answer.half()
            raise httpx2.RemoteProtocolError("the stand-in cut the connection, as it was told to")
        for piece in self._answer.pieces:
            yield piece


async def _wait(answer: Answer, request: httpx2.Request) -> None:
    given = request.extensions.get("timeout", {}).get("read")
    patience = math.inf if given is None else float(given)
    needed = math.inf if answer.silent else answer.delay
    if needed <= patience and needed < math.inf:
        await asyncio.sleep(needed)
        return
    if patience == math.inf:
        # A client that waits for ever is left to whoever cancels it.
        await asyncio.Event().wait()
    await asyncio.sleep(patience)
    raise httpx2.ReadTimeout("the stand-in did not answer in time", request=request)
