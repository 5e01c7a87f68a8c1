"""A transcript tells what the executor said, did and saw, and not on which side it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.grading.evidence.show import transcript_of
from tests.documents.generated import ANY_JSON


def said(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def call(name: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"t-{name}-{given}", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


def result(of: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    name = of["message"]["content"][0]["id"]
    block = {"type": "tool_result", "tool_use_id": name, "content": text, **more}
    return {"type": "user", "message": {"content": [block]}}


def written(tmp_path: Path, events: list[Any]) -> Path:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    return path


def test_what_is_told(tmp_path: Path) -> None:
    bash = call("Bash", command="pytest")
    events = [
        {"type": "system", "subtype": "init", "skills": ["canary-skill"]},
        {"type": "user", "message": {"content": "the prompt, which is told elsewhere"}},
        said("I begin."),
        bash,
        result(bash, "2 failed", is_error=True),
        said("All done."),
        {"type": "result", "subtype": "success", "result": "All done."},
    ]
    told = transcript_of(written(tmp_path, events))
    assert told.pieces == (
        "[executor] I begin.",
        "[call of Bash] pytest",
        "[result (an error)] 2 failed",
    )
    assert told.final == "All done."


@pytest.mark.parametrize(
    "opened",
    [
        call("Skill", skill="canary-skill"),
        call("Read", file_path="/skills/canary-skill/reference.md"),
        call("Bash", command="cat /skills/canary-skill/SKILL.md"),
        call("Read", file_path="/home/x/.claude/skills/canary-skill/a.md"),
        call("Glob", pattern="**/SKILL.md"),
    ],
)
def test_opening_a_skill_is_not_told(tmp_path: Path, opened: dict[str, Any]) -> None:
    body = {"content": [{"type": "text", "text": "Base directory for this skill: canary-body"}]}
    events = [
        opened,
        result(opened, "canary-body"),
        {"type": "user", "message": body},
        said("Done"),
    ]
    told = transcript_of(written(tmp_path, events))
    assert "canary" not in told.text + str(told.final)
    assert told.setup_calls == 1


def test_writing_a_skill_as_the_task_is_told(tmp_path: Path) -> None:
    write = call("Write", file_path="SKILL.md", content="# mine")
    folder = call("Bash", command="ls src/skills/")
    told = transcript_of(written(tmp_path, [write, folder, said("Done")]))
    assert "# mine" in told.text
    assert "src/skills/" in told.text
    assert told.setup_calls == 0


@given(st.lists(ANY_JSON, max_size=4), ANY_JSON)
def test_never_raises(tmp_path_factory: pytest.TempPathFactory, lines: list[Any], odd: Any) -> None:
    path = tmp_path_factory.mktemp("t") / "transcript.jsonl"
    block = {"type": "tool_use", "id": odd, "name": odd, "input": odd}
    reply = {"type": "tool_result", "tool_use_id": "x", "content": odd}
    events = [*lines, {"type": "assistant", "message": {"content": [block, odd]}}]
    events += [
        {"type": "user", "message": {"content": [reply]}},
        {"role": "assistant", "content": odd},
    ]
    path.write_text("\n".join(map(json.dumps, events)), "utf-8")
    told = transcript_of(path)
    assert isinstance(told.text, str)
