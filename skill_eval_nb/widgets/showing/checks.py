"""The expectations of a run: which passed, which failed, and the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import pill
from skill_eval_nb.widgets.runs import RunKey

from .marks import strip, verdict, word
from .rows import Row, rows
from .saying import between, first, line, prose, remark, soft

MOST = 300
"""Expectations of a layer that are shown at most."""
LAYERS = {"structural": "Structural", "judged": "Judged"}


def show_checks(ws: Workspace, key: RunKey) -> Node:
    """Each expectation of a run with its outcome and the evidence, layer by layer."""
    found = rows(ws, "expectations", key)
    if not found:
        return h("div", soft("No expectations were checked."), cls="sen-checks")
    layers = dict.fromkeys([*LAYERS, *(str(one["layer"]) for one in found)])
    parts = [
        _layer(layer, mine)
        for layer in layers
        if (mine := [one for one in found if str(one["layer"]) == layer])
    ]
    return h("div", parts, cls="sen-checks")


def summary_of(found: Sequence[Row]) -> str:
    """How many of the expectations passed.

    >>> summary_of([{"passed": True}, {"passed": False}, {"passed": None}])
    '1 of 2 passed, 1 not scored'
    """
    scored = [one for one in found if one["passed"] is not None]
    passed = sum(bool(one["passed"]) for one in scored)
    told = f"{passed:,} of {len(scored):,} passed" if scored else ""
    left = len(found) - len(scored)
    return ", ".join(filter(None, [told, f"{left:,} not scored" if left else ""]))


def _layer(layer: str, found: Sequence[Row]) -> Node:
    head = h(
        "div",
        h("span", LAYERS.get(layer, line(layer)), cls="sen-strong"),
        " ",
        strip([one["passed"] for one in found]),
        h("span", summary_of(found), cls="sen-soft"),
        cls="sen-row sen-middle sen-layer",
    )
    left = len(found) > MOST
    more = soft(f"{first(MOST, len(found), 'expectation')}.") if left else None
    return h("div", head, h("ul", [_check(one) for one in found[:MOST]], cls="sen-list"), more)


def _check(row: Row) -> Node:
    text = row["text"] or row["expectation_id"] or "(no text)"
    told = between(
        [
            row["text"] and row["expectation_id"] and line(row["expectation_id"]),
            row["type"] and h("code", line(row["type"])),
            row["confidence"] and f"confidence {line(row['confidence'])}",
        ]
    )
    gate = None
    if row["critical"]:
        gate = pill("critical", "bad" if row["passed"] is False else "")
    title = h(
        "div",
        h("span", h("span", prose(str(text)), dir="auto"), gate and [" ", gate]),
        " ",
        h("span", told, cls="sen-soft sen-small") if told else None,
        cls="sen-titled",
    )
    return h(
        "li",
        verdict(row["passed"]),
        h("div", title, evidence(row["evidence"])),
        cls=f"sen-item sen-{word(row['passed']).replace(' ', '-')}",
    )


def evidence(text: object) -> Child:
    """What an outcome or a score rests on."""
    if text is None or not str(text).strip():
        return None
    return remark(text, cls="sen-evidence", what="evidence")
