"""What every view is made from: the choice, its figures, and what is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skill_eval_nb.widgets.panel import Node, h

from ..later import PENDING
from .choice import Choice
from .figures import Count
from .part import Part, parts_of
from .selection import Place, Selection
from .words import Metric, called, iteration_name, metric_of

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace
    from skill_eval_nb.widgets.runs import RunKey

    from .facts import Suite


@dataclass(frozen=True, slots=True)
class Seen:
    """What is open and on which page: all that the figures do not depend on.

    Attributes:
        tab: the open one.
        pages: by what is paged, the page.
        clicked: what was clicked last.
        opened: the run that is shown as a whole.
        order: of the evals.
        kind: the class of expectations that are shown; all where empty.
        severity: of problems that are shown; all where empty.
        chart: the one that is drawn.
        unfolded: lists to choose from that are open.
    """

    tab: str = "evals"
    pages: tuple[tuple[str, int], ...] = ()
    clicked: Selection | None = None
    opened: RunKey | None = None
    order: str = "suite"
    kind: str = ""
    severity: str = ""
    chart: str = "forest"
    unfolded: frozenset[str] = frozenset()

    def page(self, name: str) -> int:
        """The page of what is paged."""
        return dict(self.pages).get(name, 0)

    def from_first(self, name: str) -> Seen:
        """The same with what is paged from its first page on."""
        return replace(self, pages=tuple(one for one in self.pages if one[0] != name))


@dataclass(slots=True)
class Look:
    """What is looked at while a view is made.

    Attributes:
        ws: all that was loaded.
        suite: the skill.
        choice: the settled one.
        seen: what is open.
        get: the figures of parts, or PENDING.
        behind: makes the list of the runs that are meant.
        placed: whether that list stands below a row already.
        waiting: how many figures were not there yet.
    """

    ws: Workspace
    suite: Suite
    choice: Choice
    seen: Seen
    get: Callable[[Count, Sequence[Part]], dict[Part, Any]]
    behind: Callable[[], Node]
    placed: bool = False
    waiting: int = 0
    parts: list[Part] = field(init=False)
    meant: Metric = field(init=False)

    def __post_init__(self) -> None:
        """What follows from the choice."""
        self.parts = parts_of(self.choice)
        self.meant = metric_of(self.choice.metric)

    def figures(self, count: Count) -> dict[Part, Any]:
        """The figures of every part, None for those that are being counted."""
        return self._of(count, self.parts)

    def last(self, count: Count) -> tuple[Part | None, Any]:
        """The last part with such figures, and these; None while they are being counted."""
        for part in reversed(self.parts):
            found = self._of(count, [part])[part]
            if found is None or found:
                return part, found
        return None, None

    def _of(self, count: Count, parts: Sequence[Part]) -> dict[Part, Any]:
        found = self.get(count, parts)
        self.waiting += sum(one is PENDING for one in found.values())
        return {part: None if one is PENDING else one for part, one in found.items()}

    def is_at(self, at: Place) -> bool:
        """Whether this row was clicked."""
        return self.seen.clicked is not None and self.seen.clicked.at == at

    def below(self, at: Place, columns: int) -> list[Node]:
        """The row with the runs behind what was clicked, below the row where that was."""
        if not self.is_at(at) or self.placed:
            return []
        self.placed = True
        cell = h("td", self.behind(), colspan=str(columns))
        return [h("tr", cell, cls="sen-x-below", key="below")]

    @property
    def several(self) -> bool:
        """Whether there is more than one iteration."""
        return len(self.choice.iterations) > 1

    @property
    def compares(self) -> bool:
        """Whether there are two sides."""
        return len(self.kinds) > 1

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The sides: `with` or `base`, and the configuration."""
        named = (("with", self.choice.configuration), ("base", self.choice.baseline))
        return [(kind, name) for kind, name in named if name is not None]

    def called(self, iteration: str) -> str:
        """What stands behind a name in a row where several iterations are looked at."""
        return iteration_name(iteration) if self.several else ""


def sides_legend(look: Look) -> Node:
    """Which colour is which side."""
    words = {"with": "", "base": " (baseline)"}
    return h(
        "p",
        [
            h("span", h("i", cls=f"sen-x-swatch sen-x-{kind}"), called(name), words[kind])
            for kind, name in look.kinds
        ],
        cls="sen-x-legend",
    )
