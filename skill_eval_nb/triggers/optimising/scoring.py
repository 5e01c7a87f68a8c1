"""How well a description did: the share of runs that were right, query by query and in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..values import Attempt, Query

Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it went under one description.

    Attributes:
        query: what was asked.
        right: for each run that tells, whether the skill was picked up where it should be, or
            left where it should be left; runs that errored or were not made are not in it.
        instead: what the model did in the runs in which the skill was not opened.
    """

    query: Query
    right: tuple[bool, ...]
    instead: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of runs that were right, 0-1; None where no run tells."""
        return sum(self.right) / len(self.right) if self.right else None

    @property
    def passes(self) -> bool:
        """Whether it does what it should: it triggers where half of its runs or more do."""
        twice, runs = 2 * sum(self.right), len(self.right)
        return runs > 0 and (twice >= runs if self.query.should_trigger else twice > runs)


@dataclass(frozen=True, slots=True)
class Score:
    """The share of runs that were right, 0-1, with its interval.

    Attributes:
        score: the share.
        low: the lower end of its 95 % interval, for queries like these.
        high: the upper end.
        n_queries: queries that it rests on.
        n_runs: runs that it rests on.
    """

    score: float
    low: float
    high: float
    n_queries: int
    n_runs: int

    def __str__(self) -> str:
        return f"{self.score:.0%} ({self.low:.0%} to {self.high:.0%})"


def asked_of(attempts: Iterable[Attempt]) -> tuple[Asked, ...]:
    """The attempts of a measurement, query by query, in the order in which they first come."""
    own: dict[Query, list[Attempt]] = {}
    for one in attempts:
        own.setdefault(one.query, []).append(one)
    return tuple(_asked(query, runs) for query, runs in own.items())


def _asked(query: Query, runs: Sequence[Attempt]) -> Asked:
    hit, missed = "triggered", "not triggered"
    wanted = hit if query.should_trigger else missed
    right = tuple(one.outcome == wanted for one in runs if one.outcome in (hit, missed))
    told = (one.instead for one in runs if one.outcome == missed)
    return Asked(query, right, tuple(text for text in told if text is not None))


def mean(asked: Iterable[Asked], split: Split) -> float | None:
    """The share of runs that were right, over a part of the queries; None where no run tells."""
    runs = [run for one in asked if one.query.split == split for run in one.right]
    return sum(runs) / len(runs) if runs else None


def score_of(asked: Sequence[Asked], split: Split) -> Score | None:
    """The same with its interval, by `stats.trigger_scores`; None where no run tells."""
    import polars as pl

    from skill_eval_nb.stats import trigger_scores

    own = [one for one in asked if one.query.split == split and one.right]
    if not own:
        return None
    table = pl.DataFrame([row for one in own for row in _rows(one)])
    [row] = trigger_scores(table).to_dicts()
    figures: Mapping[str, Any] = {end: row[f"run_accuracy{end}"] for end in ("", "_low", "_high")}
    return Score(
        figures[""],
        figures["_low"],
        figures["_high"],
        n_queries=len(own),
        n_runs=sum(len(one.right) for one in own),
    )


def _rows(one: Asked) -> Iterable[dict[str, Any]]:
    should = one.query.should_trigger
    for right in one.right:
        outcome = "triggered" if right == should else "not triggered"
        yield {"query": one.query.query, "should_trigger": should, "outcome": outcome}
