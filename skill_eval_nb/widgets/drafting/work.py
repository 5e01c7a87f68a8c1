"""What the page shows, counted once: suggestions, drafts, try-outs, the change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.improving import aggregate, draft, preview, try_out
from skill_eval_nb.stats.names import natural

from ..later import PENDING, Later

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skill_eval_nb.improving import Aggregate, Change, Draft, Tried
    from skill_eval_nb.tables import Workspace


class Work:
    """The figures of one choice of iterations; None stands for what is being counted."""

    def __init__(self, ws: Workspace, iteration: str, evals: Path, later: Later) -> None:
        """Nothing is counted yet.

        Args:
            ws: the workspace.
            iteration: the one that is looked at; "" for all.
            evals: the suite's file, or a folder with it.
            later: what counts.
        """
        self.ws = ws.select(iteration=iteration) if iteration else ws
        self.iterations = iterations(ws)
        self.evals = evals
        self._iteration, self._later = iteration, later

    def found(self) -> Aggregate | None:
        """The suggestions."""
        return self._get("found", lambda: aggregate(self.ws))

    def drafts(self) -> tuple[Draft, ...] | None:
        """What could be changed."""
        found = self.found()
        if found is None:
            return None
        return self._get("drafts", lambda: draft(self.ws, found))

    def tried(self, one: Draft) -> Tried | None:
        """What a draft does to the stored runs. It asks no model."""
        return self._get(("tried", one.key), lambda: try_out(one, self.ws))

    def change(self, accepted: Sequence[Draft]) -> Change | None:
        """What the suite's file would become."""
        keys = tuple(one.key for one in accepted)
        workspace = self.ws.path or None
        return self._get(
            ("change", keys), lambda: preview(accepted, self.evals, workspace=workspace)
        )

    def _get(self, name: Any, count: Any) -> Any:
        found = self._later.get((self._iteration, name), count)
        return None if found is PENDING else found


def iterations(ws: Workspace) -> list[str]:
    """The iterations that have runs, in order."""
    return sorted(ws.polars("runs")["iteration"].unique().to_list(), key=natural)
