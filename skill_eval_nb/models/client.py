"""The client for calls to a model: connection, deadline, retries.

Each call has a deadline and goes through a meter. Messages about failed calls contain no key and no
password.

Retried are the statuses 408, 409, 429 and 500 and above (529, too), time-outs, connections that
fail or are cut, and incomplete bodies, unless the API says otherwise in its header
`x-should-retry`. The pause is random between nothing and a bound that doubles each time ("full
jitter"), so that calls which failed together do not come back together; a `retry-after` of the API
is waited for first. One deadline limits everything:

- A `retry-after` beyond the deadline ends the call at once.
- No attempt begins in the last tenth of the time: it would probably be cut off, and still billed.
- The first attempt without an answer is given up after two thirds of the time left, so that there
  is time for another one, which gets all the rest.
- A call that may have been billed `BILLED` times without an answer is not retried.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import itertools
import json
import math
import os
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from urllib.parse import quote, unquote, urlsplit

import msgspec

from .usage import Meter, Usage, encode_body, worst_case

if TYPE_CHECKING:
    import anthropic
    import httpx2

    from .stand_in import StandIn

_HERE = ("localhost", "127.0.0.1", "::1")
NO_KEY = "none"
"""Sent as the key to a server on this machine or to the stand-in, which need none."""


@dataclass(frozen=True)
class Connection:
    """How to reach a model.

    Attributes:
        base_url: the server that speaks the Messages API; None for the SDK's default (the
            environment variable ANTHROPIC_BASE_URL, else Anthropic's). A name and a password in it
            are sent but never shown.
        api_key_name: the environment variable that the key is read from when calls begin.
            The key itself is never stored, logged or sent to another process.
        stand_in: a stand-in model that answers within the process, without a network or a key.
            `base_url` is then ignored.

    Raises:
        ValueError: if `base_url` is not an http address.
    """

    base_url: str | None = None
    api_key_name: str = "ANTHROPIC_API_KEY"
    stand_in: StandIn | None = None

    def __post_init__(self) -> None:
        if self.base_url is None:
            return
        try:
            parts = urlsplit(self.base_url)
            right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # the port, which may be a piece of a password
            right = False
        if not right:
            _, at, host = self.base_url.rpartition("@")
            raise ValueError(
                f"base_url={f'{HIDDEN}@{host}' if at else host!r} is not a server address. "
                'Write it with its scheme, such as "https://models.example.org".'
            ) from None

    def __repr__(self) -> str:
        url = without_password(repr(self.base_url))
        return f"Connection({url}, {self.api_key_name!r}, {self.stand_in!r})"

    def why_not(self) -> str | None:
        """None if calls can be made, else a sentence that tells the user why not."""
        key = self._found()
        if self.stand_in is None and not (key.isascii() and key.isprintable()):
            return (
                f"The environment variable {self.api_key_name} does not hold an API key: it has a "
                "line break, or a letter that no key has. Set it again. Nothing was sent."
            )
        url = self.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ""
        if key or self.stand_in is not None or urlsplit(url).hostname in _HERE:
            return None
        return (
            f"There is no API key: the environment variable {self.api_key_name} is not set. "
            f"Set it before Python starts, or in a notebook with `%env {self.api_key_name}=…` "
            "in a cell that is not saved; or name another variable with `api_key_name`. "
            'Nothing was sent. The executor "offline" needs no key.'
        )

    def key(self) -> str:
        """The key, read from the environment now; a placeholder if none is needed.

        Raises:
            LookupError: if a key is needed and missing.
        """
        why = self.why_not()
        if why is not None:
            raise LookupError(why)
        return NO_KEY if self.stand_in is not None else self._found() or NO_KEY

    def _found(self) -> str:
        # A line break at the end, as files of keys have, could not be sent in a header.
        return os.environ.get(self.api_key_name, "").strip()


T = TypeVar("T")

CONNECTING = 8.0
"""Seconds to reach the server: a user should hear within ten that it cannot be reached."""
_draw = random.SystemRandom().random


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """What to send, and how to read the answer.

    Attributes:
        path: of the API.
        read: returns the value; raises ValueError, KeyError or TypeError if the body is not a
            complete answer.
        content: the body to post; None to get what is there.
    """

    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """A call that got no answer and will be tried again.

    Attributes:
        number: 1 for the first attempt after the one that failed.
        at: when it begins, by `time.monotonic()`.
        reason: why the last attempt failed.

    >>> print(Retry(4, time.monotonic() + 29.5, "HTTP 529."))
    HTTP 529. Retry 4, next in 30 s
    """

    number: int
    at: float
    reason: str

    def __str__(self) -> str:
        left = math.ceil(self.at - time.monotonic())
        return f"{self.reason} Retry {self.number}, {f'next in {left} s' if left > 0 else 'now'}"


ON_RETRY: ContextVar[Callable[[Retry | None], object]] = ContextVar(
    "ON_RETRY", default=lambda _: None
)
"""Called with each retry by the task that calls a model, and with None once it is over.

