"""What `try_out` was asked for, and the empty beginning of its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.stats.pairing import sides
from skill_eval_nb.stats.values import GROUP, runs_of
from skill_eval_nb.tables.frames import like

from ..values import Draft
from .tried import Status, Tried

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

TABLES = ("sides", "deltas", "by_run", "disagreements")


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of `try_out`."""

    draft: Draft
    ws: Workspace
    baseline: str | None
    level: float
    allow_scripts: bool
    near: int
    judge_model: str | None
    connection: Connection | None
    prices: Prices | None
    budget_usd: float | None
    progress: Callable[[AskingProgress], None] | None
    stop: threading.Event | None

    def __post_init__(self) -> None:
        """Look at the figures.

        Raises:
            Refused: one makes no sense.
        """
        if not 0 < self.level < 1:
            raise refuse(f"level is {self.level}: it lies between 0 and 1, as 0.95 does")
        if self.near < 0:
            raise refuse(f"near is {self.near}: a number of lines, 0 or more")
        known = sorted(set(self.ws.polars("runs")["configuration"]))
        if self.baseline is not None and self.baseline not in known:
            raise refuse(no_such("configuration", self.baseline, known))

    def who(self, runs: pl.DataFrame) -> pl.DataFrame:
        """Who is compared with whom in the iterations that runs are of."""
        every = runs_of(self.ws).join(runs.select(GROUP).unique(), on=GROUP, how="semi")
        return sides(every, self.baseline)

    def tried(
        self,
        status: Status,
        answer: str,
        *,
        suite: Callable[[], pl.DataFrame] | None = None,
        **more: Any,
    ) -> Tried:
        """A result; tables become those of the workspace's kind, those not given are empty."""
        import polars as pl

        reckon = suite or pl.DataFrame
        frames = {name: like(self.ws, more.pop(name, pl.DataFrame())) for name in TABLES}
        return Tried(
            self.draft, status, answer, **frames, **more, _suite=lambda: like(self.ws, reckon())
        )
