"""Transcripts: whole for programs, readable for people, and counted."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Usage
from skill_eval_nb.running import Execution
from skill_eval_nb.running.steps.collecting import Collected
from skill_eval_nb.running.steps.metrics import metrics_of, timing_of
from skill_eval_nb.running.steps.transcripts import LONGEST, as_lines, as_markdown


def said(id_, *content):
    return {"type": "assistant", "message": {"id": id_, "content": list(content)}}


def use(id_, name, **given):
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_, content, *, error=False):
    block = {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": error}
    return {"type": "user", "message": {"content": [block]}}


EVENTS = (
    {"type": "system", "subtype": "init"},
    said("m1", {"type": "text", "text": "I look."}),
    said("m1", use("t1", "Bash", command="ls\npwd")),
    said("m1", use("t1", "Bash", command="ls\npwd")),  # a line that came twice
    result("t1", [{"type": "text", "text": "no such file"}], error=True),
    said("m2", use("t2", "Write", file_path="a.md", content="# A\n```\nx\n```\n")),
    result("t2", "written"),
    said("m3", {"type": "text", "text": "Done."}),
    {"type": "result", "subtype": "success", "is_error": False},
)


def test_each_event_is_a_line():
    lines = as_lines(EVENTS).splitlines()
    assert tuple(json.loads(line) for line in lines) == EVENTS


def test_a_person_can_read_it():
    text = as_markdown("Write A.", EVENTS, "it failed")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Prompt",
        "## Answer 1",
        "## Answer 2",
        "## Answer 3",
        "## Result: success",
        "## Errored",
    ]
    assert "Answer of the tool, an error:\n\n```text\nno such file\n```" in text
    assert "`command`:\n\n```text\nls\npwd\n```" in text
    assert "````text\n# A\n```\nx\n```\n````" in text  # a longer fence than any inside


@given(st.text(alphabet="`a\n#", max_size=60))
def test_nothing_that_was_quoted_is_taken_for_markdown(content):
    text = as_markdown(content, [result("t", content)])
    fence = None
    outside = []
    for line in text.split("\n"):
        if fence is None and line.startswith("```"):
            fence = line.rstrip("abcdefghijklmnopqrstuvwxyz")
        elif fence is not None and line == fence:
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    assert [line for line in outside if line] == [
        "# Transcript",
        "## Prompt",
        "Answer of the tool:",
    ]


def test_what_is_cut_is_told():
    text = as_markdown("x" * (LONGEST + 1234), [])
    assert "1,234 more characters: see transcript.jsonl" in text


def test_what_was_done_is_counted_once():
    execution = Execution("done", None, EVENTS, Usage(1, 2, 3, 4, 5), 0.25, True, "Done.")
    collected = Collected(("a.md",), (), ("x: a pipe",), 12)
    metrics = metrics_of(execution, collected, "#" * 99)
    assert metrics.tool_calls == {"Bash": 1, "Write": 1}
    assert (metrics.total_tool_calls, metrics.total_steps, metrics.errors_encountered) == (2, 3, 1)
    assert (metrics.files_created, metrics.left_out) == (["a.md"], ["x: a pipe"])
    assert (metrics.output_chars, metrics.transcript_chars, metrics.skill_used) == (12, 99, True)
    timing = timing_of(execution, 1_700_000_000.0, 1.5, "m", "messages-api")
    assert (timing.total_tokens, timing.duration_ms, timing.cost_usd) == (10, 1500, 0.25)
    assert timing.executor_start == "2023-11-14T22:13:20.000Z"
    assert timing.executor_end == "2023-11-14T22:13:21.500Z"
    assert (timing.status, timing.model_calls) == ("done", 5)
    none = Execution("errored", "why", (), Usage(), None, None, "")
    timing = timing_of(none, 0.0, 0.0, "m", "x")
    assert (timing.total_tokens, timing.status, timing.reason) == (None, "errored", "why")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "message", "content", "id", "text", "name", "input"])
                | st.text(max_size=3),
                inner | st.sampled_from(["assistant", "user", "tool_use", "tool_result", "text"]),
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_events_of_any_form_are_taken(value):
    event = value if isinstance(value, dict) else {"type": "assistant", "message": value}
    as_lines([event])
    assert as_markdown("p", [event]).startswith("# Transcript")
    execution = Execution("done", None, (event,), Usage(), None, None, "")
    metrics_of(execution, Collected((), (), (), None), "")
