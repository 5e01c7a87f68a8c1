"""A stand-in that is set to fail: which faults there are, and when one strikes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from skill_eval_nb.models.stand_in import Role, StandIn

Kind = Literal[
    "bad_request_400",
    "unauthorized_401",
    "rate_limited_429",
    "server_error_500",
    "overloaded_529",
    "silence",
    "cut",
    "stream_error",
    "refusal",
    "max_tokens",
    "invalid_json",
    "out_of_range",
    "missing_dimensions",
    "no_evidence",
    "huge_output",
    "huge_answer",
]

ERRORS: dict[str, tuple[int, str, str]] = {
    "bad_request_400": (
        400,
        "invalid_request_error",
        "The stand-in was set to refuse this request",
    ),
    "unauthorized_401": (401, "authentication_error", "invalid x-api-key"),
    "rate_limited_429": (429, "rate_limit_error", "This request would exceed your rate limit"),
    "server_error_500": (500, "api_error", "Internal server error"),
    "overloaded_529": (529, "overloaded_error", "Overloaded"),
}
"""Faults that come in place of an answer: status, the API's name, message."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave, and whom it strikes.

    Kinds: `bad_request_400`, `unauthorized_401`, `rate_limited_429` (with `retry-after`),
    `server_error_500`, `overloaded_529` are error answers. `silence` never answers.
    `cut` breaks the connection in the middle of the body or stream. `stream_error` sends an
    error event in mid-stream (answered whole where the request did not ask for a stream).
    `refusal` and `max_tokens` are stop reasons: no content, and half the answer. Of a judge:
    `invalid_json`, `out_of_range` (a score of 9), `missing_dimensions` (the last one),
    `no_evidence` (all of it empty). `huge_output` makes the executor write and print a file
    of `size` bytes with Bash; `huge_answer` makes the text that long. A kind that does not
    apply to the request at hand (no Bash, no JSON asked for) leaves the answer as it is.

    Attributes:
        kind: What happens.
        role: Aims at calls of this role only. None: of all.
        first: Aims at the first so many calls of a session only, so that a retry succeeds.
        calls: Aims at these calls only, counted from 1 among those that the rest aims at.
        holds: Aims at requests whose body holds this text. None: any.
        retry_after: Seconds in the `retry-after` of a 429. None: no such header.
        size: Bytes of a huge output or answer.
    """

    kind: Kind
    role: Role | None = None
    first: int | None = None
    calls: tuple[int, ...] = ()
    holds: str | None = None
    retry_after: float | None = 1.0
    size: int = 20_000_000


class Misfortune:
    """Counts what each fault aims at, and tells which one strikes."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._seen: Counter[tuple[int, str]] = Counter()
        self._calls: Counter[int] = Counter()

    def strike(self, role: Role, session: str, body: str) -> Fault | None:
        """The first fault that strikes this request; every one that it aims at is counted."""
        struck: Fault | None = None
        for number, fault in enumerate(self._faults):
            if not _aims(fault, role, body):
                continue
            self._calls[number] += 1
            call = self._calls[number]
            self._seen[number, session] += 1
            seen = self._seen[number, session]
            late = fault.first is not None and seen > fault.first
            elsewhere = fault.calls and call not in fault.calls
            if not (struck or late or elsewhere):
                struck = fault
        return struck


def _aims(fault: Fault, role: Role, body: str) -> bool:
    return fault.role in (None, role) and (fault.holds is None or fault.holds in body)


@dataclass(frozen=True, slots=True)
class RiggedStandIn(StandIn):
    """A stand-in that fails, waits, and remembers; its answers are those of a `StandIn`.

    None of its own settings is part of a plan: they change nothing about what it answers in the
    end.

    Attributes:
        latency: Seconds that every message takes to be answered.
        batch_seconds: Seconds from the creation of a message batch to its end.
        log: A file that takes one JSON line a request; many processes may share it.
            None: nothing is written.
        store: A folder that keeps message batches, so that another process can collect
            them. None: they live as long as the server or transport.
        faults: How it misbehaves; the first that strikes counts.
    """

    latency: float = field(default=0.0, compare=False)
    batch_seconds: float = field(default=0.0, compare=False)
    log: str | None = field(default=None, compare=False)
    store: str | None = field(default=None, compare=False)
    faults: tuple[Fault, ...] = field(default=(), compare=False)


# To a plan it is the stand-in: what one began, the other goes on with.
RiggedStandIn.__name__ = StandIn.__name__
