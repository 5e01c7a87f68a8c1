"""A transcript: its steps from any form, and how they are shown."""

import json

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.widgets.show.transcript import show_transcript, transcript_of
from skill_eval_nb.widgets.ui import read_blob
from tests.widgets.trees import find, text

KEYS = [
    *"type role message content text name input id tool_use_id is_error timestamp".split(),
    *"tool_calls function arguments subtype duration_ms total_cost_usd".split(),
]
WORDS = "assistant user tool_use tool_result text thinking system result tool init".split()
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=6), max_size=5))
def test_any_events_are_read(events):
    transcript = transcript_of("\n".join(map(json.dumps, events)))
    assert transcript is None or transcript.steps


def shown(run, events, name="transcript.jsonl"):
    run.mkdir(exist_ok=True)
    (run / name).write_text(
        events if isinstance(events, str) else "\n".join(map(json.dumps, events))
    )
    return show_transcript(run)


def said(words):
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": words}]}}


def test_what_is_long_is_bounded_and_it_is_said_what_is_not_shown(tmp_path):
    node = shown(tmp_path, [said(f"step {n}.") for n in range(1_000)])
    words = text(node)
    assert "step 0." in words
    assert "step 999." in words
    assert "800 steps between them not shown." in words
    assert "step 500." not in words
    node = shown(tmp_path, [said("x" * 1_000_000)])
    assert "The first 6,000 of 1,000,000 characters: download it for the rest." in text(node)
    (button,) = find(node, tag="button")
    assert len(read_blob(button[1]["blob"])[0]) > 1_000_000
    node = shown(tmp_path, [said(f"{n} " * 2_000) for n in range(150)])
    assert "Not shown: the steps before it fill the page." in text(node)
    assert len(text(node)) < 700_000
