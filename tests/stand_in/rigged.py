"""A stand-in that is set to fail, waits, keeps a log, and has batches that outlive a process."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

import httpx2

from skill_eval_nb.models.stand_in import Role, StandIn, agent, reading
from skill_eval_nb.models.stand_in.app import (
    Batches,
    ComposedReply,
    RefusedRequest,
    event,
    limit,
    stream_events,
    transport,
    unread,
)
from tests.models.scripted import Answer, Scripted, Seen

from .validating import ValidatingApp, complaint

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
    `invalid_json`, `missing_dimensions` (the last one), `no_evidence` (all of it empty).
    `huge_output` makes the executor write and print a file of `size` bytes with Bash; `huge_answer`
    makes the text that long. A kind that does not apply to the request at hand (no Bash, no JSON
    asked for) leaves the answer as it is.

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
            if fault.role not in (None, role) or (fault.holds or "") not in body:
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
        faults: How it misbehaves; the first that strikes counts.
    """

    latency: float = field(default=0.0, compare=False)
    batch_seconds: float = field(default=0.0, compare=False)
    log: str | None = field(default=None, compare=False)
    faults: tuple[Fault, ...] = field(default=(), compare=False)


# To a plan it is the stand-in: what one began, the other goes on with.
RiggedStandIn.__name__ = StandIn.__name__


# ── at work ────────────────────────────────────────────────────────────────────────────────────

SECRET = ("authorization", "x-api-key", "cookie", "proxy-authorization")
HUGE = "huge.txt"


class RiggedBatches(Batches):
    """Batches that are answered after their time; another app of this process has them, too."""

    kept: ClassVar[dict[str, tuple[float, dict[str, Any], list[dict[str, Any]]]]] = {}

    def __init__(self, seconds: float, work: Callable[[Any], Any]) -> None:
        super().__init__(work)
        self._seconds = seconds

    def take_in(self, batch: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        self.kept[batch["id"]] = time.monotonic(), batch, requests

    def look_up(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]] | None] | None:
        if name in self.kept and name not in self._ended:
            made, batch, requests = self.kept[name]
            if time.monotonic() < made + self._seconds:
                return batch, None
            super().take_in(batch, requests)
        return super().look_up(name)


def write(path: str, line: Mapping[str, Any]) -> None:
    """Append one line, with the time before it; lines of several processes do not mix."""
    stamped = {"time": datetime.now(UTC).isoformat(), **line}
    with Path(path).open("ab", buffering=0) as file:
        file.write(json.dumps(stamped).encode() + b"\n")


