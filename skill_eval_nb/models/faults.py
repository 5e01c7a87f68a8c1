"""Why no answer came, in words that hold no key and no password, and which faults are tried again.

Tried again are 408, 409, 429 and everything from 500 (529 too), time-outs, connections that
fail or are cut, and bodies that are no whole answer; unless the API says otherwise in its
header `x-should-retry`. The pause is drawn at random from nothing to a bound that doubles
each time ("full jitter"), so that calls which failed together do not come back together;
what the API asks for in `retry-after` comes before it. One deadline bounds it all:

- A `retry-after` that leads beyond it ends the call at once.
- No attempt begins in its last tenth: it would most likely be cut off, and billed all the same.
- The first attempt that is not answered is given up after two thirds of what is left of it,
  so that there is time for another, which has all the rest.
- A call that may have been billed `BILLED` times without an answer is not tried again.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    import httpx2


Kind = Literal[
    "key", "refused", "overloaded", "timeout", "connection", "errored", "expired", "canceled"
]


HIDDEN = "[hidden]"
"""What stands in place of a key or a password."""
_SECRET = re.compile(r"auth|cookie|key|password|secret|token", re.IGNORECASE)
_LEAST = 8
"""A secret shorter than this is not looked for: it would be found in words."""
_USER = re.compile(r"(?<=//)[^/?#\s]*@")


class ModelFault(Exception):
    """A call that brought no answer, or a request of a batch that brought none.

    `kind` is one of

    - `key`: no API key was found; nothing was sent.
    - `refused`: the API will not take this request, and would not if it came again.
    - `overloaded`: it was busy, or failed within, as long as the deadline allowed to ask.
    - `timeout`: it did not answer in time.
    - `connection`: it could not be reached, or what came was no whole answer.
    - `errored`, `expired`, `canceled`: what became of a request of a batch.

    The message says what was found last, after how many attempts, and what to do where
    something can be done. The words of the API stand in it as they came, but for what is
    `hidden`. `sent` is False where the server surely did nothing about the last attempt.
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
    """A text in which no address says who calls.

    >>> without_password("The server http://me:secret@host/ could not be reached.")
    'The server http://[hidden]@host/ could not be reached.'
    """
    return _USER.sub(f"{HIDDEN}@", text)


def secrets_of(request: httpx2.Request) -> tuple[bytes, ...]:
    """What a request was sent with that nobody else is to see, as a server might repeat it."""
    found = {request.url.userinfo.decode()}
    for name, value in request.headers.items():
        if _SECRET.search(name):
            scheme, _, token = value.rpartition(" ")
            found |= {value, token}
            if scheme.lower() == "basic":
                found |= _pair(token)
    forms = {
        form
        for text in found | {unquote(text) for text in found}
        for form in (text, quote(text, safe=""), json.dumps(text)[1:-1], text.replace("/", "\\/"))
        if len(text) >= _LEAST
    }
    return tuple(form.encode() for form in sorted(forms, key=len, reverse=True))


def hidden(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """Data of an answer without the secrets of its request."""
    for secret in secrets:
        data = data.replace(secret, HIDDEN.encode())
    return data


def _pair(token: str) -> set[str]:
    """A name with its password, and the password."""
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return set()
    return {pair, pair.partition(":")[2]}


FIRST = 0.5
"""Seconds that the first pause is at most."""
LONGEST = 30.0
"""Seconds that any pause is at most, what the API asks for aside."""
BILLED = 3
"""Attempts of one call that may be billed without an answer."""

_AGAIN = frozenset((408, 409, 429))
_HINTS = {
    401: "The key was not accepted: check the environment variable {key}.",
    403: "The key may not do this: check the environment variable {key}, and what it is for.",
    404: "Check the name of the model, and the address of the server.",
    413: "The request is too large: show less.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """What came of an attempt that brought no answer.

    Attributes:
        kind: as in `ModelFault`.
        message: what was found, as a sentence.
        again: whether another attempt may help.
        billed: whether this one may be billed all the same.
        after: seconds that the API asks to wait; None where it does not.
        sent: False where the server surely did not act on it.
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
    parts = [f"HTTP {status}", _words(body), f"(request {number})" if number else ""]
    message = " ".join(part for part in parts if part)
    return Trouble(
        kind,
        f"{message.rstrip('.')}. {hint}".rstrip(),
        again,
        billed=False,
        after=asked_to_wait(headers),
        # Behind a 500, 502 or 504 the request may have been taken all the same.
        sent=status >= 500 and status not in (501, 503, 529),
    )


def asked_to_wait(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that `retry-after-ms` or `retry-after` ask for: a number, or a date.

    >>> asked_to_wait({"retry-after": "2.5"})
    2.5
    >>> asked_to_wait({"retry-after": "soon"}) is None
    True
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        date = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


def pause(
    trouble: Trouble, *, attempts: int, billed: int, left: float, deadline: float, draw: float
) -> float | str:
    """Seconds to wait before the next attempt, or why there is none.

    Args:
        trouble: what came of the last attempt.
        attempts: how many there were.
        billed: how many of them may be billed without an answer.
        left: seconds that are left of the deadline.
        deadline: seconds that there were in all.
        draw: a random number, 0 to 1.
    """
    if not trouble.again:
        return ""
    if billed >= BILLED:
        return f"It is not tried again: {billed} attempts may have been billed."
    room = left - deadline / 10
    after = trouble.after
    if after is not None and after > room:
        return (
            f"It asks to wait {_seconds(after)}, which is too long "
            f"with {_seconds(max(left, 0.0))} of {_seconds(deadline)} left."
        )
    after, least = after or 0.0, min(FIRST, deadline / 10)
    if after < least and room < least:  # `retry-after: 0` without end is no way to go on
        return f"The {_seconds(deadline)} that it was given are over."
    bound = FIRST * 2.0 ** min(attempts - 1, 16)
    return after + draw * min(bound, LONGEST, room - after)


def patience(left: float, *, unanswered: bool) -> float:
    """Seconds that the next attempt may take; `unanswered`: one was given up already.

    >>> patience(90.0, unanswered=False), patience(30.0, unanswered=True)
    (60.0, 30.0)
    """
    return left if unanswered else left * 2 / 3


def _words(body: bytes) -> str:
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


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s"
