"""The figures of a workspace as it was last read, each counted once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .facts import Suite, suites
from .figures import OF_METRIC, Count
from .selection import runs_of

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

    from ..later import Later
    from .choice import Choice
    from .part import Part
    from .selection import Selection

PARTS, ANSWERS = 60, 8
"""Parts of the workspace, and lists of runs, that are kept at once."""


class Counted:
    """A workspace and what was counted of it. When it is read anew, there is another one."""

    def __init__(self, ws: Workspace, later: Later) -> None:
        """Nothing is counted yet, and what `later` knows is forgotten."""
        self.ws = ws
        self._later = later
        self._parts: OrderedDict[Part, Workspace] = OrderedDict()
        self._runs: OrderedDict[Hashable, pl.DataFrame] = OrderedDict()
        self._lock = threading.Lock()
        later.forget()

    @cached_property
    def suites(self) -> list[Suite]:
        """The skills that there are."""
        return suites(self.ws)

    def figures(self, count: Count, part: Part, metric: str) -> Any:
        """What is counted of a part, or PENDING."""
        metric = metric if count in OF_METRIC else ""
        return self._later.get((count, part, metric), lambda: count(self._part(part), part, metric))

    def get(self, key: Hashable, count: Callable[[], Any]) -> Any:
        """Something else that takes its time, or PENDING."""
        return self._later.get(key, count)

    def runs(self, choice: Choice, clicked: Selection | None) -> pl.DataFrame:
        """The runs that are meant; the last answers are kept."""
        asked = (replace(choice, metric=""), clicked)
        if asked not in self._runs:
            self._runs[asked] = runs_of(self.ws, choice, clicked)
        self._runs.move_to_end(asked)
        while len(self._runs) > ANSWERS:
            self._runs.popitem(last=False)
        return self._runs[asked]

    def _part(self, part: Part) -> Workspace:
        """A part of the workspace; figures of the same part share its tables."""
        with self._lock:
            if part not in self._parts:
                self._parts[part] = part.of(self.ws)
            self._parts.move_to_end(part)
            while len(self._parts) > PARTS:
                self._parts.popitem(last=False)
            return self._parts[part]