class RiggedApp(ValidatingApp):
    """A rigged stand-in at work. Safe among threads: it answers one request after the other."""

    def __init__(self, stand_in: RiggedStandIn) -> None:
        super().__init__(stand_in)
        self.rigged = stand_in
        self.batches = RiggedBatches(stand_in.batch_seconds, self.answer_in_batch)
        self._misfortune = Misfortune(stand_in.faults)
        self._fault: Fault | None = None
        self._noted: dict[str, Any] = {}
        self._lock = threading.Lock()

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, which is in the log when this returns; `extensions` say how it is sent."""
        with self._lock:
            self._fault, self._noted = None, {}
            response = super().answer(request)
            self._write(request)
            message = request.url.path.endswith("/messages") and response.status_code == 200
            if message:
                kind = self._fault and self._fault.kind
                response.extensions |= {"delay": self.rigged.latency, "fault": kind}
            return response

    def stream(self, message: Mapping[str, Any]) -> httpx2.Response:
        response = super().stream(message)
        if self._fault and self._fault.kind == "stream_error":
            pieces = tuple(stream_events(message))
            _, kind, words = ERRORS["overloaded_529"]
            broken = event(RefusedRequest(529, kind, words).body("req_broken"))
            half = b"".join((*pieces[: len(pieces) // 2], broken))
            return httpx2.Response(200, headers=_typed(response), content=half)
        return response

    def answer_message(self, request: Any, *, tier: str = "standard") -> dict[str, Any]:
        self._fault = None
        if not complaint(request):
            self._strike(request)
        message = super().answer_message(request, tier=tier)
        if message["stop_reason"] == "refusal":
            why = {"category": None, "explanation": "The stand-in was set to."}
            message["stop_details"] = {"type": "refusal", **why}
        self._noted |= {"usage": message["usage"], "answer": message}
        return message

    def compose(self, request: Mapping[str, Any], role: Role) -> ComposedReply:
        reply = super().compose(request, role)
        return reply if self._fault is None else _spoil(self, self._fault, request, role, reply)

    def answer_in_batch(self, request: Any) -> dict[str, Any]:
        """One request of a batch, with a log line of its own."""
        outer, self._noted = self._noted, {}
        result = super().answer_in_batch(request)
        fault = self._fault and self._fault.kind
        self._log({"via": "batch", "method": "POST", "path": "/v1/messages", "body": request})
        self._fault, self._noted = None, outer
        return {"type": "expired"} if fault in ("silence", "cut") else result

    def _strike(self, request: Mapping[str, Any]) -> None:
        """Note whose call it is, and find the fault that strikes it.

        Raises:
            RefusedRequest: where an error comes in place of an answer.
        """
        role, session = reading.role_of(request), reading.session_of(request)
        self._noted |= {"role": role, "session": session}
        text = json.dumps(request, ensure_ascii=False)
        fault = self._fault = self._misfortune.strike(role, session, text)
        if fault and fault.kind in ERRORS:
            waits = fault.kind == "rate_limited_429" and fault.retry_after is not None
            headers = {"retry-after": f"{fault.retry_after:g}"} if waits else {}
            raise RefusedRequest(*ERRORS[fault.kind], headers)

    def _write(self, request: httpx2.Request) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self._log(
            {
                "via": request.extensions.get("via", "transport"),
                "method": request.method,
                "path": request.url.path,
                "headers": {k: v for k, v in headers.items() if k not in SECRET},
                "body": json.loads(request.content or b"null"),
            }
        )

    def _log(self, line: Mapping[str, Any]) -> None:
        if self.rigged.log is not None:
            least = dict.fromkeys(("role", "session", "usage", "answer"))
            write(self.rigged.log, least | self._noted | dict(line))


def _typed(response: httpx2.Response) -> dict[str, str]:
    return {"content-type": response.headers["content-type"]}


# ── what a fault makes of an answer ────────────────────────────────────────────────────────────


def _spoil(
    app: RiggedApp, fault: Fault, request: Mapping[str, Any], role: Role, reply: ComposedReply
) -> ComposedReply:
    allowed = request["max_tokens"]
    match fault.kind:
        case "refusal":
            return ComposedReply([], "refusal", 1)
        case "huge_answer":
            text = {"type": "text", "text": "huge " * (fault.size // 5)}
            return limit([text], "end_turn", allowed)
        case "max_tokens":
            half = min(allowed, reply.output_tokens // 2)
            return limit(reply.content, reply.stop_reason, half)
        case "huge_output" if role == "executor":
            situation = agent.Situation(app.stand_in, request)
            command = f"head -c {fault.size} /dev/zero | tr '\\0' x | tee {HUGE}"
            step = next(agent.bash(situation, "This will be large.", command), None)
            if step and not any(use.input.get("command") == command for use in situation.uses):
                return limit(agent.use(situation, step), "tool_use", allowed)
        case _ if role != "executor" and reply.content:
            text = reply.content[0]["text"]
            if role == "judge" and reply.stop_reason == "end_turn":
                text = json.dumps(_wrong(json.loads(text), fault.kind), ensure_ascii=False)
            if fault.kind == "invalid_json":
                text = text[: max(1, len(text) // 2)] + " … and so on"
            return limit([{"type": "text", "text": text}], reply.stop_reason, allowed)
    return reply


def _wrong(answer: dict[str, Any], kind: str) -> dict[str, Any]:
    """A judge's answer, as wrong as the fault has it."""
    scores = answer.get("dimensions") or []
    checks = answer.get("expectations") or []
    if kind == "missing_dimensions":
        return {**answer, "dimensions": scores[:-1]}
    if kind == "no_evidence":
        return {
            **answer,
            "dimensions": [{**score, "evidence": ""} for score in scores],
            "expectations": [{**check, "evidence": ""} for check in checks],
        }
    return answer


# ── two ways to it: a transport in process, and an HTTP server ─────────────────────────────────


def rigged(stand_in: StandIn) -> RiggedStandIn:
    """A stand-in as a rigged one that does nothing of its own."""
    if isinstance(stand_in, RiggedStandIn):
        return stand_in
    fields = {one.name: getattr(stand_in, one.name) for one in dataclasses.fields(stand_in)}
    return RiggedStandIn(**fields)


@transport.register
def _(stand_in: RiggedStandIn) -> httpx2.AsyncBaseTransport:
    app = RiggedApp(stand_in)

    async def handle(request: httpx2.Request) -> httpx2.Response:
        response = app.answer(request)
        fault = response.extensions.get("fault")
        if fault == "silence":  # whoever waits leaves when it likes
            await asyncio.Event().wait()
        await asyncio.sleep(response.extensions.get("delay", 0.0))
        if fault != "cut":
            return unread(response)
        half = _half(response.content)
        return httpx2.Response(response.status_code, headers=_typed(response), content=half)

    return httpx2.MockTransport(handle)


@transport.register
def _(stand_in: StandIn) -> httpx2.AsyncBaseTransport:
    app = ValidatingApp(stand_in)
    return httpx2.MockTransport(lambda request: unread(app.answer(request)))


async def _half(body: bytes) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    raise httpx2.RemoteProtocolError("the stand-in cut the connection, as it was set to")


@contextmanager
def serve(stand_in: StandIn) -> Iterator[str]:
    """Serve the stand-in on this machine, and give its address."""
    app = RiggedApp(rigged(stand_in))

    def say(seen: Seen) -> Answer:
        url = f"http://stand-in{seen.path}"
        about: dict[str, Any] = {"headers": seen.headers, "content": seen.body}
        request = httpx2.Request(seen.method, url, extensions={"via": "server"}, **about)
        response = app.answer(request)
        told, body = response.extensions, response.content
        sent = len(body) // 2 if told.get("fault") == "cut" else len(body)
        headers = {n: v for n, v in response.headers.items() if n.lower() != "content-length"}
        return Answer(
            status=response.status_code,
            body=body[:sent],
            headers=headers,
            promised=len(body),
            silent=60.0 if told.get("fault") == "silence" else 0.0,
            late=told.get("delay", 0.0),
        )

    with Scripted(say) as server:
        yield server.base_url
