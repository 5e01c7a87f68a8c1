"""What a tree may have, and what can be asked of one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skill_eval_nb.widgets.ui import find, h, text
from skill_eval_nb.widgets.ui import tree as trees
from skill_eval_nb.widgets.ui.panel import HERE


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
    node = h(
        *("button",),
        disabled=np.False_,
        open=True,
        title=None,
        value=np.float64(0.5),
        aria_pressed=False,
        aria_selected=np.True_,
        start=float("nan"),
        max=0,
    )
    assert node[1] == {
        "open": True,
        "value": 0.5,
        "aria-pressed": "false",
        "aria-selected": "true",
        "max": 0,
    }
    with pytest.raises(TypeError, match="`title` is a complex"):
        h("p", title=1j)


def test_find_takes_what_h_takes() -> None:
    tree = h("div", h("button", "a", cls="x", aria_pressed=True), h("button", "b", disabled=True))
    assert text(find(tree, tag="button", aria_pressed=True)) == "a"
    assert text(find(tree, tag="button", disabled=False)) == "a"
    assert text(find(tree, disabled=True)) == "b"
    assert find(tree, cls="y") == []
    with pytest.raises(ValueError, match="`klass`"):
        find(tree, klass="x")


def test_the_script_keeps_to_the_same_lists() -> None:
    script = (HERE / "tree.js").read_text()
    for name, ours in (("TAGS", trees.TAGS), ("ATTRIBUTES", trees.ATTRIBUTES)):
        written = re.search(rf"const {name} = new Set\(\s*\((.*?)\)\.split", script, re.DOTALL)
        assert written
        theirs = "".join(re.findall(r'"([^"]*)"', written[1])).split()
        assert sorted(theirs) == sorted(ours)
    assert trees.SAFE_STYLE.pattern in script
