"""The app: answers requests of any kind, in each role, through an in-process transport."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import httpx2

from ..usage import encode_body
from . import Role, StandIn, agent, answers, reading, uniform

ANSWERERS: dict[Role, Callable[[StandIn, Mapping[str, Any]], Any]] = {
    "analyst": answers.answer_analyst,
    "comparator": answers.compare,
    "drafter": answers.draft,
    "eval_drafter": answers.draft_evals,
    "judge": answers.answer_judge,
    "merger": answers.merge,
    "proposer": answers.propose,
    "query_drafter": answers.draft_queries,
    "other": lambda *_: {},
}
"""The functions that answer with JSON, by role."""


@dataclass(frozen=True, slots=True)
class ComposedReply:
    """The content of an answer, its stop reason, and its number of tokens."""

    content: list[dict[str, Any]]
    stop_reason: str
    output_tokens: int


def limit_tokens(content: list[dict[str, Any]], stop_reason: str, allowed: int) -> ComposedReply:
    """An answer that stops at `max_tokens`, like the API's: in its text, before any tool use."""
    whole = sum(map(reading.count, content))
    if whole <= allowed:
        return ComposedReply(content, stop_reason, max(1, whole))
    room = max(0, allowed * reading.BYTES_A_TOKEN - len('{"type":"text","text":""}'))
    text = content[0]["text"].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    kept = [{**content[0], "text": text}] if text.strip() else []
    return ComposedReply(kept, "max_tokens", max(1, allowed))


OUTCOMES = ("succeeded", "errored", "canceled", "expired")


class Batches:
    """The batches of one app, in memory; each is answered as soon as it is made."""

    def __init__(self, work: Callable[[Any], dict[str, Any]]) -> None:
        """Begin without batches; `work` gives the result of one request of a batch."""
        self._work = work
        self._ended: dict[str, tuple[dict[str, Any], list[dict[str, Any]] | None]] = {}

    def create(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """The new batch, `in_progress`."""
        batch = {
            "id": "msgbatch_" + secrets.token_hex(12),
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": dict.fromkeys(OUTCOMES, 0) | {"processing": len(requests)},
        }
        self.add_batch(batch, requests)
        return batch

    def add_batch(self, batch: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        """Answer the requests of a new batch."""
        name = batch["id"]
        results = [
            {"custom_id": row["custom_id"], "result": self._work(row["params"])} for row in requests
        ]
        # The API promises no order, so nobody may rely on one.
        results.sort(key=lambda result: uniform(name, result["custom_id"]))
        kinds = Counter(result["result"]["type"] for result in results)
        ended = batch | {
            "request_counts": {kind: kinds[kind] for kind in ("processing", *OUTCOMES)},
            "processing_status": "ended",
            "results_url": f"/v1/messages/batches/{name}/results",
        }
        self._ended[name] = ended, results

    def look_up(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]] | None] | None:
        """A batch and its results, in random order; None if there is none with this id."""
        return self._ended.get(name)


JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
LINES = {"content-type": "application/x-jsonl"}


