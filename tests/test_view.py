"""How values show themselves in a notebook."""

from __future__ import annotations

import re

from skill_eval_nb.view import Items, frame_html


def test_a_view_has_its_own_rules_and_touches_nothing_outside_of_it():
    shown = frame_html("<p>5 &lt; 6</p>", "p {margin:1px}")
    style, inside = shown.removeprefix("<style>").split("</style>")
    assert style.startswith(".sen-shown.sen-shown {")
    assert style.endswith("p {margin:1px}}")
    assert inside.endswith("<p>5 &lt; 6</p></div>")


def test_one_more_item_is_told_of_as_many_are() -> None:
    assert [line.strip() for line in Items(["a"], more=1).lines()][-2:] == ["- a", "… and 1 more"]
    assert len([*Items(["a"], more=0).lines()]) == 1


def test_prices_are_no_formulas():
    (classes,) = re.findall("<div class='([^']*)'>", frame_html("$1 to $2"))
    assert classes.split() == ["sen-shown", "mathjax_ignore", "tex2jax_ignore"]
