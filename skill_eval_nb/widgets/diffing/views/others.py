"""What else differs between the two: then the deltas are not of the skill alone."""

from __future__ import annotations

from collections.abc import Sequence

from ...panel import Child, Node, h
from ...panel.parts import notice, table
from ..alike import Only, Reworded, Unlike
from ..two import Two
from ..words import marked
from .files import spans


def others(found: Unlike, two: Two) -> Node:
    """All that differs beside the skill and the figures."""
    if not found.count:
        return notice(
            "Nothing else differs, as far as the files tell: evals, prompts, expectations, rubric "
            "dimensions and models are the same.",
            fine=True,
        )
    return h(
        "div",
        notice(
            "Where prompts, expectations, rubric or judge differ, a delta compares unlike things."
        )
        if found.touches_deltas
        else None,
        _only("Evals", "are in no delta between the two", found.evals),
        _reworded("Prompts that changed", "Eval", two, found.prompts),
        _checks(found),
        _reworded("Expectations in other words", "Expectation", two, found.reworded),
        _only("Rubric dimensions", "are in no delta between the two", found.dimensions),
        _reworded("Models", "Model", two, found.models),
        _reworded("How it was run", "Setting", two, found.plan),
    )


def _only(what: str, so: str, several: Sequence[Only]) -> Child:
    if not several:
        return None
    rows = (
        h("li", h("strong", f"only in {one.iteration}: "), ", ".join(one.names)) for one in several
    )
    return h(
        "section",
        h("h4", f"{what} of one iteration alone"),
        h("p", f"They {so}.", cls="sen-soft"),
        h("ul", rows),
    )


def _checks(found: Unlike) -> Child:
    if not found.checks:
        return None
    rows = (
        (
            one.eval_name,
            one.iteration,
            h("ul", (h("li", key.text, dir="auto") for key in one.checks)),
        )
        for one in found.checks
    )
    return h(
        "section",
        h("h4", "Expectations of one iteration alone"),
        table(("Eval", "Only in", "Expectations"), rows),
    )


def _reworded(title: str, what: str, two: Two, several: Sequence[Reworded]) -> Child:
    if not several:
        return None
    rows = []
    for one in several:
        old, new = marked(one.before, one.after)
        cells = [
            h("div", spans(pieces, kind), cls="sen-diff-asked", dir="auto")
            for pieces, kind in ((old, "old"), (new, "new"))
        ]
        rows.append([one.about, *cells])
    return h("section", h("h4", title), table((what, two.a, two.b), rows))