It is not an argument because executors, judges and drafts reach `until_answered` in different ways:
a job sets it when it launches a step.
"""


async def until_answered(
    attempt: Callable[[float], Awaitable[T | Trouble]], *, deadline: float, once: bool = False
) -> T:
    """The result of `attempt(seconds)`, retried by the rules of this module.

    Raises:
        ModelFault: if it fails until no further attempt is allowed.
        ValueError: for a deadline that is not above 0.
    """
    if not deadline > 0:
        raise ValueError(f"A deadline must be a number of seconds above 0, not {deadline!r}.")
    end = time.monotonic() + deadline
    billed, unanswered = 0, once
    for attempts in itertools.count(1):
        left = end - time.monotonic()
        got = await attempt(left if unanswered else left * 2 / 3)
        if not isinstance(got, Trouble):
            if attempts > 1:
                ON_RETRY.get()(None)
            return got
        billed += got.billed
        unanswered = unanswered or got.kind == "timeout"
        left = end - time.monotonic()
        wait: float | str = ""
        if got.again and not (once and got.sent):
            wait = _choose_pause(got.after, attempts, billed, left, deadline)
        if not isinstance(wait, str):
            retry = Retry(attempts, time.monotonic() + wait, without_password(got.message))
            ON_RETRY.get()(retry)
            await asyncio.sleep(wait)
            left = end - time.monotonic()
            if left > 0:
                continue
            wait = _over(deadline)  # a busy machine sleeps longer than it was asked to
        tried = f"({attempts} attempts in {deadline - left:.1f} s)" if attempts > 1 else ""
        message = " ".join(part for part in (got.message, wait, tried) if part)
        raise ModelFault(got.kind, message, got.sent)
    raise AssertionError("unreachable: the count has no end")


async def attempt_at(
    sdk: anthropic.AsyncAnthropic, call: Call[T], seconds: float, *, key: str
) -> T | Trouble:
    """One attempt within `seconds`: the answer, or why there is none."""
    import anthropic

    try:
        async with asyncio.timeout(seconds):
            response = await _send_request(sdk, call, seconds)
    except TimeoutError:
        message = f"No answer came within {seconds:.3g} s."
        return Trouble("timeout", message, again=True, billed=True)
    except anthropic.APIError as error:
        return _trouble_of_sdk(error, str(sdk.base_url), key)
    # Hide the key before anything is read or quoted: even half a key would be too much.
    body = hide_secrets(response.content, secrets_of(response.request))
    try:
        return call.read(body)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return _trouble_of_body(error, response.headers.get("content-type", "no stated type"), body)


async def _send_request(
    sdk: anthropic.AsyncAnthropic, call: Call[Any], seconds: float
) -> httpx2.Response:
    """The SDK's request, with the body sent unchanged and the answer's body not yet read."""
    import httpx2

    # The attempt as a whole is bounded from outside; httpx2 bounds only each wait in it.
    bounds = httpx2.Timeout(None, connect=min(CONNECTING, seconds))
    if call.content is None:
        return await sdk.get(call.path, cast_to=httpx2.Response, options={"timeout": bounds})
    return await sdk.post(
        call.path, cast_to=httpx2.Response, content=call.content, options={"timeout": bounds}
    )


def _trouble_of_sdk(error: anthropic.APIError, address: str, key: str) -> Trouble:
    """What an error of the SDK means, without what the request kept secret."""
    import anthropic

    secrets = secrets_of(error.request)
    if isinstance(error, anthropic.APIStatusError):
        answer = error.response
        body = hide_secrets(answer.content, secrets)
        trouble = trouble_of_status(answer.status_code, answer.headers, body, key=key)
    else:
        trouble = _trouble_of_connection(error.__cause__ or error, address)
    return replace(trouble, message=hide_secrets(trouble.message.encode(), secrets).decode())


def _trouble_of_connection(error: BaseException, address: str) -> Trouble:
    """What a failure below HTTP means; it matters whether anything had been sent."""
    import httpx2

    reason = f"{type(error).__name__}: {error}".rstrip(": ")
    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
    if isinstance(error, before):
        return Trouble(
            "connection",
            f"The server {address} could not be reached ({reason}).",
            again=True,
            billed=False,
            sent=False,
        )
    hopeless = (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError)
    if isinstance(error, hopeless):
        message = f"Nothing could be sent to {address} ({reason})."
        return Trouble("connection", message, again=False, billed=False, sent=False)
    return Trouble("connection", f"The connection was cut ({reason}).", again=True, billed=True)


def _trouble_of_body(error: Exception, kind: str, body: bytes) -> Trouble:
    """What it means if a body has a success status but is not a complete answer."""
    start = body[:200].decode(errors="replace")
    why = str(error) or type(error).__name__
    message = f"The answer received is incomplete ({kind}; {why}): {start!r}."
    return Trouble("connection", message, again=True, billed=True)


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer of the API.

    Attributes:
        content: the blocks, plain JSON.
        stop_reason: why the model stopped, in the API's words. Check it before reading the content,
            which may be empty (`refusal`) or cut off (`max_tokens`).
        usage: what the answer used.
        model: the model that answered, by its full name.
        id: the API's name for the answer.
    """

    content: list[dict[str, Any]]
    stop_reason: str
    usage: Usage
    model: str
    id: str

    @classmethod
    def of(cls, message: object) -> Reply:
        """Read a message object of the API.

        Raises:
            ValueError: if it is not one; the message says what is missing.
        """
        read = msgspec.convert(message, _Message)
        return cls(read.content, read.stop_reason, Usage.of(read.usage), read.model, read.id)

    @property
    def text(self) -> str:
        """The text of all text blocks, joined; "" if there is none.

        >>> Reply([{"type": "text", "text": "Yes."}], "end_turn", Usage(), "m", "msg_1").text
        'Yes.'
        """
        return "".join(
            str(block.get("text", "")) for block in self.content if block.get("type") == "text"
        )


