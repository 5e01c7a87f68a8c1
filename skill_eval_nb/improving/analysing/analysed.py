"""What came of analysing comparisons: a value that shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents import Analysis
from skill_eval_nb.models import Usage

if TYPE_CHECKING:
    from skill_eval_nb.tables.frames import Backend

COLUMNS = (
    "workspace",
    "eval_id",
    "pair",
    "winner",
    "loser",
    "priority",
    "category",
    "suggestion",
    "expected_impact",
    "path",
)


class NotAnalysed(NamedTuple):
    """A comparison that came to nothing, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An analysis that is there, and what it is about.

    Attributes:
        workspace: the workspace's name.
        eval_id: the eval.
        winner: the run that won, in words.
        loser: the other one.
        path: its file, below the workspace.
        document: what it says.
    """

    workspace: str
    eval_id: str
    winner: str
    loser: str
    path: str
    document: Analysis


@dataclass(frozen=True, slots=True)
class Analysed:
    """What came of analysing comparisons.

    Attributes:
        status: `done`; `partial` where a question has no answer; `dry run` where nobody was
            asked.
        explained: every analysis of the comparisons that were meant, those of earlier calls
            included.
        n_before: analyses that were there before.
        n_missing: analyses that there are still none of.
        model: who analyses; None where nothing was to be asked and none was named.
        failed: questions without an answer, each with the reason.
        left_out: comparisons that cannot be analysed, each with the reason; ties among them.
        usage: tokens of this call's answers.
        cost_usd: what they cost; None where a price is not known.
        worst_usd: what the missing ones could have cost at most before they were asked, in US
            dollars; None where a price is not known.
        notes: what to bear in mind.
    """

    status: str
    explained: tuple[Explained, ...]
    n_before: int
    n_missing: int
    model: str | None
    failed: tuple[NotAnalysed, ...]
    left_out: tuple[NotAnalysed, ...]
    usage: Usage
    cost_usd: float | None
    worst_usd: float | None
    notes: tuple[str, ...] = ()

    @property
    def documents(self) -> tuple[Analysis, ...]:
        """The analyses, in the order of the comparisons."""
        return tuple(one.document for one in self.explained)

    def table(self, backend: Backend = "polars") -> Any:
        """One row a suggestion, the highest priority first, and of that the first comparison.

        `workspace`, `eval_id`, `pair`, `winner` and `loser` (the runs, in words), `priority`,
        `category`, `suggestion`, `expected_impact`, `path` (the analysis' file).
        """
        import polars as pl

        from skill_eval_nb.grading.analyst import PRIORITIES
        from skill_eval_nb.tables.frames import to_pandas

        rows = [
            {
                "workspace": one.workspace,
                "eval_id": one.eval_id,
                "pair": one.document.pair,
                "winner": one.winner,
                "loser": one.loser,
                "priority": made.priority,
                "category": made.category,
                "suggestion": made.suggestion,
                "expected_impact": made.expected_impact,
                "path": one.path,
            }
            for one in self.explained
            for made in one.document.improvement_suggestions
        ]
        places = {name: place for place, name in enumerate(PRIORITIES)}
        rows.sort(key=lambda row: places.get(str(row["priority"]), len(places)))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))
        return to_pandas(frame) if backend == "pandas" else frame

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
