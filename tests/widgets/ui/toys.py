"""A panel to try the mechanism on, which shows what it is told to; and every part, to be shown."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.widgets.ui import Child, Node, Panel, action, h, offer, quiet_action
from skill_eval_nb.widgets.ui.parts import (
    button,
    choose,
    details,
    entry,
    notice,
    pill,
    table,
    table_row,
    tabs,
    text_area,
    tick,
    ticks,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)
"""One red pixel."""


class Plain(Panel):
    """Shows the nodes it was given last, and remembers what was asked of it."""

    label = "Plain"

    def __init__(self, *nodes: Child) -> None:
        self.nodes = nodes
        self.said: list[Any] = []
        super().__init__()

    def view(self) -> Child:
        return self.nodes

    def draw(self, *nodes: Child) -> None:
        self.nodes = nodes
        self.show()

    @action
    def say(self, *values: Any) -> None:
        self.said.append(values[0] if len(values) == 1 else values)

    @quiet_action
    def note(self, *values: Any) -> None:
        self.said.append(values[0] if len(values) == 1 else values)

    @action
    def refuse(self, *values: Any) -> None:
        raise ValueError(f"Not that: {values}")


def every_part() -> list[Child]:
    """Every part, and every kind of element, once."""
    dot = offer("toy.png", lambda: (PNG, "image/png"))
    page = offer("toy.html", lambda: (b"<h1>A page</h1><p>of somebody else's.</p>", "text/html"))
    return [
        h("h3", "The skill helps: +14 points of pass rate"),
        h("p", "12 evals, 72 runs, averaged inside an eval first.", cls="sen-soft"),
        _controls(),
        notice("2 runs have no grading.json: they are not counted."),
        notice("All runs are graded.", fine=True),
        h("p", pill("12 passed", "good"), " ", pill("1 not scored", "odd"), " ", pill("x")),
        tabs(("Runs", "Checks"), "Runs", ("say",), _rows(), label="What to see", page="toy"),
        h("div", _one(), _other(dot), cls="sen-columns"),
        details("Transcript, 14 messages", h("p", "Hello."), key="transcript"),
        details("The judge's reasons", _words(), unfolded=True, key="reasons"),
        text_area("Feedback", "", ("note",), keep="toy/feedback", key="feedback"),
        h("progress", value=3, max=10, aria_label="3 of 10 runs"),
        h("iframe", blob=page, title="index.html", height=120),
        h("button", "Download report.csv", blob=dot, download="report.csv"),
    ]


def _controls() -> Node:
    sides = ("with_skill", "without_skill", "old_skill")
    return h(
        "div",
        choose("Metric", {"pass_rate": "Pass rate", "tokens": "Tokens"}, "tokens", ("say",)),
        entry("Runs", 3, ("say",), kind="number", min=1),
        entry("Skill", "tdd", ("say",), placeholder="a folder"),
        button("Export", ("say",)),
        button("Start", ("say",), kind="main"),
        button("Stop", None),
        button("Only failed", ("say",), aria_pressed=False),
        tick("Blind", True, ("say",)),
        ticks("Configurations", sides, {"with_skill"}, ("say",)),
        cls="sen-row",
    )


def _rows() -> Node:
    chosen = ["eval-3", "with_skill", "1.00", "12,004"]
    rows = [
        [button("eval-1-sum-a-list", ("say", 1), kind="quiet"), "with_skill", "0.86", "1,204"],
        ["eval-2-write-the-tests-first, then the code", "without_skill", "0.50", "998"],
        table_row(chosen, [None, None, "sen-n", "sen-n"], cls="sen-chosen", key="eval-3"),
    ]
    heads = ["Eval", "Configuration", "Pass rate", "Tokens"]
    return table(heads, rows, caption="Runs", numbers=[2, 3])


def _one() -> Node:
    code = "def total(numbers):\n    return sum(numbers)"
    shown = h("pre", code, tabindex="0", aria_label="total.py")
    said = h("p", "It handles empty lists.")
    return h("div", h("h4", "With the skill"), said, shown, cls="sen-card")


def _other(dot: str) -> Node:
    return h(
        "div",
        h("h4", "Baseline"),
        h("p", "It fails on ", h("code", "[]"), ", see ", h("a", "this", href="#reasons")),
        h("blockquote", h("p", "A list has a sum.")),
        h("ul", h("li", "one"), h("li", "two")),
        h("dl", h("dt", "Executor"), h("dd", "offline")),
        h("img", blob=dot, alt="one red dot", width=40, height=20),
        cls="sen-card",
    )


def _words() -> Node:
    changed = ["Because it is so. ", h("ins", "added"), " ", h("del", "gone"), " "]
    marked = [h("mark", "marked"), " ", h("kbd", "→"), " ", h("small", "small")]
    return h("p", changed, marked, id="reasons")
