"""Calls to a model: one client for all of them, each under a deadline and through a meter."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from .attempts import Call, attempt_at, until_answered
from .connection import Connection
from .faults import ModelFault
from .meter import Meter
from .pace import APART, Pace
from .reply import Reply
from .retry import Trouble
from .wire import encoded
from .worst import worst_case

if TYPE_CHECKING:
    import anthropic

T = TypeVar("T")

_COUNTED = (
    "cache_control messages model output_config speed system thinking tool_choice tools".split()
)
"""The parts of a request that `/v1/messages/count_tokens` takes."""


class Client:
    """Calls through one connection; made by `connect`, for one event loop."""

    def __init__(self, sdk: anthropic.AsyncAnthropic, connection: Connection) -> None:
        self._sdk = sdk
        self._key = connection.api_key_name
        # A model within the process gives its answers when they are asked for, one by one.
        self._pace = Pace(APART if connection.stand_in is None else 0.0)

    async def send(
        self,
        request: Mapping[str, Any],
        *,
        meter: Meter,
        deadline: float,
        worst_input: int | None = None,
    ) -> Reply:
        """A whole answer to `request`; attempted by the rules of `retry`.

        Every attempt reserves its worst case with the meter. An answer settles it with its
        usage; what may be billed without one (time-outs, cut connections, half answers, this
        call being cancelled) settles it with None; it is released where the API refused, or
        was not reached.

        Args:
            request: the body of `/v1/messages`, plain JSON; it is sent exactly as it is.
            meter: what is asked before each attempt.
            deadline: seconds for this answer, all attempts and pauses included.
            worst_input: tokens that the input has at most, where the caller knows better
                than `worst_case`.

        Raises:
            ModelFault: where no answer came.
            BudgetSpent: where the meter forbids an attempt.
            TypeError, ValueError: for a request that is no JSON, has no `model` or
                `max_tokens`, or asks for a stream, and for a deadline that is not above 0.
        """
        if request.get("stream"):
            raise ValueError("`send` gives whole answers: leave `stream` out of the request.")
        model = request.get("model")
        if not isinstance(model, str) or not model:
            raise ValueError(f"The request's `model` is no name: {model!r}.")
        content = encoded(request)
        worst = worst_case(request, size=len(content), worst_input=worst_input)
        call = Call("post", "/v1/messages", _reply, content)

        async def attempt(seconds: float) -> Reply | Trouble:
            await self._pace.turn()
            ticket = meter.reserve(model, worst)
            try:
                got = await attempt_at(self._sdk, call, seconds, key=self._key)
            except BaseException:
                meter.settle(ticket, None)
                raise
            if isinstance(got, Reply):
                meter.settle(ticket, got.usage)
            elif got.billed:
                meter.settle(ticket, None)
            else:
                meter.release(ticket)
            return got

        return await until_answered(attempt, deadline=deadline)

    async def exchange(self, call: Call[T], *, deadline: float) -> T:
        """Any call that costs nothing, by the same rules.

        Raises:
            ModelFault: where no answer came.
            ValueError: for a deadline that is not above 0.
        """

        async def attempt(seconds: float) -> T | Trouble:
            return await attempt_at(self._sdk, call, seconds, key=self._key)

        return await until_answered(attempt, deadline=deadline, once=call.once)

    async def count_tokens(self, request: Mapping[str, Any], *, deadline: float = 60.0) -> int:
        """Tokens of the input of `request`, as the API estimates them; it costs nothing.

        Raises:
            ModelFault: where no answer came.
        """
        content = encoded({name: request[name] for name in _COUNTED if name in request})
        call = Call("post", "/v1/messages/count_tokens", _input_tokens, content)
        return await self.exchange(call, deadline=deadline)

    async def models(self, *, deadline: float = 60.0) -> list[dict[str, Any]]:
        """The models that this key can use, as the API describes them (`id`, `display_name`, …).

        Raises:
            ModelFault: where no answer came.
        """
        found: list[dict[str, Any]] = []
        after = ""
        while True:
            call = Call("get", f"/v1/models?limit=1000{after}", _page)
            page = await self.exchange(call, deadline=deadline)
            found += page["data"]
            if not (page.get("has_more") and page["data"]):
                return found
            after = f"&after_id={quote(page['data'][-1]['id'], safe='')}"


@asynccontextmanager
async def connect(connection: Connection) -> AsyncIterator[Client]:
    """A client for all calls through `connection`.

    Make one for many calls: making one takes longer than a call does.

    Raises:
        ModelFault: of the kind `key`, where an API key is needed and there is none.
    """
    try:
        key = connection.key()
    except LookupError as error:
        raise ModelFault("key", str(error.args[0])) from None
    import anthropic

    base_url, http_client = connection.base_url, None
    if connection.stand_in is not None:
        base_url = "http://stand-in"
        transport = connection.stand_in.transport()
        http_client = anthropic.DefaultAsyncHttpxClient(transport=transport)
    async with anthropic.AsyncAnthropic(
        api_key=key, base_url=base_url, max_retries=0, http_client=http_client
    ) as sdk:
        yield Client(sdk, connection)


def _reply(body: bytes) -> Reply:
    return Reply.of(json.loads(body))


def _input_tokens(body: bytes) -> int:
    return int(json.loads(body)["input_tokens"])


def _page(body: bytes) -> dict[str, Any]:
    page = json.loads(body)
    if not isinstance(page, dict) or not isinstance(page["data"], list):
        raise TypeError("it has no list `data`")
    return page
