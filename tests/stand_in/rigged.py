"""A stand-in that is set to fail, waits, keeps a log, and has batches that outlive a process."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import httpx2

from skill_eval_nb.models.stand_in import Role, StandIn, agent, reading
from skill_eval_nb.models.stand_in.app import (
    EVENTS,
    Batches,
    ComposedReply,
    RefusedRequest,
    as_unread,
    event,
    limit_tokens,
    stream_events,
    transport,
)
from tests.models.scripted import Answer, Scripted, Seen

from .validating import ValidatingApp, complaint

ERRORS: dict[str, tuple[int, str, str]] = {
    "bad_request_400": (400, "invalid_request_error", "The stand-in was set to refuse this"),
    "unauthorized_401": (401, "authentication_error", "invalid x-api-key"),
    "rate_limited_429": (429, "rate_limit_error", "This request would exceed your rate limit"),
}
"""Faults that come in place of an answer: status, the API's name, message."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave, and whom it strikes.

    Kinds: `bad_request_400`, `unauthorized_401`, `rate_limited_429` (with `retry-after`) are error
    answers. `silence` never answers, and expires in a batch. `stream_error` sends an error event in
    mid-stream (answered whole where the request did not ask for a stream). `refusal` is a stop
    reason, without content. `invalid_json` is half an answer; of a judge, `no_evidence` empties all
    evidence. `huge_output` makes the executor write and print a file of `size` bytes with Bash;
    `huge_answer` makes the text that long. A kind that does not apply to the request at hand (no
    Bash, no JSON asked for) leaves the answer as it is.

    Attributes:
        kind: What happens.
        role: Aims at calls of this role only. None: of all.
        first: Aims at the first so many calls of a session only, so that a retry succeeds.
        calls: Aims at these calls only, counted from 1 among those that the rest aims at.
        holds: Aims at requests whose body holds this text. None: any.
        retry_after: Seconds in the `retry-after` of a 429. None: no such header.
        size: Bytes of a huge output or answer.
    """

    kind: str
    role: Role | None = None
    first: int | None = None
    calls: tuple[int, ...] = ()
    holds: str | None = None
    retry_after: float | None = 1.0
    size: int = 20_000_000


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

    def add_batch(self, batch: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        self.kept[batch["id"]] = time.monotonic(), batch, requests

    def look_up(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]] | None] | None:
        if name in self.kept and name not in self._ended:
            made, batch, requests = self.kept[name]
            if time.monotonic() < made + self._seconds:
                return batch, None
            super().add_batch(batch, requests)
        return super().look_up(name)


def write(path: str, line: Mapping[str, Any]) -> None:
    """Append one line, with the time before it; lines of several processes do not mix."""
    stamped = {"time": datetime.now(UTC).isoformat(), **line}
    with Path(path).open("ab", buffering=0) as file:
        file.write(json.dumps(stamped).encode() + b"\n")


def logged(log: Path) -> list[dict[str, Any]]:
    """The lines of a log, of which there is none before the first request."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class RiggedApp(ValidatingApp):
    """A rigged stand-in at work. Safe among threads: it answers one request after the other."""

    def __init__(self, stand_in: RiggedStandIn) -> None:
        super().__init__(stand_in)
        self.rigged = stand_in
        self.batches = RiggedBatches(stand_in.batch_seconds, self.answer_in_batch)
        self._of_session: Counter[tuple[int, str]] = Counter()
        self._calls: Counter[int] = Counter()
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
                silent = self._fault is not None and self._fault.kind == "silence"
                response.extensions |= {"delay": self.rigged.latency, "silent": silent}
            return response

    def stream(self, message: Mapping[str, Any]) -> httpx2.Response:
        response = super().stream(message)
        if self._fault and self._fault.kind == "stream_error":
            pieces = tuple(stream_events(message))
            broken = event(RefusedRequest(529, "overloaded_error", "Busy").body("req_broken"))
            half = b"".join((*pieces[: len(pieces) // 2], broken))
            return httpx2.Response(200, headers=EVENTS, content=half)
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
        return {"type": "expired"} if fault == "silence" else result

    def _strike(self, request: Mapping[str, Any]) -> None:
        """Note whose call it is, and find the fault that strikes it.

        Raises:
            RefusedRequest: where an error comes in place of an answer.
        """
        role, session = reading.role_of(request), reading.session_of(request)
        self._noted |= {"role": role, "session": session}
        body = json.dumps(request, ensure_ascii=False)
        fault = self._fault = self._choose_fault(role, session, body)
        if fault and fault.kind in ERRORS:
            waits = fault.kind == "rate_limited_429" and fault.retry_after is not None
            headers = {"retry-after": f"{fault.retry_after:g}"} if waits else {}
            raise RefusedRequest(*ERRORS[fault.kind], headers)

    def _choose_fault(self, role: Role, session: str, body: str) -> Fault | None:
        """The first fault that strikes this request; every one that it aims at is counted."""
        struck: Fault | None = None
        for number, fault in enumerate(self.rigged.faults):
            if fault.role not in (None, role) or (fault.holds or "") not in body:
                continue
            self._calls[number] += 1
            self._of_session[number, session] += 1
            late = fault.first is not None and self._of_session[number, session] > fault.first
            elsewhere = fault.calls and self._calls[number] not in fault.calls
            if not (struck or late or elsewhere):
                struck = fault
        return struck

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
            return limit_tokens([text], "end_turn", allowed)
        case "huge_output" if role == "executor":
            situation = agent.Situation(app.stand_in, request)
            command = f"head -c {fault.size} /dev/zero | tr '\\0' x | tee {HUGE}"
            step = next(agent.bash(situation, "This will be large.", command), None)
            if step and not any(use.input.get("command") == command for use in situation.uses):
                return limit_tokens(agent.use_tool(situation, step), "tool_use", allowed)
        case "invalid_json" | "no_evidence" if role != "executor" and reply.content:
            text = reply.content[0]["text"]
            if fault.kind == "invalid_json":
                text = text[: max(1, len(text) // 2)] + " … and so on"
            elif role == "judge":
                answer = json.loads(text)
                for one in (*answer["dimensions"], *answer["expectations"]):
                    one["evidence"] = ""
                text = json.dumps(answer, ensure_ascii=False)
            return limit_tokens([{"type": "text", "text": text}], reply.stop_reason, allowed)
    return reply


# ── two ways to it: a transport in process, and an HTTP server ─────────────────────────────────


@transport.register
def _(stand_in: RiggedStandIn) -> httpx2.AsyncBaseTransport:
    app = RiggedApp(stand_in)

    async def handle(request: httpx2.Request) -> httpx2.Response:
        response = app.answer(request)
        if response.extensions.get("silent"):  # whoever waits leaves when it likes
            await asyncio.Event().wait()
        await asyncio.sleep(response.extensions.get("delay", 0.0))
        return as_unread(response)

    return httpx2.MockTransport(handle)


@transport.register
def _(stand_in: StandIn) -> httpx2.AsyncBaseTransport:
    app = ValidatingApp(stand_in)
    return httpx2.MockTransport(lambda request: as_unread(app.answer(request)))


@contextmanager
def serve(stand_in: RiggedStandIn) -> Iterator[str]:
    """Serve the stand-in on this machine, and give its address."""
    app = RiggedApp(stand_in)

    def say(seen: Seen) -> Answer:
        url = f"http://stand-in{seen.path}"
        about: dict[str, Any] = {"headers": seen.headers, "content": seen.body}
        request = httpx2.Request(seen.method, url, extensions={"via": "server"}, **about)
        response = app.answer(request)
        told = response.extensions
        return Answer(
            status=response.status_code,
            body=response.content,
            headers={n: v for n, v in response.headers.items() if n.lower() != "content-length"},
            silent=60.0 if told.get("silent") else 0.0,
            late=told.get("delay", 0.0),
        )

    with Scripted(say) as server:
        yield server.base_url
