"""Two texts beside each other: rows that hold both, words that differ, and texts of any size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb import text as module
from skill_eval_nb.text import compare_lines, compare_texts, mark_changes, pair_lines

LINES = st.lists(st.sampled_from(["a b c", "a b d", "x y z", "x y", "", "a"]), max_size=9)


@given(LINES.map("\n".join), LINES.map("\n".join))
def test_both_texts_can_be_read_off_the_rows(old, new):
    rows = compare_lines(old, new)
    for given_text, side in ((old, "old"), (new, "new")):
        lines = [getattr(row, side) for row in rows if getattr(row, side)]
        assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
        if rows:
            assert "\n".join(words for _, words in lines) == given_text.removesuffix("\n")


@given(LINES, LINES, st.sampled_from([0, 1000]))
def test_every_line_is_in_exactly_one_pair_and_in_order(old, new, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PAIRS", most)
        pairs = list(pair_lines(old, new))
    assert [one for one, _ in pairs if one is not None] == list(range(len(old)))
    assert [other for _, other in pairs if other is not None] == list(range(len(new)))


def test_changed_words_are_marked_but_where_too_few_stayed_or_the_line_is_long(monkeypatch):
    def changed(old, new):
        return [[words for words, is_new in side if is_new] for side in mark_changes(old, new)]

    sides = changed("Leave out commit hashes and names.", "No hashes, no names.")
    assert sides == [["Leave out commit", " and"], ["No", ", no"]]
    assert changed("one two three four", "five six seven four") == [[], []]
    monkeypatch.setattr(module, "MOST_WORDS", 5)
    mark_changes.cache_clear()
    assert changed("a b c d", "a b c e") == [[], []]
    assert changed("a b", "a c") == [["b"], ["c"]]
    mark_changes.cache_clear()


PROSE = [
    ("one two\nthree", "one\ntwo three", [True]),
    ("- a\n  b\n- c", "- a b\n- c", [True, True]),
    ("# head\ntext", "# head text", [False, False]),
    ("a\n\nb", "a\nb", [False, False]),
    ("a\n\n\nb", "a\n\nb\n", [True, True]),
    ("```\na\nb\n```", "```\na b\n```", [True, False, False, True]),
    ("| a |\n| b |", "| a |\n| b |", [True, True]),
]


@pytest.mark.parametrize(("old", "new", "same"), PROSE)
def test_prose_is_compared_by_paragraph_and_not_by_where_lines_break(old, new, same):
    assert [row.same for row in compare_lines(old, new, prose=True)] == same


@given(st.text(max_size=60), st.text(max_size=60))
def test_prose_loses_no_word(old, new):
    rows = compare_lines(old, new, prose=True)
    for given_text, side in ((old, "old"), (new, "new")):
        words = " ".join(line[1] for row in rows if (line := getattr(row, side)))
        assert words.split() == given_text.split()


@pytest.mark.parametrize("text", ["x" * 10**6, "x y\n" * 250_000, "\n" * 10**6, "a b " * 250_000])
def test_a_text_of_a_megabyte_is_compared_in_part_and_that_is_said(text):
    rows, left_out = compare_texts(text, text.replace("x", "z")[::-1], prose=False)
    assert len(rows) <= 2 * module.LINES
    assert "Only the beginning" in left_out
    assert compare_texts("a", "b", prose=False)[1] == ""
