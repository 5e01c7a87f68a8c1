"""Which faults are tried again, when, and for how long: rules alone, without clock or network.

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

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .faults import Kind

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
    said = headers.get("x-should-retry")
    again = said == "true" or (said != "false" and (status in _AGAIN or status >= 500))
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
