"""The result of a measurement, and an estimate of its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from skill_eval_nb.documents import TriggerQuery, TriggerSet
from skill_eval_nb.models import Prices, Usage
from skill_eval_nb.running.estimate import (
    CHARS_PER_TOKEN,
    OVERHEAD,
    OVERHEAD_ELSEWHERE,
    RESULTS_A_TURN,
    TOKENS_A_TURN,
)
from skill_eval_nb.text import brief, count, dollars
from skill_eval_nb.view import Block, Mark, Shown, Table, Text, Title

from .attempt import Attempt, MeasureConfig, Outcome, Query


class CostRange(NamedTuple):
    """What something may cost, in US dollars; each None if a price is not known.

    Attributes:
        low: if each run opens a skill at once, and a search ends after its first round.
        high: if each run uses all its turns, and a search all its rounds.
        worst: the budget that is certain to be enough.

    >>> print(CostRange(0.5, 1.25, 4.0))
    likely $0.50 to $1.25; a budget that surely holds all of it is $4.00
    >>> str(CostRange(0.0, 0.0, 0.0)), str(CostRange(None, None, None))
    ('it costs nothing', 'what it costs is not known: the price of a model is not')
    """

    low: float | None
    high: float | None
    worst: float | None

    def __str__(self) -> str:
        if None in self:
            return "what it costs is not known: the price of a model is not"
        low, high, worst = map(dollars, self)
        span = low if low == high else f"{low} to {high}"
        sure = f"likely {span}; a budget that surely holds all of it is {worst}"
        return sure if self.worst else "it costs nothing"


@dataclass(frozen=True, slots=True)
class Price:
    """What the missing attempts may cost.

    Attributes:
        attempts: how many.
        calls: the most calls of the model.
        usd: in US dollars.
        cap_usd: the most that one run may cost if there is a budget; it makes no call that could
            exceed this. None if no price is known.
    """

    attempts: int
    calls: int
    usd: CostRange
    cap_usd: float | None

    def __str__(self) -> str:
        calls = f"{count(self.attempts, 'attempt')} to be made, {count(self.calls, 'call')} at most"
        return f"{calls}; {self.usd}"


def price_of(attempts: Iterable[Attempt], setting: MeasureConfig, prices: Prices) -> Price:
    """What attempts may cost.

    The cap of a run is `Limits.usd`, else its high estimate plus the worst case of one call, since
    each call counts at its worst case until it is answered.
    """
    limits, model = setting.limits, setting.model
    uses = [_use(attempt.query.query, setting) for attempt in attempts]
    calls = len(uses) * limits.turns
    if uses and not prices.known(model):
        return Price(len(uses), calls, CostRange(None, None, None), None)
    costs = [[prices.cost(use, model) or 0.0 for use in three] for three in uses]
    low, high = (sum(cost[at] for cost in costs) for at in (0, 1))
    cap = round(max((cost[1] + cost[2] for cost in costs), default=0.0), 4)
    cap = cap if limits.usd is None else limits.usd
    return Price(len(uses), calls, CostRange(low, high, len(uses) * cap), cap)


def _use(query: str, setting: MeasureConfig) -> tuple[Usage, Usage, Usage]:
    """What one attempt uses: at the least, at the most, and one call of it at its worst."""
    limits = setting.limits
    offered = (setting.offered.skill, *setting.offered.others)
    chars = len(query) + sum(len(skill.description) for skill in offered)
    overhead = OVERHEAD.get(setting.executor.name, OVERHEAD_ELSEWHERE)
    first = [overhead + round(chars / each) for each in CHARS_PER_TOKEN]
    output = [min(each, limits.output_tokens) for each in TOKENS_A_TURN]
    grown = output[1] + RESULTS_A_TURN[1]
    read = sum(first[1] + turn * grown for turn in range(limits.turns))
    last = round((first[1] + limits.turns * grown) * CHARS_PER_TOKEN[0])
    return (
        Usage(input_tokens=first[0], output_tokens=output[0], calls=1),
        Usage(
            input_tokens=read,
            output_tokens=limits.turns * output[1],
            calls=limits.turns,
            longest=first[1] + limits.turns * grown,
        ),
        Usage(
            output_tokens=limits.output_tokens,
            cache_write_tokens=last,
            cache_write_1h_tokens=last,
            calls=1,
        ),
    )


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The runs of a query under one description.

    Attributes:
        query: what was asked.
        right: for each scored run, whether the skill was picked up if it should be, and not if it
            should not; runs that errored or were not made are left out.
        instead: what the model did in the runs that did not open the skill.
    """

    query: Query
    right: tuple[bool, ...]
    instead: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of runs that were right, 0-1; None if no run was scored."""
        return sum(self.right) / len(self.right) if self.right else None

    @property
    def passes(self) -> bool:
        """Whether it does what it should: it triggers if half of its runs or more do."""
        twice, runs = 2 * sum(self.right), len(self.right)
        return runs > 0 and (twice >= runs if self.query.should_trigger else twice > runs)


HIT, MISSED = "triggered", "not triggered"
"""The outcomes that are scored."""
LONGEST = 90
"""Characters of a query that are shown."""
MOST_INSTEAD = 120
"""Characters of what the model did instead that are shown."""
SCORES = {"precision": "precision", "recall": "recall", "f1": "F1", "accuracy": "accuracy"}

Status = Literal["done", "partial", "stopped", "dry run"]


@dataclass(frozen=True, repr=False)
class Measured(Shown):
    """How often a skill is picked up for each query.

    Attributes:
        skill_name: the skill's.
        description: the one that was measured.
        others: the names of the skills next to it.
        model: who decided.
        executor: the name of the executor.
        attempts: one for each query and run, in the order of the queries; those that were not made
            are included as `not run`.
        status: `done`; `partial` if the budget was too small; `stopped`; `dry run` if no model was
            asked.
        cost_usd: what these attempts have cost over all starts, interrupted ones included, in US
            dollars; None if no price is known.
        price: the estimate for the missing attempts, before they were made.
        message: anything worth knowing about how it went.
        folder: where the attempts are stored.
    """

    skill_name: str
    description: str
    others: tuple[str, ...]
    model: str
    executor: str
    attempts: tuple[Attempt, ...]
    status: Status
    cost_usd: float | None
    price: Price
    message: str
    folder: Path

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, each once, in order."""
        return tuple(self._by_query)

    @property
    def _by_query(self) -> dict[Query, list[Attempt]]:
        found: dict[Query, list[Attempt]] = {}
        for attempt in self.attempts:
            found.setdefault(attempt.query, []).append(attempt)
        return found

    @property
    def worst_usd(self) -> float | None:
        """The most US dollars that the missing attempts may cost; None if no price is known."""
        return self.price.usd.worst

    @property
    def outcomes(self) -> tuple[QueryOutcome, ...]:
        """Each query with its runs, in order."""
        found = []
        for query, runs in self._by_query.items():
            wanted = HIT if query.should_trigger else MISSED
            right = tuple(run.outcome == wanted for run in runs if run.outcome in (HIT, MISSED))
            instead = (run.instead for run in runs if run.outcome == MISSED)
            found.append(QueryOutcome(query, right, tuple(filter(None, instead))))
        return tuple(found)

    def attempts_table(self) -> Any:
        """One row per query and run, in polars, for `stats.trigger_rates` and similar functions.

        `query`, `should_trigger`, `tags` (list), `split` (null except in an optimisation),
        `run`, `outcome` (`triggered`, `not triggered`, `errored`, `not run`), `reason` (why it
        errored or was not run), `instead` (what the model did if it did not trigger),
        `opened` (list: skills), `seconds`, `cost_usd` (US dollars); null if not known.
        """
        import polars as pl

        from skill_eval_nb.tables.frames import frame_of_rows

        texts, string, number = pl.List(pl.String), pl.String, pl.Float64
        schema = {"query": string, "should_trigger": pl.Boolean, "tags": texts, "split": string}
        schema |= {"run": pl.Int64, **dict.fromkeys(("outcome", "reason", "instead"), string)}
        schema |= {"opened": texts, "seconds": number, "cost_usd": number}
        of_query, of_attempt = list(schema)[:4], list(schema)[4:]
        rows = [
            (
                *(getattr(attempt.query, name) for name in of_query),
                *(getattr(attempt, name) for name in of_attempt),
            )
            for attempt in self.attempts
        ]
        return frame_of_rows(schema, rows)

    @cached_property
    def rates(self) -> Any:
        """`stats.trigger_rates` of the attempts: one row per query, in polars."""
        from skill_eval_nb.stats.triggers import trigger_rates

        return trigger_rates(self.attempts_table())

    @cached_property
    def scores(self) -> Any:
        """`stats.trigger_scores` of the attempts: one row, in polars; none without attempts."""
        from skill_eval_nb.stats.triggers import trigger_scores

        return trigger_scores(self.attempts_table())

    @cached_property
    def doubts(self) -> Any:
        """`stats.trigger_doubts` of the attempts: one row per doubt, in polars."""
        from skill_eval_nb.stats.triggers import trigger_doubts

        return trigger_doubts(self.attempts_table())

    def document(self) -> TriggerSet:
        """The summary in the form of a trigger set: scored runs, and how many of them triggered.

        Runs that errored or were not made are not counted; a query that has no others has no
        figures.
        """
        rows = []
        for outcome in self.outcomes:
            query, runs = outcome.query, len(outcome.right)
            triggered = sum(right == query.should_trigger for right in outcome.right)
            rows.append(
                TriggerQuery(
                    query=query.query,
                    should_trigger=query.should_trigger,
                    triggered=triggered if runs else None,
                    runs=runs or None,
                    trigger_rate=triggered / runs if runs else None,
                    split=query.split,
                    tags=list(query.tags),
                )
            )
        return TriggerSet(rows, self.skill_name, self.description)

    def _blocks(self) -> Iterator[Block]:
        others = len(self.others)
        beside = f"beside {count(others, 'other skill')}" if others else "with no other skill"
        attempts = f"{count(len(self.queries), 'query')}, {count(len(self.attempts), 'attempt')}"
        title = f"{self.skill_name} {beside}, measured with {self.model}: {self.status}"
        if self.status == "dry run":
            yield Title(title, f"{attempts}; {self.price}")
            yield Text(self.description, soft=True)
            return
        counts = Counter(attempt.outcome for attempt in self.attempts)
        outcomes = ", ".join(
            f"{counts[name]:,} {name}" for name in get_args(Outcome) if counts[name]
        )
        yield Title(title, f"{attempts}: {outcomes}; {dollars(self.cost_usd)}; {self.message}")
        yield Text(self.description, soft=True)
        yield from (Mark("warning", "doubt", doubt) for doubt in self.doubts["message"])
        yield from (Text(_scores(row), "by query:") for row in self.scores.to_dicts())
        rows = [
            (
                brief(row["query"], LONGEST),
                "should" if row["should_trigger"] else "should not",
                _rate(row),
                brief(row["instead"] or "", MOST_INSTEAD),
            )
            for row in self.rates.to_dicts()
        ]
        yield Table(("query", "should", "triggered", "instead"), rows)


def _scores(row: Mapping[str, Any]) -> str:
    scores = (
        f"{name} {row[key]:.2f} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})"
        for key, name in SCORES.items()
        if row[key] is not None
    )
    return ", ".join(scores) or "no score is defined"


def _rate(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return "no run tells"
    runs = row["n_triggered"] + row["n_not_triggered"]
    return f"{row['n_triggered']} of {runs} ({row['low']:.0%} to {row['high']:.0%})"
