"""What stands out: the notes that the statistics write, each with the runs it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import button, notice, pill

from . import figures
from .look import Look
from .part import Part
from .words import called, iteration_name

Row = Mapping[str, Any]
LOOKS = {
    "gain and cost": "good",
    "hurts": "bad",
    "left out": "odd",
    "unpaired": "odd",
    "outlier": "odd",
}


def noted(look: Look) -> Node:
    """The view of notes, an iteration after the other."""
    found = look.figures(figures.notes)
    if not any(found.values()):
        if any(rows is None for rows in found.values()):
            return h("p", "Counting …", cls="sen-soft", role="status")
        return notice("Nothing stands out.", fine=True)
    return h("div", [_of_iteration(look, part, rows) for part, rows in found.items()])


def _of_iteration(look: Look, part: Part, rows: list[Row] | None) -> list[Child]:
    title = h("h4", iteration_name(part.iteration)) if look.several else None
    if rows is None:
        return [title, h("p", "Counting …", cls="sen-soft")]
    items: list[Node] = []
    for number, one in enumerate(rows):
        at = ("notes", part.iteration, str(number))
        below = h("div", look.behind(), key="below") if look.is_at(at) else None
        look.placed |= below is not None
        items.append(h("li", _note(part, number, one), below, key=str(at)))
    return [title, h("ul", items, cls="sen-x-notes")]


def _note(part: Part, number: int, one: Row) -> list[Child]:
    act = ("pick_note", part.iteration, number) if one["evals"] or one["runs"] else None
    more = one["expectations"]
    return [
        pill(one["kind"], LOOKS.get(one["kind"], "")),
        h("span", f" {called(one['text'], 2000)} "),
        button("Show the runs", act, kind="quiet") if act else None,
        h("small", f"({len(more):,} expectations)", cls="sen-soft") if len(more) > 1 else None,
    ]
