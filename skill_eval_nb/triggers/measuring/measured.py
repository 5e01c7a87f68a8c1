"""What a measurement gave: a value that shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.documents import TriggerQuery, TriggerSet

from ..values import Attempt, Query
from .pricing import Price

if TYPE_CHECKING:
    from skill_eval_nb.tables.frames import Backend

Status = Literal["done", "partial", "stopped", "dry run"]


@dataclass(frozen=True)
class Measured:
    """How often a skill is picked up, query by query.

    Attributes:
        skill_name: the skill's.
        description: the one that was measured.
        others: the names of the skills beside it.
        model: who decided.
        executor: the name of what worked on the queries.
        attempts: one a query × run, in the order of the queries; those that were not made are
            among them, as `not run`.
        status: `done`; `partial` where the budget did not reach; `stopped`; `dry run` where
            nobody was asked.
        cost_usd: what these attempts have cost over all starts, the interrupted ones too, in US
            dollars; None where no price is known.
        price: what the attempts that were missing might have cost, before they were made.
        message: what is to be known of how it went.
        folder: where the attempts are written.
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
        return tuple(dict.fromkeys(one.query for one in self.attempts))

    def attempts_table(self, backend: Backend = "polars") -> Any:
        """One row a query × run, as `stats.trigger_rates` and its sisters take it.

        `query`, `should_trigger`, `tags` (list), `split` (null outside of an optimisation),
        `run`, `outcome` (`triggered`, `not triggered`, `errored`, `not run`), `reason` (why it
        errored or was not run), `instead` (what the model did where it did not trigger),
        `opened` (list: skills), `seconds`, `cost_usd` (US dollars); null where not known.
        """
        import polars as pl

        from skill_eval_nb.tables.frames import columns, series

        texts = pl.List(pl.String)
        schema = {
            "query": pl.String,
            "should_trigger": pl.Boolean,
            "tags": texts,
            "split": pl.String,
            "run": pl.Int64,
            "outcome": pl.String,
            "reason": pl.String,
            "instead": pl.String,
            "opened": texts,
            "seconds": pl.Float64,
            "cost_usd": pl.Float64,
        }
        rows = [
            (
                one.query.query,
                one.query.should_trigger,
                list(one.query.tags),
                one.query.split,
                one.run,
                one.outcome,
                one.reason,
                one.instead,
                list(one.opened),
                one.seconds,
                one.cost_usd,
            )
            for one in self.attempts
        ]
        values = zip(schema.items(), columns(rows, len(schema)), strict=True)
        frame = pl.DataFrame([series(name, column, kind) for (name, kind), column in values])
        return frame if backend == "polars" else frame.to_pandas()

    @cached_property
    def rates(self) -> Any:
        """`stats.trigger_rates` of the attempts: one row a query, in polars."""
        from skill_eval_nb.stats.triggering import trigger_rates

        return trigger_rates(self.attempts_table())

    @cached_property
    def scores(self) -> Any:
        """`stats.trigger_scores` of the attempts: one row, in polars; none without attempts."""
        from skill_eval_nb.stats.triggering import trigger_scores

        return trigger_scores(self.attempts_table())

    @cached_property
    def doubts(self) -> Any:
        """`stats.trigger_doubts` of the attempts: one row a doubt, in polars."""
        from skill_eval_nb.stats.triggering import trigger_doubts

        return trigger_doubts(self.attempts_table())

    def document(self) -> TriggerSet:
        """The summary as trigger sets have it: runs that tell, and how many of them triggered.

        Runs that errored or were not made are not counted; a query without any other has no
        figures at all.
        """
        rows = []
        for query in self.queries:
            outcomes = [one.outcome for one in self.attempts if one.query == query]
            triggered = outcomes.count("triggered")
            runs = triggered + outcomes.count("not triggered")
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

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
