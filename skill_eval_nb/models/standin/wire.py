"""The API's forms: messages, streams, error bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
PIECE = 40
"""Characters of one delta in a stream."""


def error(status: int, message: str, request_id: str) -> dict[str, Any]:
    """The body of an error answer.

    >>> error(404, "Not found", "req_1")["error"]["type"]
    'not_found_error'
    """
    kind = ERRORS.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": request_id,
    }


def message(
    id: str,  # noqa: A002  the API's name
    model: str,
    content: Sequence[Mapping[str, Any]],
    stop_reason: str,
    usage: Mapping[str, Any],
) -> dict[str, Any]:
    """The body of an answered message."""
    refused = {"type": "refusal", "category": None, "explanation": "The stand-in was told to."}
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [dict(block) for block in content],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": refused if stop_reason == "refusal" else None,
        "usage": dict(usage),
    }


def encode(value: Any) -> bytes:
    """JSON as it goes over the wire.

    Half a surrogate pair, which JSON may hold and UTF-8 may not, is escaped.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def stream(answer: Mapping[str, Any]) -> Iterator[bytes]:
    """An answered message as server-sent events, one event an item."""
    output = answer["usage"]["output_tokens"]
    start = {**answer, "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**answer["usage"], "output_tokens": min(1, output)}
    yield event({"type": "message_start", "message": start})
    yield event({"type": "ping"})
    for index, block in enumerate(answer["content"]):
        yield from _block(index, block)
    delta = {name: answer[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    usage = {name: answer["usage"][name] for name in names} | {"output_tokens": output}
    yield event({"type": "message_delta", "delta": delta, "usage": usage})
    yield event({"type": "message_stop"})


def event(data: Mapping[str, Any]) -> bytes:
    """One server-sent event, named for its type."""
    return b"event: " + data["type"].encode() + b"\ndata: " + encode(data) + b"\n\n"


def _block(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    of_tool = block["type"] == "tool_use"
    empty = {**block, "input": {}} if of_tool else {**block, "text": ""}
    yield event({"type": "content_block_start", "index": index, "content_block": empty})
    whole = json.dumps(block["input"]) if of_tool else block["text"]
    # A long text goes in few pieces, so that a huge answer is no million events.
    size = max(PIECE, len(whole) // 200)
    for at in range(0, len(whole), size):
        piece = whole[at : at + size]
        delta = (
            {"type": "input_json_delta", "partial_json": piece}
            if of_tool
            else {"type": "text_delta", "text": piece}
        )
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})
