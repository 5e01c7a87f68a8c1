"""One run, all of it, and its transcript."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.widgets.show import run
from skill_eval_nb.widgets.show.run import show_run
from skill_eval_nb.widgets.show.transcript import show_transcript, transcript_of
from skill_eval_nb.widgets.ui import read_blob
from skill_eval_nb.widgets.ui.source import key_of
from tests.checkout import ROOT
from tests.widgets.show.one import junk
from tests.widgets.trees import find, text


@pytest.mark.corpus
def test_every_run_that_others_left_is_shown(corpus_loaded):
    shown = 0
    for ws in corpus_loaded:
        for row in ws.polars("runs").head(2).iter_rows(named=True):
            shown += bool(text(show_run(ws, key_of(row))))
    assert shown > 30


def test_every_run_is_found_by_its_key_and_by_no_other():
    ws = sen.load(ROOT / "data")
    runs = ws.polars("runs")
    keys = [key_of(row) for row in runs.iter_rows(named=True)]
    assert len(set(keys)) == len(keys) > 50
    for key in keys[::7]:
        assert len(run.rows_of_run(ws, "runs", key)) == 1
        assert key_of(run.run_row(ws, key)) == key
    folders = [run.folder_of(ws, row) for row in runs.iter_rows(named=True)]
    there = [folder for folder in folders if folder is not None]
    assert all(folder.is_dir() for folder in there)
    assert len(there) > 20
    assert run.folder_of(sen.Workspace.from_tables({}), {"path": "."}) is None
    gone = run.RunKey("w", "s", "iteration-9", "3", "with_skill", 2)
    with pytest.raises(LookupError, match="Run eval 3, with_skill, run 2 of iteration-9"):
        run.run_row(ws, gone)


KEYS = [
    *"type role message content text name input id tool_use_id is_error timestamp".split(),
    *"tool_calls function arguments subtype duration_ms total_cost_usd".split(),
]
WORDS = "assistant user tool_use tool_result text thinking system result tool init".split()
JUNK = junk(KEYS, *WORDS)


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
    assert "800 steps in between not shown." in words
    assert "step 500." not in words
    node = shown(tmp_path, [said("x" * 1_000_000)])
    assert "The first 6,000 of 1,000,000 characters: download it for the rest." in text(node)
    (button,) = find(node, tag="button")
    assert len(read_blob(button[1]["blob"])[0]) > 1_000_000
    node = shown(tmp_path, [said(f"{n} " * 2_000) for n in range(150)])
    assert "Not shown: the page is full." in text(node)
    assert len(text(node)) < 700_000
