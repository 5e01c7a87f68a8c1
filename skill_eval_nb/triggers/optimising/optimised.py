"""What came of a search for a better description: a value that shows itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .scoring import Asked, Score

if TYPE_CHECKING:
    from skill_eval_nb.documents import Optimization

    from .summing import Estimate


@dataclass(frozen=True, slots=True)
class Step:
    """One description that was measured.

    Attributes:
        round: 1 for the present description, then 2, 3, …
        description: the words.
        train: its score on the train queries; None where no run tells.
        test: its score on the held-out queries. What was chosen was chosen by it, so it
            flatters the winner.
        is_best: whether it is the one that was chosen.
        asked: each query as it went.
    """

    round: int
    description: str
    train: Score | None
    test: Score | None
    is_best: bool = False
    asked: tuple[Asked, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Optimised:
    """What came of a search for a better description.

    Attributes:
        skill_name: the skill.
        status: `done`; `partial` where the budget or a stop ended it early; `broken` where the
            first measurement cannot be trusted; `dry run` where nothing was run.
        steps: the descriptions that were measured, in order; the first is the present one.
        best_description: the one that was chosen; the present one where none is better.
        best: its score on fresh runs of the held-out queries, by which nothing was chosen: the
            one to report. None where they were not made.
        selected: the score that it was chosen by; it flatters the winner.
        why: why this one was chosen, in words.
        ended: why the search ended, in words.
        doubts: what is odd about the first measurement, in words.
        model: the model that decides.
        proposer_model: the model that wrote the other descriptions.
        runs: runs of each query in each measurement.
        n_train: train queries.
        n_test: held-out queries.
        n_runs: runs that are needed at most, for all rounds and the last measurement.
        cost_usd: US dollars that were spent on it, earlier starts included; None where a price
            is not known.
        estimate: what it may cost in US dollars, what is there already included: `low`, `high`
            and, at most, `worst`; None where a price is not known.
        folder: where measurements and proposals are kept.
        notes: what was decided for the user, and what to bear in mind.
    """

    skill_name: str
    status: Literal["done", "partial", "broken", "dry run"]
    steps: tuple[Step, ...]
    best_description: str
    best: Score | None
    selected: Score | None
    why: str
    ended: str
    doubts: tuple[str, ...]
    model: str
    proposer_model: str
    runs: int
    n_train: int
    n_test: int
    n_runs: int
    cost_usd: float | None
    estimate: Estimate
    folder: Path
    notes: tuple[str, ...] = ()

    @property
    def best_score(self) -> float | None:
        """The winner's share of right runs, 0-1, on fresh runs; None where they were not made."""
        return None if self.best is None else self.best.score

    @property
    def selected_score(self) -> float | None:
        """The share, 0-1, that the winner was chosen by; it flatters the winner."""
        return None if self.selected is None else self.selected.score

    @property
    def has_new(self) -> bool:
        """Whether another description than the present one was chosen."""
        return bool(self.steps) and self.best_description != self.steps[0].description

    def rounds_table(self, backend: Literal["polars", "pandas"] = "polars") -> Any:
        """One row a round.

        `round`, `description`, `train_score`, `train_low`, `train_high`, `test_score`,
        `test_low`, `test_high` (shares of right runs, 0-1, with 95 % intervals; null where no
        run tells), `is_best`.
        """
        from .documenting import rounds_table

        return rounds_table(self.steps, backend)

    def document(self) -> Optimization:
        """The result as other tools write it, with our intervals beside the scores."""
        from .documenting import document_of

        return document_of(self)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the document; into a folder as `optimization_result.json`.

        Raises:
            OSError: it cannot be written.
        """
        from .documenting import write

        return write(self, Path(path))

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
