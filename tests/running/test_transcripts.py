"""Transcripts: whole for programs, readable for people, and counted."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.models import Usage
from skill_eval_nb.running import Execution
from skill_eval_nb.running.files import Collected
from skill_eval_nb.running.steps import as_lines, as_markdown, metrics_of, timing_of


def said(id_, *content):
    return {"type": "assistant", "message": {"id": id_, "content": list(content)}}


def use(id_, name, **given):
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_, content):
    block = {"type": "tool_result", "tool_use_id": id_, "content": content}
    return {"type": "user", "message": {"content": [block]}}


def page(prompt, *events, reason=None, took=0.0, skill_used=None):
    status = "done" if reason is None else "errored"
    execution = Execution(status, reason, events, Usage(1, 2, 3, 4, 5), 0.25, skill_used)
    return as_markdown(prompt, execution, timing_of(execution, 0.0, took, "m-2", "messages-api"))


def test_it_opens_with_what_the_run_took():
    steps = {
        0: {"type": "system", "subtype": "init", "model": "m-1", "skills": ["plain"]},
        1.25: said("m1", use("t1", "Bash", command="ls")),
        2: result("t1", "a"),
        3: said("m2", use("t2", "Bash", command="ls"), use("t3", "Read", file_path="a.md")),
        10: {"type": "result", "subtype": "success", "duration_ms": 10_000},
    }
    events = [
        {**event, "timestamp": f"2026-01-02T03:04:{5 + seconds:06.3f}+00:00"}
        for seconds, event in steps.items()
    ]
    text = page("p", *events, took=12.34, skill_used=False)
    assert text.startswith(
        "# Transcript\n\n- Model: `m-2`\n- Executor: messages-api\n- Took: 12.3 s\n"
        "- Cost: 0.2500 USD\n- Tools: Bash 2, Read 1\n- Skill: on offer, not opened\n\n## Prompt"
    )
    for part in ("## Turn 1 (1.2 s)", "### Result of Bash (2.0 s)", '{"file_path": "a.md"}'):
        assert part in text


MARKS = (
    "` `` ``` ```` ~~~ ~~~~ < <b> </div> <!-- <img/src=x> </blockquote> ![ ](x) [a]: > # - 1. "
    "\\ $ $$ * _ a &lt; <?php <![CDATA[ <script> </details> <https://a.b> html"
).split()
BLANKS = ["\n", "\n", "\n\n", "\r", "\r\n", "    ", "  ", " ", "\t", "\x0b", "\u2028"]
PIECES = st.lists(st.sampled_from([*MARKS, *BLANKS]), max_size=30).map("".join)


def parsed(text):
    """What an independent reader of Markdown, which lets HTML through, makes of a page."""
    MarkdownIt = pytest.importorskip("markdown_it").MarkdownIt  # noqa: N806
    return MarkdownIt("commonmark", {"html": True}).parse(text)


@given(PIECES, PIECES)
@example("~~~html x\n<b>\n~~~~\n![ ](x)\n```\n<!--", "```\n# x\n```")
def test_what_was_said_and_what_a_tool_gave_stay_in_their_fences(content, gave):
    events = (said("m1", {"type": "text", "text": content}), result("t", gave))
    tokens = parsed(page(gave, *events, reason=content))
    kinds = [one.tag or one.type for one in tokens if one.level == 0 and one.nesting >= 0]
    fence = ["code"] if content.strip() else []
    assert kinds == ["h1", "ul", "h2", "code", "h2", *fence, "h3", "code", "h2", "code"]
    for token in tokens:
        assert token.type != "html_block", content
        assert not {child.type for child in token.children or ()} & {"image", "html_inline"}


NAMES = st.sampled_from(["type", "message", "content", "id", "text", "name", "input"])
KINDS = st.sampled_from(["assistant", "user", "tool_use", "tool_result", "text"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text(max_size=3), inner | KINDS, max_size=4)
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_events_of_any_form_are_taken(value):
    event = value if isinstance(value, dict) else {"type": "assistant", "message": value}
    as_lines([event])
    assert page("p", event).startswith("# Transcript")
    execution = Execution("done", None, (event,), Usage(), None, None)
    metrics_of(execution, Collected((), (), (), None), "")
