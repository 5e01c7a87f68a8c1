"""Text is told from what is none, in whatever encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.disk import decode_text

PRINTED = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), include_characters="\n\t"),
    min_size=1,
)


@given(PRINTED)
def test_utf8_comes_back(text: str) -> None:
    assert decode_text(text.removeprefix("\ufeff").encode()) == text.removeprefix("\ufeff")


@given(st.text("aé世😀", min_size=8, max_size=40), st.integers(0, 3), st.integers(0, 3))
def test_a_part_may_begin_and_end_in_a_character(text: str, start: int, end: int) -> None:
    data = text.encode()
    found = decode_text(data[start : len(data) - end], part=True)
    assert found is not None
    assert found in text
    assert len(found) >= len(text) - 6


@pytest.mark.parametrize(
    "data", [b"\x01\x00\x02\x00" * 40, b"\x00\x01\x02\x03", bytes(range(32)) * 8]
)
def test_binary_is_no_text(data: bytes) -> None:
    assert decode_text(data) is None
