"""What a tree may have, and what can be asked of one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skill_eval_nb.widgets.ui import HERE, h
from skill_eval_nb.widgets.ui import tree as trees


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
    for name, ours in (("TAGS", trees.TAGS), ("ATTRIBUTES", trees.ATTRIBUTES)):
        written = re.search(rf"const {name} = new Set\(\s*\((.*?)\)\.split", script, re.DOTALL)
        assert written
        theirs = "".join(re.findall(r'"([^"]*)"', written[1])).split()
        assert sorted(theirs) == sorted(ours)
    assert trees.SAFE_STYLE.pattern in script
