"""A panel to try the mechanism on, which shows what it is told to; and every part, to be shown."""

from __future__ import annotations

from typing import Any

from skill_eval_nb.widgets.ui import Child, Panel, action, quiet_action

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