class _Message(msgspec.Struct, tag="message"):
    """The fields that an answer must have, with their types."""

    content: list[dict[str, Any]]
    stop_reason: str
    usage: dict[str, Any]
    model: str
    id: str


class Client:
    """Calls through one connection; made by `connect`, for one event loop."""

    def __init__(self, sdk: anthropic.AsyncAnthropic, connection: Connection) -> None:
        self._sdk = sdk
        self._key = connection.api_key_name

    async def send(
        self,
        request: Mapping[str, Any],
        *,
        meter: Meter,
        deadline: float,
    ) -> Reply:
        """Send a request and return the complete answer, with retries by the rules of this module.

        Every attempt reserves its worst case with the meter. An answer settles the reservation with
        its usage. Attempts that may be billed without an answer (time-outs, cut connections,
        incomplete answers, cancelling this call) settle it with None. If the API refused or was not
        reached, it is released.

        Args:
            request: the body of `/v1/messages`, plain JSON; it is sent unchanged.
            meter: has to allow each attempt.
            deadline: seconds for this answer, including all attempts and pauses.

        Raises:
            ModelFault: if no answer came.
            BudgetSpent: if the meter does not allow an attempt.
            TypeError, ValueError: for a request that is not JSON, has no `model` or
                `max_tokens`, or asks for a stream, and for a deadline that is not above 0.
        """
        if request.get("stream"):
            raise ValueError("`send` returns whole answers: leave `stream` out of the request.")
        model = request.get("model")
        if not isinstance(model, str) or not model:
            raise ValueError(f"The request's `model` is no name: {model!r}.")
        content = encode_body(request)
        worst = worst_case(request, size=len(content))
        call = Call("/v1/messages", lambda body: Reply.of(json.loads(body)), content)

        async def attempt_paid(seconds: float) -> Reply | Trouble:
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

        return await until_answered(attempt_paid, deadline=deadline)

    async def exchange(self, call: Call[T], *, deadline: float, once: bool = False) -> T:
        """Make a call that costs nothing, by the same rules.

        If a second attempt could do harm, there is none (`once`), unless the first was certainly
        not accepted.

        Raises:
            ModelFault: if no answer came.
            ValueError: for a deadline that is not above 0.
        """
        attempt_free = partial(attempt_at, self._sdk, call, key=self._key)
        return await until_answered(attempt_free, deadline=deadline, once=once)


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
        from .stand_in.app import transport

        http_client = anthropic.DefaultAsyncHttpxClient(transport=transport(connection.stand_in))
    async with anthropic.AsyncAnthropic(
        api_key=key, base_url=base_url, max_retries=0, http_client=http_client
    ) as sdk:
        yield Client(sdk, connection)


