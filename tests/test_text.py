"""Whatever stands in a file, a sentence stays a sentence; and two texts show where they differ."""

from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb import text as module
from skill_eval_nb.stats.verdict import in_words
from skill_eval_nb.text import (
    as_label,
    clip,
    compare_lines,
    compare_texts,
    count,
    format_p,
    in_quotes,
    mark_changes,
    with_sign,
)

figures = st.floats(1e-6, 1e9)


@given(st.text(), st.integers(2, 60))
def test_any_text_becomes_a_part_of_one_line(text: str, most: int) -> None:
    line = clip(text, most)
    assert len(line) <= most
    kinds = {category(one) for one in line if one not in "\u200c\u200d"}  # joiners of scripts
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert line == " ".join(line.split(" ")).strip()
    assert "  " not in line
    assert clip(line, most) == line  # what fits is left alone
    assert line.endswith("…") or line == clip(text, len(text) + 1)


def test_what_is_no_text_and_what_is_nothing() -> None:
    assert (clip(None), clip(12), clip(" \t\n")) == ("None", "12", "")
    assert in_quotes("\u202ea\x00b\nc") == "‘a b c’"
    assert {as_label(name) for name in ("", " ", "\n", "\u200b", "\ufeff")} == {"(no name)"}
    assert clip("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"  # as the script needs it


NOTHING = {"pass_rate": "0 pp", "time_seconds": "0 s", "cost_usd": "0 US$"}


@given(figures, st.sampled_from([*NOTHING, "tokens", "steps"]))
def test_a_difference_has_its_sign_before_all_else(value: float, metric: str) -> None:
    more, less = (in_words(own, metric, with_sign) for own in (value, -value))
    assert (more[0], less[0], more[1:]) == ("+", "−", less[1:])


def test_what_rounding_leaves_of_no_difference_is_none() -> None:
    for dust in (0.0, -0.0, 0.1 + 0.2 - 0.3, 0.3 - 0.1 - 0.2):
        assert {metric: in_words(dust, metric, with_sign) for metric in NOTHING} == NOTHING
        assert with_sign(dust) == "0"


def test_each_unit_stands_where_it_is_read_and_only_one_thing_is_singular() -> None:
    assert [count(number, "eval") for number in range(3)] == ["0 evals", "1 eval", "2 evals"]
    assert in_words(90.0, "time_seconds") == "90 s"
    assert in_words(1234.5, "output_chars") == "1,234 characters"
    assert in_words(-0.5, "cost_usd") == "−0.5 US$"


@given(st.floats(0, 1))
def test_a_chance_is_never_said_to_be_none(p: float) -> None:
    sign, number = format_p(p).split()
    assert float(number) > 0
    assert sign == ("<" if p < 1e-4 else "=")


# ── two texts beside each other ──────────────────────────────────────────────────────────────

LINES = st.lists(st.sampled_from(["a b c", "a b d", "x y z", "x y", "", "a"]), max_size=9)


@given(LINES.map("\n".join), LINES.map("\n".join))
def test_both_texts_can_be_read_off_the_rows(old, new):
    rows = compare_lines(old, new)
    for given_text, side in ((old, "old"), (new, "new")):
        lines = [getattr(row, side) for row in rows if getattr(row, side)]
        assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
        if rows:
            assert "\n".join(words for _, words in lines) == given_text.removesuffix("\n")


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


@pytest.mark.parametrize("text", ["x" * 10**6, "x y\n" * 250_000, "\n" * 10**6, "a b " * 250_000])
def test_a_text_of_a_megabyte_is_compared_in_part_and_that_is_said(text):
    rows, left_out = compare_texts(text, text.replace("x", "z")[::-1], prose=False)
    assert len(rows) <= 2 * module.LINES
    assert "Only the beginning" in left_out
    assert compare_texts("a", "b", prose=False)[1] == ""
