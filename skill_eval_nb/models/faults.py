"""Why no answer came, in words that hold no key and no password."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
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
        for one in found | {unquote(one) for one in found}
        for form in (one, quote(one, safe=""), json.dumps(one)[1:-1], one.replace("/", "\\/"))
        if len(one) >= _LEAST
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
