"""What the runs were asked for, and what the scores mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.runs import RunKey
from skill_eval_nb.widgets.showing.rows import rows_of_eval
from skill_eval_nb.widgets.showing.saying import line, plain, prose

from .dimensions import Dimension

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

MOST = 20_000
"""Characters of a prompt that are shown."""


def task(ws: Workspace, key: RunKey) -> Child:
    """The prompt of a run's eval, and what success looks like."""
    asked = next(iter(rows_of_eval(ws, "evals", key)), None)
    if asked is None or not asked["prompt"]:
        return None
    wanted = asked["expected_output"]
    return h(
        "div",
        h("p", "Prompt", cls="sen-soft sen-small"),
        h(
            "p",
            plain(asked["prompt"])[:MOST],
            cls="sen-rv-prompt",
            dir="auto",
            tabindex="0",
            role="group",
            aria_label="Prompt",
        ),
        wanted
        and h(
            "details",
            h("summary", "Expected output", cls="sen-soft sen-small"),
            h("p", plain(wanted)[:MOST], cls="sen-remark", dir="auto"),
        ),
        cls="sen-rv-task",
    )


def meanings(dimensions: Sequence[Dimension]) -> Node | None:
    """What each dimension measures, and what its scores look like."""
    told = [one for one in dimensions if one.description or one.anchors]
    if not told:
        return None
    return h(
        "details",
        h("summary", "What the scores mean", cls="sen-soft sen-small"),
        [_meaning(one) for one in told],
        cls="sen-rv-meanings",
    )


def _meaning(dimension: Dimension) -> Node:
    anchors = [
        h("div", h("dt", line(score)), h("dd", prose(said), dir="auto"))
        for score, said in dimension.anchors
    ]
    return h(
        "div",
        h("h5", line(dimension.name)),
        h("p", prose(dimension.description), dir="auto") if dimension.description else None,
        h("dl", anchors, cls="sen-anchors") if anchors else None,
    )
