"""What a search does for each round: measured through `measure`, proposed by a model, paid for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.driving.progress import dollars
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.stats.phrases import count

from ..measuring import Measured, MeasuringProgress
from ..values import Query
from .asking import kept, propose
from .choosing import Round
from .going import OptimisingProgress
from .optimised import Step
from .prompting import question
from .scoring import Asked, asked_of, score_of
from .searching import Over
from .spending import Money

FRESH = "fresh"
"""The series of the last measurement: nothing is ever chosen by it."""
NO_ROUND = "the budget likely does not hold another round and the last measurement"


@dataclass
class Rounds:
    """A search at work.

    Attributes:
        name: the skill's.
        body: its SKILL.md below the front matter.
        queries: all of them, each with its split.
        measuring: `measure` with all that stays the same.
        money: the ceiling.
        folder: where proposals are kept.
        proposer: the model that proposes.
        competing: names and descriptions of other skills.
        connection: how the proposer is reached.
        prices: what calls cost.
        rounds: rounds at most.
        progress: called whenever something has ended.
        stop: once it is set, nothing more is begun.
        steps: the rounds that were measured.
        doubts: what is odd about the first, in words.
        broken: why the first cannot be trusted; None where it can.
    """

    name: str
    body: str
    queries: Sequence[Query]
    measuring: Callable[..., Measured]
    money: Money
    folder: Path
    proposer: str
    competing: Sequence[tuple[str, str]]
    connection: Connection
    prices: Prices
    rounds: int
    progress: Callable[[OptimisingProgress], None] | None
    stop: threading.Event | None
    steps: list[Step] = field(default_factory=list)
    doubts: tuple[str, ...] = ()
    broken: str | None = None

    def measure(
        self, description: str, *, fresh: bool = False
    ) -> tuple[tuple[Asked, ...], str | None]:
        """Measure a description, as `searching.Measure` has it."""
        self._heed()
        doing = "measuring again" if fresh else "measuring"
        own = [one for one in self.queries if not fresh or one.split == "test"]
        self._tell(doing)
        measured = self.measuring(
            queries=own,
            description=description,
            series=FRESH if fresh else "",
            budget_usd=self.money.left(fresh=fresh),
            progress=lambda told: self._tell(doing, told),
            stop=self.stop,
        )
        self.money.measured(measured, fresh=fresh)
        asked = asked_of(measured.attempts)
        if not fresh:
            if not self.steps:
                self.doubts = tuple(measured.doubts["message"])
                self.broken = " ".join(measured.doubts.filter("broken")["message"]) or None
            self.steps.append(
                Step(
                    len(self.steps) + 1,
                    description,
                    score_of(asked, "train"),
                    score_of(asked, "test"),
                    asked=asked,
                )
            )
        return asked, self._lacking(measured, asked, fresh)

    def propose(self, rounds: Sequence[Round], base: Round) -> str:
        """Ask for the next description, as `searching.Propose` has it."""
        self._heed()
        asked = question(self.proposer, self.name, self.body, rounds, base, self.competing)
        there = kept(self.folder, asked.key)
        self.money.proposed(asked.key, there)
        # Where there is an answer an earlier start began the round, and what it made is read.
        if there.description is None and not self.money.holds_a_round:
            raise Over(NO_ROUND)
        self._tell("proposing")
        try:
            proposal = propose(
                asked,
                self.folder,
                left_usd=self.money.left(),
                connection=self.connection,
                prices=self.prices,
                stop=self.stop,
            )
        except Stopped as error:
            raise Over(str(error), halt=True) from error
        finally:
            self.money.proposed(asked.key, kept(self.folder, asked.key))
        assert proposal.description is not None
        return proposal.description

    def _lacking(self, measured: Measured, asked: Sequence[Asked], fresh: bool) -> str | None:
        """Why a measurement is not whole; None where it is."""
        if measured.status == "partial":  # by the part of the budget that it was told
            missing = sum(one.outcome == "not run" for one in measured.attempts)
            beside = "" if fresh else ", with the last measurement kept back"
            return (
                f"the budget does not hold {count(missing, 'more attempt')}{beside}, each "
                f"{dollars(self.money.cap_usd or 0.0)} at worst; start again with a higher one, "
                "and what is missing is made"
            )
        # Where the first round tells nothing, the doubts say why.
        tells = any(one.right for one in asked) or (not fresh and len(self.steps) == 1)
        return None if measured.status == "done" and tells else measured.message

    def _heed(self) -> None:
        if self.stop is not None and self.stop.is_set():
            raise Over("it was stopped", halt=True)

    def _tell(
        self,
        doing: Literal["measuring", "proposing", "measuring again"],
        measuring: MeasuringProgress | None = None,
    ) -> None:
        if self.progress is None:
            return
        number = len(self.steps) + (doing != "measuring again")
        spent = self.money.spent_usd + (0.0 if measuring is None else measuring.spent_usd)
        told = OptimisingProgress(doing, number, self.rounds, tuple(self.steps), measuring, spent)
        self.progress(told)
