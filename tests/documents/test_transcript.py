"""A transcript in any form is read once: judge, viewer and checks see the same in it.

The forms, and what is seen, are the cases of `tests/kept/transcripts.txt`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.documents.transcript import read_events
from skill_eval_nb.grading.outputs import Record, read_record
from skill_eval_nb.grading.show import transcript_of
from skill_eval_nb.widgets.show.transcript import transcript_of as steps_of
from tests.cases import Case, cases


@pytest.mark.parametrize("case", cases("transcripts"))
def test_all_who_read_it_see_the_same(case: Case, tmp_path: Path) -> None:
    [text] = case.files.values()
    path = tmp_path / "transcript.jsonl"
    path.write_text(text)
    shown, viewed, record = transcript_of(path), steps_of(text), read_record(path)
    assert viewed is not None
    assert isinstance(record, Record)
    case.hold(
        [
            *(f"judge: {piece}" for piece in (*shown.pieces, shown.final)),
            f"judge: not shown, as they say the side: {shown.setup_calls}",
            *(f"viewer: {step.who}: {step.text}: {step.result}" for step in viewed.steps),
            *(f"checks: {call.text}: {call.result}" for call in record.calls),
            f"lost: {viewed.damaged}, {record.gap}",
        ]
    )


def test_what_is_seen_is_the_same_in_every_form() -> None:
    seen = {form.values[0].kept.partition("lost: ")[0] for form in cases("transcripts")}
    assert len(seen) == 1


@pytest.mark.parametrize(
    "text", ["", "# Transcript\n\n[1] Read a file", "3", "{}", '["a"]', '{"score": 1}', "[" * 9**5]
)
def test_what_is_none_is_none(text: str) -> None:
    assert read_events(text) is None
