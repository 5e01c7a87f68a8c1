"""What pressing Start would do, and what it may cost: worked out without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import TYPE_CHECKING, Any

from skill_eval_nb.running.refused import Refused

from .form import Form, lacking, part
from .reach import Reach, measure_set, search
from .results import Results, results_of

if TYPE_CHECKING:
    from skill_eval_nb.triggers import Attempt, Measured, Optimised, Query

RUNNING = ("executor", "model", "runs", "others", "own", "concurrency", "budget_usd", "again")
"""Fields of the form on which a run of the set rests."""
SEARCHING = (
    *("executor", "model", "runs", "others", "own", "concurrency", "search_budget_usd"),
    *("proposer_model", "rounds", "held_out", "competing"),
)
"""Fields of the form on which a search rests."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run of the set, before it is begun.

    Attributes:
        form: the fields that it rests on.
        queries: the set.
        faults: what stands in its way.
        measured: the same as a dry run; None where something stands in its way.
        results: what is there already; None where nothing is.
    """

    form: tuple[Any, ...]
    queries: tuple[Query, ...]
    faults: Sequence[str] = ()
    measured: Measured | None = None
    results: Results | None = None

    @property
    def costs(self) -> bool:
        """Whether it may cost money, as far as is known."""
        return bool(self.missing and self.measured and self.measured.price.worst_usd != 0)

    @property
    def missing(self) -> int:
        """Runs that are to be made."""
        return self.measured.price.attempts if self.measured is not None else 0

    @property
    def token(self) -> str:
        """A name for what is shown: another one where something else would be done."""
        found = self.measured
        return _token(self.form, self.queries, found and (found.folder, found.price))

    def covers(self, other: RunPlan) -> bool:
        """Whether the other does no more than this: others may have made runs meanwhile."""
        if self.measured is None or other.measured is None:
            return False
        return self.measured.folder == other.measured.folder and other.missing <= self.missing


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search for a better description, before it is begun; as `RunPlan`."""

    form: tuple[Any, ...]
    queries: tuple[Query, ...]
    faults: Sequence[str] = ()
    optimised: Optimised | None = None

    @property
    def costs(self) -> bool:
        """Whether it may cost money, as far as is known."""
        return self.optimised is not None and self.optimised.estimate.worst != 0

    @property
    def token(self) -> str:
        """A name for what is shown: another one where something else would be done."""
        found = self.optimised
        return _token(
            self.form, self.queries, found and (found.folder, found.n_runs, found.estimate)
        )


def run_plan(
    reach: Reach, form: Form, queries: tuple[Query, ...], made: Measured | None = None
) -> RunPlan:
    """Plan a run of the set; what is there already is read back.

    Args:
        reach: what it works with.
        form: how queries are run.
        queries: the set.
        made: the measurement that was made last: it is shown where it is still what is there.
    """
    fields = part(form, RUNNING)
    faults = lacking(form, "runs", "concurrency")
    if faults:
        return RunPlan(fields, queries, faults)
    try:
        found = measure_set(reach, form, queries, dry_run=True)
    except Refused as error:
        return RunPlan(fields, queries, error.faults)
    there = _ended(found)
    shown = replace(found, status="done", message="") if there == found.attempts else found
    if made is not None and made.folder == found.folder and _ended(made) == there:
        shown = made
    return RunPlan(fields, queries, (), found, results_of(shown) if there else None)


def search_plan(reach: Reach, form: Form, queries: tuple[Query, ...]) -> SearchPlan:
    """Plan a search."""
    fields = part(form, SEARCHING)
    faults = lacking(form, "runs", "concurrency", "rounds", "held_out")
    if faults:
        return SearchPlan(fields, queries, faults)
    try:
        found = search(reach, form, queries, dry_run=True)
    except Refused as error:
        return SearchPlan(fields, queries, error.faults)
    return SearchPlan(fields, queries, (), found)


def _ended(measured: Measured) -> tuple[Attempt, ...]:
    return tuple(one for one in measured.attempts if one.outcome != "not run")


def _token(*shown: Any) -> str:
    return blake2s(repr(shown).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
