"""The result of a search for a better description: its rounds, their scores, and the choice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from skill_eval_nb.documents import Optimization, OptimizationStep, dump, to_json
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.text import count, dollars
from skill_eval_nb.view import Block, Mark, Shown, Table, Text, Title
from skill_eval_nb.workspace import write_atomic

from .measurement import CostRange, Measured, QueryOutcome

NAME = "optimization_result.json"

Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class Score:
    """The share of runs that were right, 0-1, with its interval.

    Attributes:
        score: the share.
        low: the lower end of its 95 % interval, for queries like these.
        high: the upper end.
        n_queries: queries that it is based on.
        n_runs: runs that it is based on.
    """

    score: float
    low: float
    high: float
    n_queries: int
    n_runs: int

    def __str__(self) -> str:
        return f"{self.score:.0%} ({self.low:.0%} to {self.high:.0%})"


def mean(outcomes: Iterable[QueryOutcome], split: Split) -> float | None:
    """The share of runs that were right in one part of the queries; None if no run was scored."""
    runs = [run for outcome in outcomes if outcome.query.split == split for run in outcome.right]
    return sum(runs) / len(runs) if runs else None


def scores_of(measured: Measured) -> dict[Split, Score]:
    """The score of each part of the queries with scored runs, by `stats.trigger_scores`."""
    from skill_eval_nb.stats import trigger_scores

    found: dict[Split, Score] = {}
    for row in trigger_scores(measured.attempts_table(), by="split").to_dicts():
        own = (one for one in measured.outcomes if one.query.split == row["split"])
        runs = [len(outcome.right) for outcome in own if outcome.right]
        if runs:
            figures = (row[f"run_accuracy{end}"] for end in ("", "_low", "_high"))
            found[row["split"]] = Score(*figures, n_queries=len(runs), n_runs=sum(runs))
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """One description that was measured.

    Attributes:
        round: 1 for the current description, then 2, 3, …
        description: the words.
        asked: each query with its runs.
        train: its score on the train queries; None if no run was scored.
        test: its score on the held-out queries. It decides the choice, so it flatters the winner.
        lacking: why not all runs were made; None if they were. Only a complete step can be chosen.
        doubts: what is odd about the first measurement, in words.
        broken: why the first measurement cannot be trusted; None if it can.
        is_best: whether it was chosen.
    """

    round: int
    description: str
    asked: tuple[QueryOutcome, ...] = field(default=(), repr=False)
    train: Score | None = None
    test: Score | None = None
    lacking: str | None = None
    doubts: tuple[str, ...] = ()
    broken: str | None = None
    is_best: bool = False

    @property
    def row(self) -> dict[str, Any]:
        """The description with its scores and their intervals, as named values."""
        ends = _ends("train", self.train) | _ends("test", self.test)
        return {"description": self.description, **ends}


@dataclass(frozen=True, slots=True, repr=False)
class Optimised(Shown):
    """The result of a search for a better description.

    Attributes:
        skill_name: the skill.
        status: `done`; `partial` if the budget or a stop ended it early; `broken` if the first
            measurement cannot be trusted; `dry run` if nothing was run.
        steps: the descriptions that were measured, in order; the first is the current one.
        best_description: the chosen one; the current one if none is better.
        best: its score on new runs of the held-out queries, which decided nothing: the one to
            report. None if they were not made.
        why: why it was chosen, in words.
        ended: why the search ended, in words.
        model: the model that decides whether to open the skill.
        proposer_model: the model that wrote the other descriptions.
        runs: runs of each query in each measurement.
        n_train: train queries.
        n_test: held-out queries.
        n_runs: the most runs needed, for all rounds and the last measurement.
        cost_usd: US dollars spent on it, earlier starts included; None if a price is not known.
        estimate: what all of it may cost in US dollars, including what is already there.
        folder: where measurements and proposals are stored.
        notes: choices made for the user, and caveats.
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
    def selected(self) -> Score | None:
        """The score that decided; it flatters the winner."""
        return next((step.test for step in self.steps if step.is_best), None)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is odd about the first measurement, in words."""
        return self.steps[0].doubts if self.steps else ()

    @property
    def worst_usd(self) -> float | None:
        """The most that it may cost, in US dollars; None if a price is not known."""
        return self.estimate.worst

    @property
    def has_new(self) -> bool:
        """Whether a description other than the current one was chosen."""
        return bool(self.steps) and self.best_description != self.steps[0].description

    def rounds_table(self) -> Any:
        """One row per round, in polars.

        `round`, `description`, `train_score`, `train_low`, `train_high`, `test_score`,
        `test_low`, `test_high` (shares of right runs, 0-1, with 95 % intervals; null if no
        run was scored), `is_best`.
        """
        import polars as pl

        rows = [{"round": step.round, **step.row, "is_best": step.is_best} for step in self.steps]
        ends = dict.fromkeys((*_ends("train", None), *_ends("test", None)), pl.Float64)
        schema = {"round": pl.Int64, "description": pl.String, **ends, "is_best": pl.Boolean}
        return pl.DataFrame(rows, schema)

    def document(self) -> Optimization:
        """The result as other tools write it, with intervals added to the scores."""
        steps = [OptimizationStep(iteration=step.round, **step.row) for step in self.steps]
        return Optimization(
            best_description=self.best_description,
            iterations=steps,
            **_ends("best", self.best),
            selected_score=self.selected and self.selected.score,
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
            yield f"{count(self.n_runs, 'run')} at most, including the last measurement"
            yield f"Price: {self.estimate}"
            return
        yield self.why
        if self.best is not None:
            yield (
                f"Score of the chosen one on new runs of the held-out queries: {self.best}, from "
                f"{self.best.n_queries} of {self.n_test} queries and "
                f"{count(self.best.n_runs, 'run')}"
            )
        elif self.status != "broken":
            yield "The chosen one was not measured on new runs: its score cannot be trusted."
        if self.status != "broken":
            if self.selected is not None and len(self.steps) > 1:
                yield f"The score that decided, which flatters it: {self.selected}"
            yield f"The search ended: {self.ended}"
        yield f"Spent: {dollars(self.cost_usd)}"


def _ends(name: str, score: Score | None) -> dict[str, float | None]:
    """A score and its interval as named values; null if there is none."""
    figures = (None,) * 3 if score is None else (score.score, score.low, score.high)
    return dict(zip((f"{name}_score", f"{name}_low", f"{name}_high"), figures, strict=True))


class SearchOver(Exception):
    """Nothing more can be measured or proposed; `halt`: the last measurement is not made either."""

    def __init__(self, reason: str, *, halt: bool = False) -> None:
        super().__init__(reason)
        self.halt = halt


@dataclass(frozen=True, slots=True)
class OptimisingProgress:
    """How far an optimisation is.

    Attributes:
        doing: `measuring` a round, `proposing` the next description, `measuring again` the
            winner on new runs.
        round: the current round, from 1; the current description is round 1.
        rounds: the most rounds.
        steps: the rounds that have ended, each with its scores.
        measuring: how far the current measurement is; None if nothing is being measured.
        spent_usd: US dollars spent, as far as prices are known.
    """

    doing: Literal["measuring", "proposing", "measuring again"]
    round: int
    rounds: int
    steps: tuple[Step, ...]
    measuring: AskingProgress | None
    spent_usd: float

    @property
    def share(self) -> float:
        """The share of the search that is done, 0 to 1, if it takes all of its rounds."""
        within = self.measuring.share if self.measuring is not None else 0.0
        before = self.rounds if self.doing == "measuring again" else self.round - 1
        return (before + within) / (self.rounds + 1)
