"""What a person has chosen to see of two iterations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..runs import RunKey
from .behind import Behind


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen; what is left empty, or is not there, is chosen by the view.

    Attributes:
        configuration: the one that is looked at.
        metric: what the iterations are compared by.
        tab: the part that is shown.
        side_by_side: whether the old lines of the skill's files stand beside the new ones.
        all_rows: whether long tables are shown whole.
        unfolded: of which file, and from which row on, unchanged lines are shown.
        versions: the versions of the skill that are compared, `old` and `new`, by name.
        behind: what was clicked on last.
        opened: the runs that are shown in full, one of an iteration.
    """

    configuration: str = ""
    metric: str = ""
    tab: str = "verdicts"
    side_by_side: bool = False
    all_rows: bool = False
    unfolded: frozenset[tuple[str, int]] = frozenset()
    versions: Mapping[str, str] = field(default_factory=dict)
    behind: Behind | None = None
    opened: Mapping[str, RunKey] = field(default_factory=dict)

    def closed(self) -> Choice:
        """The same with nothing clicked on."""
        return replace(self, behind=None, opened={})

    def of_others(self) -> Choice:
        """The same for two other iterations: only what fits these, too."""
        return replace(self.closed(), all_rows=False, unfolded=frozenset(), versions={})

    def clicked(self, behind: Behind) -> Choice:
        """The same with the runs behind this shown; once more hides them."""
        return replace(self.closed(), behind=None if behind == self.behind else behind)

    def toggled(self, run: RunKey) -> Choice:
        """The same with this run in full, in place of another of its iteration; or without it."""
        others = {one: key for one, key in self.opened.items() if one != run.iteration}
        is_open = self.opened.get(run.iteration) == run
        return replace(self, opened=others if is_open else {**others, run.iteration: run})
