"""A transcript in any form is read once: judge, viewer and checks see the same in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.documents.transcript import read_events
from skill_eval_nb.grading.outputs import Record, read_record
from skill_eval_nb.grading.show import transcript_of
from skill_eval_nb.widgets.show.transcript import transcript_of as steps_of

CALLED = {"type": "tool_use", "id": "c1", "name": "sh", "input": {"command": "ls"}}
GIVEN = {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}
OPENED = {"type": "tool_use", "id": "c0", "name": "Read", "input": {"file_path": "/x/SKILL.md"}}
BODY = {"type": "tool_result", "tool_use_id": "c0", "content": "canary"}
TEXT = {"type": "text", "text": "Done."}
MESSAGES = [
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": [OPENED]},
    {"role": "user", "content": [BODY]},
    {"role": "assistant", "content": [CALLED]},
    {"role": "user", "content": [GIVEN]},
    {"role": "assistant", "content": [TEXT]},
]
EVENTS = [{"type": message["role"], "message": message} for message in MESSAGES]


def function(block: dict[str, Any]) -> dict[str, Any]:
    called = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"role": "ai", "content": None, "tool_calls": [{"id": block["id"], "function": called}]}


def tool(block: dict[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]}


FUNCTIONS = [
    {"role": "human", "content": "Go."},
    function(OPENED),
    tool(BODY),
    function(CALLED),
    tool(GIVEN),
    {"role": "ai", "content": "Done."},
]
BLOCKS = [MESSAGES[0], OPENED, BODY, CALLED, GIVEN, MESSAGES[-1]]


def lines(events: list[Any]) -> str:
    return "\n".join(map(json.dumps, events)) + "\n"


FORMS = {
    "events": lines(EVENTS),
    "messages": lines(MESSAGES),
    "a list": json.dumps(MESSAGES, indent=2),
    "an object": json.dumps({"id": 1, "conversation": MESSAGES}),
    "functions": json.dumps({"messages": FUNCTIONS}),
    "blocks": lines(BLOCKS),
    "cut off": lines(EVENTS) + '{"type": "assis',
    "after a word": "begun at noon\n" + lines(EVENTS),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_who_read_it_see_the_same(form: str, tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text(FORMS[form])
    shown = transcript_of(path)
    assert shown.pieces == ("[call of sh] ls", "[result] a.txt")
    assert (shown.final, shown.setup_calls) == ("Done.", 1), "which side it was is not shown"
    viewed = steps_of(FORMS[form])
    assert viewed is not None
    assert [(step.who, step.text, step.result) for step in viewed.steps] == [
        ("told", "Go.", None),
        ("call", "Read", "canary"),
        ("call", "sh", "a.txt"),
        ("agent", "Done.", None),
    ]
    assert viewed.damaged == (form in ("cut off", "after a word"))
    record = read_record(path)
    assert isinstance(record, Record)
    calls = [(call.text, call.result) for call in record.calls]
    assert calls == [("Read", "canary"), ("sh", "a.txt")]
    assert (record.gap is None) is (viewed.damaged == 0)


@pytest.mark.parametrize(
    "text", ["", "# Transcript\n\n[1] Read a file", "3", "{}", '["a"]', '{"score": 1}', "[" * 9**5]
)
def test_what_is_none_is_none(text: str) -> None:
    assert read_events(text) is None
