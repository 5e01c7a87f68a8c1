"""What came of a search for a better description: its rounds, their scores, the one chosen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from skill_eval_nb.documents import Optimization, OptimizationStep, dump, to_json
from skill_eval_nb.text import count, dollars
from skill_eval_nb.view import Block, Mark, Shown, Table, Text, Title
from skill_eval_nb.workspace import write_atomic

from .attempt import Attempt, Query
from .measured import CostRange
from .measurement import MeasuringProgress

NAME = "optimization_result.json"

Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class QueryOutcome:
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


def outcomes_of(attempts: Iterable[Attempt]) -> tuple[QueryOutcome, ...]:
    """The attempts of a measurement, query by query, in the order in which they first come."""
    own: dict[Query, list[Attempt]] = {}
    for attempt in attempts:
        own.setdefault(attempt.query, []).append(attempt)
    hit, missed = "triggered", "not triggered"
    found = []
    for query, runs in own.items():
        wanted = hit if query.should_trigger else missed
        right = tuple(run.outcome == wanted for run in runs if run.outcome in (hit, missed))
        instead = (run.instead for run in runs if run.outcome == missed)
        found.append(QueryOutcome(query, right, tuple(filter(None, instead))))
    return tuple(found)


def mean(outcomes: Iterable[QueryOutcome], split: Split) -> float | None:
    """The share of runs that were right, over a part of the queries; None where no run tells."""
    runs = [run for outcome in outcomes if outcome.query.split == split for run in outcome.right]
    return sum(runs) / len(runs) if runs else None


def score_of(outcomes: Sequence[QueryOutcome], split: Split) -> Score | None:
    """The same with its interval, by `stats.trigger_scores`; None where no run tells."""
    import polars as pl

    from skill_eval_nb.stats import trigger_scores

    own = [outcome for outcome in outcomes if outcome.query.split == split and outcome.right]
    if not own:
        return None
    rows = [
        {
            "query": outcome.query.query,
            "should_trigger": outcome.query.should_trigger,
            "outcome": "triggered" if right == outcome.query.should_trigger else "not triggered",
        }
        for outcome in own
        for right in outcome.right
    ]
    [row] = trigger_scores(pl.DataFrame(rows)).to_dicts()
    figures = (row[f"run_accuracy{end}"] for end in ("", "_low", "_high"))
    return Score(*figures, n_queries=len(own), n_runs=sum(len(outcome.right) for outcome in own))


@dataclass(frozen=True)
class Step:
    """One description that was measured.

    Attributes:
        round: 1 for the present description, then 2, 3, …
        description: the words.
        asked: each query as it went.
        lacking: why not all runs were made; None where they were. Others cannot be chosen.
        doubts: what is odd about the first measurement, in words.
        broken: why the first measurement cannot be trusted; None where it can.
        is_best: whether it is the one that was chosen.
    """

    round: int
    description: str
    asked: tuple[QueryOutcome, ...] = field(default=(), repr=False)
    lacking: str | None = None
    doubts: tuple[str, ...] = ()
    broken: str | None = None
    is_best: bool = False

    @cached_property
    def train(self) -> Score | None:
        """Its score on the train queries; None where no run tells."""
        return score_of(self.asked, "train")

    @cached_property
    def test(self) -> Score | None:
        """Its score on the held-out queries; None where no run tells.

        What was chosen was chosen by it, so it flatters the winner.
        """
        return score_of(self.asked, "test")


@dataclass(frozen=True, slots=True, repr=False)
class Optimised(Shown):
    """What came of a search for a better description.

    Attributes:
        skill_name: the skill.
        status: `done`; `partial` where the budget or a stop ended it early; `broken` where the
            first measurement cannot be trusted; `dry run` where nothing was run.
        steps: the descriptions that were measured, in order; the first is the present one.
        best_description: the one that was chosen; the present one where none is better.
        best: its score on fresh runs of the held-out queries, by which nothing was chosen: the
            one to report. None where they were not made.
        why: why this one was chosen, in words.
        ended: why the search ended, in words.
        model: the model that decides.
        proposer_model: the model that wrote the other descriptions.
        runs: runs of each query in each measurement.
        n_train: train queries.
        n_test: held-out queries.
        n_runs: runs that are needed at most, for all rounds and the last measurement.
        cost_usd: US dollars that were spent on it, earlier starts included; None where a price
            is not known.
        estimate: what it may cost in US dollars, what is there already included.
        folder: where measurements and proposals are kept.
        notes: what was decided for the user, and what to bear in mind.
    """

    skill_name: str
    status: Literal["done", "partial", "broken", "dry run"]
    steps: tuple[Step, ...]
    best_description: str
    best: Score | None
    why: str
    ended: str
    model: str
    proposer_model: str
    runs: int
    n_train: int
    n_test: int
    n_runs: int
    cost_usd: float | None
    estimate: CostRange
    folder: Path
    notes: tuple[str, ...] = ()

    @property
    def best_score(self) -> float | None:
        """The winner's share of right runs, 0-1, on fresh runs; None where they were not made."""
        return None if self.best is None else self.best.score

    @property
    def selected(self) -> Score | None:
        """The score that the winner was chosen by; it flatters the winner."""
        return next((step.test for step in self.steps if step.is_best), None)

    @property
    def selected_score(self) -> float | None:
        """The same as a share, 0-1."""
        return None if self.selected is None else self.selected.score

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is odd about the first measurement, in words."""
        return self.steps[0].doubts if self.steps else ()

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
        import polars as pl

        rows = [
            {
                "round": step.round,
                "description": step.description,
                **_ends("train", step.train),
                **_ends("test", step.test),
                "is_best": step.is_best,
            }
            for step in self.steps
        ]
        ends = dict.fromkeys((*_ends("train", None), *_ends("test", None)), pl.Float64)
        schema = {"round": pl.Int64, "description": pl.String, **ends, "is_best": pl.Boolean}
        frame = pl.DataFrame(rows, schema)
        return frame if backend == "polars" else frame.to_pandas()

    def document(self) -> Optimization:
        """The result as other tools write it, with our intervals beside the scores."""
        steps = [
            OptimizationStep(
                description=step.description,
                iteration=step.round,
                **_ends("train", step.train),
                **_ends("test", step.test),
            )
            for step in self.steps
        ]
        return Optimization(
            best_description=self.best_description,
            iterations=steps,
            **_ends("best", self.best),
            selected_score=self.selected_score,
            why=self.why,
            skill_name=self.skill_name,
        )

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the document; into a folder as `optimization_result.json`.

        Raises:
            OSError: it cannot be written.
        """
        file = Path(path)
        file = file if file.suffix == ".json" else file / NAME
        return write_atomic(file, to_json(dump(self.document())))

    def _blocks(self) -> Iterator[Block]:
        by = f"measured with {self.model}, proposed by {self.proposer_model}"
        yield Title(f"A description for {self.skill_name}, {by}: {self.status}")
        yield from (Text(sentence) for sentence in self._sentences())
        yield from (Mark("warning", "doubt", doubt) for doubt in self.doubts)
        heads = ("round", "held-out queries", "train queries", "characters", "description")
        rows = [
            (
                f"{step.round} (chosen)" if step.is_best else f"{step.round}",
                str(step.test) if step.test else None,
                str(step.train) if step.train else None,
                len(step.description),
                step.description,
            )
            for step in self.steps
        ]
        yield Table(heads, rows, right=["characters"])
        yield from (Text(note, soft=True) for note in self.notes)

    def _sentences(self) -> Iterator[str]:
        each = f"{count(self.runs, 'run')} of each"
        yield f"{self.n_train} train and {self.n_test} held-out queries, {each}"
        if self.status == "dry run":
            yield f"{self.n_runs} runs at most, {self.estimate}; no model was asked"
            return
        yield self.why
        if self.best is not None:
            yield (
                f"Score of the chosen one on fresh runs of the held-out queries: {self.best}, of "
                f"{self.best.n_queries} of {self.n_test} queries and "
                f"{count(self.best.n_runs, 'run')}"
            )
        elif self.status != "broken":
            yield "The chosen one was not measured on fresh runs: no score of it can be trusted."
        if self.status != "broken":
            if self.selected is not None and len(self.steps) > 1:
                yield f"The score that it was chosen by, which flatters it: {self.selected}"
            yield f"The search ended: {self.ended}"
        yield f"Spent: {dollars(self.cost_usd)}"


def _ends(name: str, score: Score | None) -> dict[str, float | None]:
    """A score and its interval under their names; null where there is none."""
    figures = (None,) * 3 if score is None else (score.score, score.low, score.high)
    return dict(zip((f"{name}_score", f"{name}_low", f"{name}_high"), figures, strict=True))


class SearchOver(Exception):
    """Nothing more can be measured or proposed, for a reason; `halt`: nor is it to be."""

    def __init__(self, reason: str, *, halt: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.halt = halt


@dataclass(frozen=True, slots=True)
class OptimisingProgress:
    """How far an optimisation is.

    Attributes:
        doing: `measuring` a round, `proposing` the next description, `measuring again` the
            winner on fresh runs.
        round: the round that is at work, from 1; the present description is round 1.
        rounds: rounds at most.
        steps: the rounds that have ended, each with its scores.
        measuring: how far the measurement is; None where none is at work.
        spent_usd: US dollars that were spent, as far as prices are known.
    """

    doing: Literal["measuring", "proposing", "measuring again"]
    round: int
    rounds: int
    steps: tuple[Step, ...]
    measuring: MeasuringProgress | None
    spent_usd: float
