"""Where variance comes from, as bars of shares: evals, runs, judge, or what cannot be parted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skill_eval_nb.widgets.panel import Child, Node, h

PARTS = {"eval": "evals", "run": "runs", "judge": "judge"}
"""Where variance comes from, and what it is called."""


LEGIBLE = 0.13
"""The smallest share that is written into its part of the bar."""


def stack(rows: Sequence[Mapping[str, Any]], kind: str, name: str) -> Child:
    """Where a configuration's variance comes from, as one bar; a sentence where none is known."""
    known = [row for row in rows if row["component"] != "judge severity"]
    shares = {row["component"]: row["share"] for row in known if row["share"] is not None}
    if not shares:
        return h("p", _why_no_share(known), cls="sen-soft sen-small")
    words = ", ".join(f"{_called(part)} {share:.0%}" for part, share in shares.items())
    return h(
        "div",
        h("i", cls=f"sen-x-swatch sen-x-{kind}"),
        h(
            "div",
            [_part(part, share) for part, share in shares.items()],
            cls="sen-x-stack",
            role="img",
            aria_label=f"{name}: {words}",
        ),
        cls="sen-x-stack-row",
    )


def _part(component: str, share: float) -> Node:
    return h(
        "i",
        h("span", f"{share:.0%}") if share >= LEGIBLE else None,
        cls=f"sen-x-part {_look(component)}",
        style={"width": f"{100 * share:.4g}%"},
        title=f"{_called(component)}: {share:.0%}",
    )


def _called(component: str) -> str:
    """A component; several that cannot be told apart are named together."""
    return " and ".join(PARTS.get(one, one) for one in component.split(" + "))


def _look(component: str) -> str:
    return f"sen-x-of-{component.replace(' + ', '-')}"


def _why_no_share(rows: Sequence[Mapping[str, Any]]) -> str:
    notes = [row["note"] for row in rows if row["note"]]
    if not rows:
        return "nothing was scored"
    if all(row["variance"] == 0 for row in rows):
        return "all the same"
    return notes[0] if notes else "not known"


def legend(components: Iterable[str]) -> Node:
    """What the parts of the bars are."""
    there = list(dict.fromkeys(components))
    return h(
        "p",
        [h("span", h("i", cls=f"sen-x-swatch {_look(one)}"), _called(one)) for one in there],
        cls="sen-x-legend",
    )
