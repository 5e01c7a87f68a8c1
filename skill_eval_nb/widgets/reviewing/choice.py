"""What a reviewer has chosen to see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .items import Item
from .scope import Asked

ALL = "all"
SHOWN = {
    ALL: "all",
    "left": "not reviewed",
    "failed": "failed checks",
}
"""Which runs or pairs are shown, and how that is called."""


@dataclass(frozen=True, slots=True)
class Choice:
    """All that is chosen, but what is said.

    Attributes:
        asked: the runs, and what is beside them.
        shown: one of SHOWN.
        eval_id: the eval; empty for all.
        at: the token of what is looked at.
        blind: whether it is hidden which side is which.
        revealed: whether it was, and is no longer.
        unfolded: the parts that were opened, and stay so from run to run.
    """

    asked: Asked = field(default_factory=Asked)
    shown: str = ALL
    eval_id: str = ""
    at: str = ""
    blind: bool = False
    revealed: bool = False
    unfolded: frozenset[str] = frozenset()

    @property
    def hidden(self) -> bool:
        """Whether nothing may tell which side is which."""
        return self.blind and not self.revealed


def chosen(
    items: Sequence[Item], choice: Choice, is_reviewed: Callable[[Item], bool]
) -> list[Item]:
    """What is shown of the items: those that were asked for, and the one that is looked at."""

    def fits(item: Item) -> bool:
        if choice.eval_id and item.eval_id != choice.eval_id:
            return False
        if choice.shown == "left":
            return not is_reviewed(item)
        return item.failed if choice.shown == "failed" else True

    return [item for item in items if fits(item) or item.token == choice.at]
