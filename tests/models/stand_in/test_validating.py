"""Requests that the API would not take are refused, so that ours are seen to be right."""

from __future__ import annotations

import pytest

from skill_eval_nb.models.stand_in.reading import complaint
from tests.models.stand_in.asking import judging, plain


def use(name="t1"):
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def result(name="t1"):
    return {"type": "tool_result", "tool_use_id": name, "content": "ok"}


def talk(*contents):
    roles = ["user", "assistant"] * len(contents)
    return [{"role": r, "content": c} for r, c in zip(roles, contents, strict=False)]


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
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
            "additionalProperties",
        ),
        (
            {
                "output_config": {
                    "format": {"type": "json_schema", "schema": {"type": "integer", "minimum": 1}}
                }
            },
            "minimum is not supported",
        ),
        (
            {
                "messages": talk(
                    [
                        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
                        for _ in range(5)
                    ]
                )
            },
            "maximum of 4",
        ),
    ],
)
def test_what_the_api_refuses(wrong, said):
    assert said in (complaint(plain() | wrong) or "nothing")


@pytest.mark.parametrize(
    "right",
    [
        plain(),
        plain(temperature=1),
        plain(messages=talk("a", [use()], [result()])),
        plain(messages=talk("a", [use("1"), use("2")], [result("2"), result("1")])),
        judging("text"),
        # A property may be called like a keyword.
        plain(
            output_config={
                "format": {
                    "type": "json_schema",
                    "schema": {
                        "type": "object",
                        "properties": {"minimum": {"type": "integer"}},
                        "additionalProperties": False,
                    },
                }
            }
        ),
    ],
)
def test_what_it_takes(right):
    assert complaint(right) is None
