"""Which words of a suggestion count, and how much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.aggregating.words import FAINT, LITERAL, words


def test_quoted_words_identifiers_and_numbers_weigh_more():
    found = words("The 'use client' line of config.py has className and 42 colours")
    strong = {word for word, weight in found.items() if weight == LITERAL}
    assert strong == {"client", "config.py", "classname", "42"}
    assert found["colours"] == 1.0


def test_what_graders_always_say_weighs_little_and_small_words_nothing():
    found = words("No assertion checks that the spelling is right")
    assert found["spelling"] == 1.0
    assert found["assertion"] == found["checks"] == FAINT
    assert {"no", "that", "the", "is"}.isdisjoint(found)


def test_words_of_one_meaning_are_one():
    assert words("deleted") == words("removes")


@given(st.text())
def test_any_text_has_words_of_known_weights(text):
    assert set(words(text).values()) <= {FAINT, 1.0, LITERAL}
