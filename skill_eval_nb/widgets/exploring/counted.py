"""The figures of a workspace as it was last read, each counted once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .facts import Suite, suites
from .figures import OF_METRIC, Count
from .part import Part, within
from .selection import runs_of

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

    from ..later import Later
    from .choice import Choice
    from .selection import Selection

PARTS, ANSWERS = 4, 8
"""Parts of the workspace that are counted together, and lists of runs, that are kept at once."""
RUNS = 10_000
"""Runs whose figures are counted together, about: of more, the first are shown before the last."""


class Counted:
    """A workspace and what was counted of it. When it is read anew, there is another one."""

    def __init__(self, ws: Workspace, later: Later) -> None:
        """Nothing is counted yet, and what `later` knows is forgotten."""
        self.ws = ws
        self._later = later
        self._parts: OrderedDict[tuple[Part, ...], Workspace] = OrderedDict()
        self._runs: OrderedDict[Hashable, pl.DataFrame] = OrderedDict()
        self._lock = threading.Lock()
        later.forget()

    @cached_property
    def suites(self) -> list[Suite]:
        """The skills that there are."""
        return suites(self.ws)

    def figures(self, count: Count, parts: Sequence[Part], metric: str) -> dict[Part, Any]:
        """What is counted of parts of one choice, or PENDING."""
        metric = metric if count in OF_METRIC else ""

        def counted(keys: Sequence[Any]) -> dict[Any, Any]:
            own = [part for _, part, _ in keys]
            return dict(zip(keys, count(self._within(own), own, metric), strict=True))

        keys = {part: (count, part, metric) for part in parts}
        found = self._later.get_all(list(keys.values()), counted, self._at_once)
        return {part: found[key] for part, key in keys.items()}

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

    @cached_property
    def _at_once(self) -> int:
        """How many iterations are counted together."""
        runs = self.ws.polars("runs")
        return max(1, RUNS * runs["iteration"].n_unique() // max(1, runs.height))

    def _within(self, parts: Sequence[Part]) -> Workspace:
        """What of the workspace is in these parts; figures of the same parts share its tables."""
        with self._lock:
            asked = tuple(parts)
            if asked not in self._parts:
                self._parts[asked] = within(self.ws, parts)
            self._parts.move_to_end(asked)
            while len(self._parts) > PARTS:
                self._parts.popitem(last=False)
            return self._parts[asked]
