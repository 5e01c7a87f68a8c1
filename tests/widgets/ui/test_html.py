"""The still form: all that is to be read, nothing that does anything, and no more than so much."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.widgets.ui import h
from skill_eval_nb.widgets.ui.parts import choose, entry, text_area, tick
from skill_eval_nb.widgets.ui.tree import CUT, html
from tests.widgets.hostile import TEXTS, squeezed, trees
from tests.widgets.trees import text
from tests.widgets.ui.toys import every_part


class Read(HTMLParser):
    """Its texts, its tags, and the names of its attributes."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)

    def handle_data(self, data) -> None:
        self.texts.append(data)


@given(trees())
def test_all_text_is_there_and_nothing_else(tree) -> None:
    markup = html(tree)
    markup.encode()  # a notebook is UTF-8
    assert squeezed("".join(Read(markup).texts)) == squeezed(text(tree))


@given(st.sampled_from(TEXTS) | st.text(max_size=300), st.integers(0, 400))
def test_it_ends_where_it_must_and_says_so(words, most) -> None:
    markup = html([h("table", h("tr", h("td", words, title=words))), h("p", words)], most)
    assert len(markup) <= most + len("</td></tr></table></p>") + len(f"<p>{CUT}</p>")
    assert markup.count("<p>") == markup.count("</p>")
    assert markup.count("<td") == markup.count("</td>")


def test_markup_is_text_wherever_it_stands() -> None:
    bad = "\"'></p><script>alert(1)</script>"
    link = h("a", bad, href=f"https://{bad}", title=bad)
    inside = [bad, link, text_area(bad, bad, ("a",), keep=bad, key=bad)]
    acts = {"on": {"click": (bad,)}, "keys": {bad: (bad,)}}
    seen = Read(html(h("p", inside, style={"width": "5%"}, cls=bad, id=bad, key=bad, **acts)))
    assert "script" not in seen.tags
    assert seen.names == {"class", "style", "href", "rel", "title", "rows", "dir", "disabled"}


def test_controls_show_their_value_and_do_nothing_and_files_are_named() -> None:
    markup = html(
        [
            choose("Metric", {"a": "A", "b": "B"}, "b", ("x",)),
            entry("Runs", 3, ("x",), kind="number"),
            tick("Blind", True, ("x",)),
            text_area("Words", "two\nlines", ("x",), keep="k", key="k"),
        ]
    )
    assert '<option value="b" selected>B</option>' in markup
    assert '<input type="number" value="3" disabled>' in markup
    assert '<input type="checkbox" checked disabled>' in markup
    assert ">\ntwo\nlines</textarea>" in markup
    assert markup.count("disabled") == 4
    whole = html(every_part())
    assert [name in whole for name in ("<em>one red dot</em>", "<em>index.html</em>")] == [True] * 2
