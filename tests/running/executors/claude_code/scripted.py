"""A server that speaks /v1/messages and has an agent do what a test wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.models.scripted import Answer, Scripted, Seen, message, plain


class Conversation(Scripted):
    """Answers the n-th turn of a conversation with the n-th step, and any more with the last."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        super().__init__(self._turn)
        self.steps: Sequence[dict[str, Any]] = steps

    def _turn(self, seen: Seen) -> Answer:
        return answered(json.loads(seen.body), self.steps)

    @property
    def bodies(self) -> list[Any]:
        """What was asked, request by request."""
        return [json.loads(one.body) for one in self.seen]


def use(name: str, /, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def say(text: str, stop: str = "end_turn") -> dict[str, Any]:
    return {"type": "text", "text": text, "stop": stop}


def answered(request: dict[str, Any], steps: Sequence[dict[str, Any]]) -> Answer:
    """The step of a request's turn, of 100 tokens read and 20 written: as a stream if asked for."""
    turn = sum(one["role"] == "assistant" for one in request["messages"])
    block = dict(steps[min(turn, len(steps) - 1)])
    stop = block.pop("stop", "tool_use")
    if block["type"] == "tool_use":
        block["id"] = f"toolu_{turn}"
    whole = message(input_tokens=100, output_tokens=20)
    whole |= {"id": f"msg_{turn}", "model": request["model"], "stop_reason": stop}
    if not request.get("stream"):
        return plain(whole | {"content": [block] if block != {"type": "text", "text": ""} else []})
    if block["type"] == "text":
        begun, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun = {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    thought = {"type": "thinking", "thinking": "Well.", "signature": ""}
    signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
    events = [
        {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": thought},
        {"type": "content_block_delta", "index": 0, "delta": signed},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": block | begun},
        {"type": "content_block_delta", "index": 1, "delta": delta},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    sent = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Answer(body=sent.encode(), headers={"content-type": "text/event-stream"})
