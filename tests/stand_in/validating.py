"""What the API refuses of a request, which the stand-in itself would answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from skill_eval_nb.models.stand_in import Role, reading
from skill_eval_nb.models.stand_in.app import App, ComposedReply, RefusedRequest, limit_tokens

NO_SCHEMA = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "maxItems", "uniqueItems"),
)
"""Keywords of JSON Schema that structured outputs do not support."""
REMOVED = ("temperature", "top_p", "top_k")
"""Current models refuse these sampling parameters."""
MARKS = 4
"""The most `cache_control` marks in a request."""


def complaint(request: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with a request to `/v1/messages`; None if nothing is."""
    return next(_find_complaints(request), None)


def _find_complaints(request: Mapping[str, Any]) -> Iterator[str]:
    messages = request.get("messages")
    if not request.get("model"):
        yield "model: Field required"
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0]["role"] != "user":
        yield "messages: first message must use the user role"
    if messages[-1]["role"] == "assistant":
        yield "This model does not support assistant message prefill."
    for number, message in enumerate(messages):
        content = message["content"]
        if not content or not all(map(str.strip, reading.texts(content))):
            yield f"messages.{number}.content: text content must be non-empty"
    for name in REMOVED:
        # Claude Code still sends the one temperature that changes nothing.
        if request.get(name) is not None and (name, request[name]) != ("temperature", 1):
            yield f"{name}: is not supported by this model"
    marks = _marks(request)
    if marks > MARKS:
        yield f"A maximum of {MARKS} blocks with cache_control may be provided. Found {marks}."
    schema = ((request.get("output_config") or {}).get("format") or {}).get("schema")
    yield from _unknown_in(schema)
    yield from _check_pairs(messages)


def _unknown_in(schema: Any, *, named: bool = False) -> Iterator[str]:
    """What the API refuses in a schema, at any depth; `named`: the keys are property names."""
    for item in schema if isinstance(schema, list) else []:
        yield from _unknown_in(item)
    if not isinstance(schema, dict):
        return
    where = "output_config.format.schema"
    if not named:
        yield from (f"{where}: {name} is not supported" for name in NO_SCHEMA if name in schema)
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            yield f"{where}: 'additionalProperties' must be explicitly set to false"
    for name, value in schema.items():
        if named or name not in ("enum", "const", "default", "examples", "description"):
            yield from _unknown_in(value, named=not named and name in ("properties", "$defs"))


def _check_pairs(messages: list[Any]) -> Iterator[str]:
    """Check that each tool use is answered in the next message, and nothing else is answered."""
    for number, (message, other) in enumerate(pairwise([{"content": ""}, *messages])):
        used = _ids(message["content"], "tool_use", "id")
        answered = _ids(other["content"], "tool_result", "tool_use_id")
        if missing := [use for use in used if use not in answered]:
            yield (
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}"
            )
        if strange := [use for use in answered if use not in used]:
            yield (
                f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(strange)}"
            )


def _ids(content: Any, kind: str, name: str) -> list[str]:
    blocks = content if isinstance(content, list) else []
    return [block[name] for block in blocks if block["type"] == kind]


def _marks(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_marks, value))
    if not isinstance(value, dict):
        return 0
    return isinstance(value.get("cache_control"), dict) + sum(map(_marks, value.values()))


class ValidatingApp(App):
    """A stand-in that refuses what the API would refuse."""

    def answer_message(self, request: Any, *, tier: str = "standard") -> dict[str, Any]:
        if wrong := complaint(request):
            raise RefusedRequest(400, "invalid_request_error", wrong)
        return super().answer_message(request, tier=tier)

    def compose(self, request: Mapping[str, Any], role: Role) -> ComposedReply:
        """Questions of tests, too, get an answer of their form, whose fields are texts."""
        if role != "other":
            return super().compose(request, role)
        fields = (reading.schema_of(request) or {})["properties"]
        text = json.dumps(dict.fromkeys(fields, "stand-in"))
        return limit_tokens([{"type": "text", "text": text}], "end_turn", request["max_tokens"])

    def answer_in_batch(self, request: Any) -> dict[str, Any]:
        try:
            return super().answer_in_batch(request)
        except RefusedRequest as refused:
            return {"type": "errored", "error": refused.body("req_in_batch")}