# ── what goes wrong, and whether it is worth another attempt ─────────────────────────────────────


Kind = Literal[
    "key", "refused", "overloaded", "timeout", "connection", "errored", "expired", "canceled"
]


HIDDEN = "[hidden]"
"""Shown instead of a key or a password."""
_SECRET = re.compile(r"auth|cookie|key|password|secret|token", re.IGNORECASE)
_LEAST = 8
"""Secrets shorter than this are not searched for: they would be found inside words."""
_USER = re.compile(r"(?<=//)[^/?#\s]*@")


class ModelFault(Exception):
    """A call, or a request of a batch, that got no answer.

    `kind` is one of

    - `key`: no API key was found; nothing was sent.
    - `refused`: the API does not accept this request, and would not if it were repeated.
    - `overloaded`: it was busy or failed internally until the deadline.
    - `timeout`: it did not answer in time.
    - `connection`: it could not be reached, or the answer was incomplete.
    - `errored`, `expired`, `canceled`: the result of a request of a batch.

    The message says what went wrong last, after how many attempts, and what to do if anything can
    be done. It quotes the API's words, except for secrets (`hide_secrets`). `sent` is False if the
    server certainly did not act on the last attempt.
    """

    def __init__(self, kind: Kind, message: str, sent: bool = False) -> None:  # noqa: FBT002
        message = without_password(message)
        super().__init__(kind, message, sent)  # all of them, so that it can be pickled
        self.kind: Kind = kind
        self.message = message
        self.sent = sent

    def __str__(self) -> str:
        return self.message


def without_password(text: str) -> str:
    """A text without the names and passwords in its addresses.

    >>> without_password("The server http://me:secret@host/ could not be reached.")
    'The server http://[hidden]@host/ could not be reached.'
    """
    return _USER.sub(f"{HIDDEN}@", text)


def secrets_of(request: httpx2.Request) -> tuple[bytes, ...]:
    """The secrets that a request was sent with, which a server might repeat."""
    found = {request.url.userinfo.decode()}
    for name, value in request.headers.items():
        if _SECRET.search(name):
            scheme, _, token = value.rpartition(" ")
            found |= {value, token}
            if scheme.lower() == "basic":
                found |= _read_pair(token)
    forms = {
        form
        for text in found | {unquote(text) for text in found}
        for form in (text, quote(text, safe=""), json.dumps(text)[1:-1], text.replace("/", "\\/"))
        if len(text) >= _LEAST
    }
    return tuple(form.encode() for form in sorted(forms, key=len, reverse=True))


def hide_secrets(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """Data of an answer without the secrets of its request."""
    for secret in secrets:
        data = data.replace(secret, HIDDEN.encode())
    return data


def _read_pair(token: str) -> set[str]:
    """A name with its password, and the password."""
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return set()
    return {pair, pair.partition(":")[2]}


FIRST = 0.5
"""The longest first pause, in seconds."""
LONGEST = 30.0
"""The longest pause, in seconds, unless the API asks for a longer one."""
BILLED = 3
"""Attempts of one call that may be billed without an answer."""

_AGAIN = frozenset((408, 409, 429))
_HINTS = {
    401: "The key was not accepted: check the environment variable {key}.",
    403: "The key lacks permission: check the environment variable {key}, and what it allows.",
    404: "Check the name of the model, and the address of the server.",
    413: "The request is too large: show less.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an attempt got no answer.

    Attributes:
        kind: as in `ModelFault`.
        message: what went wrong, as a sentence.
        again: whether another attempt may help.
        billed: whether this one may still be billed.
        after: seconds that the API asks to wait; None if it does not.
        sent: False if the server certainly did not act on it.
    """

    kind: Kind
    message: str
    again: bool
    billed: bool
    after: float | None = None
    sent: bool = True


def trouble_of_status(
    status: int, headers: Mapping[str, str], body: bytes, *, key: str = "ANTHROPIC_API_KEY"
) -> Trouble:
    """What an answer with an error's status means; `key` is the variable of the key.

    >>> trouble_of_status(529, {"retry-after": "7"}, b"")
    Trouble(kind='overloaded', message='HTTP 529.', again=True, billed=False, after=7.0, ...)
    """
    header = headers.get("x-should-retry")
    again = header == "true" or (header != "false" and (status in _AGAIN or status >= 500))
    kind: Kind = "refused" if not again else "timeout" if status == 408 else "overloaded"
    hint = _HINTS.get(status, "").format(key=key)
    number = headers.get("request-id")
    parts = [f"HTTP {status}", _error_words(body), f"(request {number})" if number else ""]
    message = " ".join(part for part in parts if part)
    return Trouble(
        kind,
        f"{message.rstrip('.')}. {hint}".rstrip(),
        again,
        billed=False,
        after=asked_to_wait(headers),
        # After a 500, 502 or 504 the request may still have been accepted.
        sent=status >= 500 and status not in (501, 503, 529),
    )


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that `retry-after` asks for; None if it has no number.

    >>> asked_to_wait({"retry-after": "2.5"})
    2.5
    >>> asked_to_wait({"retry-after": "soon"}) is None
    True
    """
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _choose_pause(
    after: float | None, attempts: int, billed: int, left: float, deadline: float
) -> float | str:
    """Seconds to wait before the next attempt, or why there is none.

    Args:
        after: seconds that the API asks to wait.
        attempts: how many attempts there were.
        billed: how many of them may be billed without an answer.
        left: seconds left until the deadline.
        deadline: seconds in total.
    """
    if billed >= BILLED:
        return f"It is not retried: {billed} attempts may have been billed."
    room = left - deadline / 10
    if after is not None and after > room:
        return (
            f"The server asked to wait {_seconds(after)}, but only "
            f"{_seconds(max(left, 0.0))} of {_seconds(deadline)} are left."
        )
    after, least = after or 0.0, min(FIRST, deadline / 10)
    if after < least and room < least:  # else `retry-after: 0` could repeat endlessly
        return _over(deadline)
    bound = FIRST * 2.0 ** min(attempts - 1, 16)
    return after + _draw() * min(bound, LONGEST, room - after)


def _error_words(body: bytes) -> str:
    """What an error's body says, in one short line: the API's JSON, a page, or plain text."""
    text = body[:20_000].decode(errors="replace")
    try:
        error = json.loads(text)["error"]
        return f"{error['type']}: {str(error['message'])[:1000]}"
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    page = "<html" in text[:1000].lower() or "<!doctype" in text[:1000].lower()
    plain = re.sub(r"(?is)<(script|style).*?</\1>|<[^>]*>", " ", text) if page else text
    line = " ".join(plain.split())[:300]
    return f"with a page, perhaps of a proxy: {line}" if page else line


def _over(deadline: float) -> str:
    return f"Its time limit of {_seconds(deadline)} is over."


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"
