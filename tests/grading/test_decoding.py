"""Text is told from what is none, in whatever encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.disk import decoded

PRINTED = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), include_characters="\n\t"),
    min_size=1,
)


@given(PRINTED)
def test_utf8_comes_back(text: str) -> None:
    assert decoded(text.removeprefix("\ufeff").encode()) == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    "encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "latin-1"]
)
def test_without_a_mark(encoding: str) -> None:
    text = "Plain words, and naïve café ones\n" * 4
    assert decoded(text.encode(encoding)) == text


@given(st.text("aé世😀", min_size=8, max_size=40), st.integers(0, 3), st.integers(0, 3))
def test_a_part_may_begin_and_end_in_a_character(text: str, start: int, end: int) -> None:
    data = text.encode()
    found = decoded(data[start : len(data) - end], part=True)
    assert found is not None
    assert found in text
    assert len(found) >= len(text) - 6


@pytest.mark.parametrize(
    "data",
    [
        b"\x01\x00\x02\x00" * 40,
        b"\x00\x01\x02\x03",
        bytes(range(32)) * 8,
        b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 60,
    ],
)
def test_binary_is_no_text(data: bytes) -> None:
    assert decoded(data) is None
