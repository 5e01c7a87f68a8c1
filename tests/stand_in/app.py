"""The rigged stand-in at work: faults, a log, batches that take time and outlive a process."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from skill_eval_nb.models.stand_in import Role, agent, reading
from skill_eval_nb.models.stand_in.app import (
    Batches,
    ComposedReply,
    RefusedRequest,
    event,
    limit,
    stream_events,
)

from .faults import ERRORS, Fault, Misfortune, RiggedStandIn
from .validating import ValidatingApp, complaint

SECRET = ("authorization", "x-api-key", "cookie", "proxy-authorization")
HUGE = "huge.txt"


class RiggedBatches(Batches):
    """Batches that are answered after their time, and may be kept in files."""

    def __init__(self, folder: str | None, seconds: float, work: Callable[[Any], Any]) -> None:
        super().__init__(work)
        self._folder = Path(folder) if folder else None
        self._seconds = seconds
        self._taken: dict[str, dict[str, Any]] = {}

    def take_in(self, batch: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        made = datetime.now(UTC).isoformat()
        self._keep({"batch": batch, "made": made, "requests": requests, "results": None})

    def look_up(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]] | None] | None:
        file = self._folder and self._folder / f"{name}.json"
        if file and file.is_file():
            self._taken[name] = json.loads(file.read_bytes())
        entry = self._taken.get(name)
        if entry is None:
            return None
        made = datetime.fromisoformat(entry["made"])
        over = (datetime.now(UTC) - made).total_seconds() >= self._seconds
        if over and entry["results"] is None:
            super().take_in(entry["batch"], entry["requests"])
            entry["batch"], entry["results"] = self._ended[name]
            self._keep(entry)
        return entry["batch"], entry["results"]

    def _keep(self, entry: dict[str, Any]) -> None:
        self._taken[entry["batch"]["id"]] = entry
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._folder / f"{entry['batch']['id']}.json"
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(entry), "utf-8")
            new.replace(file)


def write(path: str, line: Mapping[str, Any]) -> None:
    """Append one line, with the time and the process before it.

    Raises:
        OSError: where the line cannot be written, or not as a whole.
    """
    stamped = {"time": datetime.now(UTC).isoformat(), "pid": os.getpid(), **line}
    data = json.dumps(stamped).encode() + b"\n"
    # One write on a file opened for appending: lines of several processes do not mix.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = os.write(file, data)
    finally:
        os.close(file)
    if written != len(data):
        raise OSError(f"{path}: only {written} of {len(data)} bytes of a line were written")


class RiggedApp(ValidatingApp):
    """A rigged stand-in at work. Safe among threads: it answers one request after the other."""

    def __init__(self, stand_in: RiggedStandIn) -> None:
        super().__init__(stand_in)
        self.rigged = stand_in
        self.batches = RiggedBatches(stand_in.store, stand_in.batch_seconds, self.answer_in_batch)
        self._misfortune = Misfortune(stand_in.faults)
        self._fault: Fault | None = None
        self._noted: dict[str, Any] = {}
        self._lock = threading.Lock()

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, which is in the log when this returns; `extensions` say how it is sent."""
        with self._lock:
            self._fault, self._noted = None, {}
            response = super().answer(request)
            if "answer" not in self._noted:
                self._noted["answer"] = _told(response)
            self._write(request, response)
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
        if result["type"] == "errored":
            self._noted["answer"] = result["error"]
        self._log(
            {"via": "batch", "method": "POST", "path": "/v1/messages"}
            | {"body": request, "fault": fault}
        )
        self._fault, self._noted = None, outer
        return {"type": "expired"} if fault in ("silence", "cut") else result

    def _strike(self, request: Mapping[str, Any]) -> None:
        """Note whose call it is, and find the fault that strikes it.

        Raises:
            RefusedRequest: where an error comes in place of an answer.
        """
        role, session = reading.role_of(request), reading.session_of(request)
        self._noted |= {"role": role, "session": session, "model": request["model"]}
        text = json.dumps(request, ensure_ascii=False)
        fault = self._fault = self._misfortune.strike(role, session, text)
        if fault and fault.kind in ERRORS:
            waits = fault.kind == "rate_limited_429" and fault.retry_after is not None
            headers = {"retry-after": f"{fault.retry_after:g}"} if waits else {}
            raise RefusedRequest(*ERRORS[fault.kind], headers)

    def _write(self, request: httpx2.Request, response: httpx2.Response) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self._log(
            {
                "via": request.extensions.get("via", "transport"),
                "method": request.method,
                "path": request.url.path,
                "status": response.status_code,
                "fault": self._fault and self._fault.kind,
                "request_id": response.headers["request-id"],
                "headers": {k: v for k, v in headers.items() if k not in SECRET},
                "body": _parsed(request.content),
            }
        )

    def _log(self, line: Mapping[str, Any]) -> None:
        if self.rigged.log is not None:
            least = dict.fromkeys(("role", "session", "model", "usage", "answer"))
            write(self.rigged.log, least | self._noted | dict(line))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _told(response: httpx2.Response) -> Any:
    lines = [json.loads(line) for line in response.content.splitlines()]
    return lines if "jsonl" in response.headers["content-type"] else lines[0]


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
    if kind == "out_of_range":
        return {**answer, "dimensions": [{**score, "score": 9} for score in scores]}
    if kind == "missing_dimensions":
        return {**answer, "dimensions": scores[:-1]}
    if kind == "no_evidence":
        return {
            **answer,
            "dimensions": [{**score, "evidence": ""} for score in scores],
            "expectations": [{**check, "evidence": ""} for check in checks],
        }
    return answer
