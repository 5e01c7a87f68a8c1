"""What came of a blind comparison: a value that shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents import Comparison
from skill_eval_nb.models import Usage

if TYPE_CHECKING:
    from .outcome import Outcome
    from .verdict import Verdict


class NotCompared(NamedTuple):
    """A run, pair or question that came to nothing, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of comparing two sides, `a` and `b`, blind.

    Attributes:
        a: what the first side is called.
        b: what the second side is called.
        status: `done`; `partial` where a question has no answer; `dry run` where nobody was
            asked.
        outcome: tables and figures.
        comparisons: every comparison that counts, those of earlier calls included.
        n_before: comparisons that were there before.
        n_missing: comparisons that there are still none of.
        model: who compared.
        failed: questions without an answer, each with the reason.
        left_out: runs and pairs that were not compared, each with the reason.
        usage: tokens of this call's answers.
        cost_usd: what they cost; None where a price is not known.
        worst_usd: what the missing ones could have cost at most before they were asked, in US
            dollars; None where a price is not known.
        notes: what was decided for the user, and what to bear in mind.
    """

    a: str
    b: str
    status: str
    outcome: Outcome
    comparisons: tuple[Comparison, ...]
    n_before: int
    n_missing: int
    model: str
    failed: tuple[NotCompared, ...]
    left_out: tuple[NotCompared, ...]
    usage: Usage
    cost_usd: float | None
    worst_usd: float | None
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> Any:
        """One row a pair of runs, in the workspace's kind of table.

        `workspace`, `eval_id`, `eval_name`, `run_number`, `pair` (as documents have it),
        `run_a`, `run_b` (their folders); `winner` after unblinding: `a`, `b` or `tie`, null
        where it was not seen in both orders; `a_first`, `b_first`: the winner where that side
        was shown first; `consistent`: whether they agree; `repeated_same`: whether the same
        order got the same answer twice, null where it was asked once; `n_comparisons`;
        `reasons`: the comparator's own, with what was A and B.
        """
        return self.outcome.pairs

    @property
    def by_eval(self) -> Any:
        """One row an eval: its pairs, those settled, `wins` of a, `losses`, `ties`, `winner`."""
        return self.outcome.by_eval

    @property
    def figures(self) -> Mapping[str, Any]:
        """The row of `stats.preference`, with wins, losses and rates of a against b."""
        return self.outcome.figures

    @property
    def verdict(self) -> Verdict:
        """Who wins, in words."""
        from .verdict import verdict_of

        return verdict_of(self)

    @property
    def winner(self) -> str | None:
        """What the winner is called; None where nobody can say."""
        return self.verdict.winner

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
