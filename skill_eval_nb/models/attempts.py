"""One call of the API: its attempts, until an answer comes or its deadline."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .faults import ModelFault, hidden, secrets_of
from .retry import Trouble, patience, pause, trouble_of_status

if TYPE_CHECKING:
    import anthropic
    import httpx2

T = TypeVar("T")

CONNECTING = 10.0
"""Seconds to reach the server at most."""
_draw = random.SystemRandom().random


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """What is sent, and what makes a value of the answer.

    Attributes:
        method: "get" or "post".
        path: of the API.
        read: makes the value; it raises ValueError, KeyError or TypeError where the body is
            no whole answer.
        content: the body.
        once: whether a second attempt could do harm, so that there is none unless the first
            was surely not taken.
    """

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    once: bool = False


async def until_answered(
    attempt: Callable[[float], Awaitable[T | Trouble]], *, deadline: float, once: bool = False
) -> T:
    """What `attempt(seconds)` gives, begun again by the rules of `retry`.

    Raises:
        ModelFault: where it gives nothing but trouble until it may not be begun again.
        ValueError: for a deadline that is not above 0.
    """
    if not deadline > 0:
        raise ValueError(f"A deadline is a number of seconds above 0, not {deadline!r}.")
    end = time.monotonic() + deadline
    billed, unanswered = 0, once
    for attempts in itertools.count(1):
        got = await attempt(patience(end - time.monotonic(), unanswered=unanswered))
        if not isinstance(got, Trouble):
            return got
        billed += got.billed
        unanswered = unanswered or got.kind == "timeout"
        left = end - time.monotonic()
        wait = pause(
            replace(got, again=got.again and not (once and got.sent)),
            attempts=attempts,
            billed=billed,
            left=left,
            deadline=deadline,
            draw=_draw(),
        )
        if isinstance(wait, str):
            tried = f"({attempts} attempts in {deadline - left:.1f} s)" if attempts > 1 else ""
            message = " ".join(part for part in (got.message, wait, tried) if part)
            raise ModelFault(got.kind, message, got.sent)
        await asyncio.sleep(wait)
    raise AssertionError("unreachable: the count has no end")


async def attempt_at(
    sdk: anthropic.AsyncAnthropic, call: Call[T], seconds: float, *, key: str
) -> T | Trouble:
    """One attempt within `seconds`: what the answer says, or why there is none."""
    import anthropic

    try:
        async with asyncio.timeout(seconds):
            response = await _request(sdk, call, seconds)
    except TimeoutError:
        message = f"No answer came within {seconds:.3g} s."
        return Trouble("timeout", message, again=True, billed=True)
    except anthropic.APIError as error:
        return _troubled(error, str(sdk.base_url), key)
    # Nothing is read of an answer, or cut out of it, that still holds the key: half is too much.
    body = hidden(response.content, secrets_of(response.request))
    try:
        return call.read(body)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return _unreadable(error, response.headers.get("content-type", "no stated type"), body)


async def _request(
    sdk: anthropic.AsyncAnthropic, call: Call[Any], seconds: float
) -> httpx2.Response:
    """The SDK's request, with the body sent as it is and the answer's left unread."""
    import httpx2

    # The attempt as a whole is bounded from outside; httpx2 bounds only each wait in it.
    bounds = httpx2.Timeout(None, connect=min(CONNECTING, seconds))
    if call.method == "get":
        return await sdk.get(call.path, cast_to=httpx2.Response, options={"timeout": bounds})
    return await sdk.post(
        call.path, cast_to=httpx2.Response, content=call.content, options={"timeout": bounds}
    )


def _troubled(error: anthropic.APIError, address: str, key: str) -> Trouble:
    """What an error of the SDK means, without what the request kept secret."""
    import anthropic

    secrets = secrets_of(error.request)
    if isinstance(error, anthropic.APIStatusError):
        answer = error.response
        body = hidden(answer.content, secrets)
        trouble = trouble_of_status(answer.status_code, answer.headers, body, key=key)
    else:
        trouble = _unconnected(error.__cause__ or error, address)
    return replace(trouble, message=hidden(trouble.message.encode(), secrets).decode())


def _unconnected(error: BaseException, address: str) -> Trouble:
    """What a failure below HTTP means: whether anything had been sent is what matters."""
    import httpx2

    said = f"{type(error).__name__}: {error}".rstrip(": ")
    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
    if isinstance(error, before):
        return Trouble(
            "connection",
            f"The server {address} could not be reached ({said}).",
            again=True,
            billed=False,
            sent=False,
        )
    hopeless = (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError)
    if isinstance(error, hopeless):
        message = f"Nothing could be sent to {address} ({said})."
        return Trouble("connection", message, again=False, billed=False, sent=False)
    return Trouble("connection", f"The connection was cut ({said}).", again=True, billed=True)


def _unreadable(error: Exception, kind: str, body: bytes) -> Trouble:
    """What a body means that has the status of success, but is no whole answer."""
    start = body[:200].decode(errors="replace")
    why = str(error) or type(error).__name__
    message = f"What came is no whole answer ({kind}; {why}): {start!r}."
    return Trouble("connection", message, again=True, billed=True)
