"""The dimensions that a human may score a run on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.runs import RunKey

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

OVERALL = "overall"
"""What is scored where an eval has no rubric."""

POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension: its name, what it measures, and what some of the scores look like."""

    name: str
    description: str | None = None
    anchors: tuple[tuple[str, str], ...] = ()


def dimensions_of(ws: Workspace, key: RunKey) -> tuple[Dimension, ...]:
    """The rubric of a run's eval as it is defined, else as its runs were judged, else OVERALL."""
    wanted = {"workspace": key.workspace, "skill": key.skill, "eval_id": key.eval_id}
    defined = ws.polars("dimensions").filter(**wanted)
    if not defined.is_empty():
        return tuple(
            Dimension(row["dimension"], row["description"], _anchors(row["anchors"]))
            for row in defined.iter_rows(named=True)
        )
    judged = ws.polars("rubric_scores").filter(**wanted)["dimension"]
    names = judged.unique(maintain_order=True).to_list()
    return tuple(Dimension(name) for name in names or [OVERALL])


def _anchors(text: str | None) -> tuple[tuple[str, str], ...]:
    if text is None:
        return ()
    try:
        anchors = json.loads(text)
    except ValueError:
        return ()
    if not isinstance(anchors, dict):
        return ()
    return tuple((str(score), str(said)) for score, said in sorted(anchors.items()))