class RefusedRequest(Exception):
    """An error answer: its status, the API's name for it, and additional headers."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] = {}
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.headers = status, kind, headers

    def body(self, request_id: str) -> dict[str, Any]:
        """The error as the API words it."""
        error = {"type": self.kind, "message": str(self)}
        return {"type": "error", "error": error, "request_id": request_id}


def event(data: Mapping[str, Any]) -> bytes:
    """One server-sent event, named by its type."""
    return b"event: " + data["type"].encode() + b"\ndata: " + encode_body(data) + b"\n\n"


def stream_events(answer: Mapping[str, Any]) -> Iterator[bytes]:
    """A message as server-sent events, one by one."""
    output = answer["usage"]["output_tokens"]
    start = {**answer, "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**answer["usage"], "output_tokens": min(1, output)}
    yield event({"type": "message_start", "message": start})
    for index, block in enumerate(answer["content"]):
        of_tool = block["type"] == "tool_use"
        kind, name = ("input_json_delta", "partial_json") if of_tool else ("text_delta", "text")
        empty = {**block, "input": {}} if of_tool else {**block, "text": ""}
        yield event({"type": "content_block_start", "index": index, "content_block": empty})
        delta = {"type": kind, name: json.dumps(block["input"]) if of_tool else block["text"]}
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    delta = {name: answer[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield event({"type": "message_delta", "delta": delta, "usage": answer["usage"]})
    yield event({"type": "message_stop"})


class App:
    """A running stand-in, with its batches."""

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in
        self.batches = Batches(self.answer_in_batch)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to any request whose body has been read."""
        request_id = "req_" + secrets.token_hex(12)
        try:
            answer = self._route(request)
        except RefusedRequest as refused:
            headers = {**JSON, **refused.headers}
            body = encode_body(refused.body(request_id))
            answer = httpx2.Response(refused.status, headers=headers, content=body)
        answer.headers["request-id"] = request_id
        return answer

    def _route(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path.strip("/").removeprefix("v1/").split("/")
        body: Any = json.loads(request.content or b"null")
        match request.method, path:
            case "POST", ["messages"]:
                message = self.answer_message(body)
                return self.stream(message) if body.get("stream") else _json_response(message)
            case "POST", ["messages", "count_tokens"]:
                return _json_response({"input_tokens": reading.count_request(body)})
            case "POST", ["messages", "batches"]:
                return _json_response(self.batches.create(body["requests"]))
            case _, ["messages", "batches", name, *what]:
                return self._answer_batch(" ".join([request.method, *what]), name)
        raise RefusedRequest(404, "not_found_error", "Not found")

    def _answer_batch(self, wanted: str, name: str) -> httpx2.Response:
        batch, results = self.batches.look_up(name) or (None, None)
        if wanted == "GET" and batch is not None:
            return _json_response(batch)
        if wanted != "GET results" or results is None:
            raise RefusedRequest(404, "not_found_error", "Not found")
        lines = b"".join(encode_body(result) + b"\n" for result in results)
        return httpx2.Response(200, headers=LINES, content=lines)

    def stream(self, message: Mapping[str, Any]) -> httpx2.Response:
        """A message as a streamed answer."""
        return httpx2.Response(200, headers=EVENTS, content=b"".join(stream_events(message)))

    def answer_message(self, request: Any, *, tier: str = "standard") -> dict[str, Any]:
        """The answer to a request for a message."""
        composed = self.compose(request, reading.role_of(request))
        return {
            "id": "msg_" + reading.mark_of(request),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": composed.content,
            "stop_reason": composed.stop_reason,
            "stop_sequence": None,
            "stop_details": None,
            "usage": {
                "input_tokens": reading.count_request(request),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": composed.output_tokens,
                "service_tier": tier,
            },
        }

    def compose(self, request: Mapping[str, Any], role: Role) -> ComposedReply:
        """The content of the answer to a valid request."""
        if role == "executor":
            content, stop_reason = agent.act(agent.Situation(self.stand_in, request))
        else:
            answer = ANSWERERS[role](self.stand_in, request)
            text, stop_reason = json.dumps(answer, ensure_ascii=False), "end_turn"
            content = [{"type": "text", "text": text}]
        return limit_tokens(content, stop_reason, request["max_tokens"])

    def answer_in_batch(self, request: Any) -> dict[str, Any]:
        """The result of one request of a batch."""
        return {"type": "succeeded", "message": self.answer_message(request, tier="batch")}


def _json_response(body: Any) -> httpx2.Response:
    return httpx2.Response(200, headers=JSON, content=encode_body(body))


@singledispatch
def transport(stand_in: StandIn) -> httpx2.AsyncBaseTransport:
    """A transport for the SDK's async HTTP client; nothing leaves the process.

    Each transport is a separate server, with its own batches. Another kind of stand-in registers
    its own transport (`functools.singledispatch`).
    """
    app = App(stand_in)
    return httpx2.MockTransport(lambda request: as_unread(app.answer(request)))


def as_unread(response: httpx2.Response) -> httpx2.Response:
    """A response as it comes from a network: its body has not been read yet."""
    stream = httpx2.ByteStream(response.content)
    return httpx2.Response(response.status_code, headers=response.headers, stream=stream)
