"""Code with the words of its language set apart."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import JavascriptLexer, PythonLexer

from skill_eval_nb.widgets.panel import find, text
from skill_eval_nb.widgets.showing.kinds.code import COLOURED, highlighted, lexer_named
from skill_eval_nb.widgets.showing.saying import plain
from tests.widgets.showing.one import draw


def test_words_are_set_apart(tmp_path):
    view = draw(tmp_path, "a.py", "def f(x):  # why\n    return 'a'\n").view
    look = {cls: text(find(view, cls=f"sen-tok-{cls}")) for cls in ("name", "comment", "string")}
    assert look == {"name": "f", "comment": "# why", "string": "'a'"}
    assert len(find(view, cls="sen-line")) == 2


@given(st.text(max_size=300), st.sampled_from([PythonLexer, JavascriptLexer, None]))
def test_no_letter_is_lost(words, lexer):
    words = plain(words)
    lines = highlighted(words, lexer)
    assert (
        "".join(part if isinstance(part, str) else part[2][0] for one in lines for part in one)
        == words
    )
    assert len(lines) == len(words.splitlines())


def test_a_lexer_that_breaks_or_loses_text_leaves_it_plain():
    class Broken(PythonLexer):
        def get_tokens(self, text, unfiltered=False):
            yield from list(super().get_tokens(text))[:1]
            raise RuntimeError("a library's own")

    class Forgetful(PythonLexer):
        def get_tokens(self, text, unfiltered=False):
            yield from list(super().get_tokens(text))[2:]

    for lexer in (Broken, Forgetful):
        assert text(highlighted("if x: y", lexer)) == "if x: y"


@pytest.mark.parametrize("lexer", ["python", "javascript", "html", "css", "json", "yaml", "bash"])
@pytest.mark.parametrize("words", ["(" * 1900, "\"'" * 900, "<a " * 600, "a: " * 600, "/*" * 900])
def test_hostile_text_takes_no_time(lexer, words):
    since = time.monotonic()
    highlighted(words, lexer_named(lexer))
    assert time.monotonic() - since < 5


def test_a_long_text_or_line_stays_plain(tmp_path):
    for words in (f"x = 1  #{'y' * 40}\n" * (COLOURED // 48 + 1), f"x = '{'y' * 3000}'\n"):
        assert not find(draw(tmp_path, "a.py", words).view, cls="sen-tok-number")
