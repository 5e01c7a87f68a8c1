"""A server that speaks /v1/messages and has an agent do what a test wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.models.scripted import Answer, Scripted, Seen, message


class Conversation(Scripted):
    """Answers the n-th turn of a conversation with the n-th step."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        super().__init__(self._turn)
        self.steps: Sequence[dict[str, Any]] = steps

    def _turn(self, seen: Seen) -> Answer:
        body = json.loads(seen.body)
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        step = self.steps[min(turn, len(self.steps) - 1)]
        sent = streamed(step, body["model"], turn)
        return Answer(body=sent, headers={"content-type": "text/event-stream"})

    @property
    def bodies(self) -> list[Any]:
        """What was asked, request by request."""
        return [json.loads(one.body) for one in self.seen]


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def streamed(block: dict[str, Any], model: str, turn: int) -> bytes:
    """One answer of 100 tokens read and 20 written: a thought, and a block."""
    if block["type"] == "text":
        stop, begun = "end_turn", {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        stop, begun = "tool_use", {**block, "id": f"toolu_{turn}", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    begin = message(input_tokens=100, output_tokens=1) | {"id": f"msg_{turn}", "model": model}
    thought = {"type": "thinking", "thinking": "Well.", "signature": ""}
    signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
    events = [
        {"type": "message_start", "message": begin | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": thought},
        {"type": "content_block_delta", "index": 0, "delta": signed},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": begun},
        {"type": "content_block_delta", "index": 1, "delta": delta},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )
