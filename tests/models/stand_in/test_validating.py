"""Requests that the API would not take are refused, and the tokens of the others counted."""

from __future__ import annotations

import pytest

from skill_eval_nb.models.stand_in.reading import PrefixCache, count_request
from tests.models.stand_in.asking import judging, plain
from tests.stand_in.validating import complaint


def use(name="t1"):
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def result(name="t1"):
    return {"type": "tool_result", "tool_use_id": name, "content": "ok"}


def talk(*contents):
    roles = ["user", "assistant"] * len(contents)
    return [{"role": r, "content": c} for r, c in zip(roles, contents, strict=False)]


def form(schema):
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def text(words, *, marked=False):
    mark = {"cache_control": {"type": "ephemeral"}} if marked else {}
    return {"type": "text", "text": words} | mark


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"model": ""}, "model"),
        ({"temperature": 0.5}, "temperature"),
        ({"top_p": 1}, "top_p"),
        ({"messages": talk("a", "b")}, "prefill"),
        ({"messages": [{"role": "assistant", "content": "a"}, *talk("b")]}, "first message"),
        ({"messages": talk(" ")}, "non-empty"),
        ({"messages": talk("a", [use()], "b")}, "without `tool_result`"),
        ({"messages": talk("a", [use()], [result("t2")])}, "without `tool_result`"),
        ({"messages": talk("a", "b", [result()])}, "unexpected `tool_use_id`"),
        (form({"type": "object"}), "additionalProperties"),
        (form({"type": "integer", "minimum": 1}), "minimum is not supported"),
        ({"messages": talk([text("a", marked=True)] * 5)}, "maximum of 4"),
    ],
)
def test_what_the_api_refuses(wrong, said):
    assert said in (complaint(plain() | wrong) or "nothing")


def test_a_property_may_be_called_like_a_keyword():
    named = {"type": "object", "properties": {"minimum": {"type": "integer"}}}
    assert complaint(plain() | form(named | {"additionalProperties": False})) is None
    assert complaint(judging("text")) is None


def test_a_prefix_is_written_once_and_read_after_that():
    cache = PrefixCache(100)
    long = text("long " * 500, marked=True)
    asked = [plain(messages=talk([long, text(end)])) for end in ("a", "b and more")]
    first, second = map(cache.usage, asked)
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 600
    assert first["cache_read_input_tokens"] == second["cache_creation_input_tokens"] == 0
    assert [sum(usage.values()) for usage in (first, second)] == [count_request(a) for a in asked]
