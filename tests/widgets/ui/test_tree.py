"""What a tree may have; what its still form shows, and the blocks of a value in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.view import Card, Cards, Diff, Items, Mark, Pairs, Table, Text, Title
from skill_eval_nb.widgets.ui import HERE, h
from skill_eval_nb.widgets.ui import tree as module
from skill_eval_nb.widgets.ui.parts import blocks_view, choose, entry, text_area, tick
from skill_eval_nb.widgets.ui.tree import CUT, html
from tests.widgets.hostile import TEXTS, squeezed, trees
from tests.widgets.trees import find, text


@pytest.mark.parametrize(
    "make",
    [
        lambda: h("script"),
        lambda: h("style"),
        lambda: h("p", onclick="alert(1)"),
        lambda: h("p", srcdoc="x"),
        lambda: h("img", src="http://x.test/"),
        lambda: h("p", **{"aria-x y": "z"}),
        lambda: h("p", on={"mouseover": ("go",)}),
        lambda: h("p", on={"click": "go"}),
        lambda: h("p", on={"click": ()}),
        lambda: h("p", style={"background": "url(http://x.test/)"}),
        lambda: h("p", style={"background": "u\\72l(http://x.test/)"}),
        lambda: h("p", style={"color": "red; background: blue"}),
        lambda: h("br", "text"),
        lambda: h("textarea", "text"),
    ],
)
def test_what_no_tree_may_have_is_refused(make) -> None:
    with pytest.raises(ValueError, match=r"No tree has|Nothing goes into|An action is"):
        make()


def test_a_child_is_a_text_or_an_element() -> None:
    for child in (3, {"a": 1}, b"bytes", object()):
        with pytest.raises(TypeError, match="A child is a text"):
            h("p", child)


def test_links_are_safe_ones_or_none() -> None:
    for href in ("https://x.test", "HTTP://X.test", "mailto:a@b.c", "#there"):
        assert h("a", "text", href=href)[1] == {"href": href}
    bad = "javascript:alert(1)"
    for href in (bad, f" {bad}", "JAVASCRIPT:x", "data:text/html,x", "//x", "a"):
        assert h("a", "text", href=href) == ["a", {}, ["text"]]


def test_values_are_those_of_a_page() -> None:
    none = {"disabled": np.False_, "title": None, "start": float("nan")}
    node = h("button", **none, value=np.float64(0.5), max=0, aria_selected=np.True_)
    assert node[1] == {"value": 0.5, "max": 0, "aria-selected": "true"}
    assert h("button", open=True, aria_pressed=False)[1] == {"open": True, "aria-pressed": "false"}
    with pytest.raises(TypeError, match="`title` is a complex"):
        h("p", title=1j)


def test_the_script_keeps_to_the_same_lists() -> None:
    script = (HERE / "tree.js").read_text()
    for name, ours in (("TAGS", module.TAGS), ("ATTRIBUTES", module.ATTRIBUTES)):
        written = re.search(rf"const {name} = new Set\(\s*\((.*?)\)\.split", script, re.DOTALL)
        assert written
        theirs = "".join(re.findall(r'"([^"]*)"', written[1])).split()
        assert sorted(theirs) == sorted(ours)
    assert module.SAFE_STYLE.pattern in script


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
    files = [h("img", blob="dot", alt="one red dot"), h("iframe", blob="page", title="index.html")]
    assert html(files) == "<em>one red dot</em><em>index.html</em>"


HOSTILE = "<img src=x onerror=alert(1)>"


def test_every_block_shows_what_is_in_it():
    blocks = [
        Title("a title", "a place"),
        Text("a text", "strong"),
        Mark("warning", "look", HOSTILE),
        Cards([Card("3", "runs")]),
        Table(("eval", "runs"), [("a", 1200), (("above", "below"), None)], "rows", ["runs"], 2),
        Table(("", ""), [(Mark("warning", "look"), "a remark")], "before"),
        Pairs([("skill", "tdd")], "settings"),
        Items(["first"], "order", numbered=True, more=4),
        Diff("-old\n+new"),
    ]
    shown = blocks_view(blocks)
    words = text(shown)
    for part in (
        *("a title", "a place", "strong a text", HOSTILE, "3", "runs", "1,200", "above", "below"),
        *("–", "… and 2 more", "a remark", "tdd", "first", "… and 4 more"),
    ):
        assert part in words
    assert [text(one) for one in find(shown, tag="ins")] == ["+new"]
    assert [text(one) for one in find(shown, tag="caption")] == ["rows"]
    assert [text(one) for one in find(shown, tag="summary")] == ["settings", "order"]
