"""How values show themselves in a notebook."""

from __future__ import annotations

import re

from skill_eval_nb import look


def test_a_view_has_its_own_rules_and_touches_nothing_outside_of_it():
    shown = look.framed("sen-x", "<p>5 &lt; 6</p>", "p {margin:1px}")
    style, inside = shown.removeprefix("<style>").split("</style>")
    assert style.startswith(".sen-x.sen-x {")
    assert style.endswith("p {margin:1px}}")
    assert inside.endswith("<p>5 &lt; 6</p></div>")


def test_prices_are_no_formulas():
    (classes,) = re.findall("<div class='([^']*)'>", look.framed("sen-x", "$1 to $2"))
    assert classes.split() == ["sen-x", "mathjax_ignore", "tex2jax_ignore"]
