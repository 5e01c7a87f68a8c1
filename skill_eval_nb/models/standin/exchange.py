"""What passes between whoever carries and the app: a request, its answer, a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .misbehaviour import Fault

MOST_BYTES = 32 * 2**20
"""The API takes no larger request, but for batches."""
MOST_BATCH_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: headers in lower case, `origin` as `http://host:port`."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    origin: str
    via: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back, after `delay` seconds.

    `pieces` of the body go out one by one. `cut`: the connection breaks after half of the
    body. `silent`: nothing is ever sent.
    """

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    delay: float = 0.0
    cut: bool = False
    silent: bool = False

    def half(self) -> bytes:
        """What comes before the cut."""
        whole = b"".join(self.pieces)
        return whole[: len(whole) // 2]


class Refused(Exception):
    """An error answer, with its status and headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})


def check(complaint: str | None) -> None:
    """Refuse what there is a complaint about.

    Raises:
        Refused: with 400.
    """
    if complaint is not None:
        raise Refused(400, complaint)


def let_in(asked: Asked) -> None:
    """Refuse who brings no key; any key will do.

    Raises:
        Refused: with 401.
    """
    bearer = asked.headers.get("authorization", "")
    if not asked.headers.get("x-api-key") and not bearer.lower().startswith("bearer "):
        raise Refused(401, "x-api-key header is required")


def beta(asked: Asked) -> bool:
    """Whether the request names a beta of the API."""
    return bool(asked.headers.get("anthropic-beta"))


def decoded(asked: Asked) -> Any:
    """The request's body as JSON.

    Raises:
        Refused: where it is none, or too large.
    """
    batch = asked.path.partition("?")[0].rstrip("/").endswith("batches")
    if len(asked.body) > (MOST_BATCH_BYTES if batch else MOST_BYTES):
        raise Refused(413, "Request exceeds the maximum size")
    try:
        return json.loads(asked.body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"The request body is not valid JSON: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def in_place(fault: Fault) -> Refused:
    """The error answer that a fault of its own status comes as."""
    status = int(fault.kind[-3:])
    messages = {
        400: "The stand-in was told to refuse this request",
        401: "invalid x-api-key",
        429: "This request would exceed your rate limit",
        500: "Internal server error",
        529: "Overloaded",
    }
    after = fault.retry_after if status == 429 else None
    headers = {} if after is None else {"retry-after": f"{after:g}"}
    return Refused(status, messages[status], headers)
