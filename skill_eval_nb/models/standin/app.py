"""The app: a request of any kind to its answer. Server and transport only carry both."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import log, reading, tokens, wire
from .batches import Batches
from .chance import digest
from .composing import compose
from .exchange import Answer, Asked, Refused, beta, check, decoded, in_place, let_in
from .listing import listed, model, seen
from .misbehaviour import UNBILLED, Fault, Misfortune, Role
from .stand_in import MODELS, StandIn
from .validating import complaint

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


@dataclass(slots=True)
class _Note:
    """What the log says about a request, gathered on the way."""

    role: Role | None = None
    session: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    fault: Fault | None = None
    answer: Any = None
    body: Any = None
    extra: dict[str, Any] = field(default_factory=dict)

    def decoded(self, asked: Asked) -> Any:
        """The request's body as JSON, noted."""
        self.body = decoded(asked)
        return self.body


class App:
    """One stand-in at work: its counters, its cache, its batches. Safe among threads."""

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in
        self._misfortune = Misfortune(stand_in.faults, stand_in.seed)
        self._cache = tokens.PrefixCache(stand_in.cache_minimum)
        self._batches = Batches(stand_in.store, stand_in.batch_seconds, self._in_batch)

    def answer(self, asked: Asked) -> Answer:
        """The answer to a request, whatever it is; it is in the log when this returns."""
        request_id = "req_" + secrets.token_hex(12)
        note = _Note()
        try:
            answer = self._routed(asked, note, request_id)
        except Refused as refused:
            body = wire.error(refused.status, str(refused), request_id)
            note.answer = body
            answer = Answer(refused.status, {**JSON, **refused.headers}, (wire.encode(body),))
        headers = {**answer.headers, "request-id": request_id}
        self._write(asked, note, answer.status, request_id)
        return Answer(
            answer.status, headers, answer.pieces, answer.delay, answer.cut, answer.silent
        )

    def _routed(self, asked: Asked, note: _Note, request_id: str) -> Answer:
        path = [part for part in asked.path.partition("?")[0].split("/") if part]
        if path[:1] != ["v1"]:
            raise Refused(404, "Not found")
        let_in(asked)
        match asked.method, path[1:]:
            case "POST", ["messages"]:
                return self._messages(note.decoded(asked), note, asked, request_id)
            case "POST", ["messages", "count_tokens"]:
                request = note.decoded(asked)
                check(complaint(request, counting=True, beta=beta(asked)))
                return _plain({"input_tokens": tokens.count_request(request)}, note)
            case "GET", ["models"]:
                return _plain(listed([model(name) for name in MODELS]), note)
            case "GET", ["models", name]:
                if name not in MODELS:
                    raise Refused(404, f"model: {name}")
                return _plain(model(name), note)
            case _, ["messages", "batches", *rest]:
                return self._to_batches(asked, rest, note)
            case _, ["messages"] | ["messages", "count_tokens"] | ["models", *_]:
                raise Refused(405, "Method Not Allowed")
        raise Refused(404, "Not found")

    def _messages(self, request: Any, note: _Note, asked: Asked, request_id: str) -> Answer:
        check(complaint(request, beta=beta(asked)))
        message = self._message(request, note)
        fault = note.fault
        kind = fault.kind if fault else None
        streamed = bool(request.get("stream"))
        pieces = tuple(wire.stream(message)) if streamed else (wire.encode(message),)
        if streamed and kind == "stream_error":
            broken = wire.error(529, "Overloaded", request_id)
            pieces = (*pieces[: len(pieces) // 2], wire.event(broken))
        return Answer(
            200,
            EVENTS if streamed else JSON,
            pieces,
            delay=self.stand_in.latency,
            cut=kind == "cut",
            silent=kind == "silence",
        )

    def _message(self, request: Mapping[str, Any], note: _Note) -> dict[str, Any]:
        """The answered message.

        Raises:
            Refused: where a fault comes in its place.
        """
        note.role = reading.role_of(request)
        note.session = reading.session_of(request)
        note.model = model = request["model"]
        turn = reading.turn_of(request)
        if self.stand_in.faults:
            text = json.dumps(request, ensure_ascii=False)
            note.fault = self._misfortune.strike(note.role, note.session, turn, text)
        fault = note.fault
        if fault and fault.kind in UNBILLED:
            raise in_place(fault)
        composed = compose(self.stand_in, request, note.role, fault)
        note.usage = {
            **self._cache.usage(request),
            "output_tokens": composed.output_tokens,
            "service_tier": "batch" if "batch" in note.extra else "standard",
        }
        answer_id = "msg_" + reading.mark_of(request)
        message = wire.message(answer_id, model, composed.content, composed.stop_reason, note.usage)
        note.answer = message
        return message

    def _to_batches(self, asked: Asked, rest: list[str], note: _Note) -> Answer:
        found: Any = None
        match asked.method, rest:
            case "POST", []:
                found = self._batches.create(note.decoded(asked))
                if isinstance(found, str):
                    raise Refused(400, found)
            case "GET", []:
                all_of_them = [seen(batch, asked.origin) for batch in self._batches.all()]
                return _plain(listed(all_of_them), note)
            case "GET", [name]:
                found = self._batches.one(name)
            case "POST", [name, "cancel"]:
                found = self._batches.cancel(name)
            case "GET", [name, "results"]:
                results = self._batches.results(name)
                if results is None:
                    raise Refused(404, f"Message Batch {name} not found, or not ended")
                note.answer = results
                lines = tuple(wire.encode(result) + b"\n" for result in results)
                return Answer(200, {"content-type": "application/x-jsonl"}, lines)
            case _:
                raise Refused(404, "Not found")
        if found is None:
            raise Refused(404, f"Message Batch {rest[0]} not found")
        return _plain(seen(found, asked.origin), note)

    def _in_batch(self, batch_id: str, custom_id: str, request: Any) -> dict[str, Any]:
        """One request of a batch, with a log line of its own."""
        note = _Note(body=request, extra={"batch": batch_id, "custom_id": custom_id})
        status = 200
        try:
            check(complaint(request))
            message = self._message(request, note)
            gone = note.fault is not None and note.fault.kind in ("silence", "cut")
            result = {"type": "expired"} if gone else {"type": "succeeded", "message": message}
        except Refused as refused:
            status = refused.status
            error = wire.error(status, str(refused), "req_" + digest(batch_id, custom_id))
            note.answer = error
            result = {"type": "errored", "error": error}
        asked = Asked("POST", "/v1/messages", {}, b"", "", "batch")
        self._write(asked, note, status, "req_" + digest(batch_id, custom_id))
        return result

    def _write(self, asked: Asked, note: _Note, status: int, request_id: str) -> None:
        if self.stand_in.log is None:
            return
        body = note.body if note.body is not None else asked.body.decode("utf-8", "replace")
        line = {
            "via": asked.via,
            "method": asked.method,
            "path": asked.path,
            "status": status,
            "role": note.role,
            "session": note.session,
            "model": note.model,
            "fault": note.fault.kind if note.fault else None,
            "usage": note.usage,
            "request_id": request_id,
            **note.extra,
            "headers": log.without_secrets(asked.headers),
            "body": body,
            "answer": note.answer,
        }
        log.write(self.stand_in.log, line)


def _plain(body: Any, note: _Note) -> Answer:
    note.answer = body
    return Answer(200, JSON, (wire.encode(body),))
