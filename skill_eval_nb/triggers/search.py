"""Train and held-out queries: dealt within each class and tag, the same for the same seed."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.text import count, dollars

from .attempt import Query
from .measured import Measured
from .measurement import MeasuringProgress
from .optimised import (
    OptimisingProgress,
    QueryOutcome,
    Round,
    SearchOver,
    Step,
    mean,
    outcomes_of,
    score_of,
)
from .propose import Proposal, kept, propose, question

LEVEL = 0.125
"""The largest p with which a description takes another's place. Three queries that go one way
and none the other just reach it. A wrong step costs little: it is taken between two that are
about as good.
"""
SURE = 0.05
"""The largest p, shared among all descriptions that are compared, with which one is called better;
with a larger one it seems so.
"""


@dataclass(frozen=True, slots=True)
class Paired:
    """A description against an earlier one, over the same held-out queries.

    Attributes:
        before: the mean share of right runs of the earlier one, 0-1.
        after: that of the later one.
        n: queries that both have runs of.
        p: the chance of a lead like the later one's, or a larger, if the sides of each query
            could as well have been the other way round; exact; None where it does not lead.
    """

    before: float
    after: float
    n: int
    p: float | None


@dataclass(frozen=True, slots=True)
class ChosenDescription:
    """A chosen description, and why, in words."""

    round: Round
    why: str


def choose(rounds: Sequence[Round]) -> ChosenDescription:
    """Choose among descriptions, by the held-out queries alone.

    They are taken in order, the present one first. A later one takes its place where it does
    better than chance explains. Where the two cannot be told apart the earlier one stays, but
    for a later one that is shorter and scores no lower.

    Args:
        rounds: the first is the present description, and is kept where no other is whole.
    """
    held = rounds[0]
    sentences = []
    for round_ in rounds[1:]:
        pair = paired(held, round_)
        if not round_.whole:
            sentences.append(f"{_name(round_)} was not finished, so it cannot be chosen.")
        elif pair is None:
            sentences.append(f"{_name(round_)} has no held-out query to be compared by.")
        else:
            held, words = _compared(held, round_, pair, SURE / (len(rounds) - 1))
            sentences.append(words)
    first = "is chosen" if held is not rounds[0] else "is kept"
    every = [f"{_name(held)} {first}.", *sentences]
    return ChosenDescription(
        held, " ".join(f"{sentence[0].upper()}{sentence[1:]}" for sentence in every)
    )


def _compared(held: Round, round_: Round, pair: Paired, sure: float) -> tuple[Round, str]:
    """Which of two stays, and why; `sure` is the largest p that shows a difference."""
    chance = "" if pair.p is None else f" (exact one-sided p = {pair.p:.2g})"
    against = (
        f"{pair.after:.0%} right on {pair.n} held-out queries against {pair.before:.0%}{chance}"
    )
    if pair.p is not None and pair.p <= sure:
        return round_, f"{_name(round_)} is better than {_name(held)}: {against}."
    if pair.p is not None and pair.p <= LEVEL:
        return (
            round_,
            f"{_name(round_)} seems better than {_name(held)}: {against}, which may be chance.",
        )
    if pair.after < pair.before:
        return held, f"{_name(round_)} scores lower than {_name(held)}: {against}."
    shorter = len(round_.description) < len(held.description)
    kept = "shorter" if shorter else "earlier"
    words = (
        f"{_name(round_)} and {_name(held)} cannot be told apart: {against}, so the {kept} one is "
        "kept."
    )
    return round_ if shorter else held, words


def paired(before: Round, after: Round) -> Paired | None:
    """Compare two descriptions query by query; None where they share no query with runs.

    The test is the exact permutation test with one value a query and side, the share of right
    runs: it flips the sign of each query's difference. What it says holds for queries like
    these, not for these alone.
    """
    from skill_eval_nb.stats.inference.exact import exact_p

    shares = {row.query: row.share for row in before.outcomes if row.query.split == "test"}
    both = [
        (outcome.share, known)
        for outcome in after.outcomes
        if outcome.share is not None and (known := shares.get(outcome.query)) is not None
    ]
    if not both:
        return None
    later, earlier = (sum(side) / len(both) for side in zip(*both, strict=True))
    leads = later > earlier + 1e-9
    p = exact_p([([share], [other]) for share, other in both]) / 2 if leads else None
    return Paired(earlier, later, len(both), p)


def _name(round_: Round) -> str:
    return "the present description" if round_.number == 1 else f"round {round_.number}"


PATIENCE = 2
"""Rounds without a better train score after which a search ends."""


Outcomes = tuple[tuple[QueryOutcome, ...], str | None]
"""Each query as it went, and why not all runs were made; None where they were."""
Measure = Callable[..., Outcomes]
"""Measures a description; with `fresh`, by new runs of the held-out queries alone.

Raises `SearchOver` where nothing was measured.
"""
Propose = Callable[[Sequence[Round], Round], str]
"""Gives the next description, from all rounds and the one to build on; raises `SearchOver`."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes:
        rounds: the descriptions that were measured, in order.
        choice: the one that was chosen; None where none was measured.
        fresh: the held-out queries under it on fresh runs; empty where they were not made.
        ended: why the search ended, in words.
        early: whether something else than its own rules ended it, such as the budget.
        broken: whether the first measurement cannot be trusted.
    """

    rounds: tuple[Round, ...]
    choice: ChosenDescription | None
    fresh: tuple[QueryOutcome, ...]
    ended: str
    early: bool = False
    broken: bool = False


def search(
    present: str,
    measure: Measure,
    propose: Propose,
    *,
    rounds: int,
    doubt: Callable[[Round], str | None] = lambda _: None,
) -> SearchResult:
    """Search for a better description.

    What is proposed, and when the search ends, rests on train queries alone; what is chosen, on
    held-out ones alone. The score of the choice flatters it, so it is measured once more.

    Args:
        present: the description that there is, which is measured first.
        measure: measures a description.
        propose: gives the next one.
        rounds: descriptions that are measured at most, the present one included.
        doubt: why the first measurement cannot be trusted; None where it can.
    """
    tried: list[Round] = []
    ended, early, halted = "", False, False
    try:
        while not ended:
            description = propose(tried, leading(tried)) if tried else present
            outcomes, lacking = measure(description)
            tried.append(Round(len(tried) + 1, description, outcomes, lacking is None))
            if lacking is not None:
                ended, early = f"round {len(tried)} was not finished: {lacking}", True
                halted = len(tried) == 1
            elif len(tried) == 1 and (why := doubt(tried[0])) is not None:
                return SearchResult(
                    tuple(tried), ChosenDescription(tried[0], why), (), why, broken=True
                )
            else:
                ended = _end(tried, rounds)
    except SearchOver as over:
        ended, early, halted = over.reason, True, over.halt
    if not tried:
        return SearchResult((), None, (), ended, early)
    choice = choose(tried)
    fresh: tuple[QueryOutcome, ...] = ()
    if not halted:
        try:
            fresh, lacking = measure(choice.round.description, fresh=True)
        except SearchOver as over:
            lacking = over.reason
        if lacking is not None:
            ended, early = f"{ended}; the last measurement was not finished: {lacking}", True
    return SearchResult(tuple(tried), choice, fresh, ended, early)


def leading(rounds: Sequence[Round]) -> Round:
    """The round to build on: the best on the train queries; of several, the last."""
    return max(rounds, key=lambda round_: (_train(round_), round_.number))


def _train(round_: Round) -> float:
    return mean(round_.outcomes, "train") or 0.0


def _end(tried: Sequence[Round], rounds: int) -> str:
    """Why a search ends after these rounds; empty where it goes on."""
    train = [outcome for outcome in tried[-1].outcomes if outcome.query.split == "train"]
    if all(outcome.passes for outcome in train):
        return f"every train query passes in round {len(tried)}"
    scores = [_train(round_) for round_ in tried]
    if len(tried) > PATIENCE and max(scores[-PATIENCE:]) <= max(scores[:-PATIENCE]):
        return f"the train score did not improve in the last {PATIENCE} rounds"
    if len(tried) < rounds:
        return ""
    return f"all {rounds} rounds were made" if rounds > 1 else "no more than one round was wanted"


@dataclass
class Money:
    """What a search may spend, and has spent.

    Attributes:
        ceiling_usd: the most that all of it may cost, in US dollars; None for no ceiling.
        attempts: attempts of a round.
        last_attempts: attempts of the last measurement.
        cap_usd: what one attempt may cost at most; None where no price is known.
    """

    ceiling_usd: float | None
    attempts: int
    last_attempts: int
    cap_usd: float | None
    _costs: dict[str, float | None] = field(default_factory=dict)
    _attempts: dict[str, list[float]] = field(default_factory=dict)

    def measured(self, measured: Measured, *, fresh: bool) -> None:
        """Count a measurement; its earlier starts are in it."""
        key = f"{'fresh' if fresh else 'measured'}: {measured.description}"
        self._costs[key] = measured.cost_usd
        costs = (attempt.cost_usd for attempt in measured.attempts)
        self._attempts[key] = [cost for cost in costs if cost is not None]

    def proposed(self, key: str, proposal: Proposal) -> None:
        """Count a question to the proposer; its earlier starts are in it."""
        self._costs[key] = proposal.spent_usd

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent, earlier starts included; None where a price is not known."""
        return None if None in self._costs.values() else self.spent_usd

    @property
    def spent_usd(self) -> float:
        """The same, as far as prices are known."""
        return sum(filter(None, self._costs.values()))

    def left(self, *, fresh: bool = False) -> float | None:
        """US dollars that may still be spent; None for no ceiling.

        But for the last measurement itself (`fresh`), its money is not among them.
        """
        if self.ceiling_usd is None:
            return None
        back = 0.0 if fresh else self.kept_back
        return max(self.ceiling_usd - self.spent_usd - back, 0.0)

    @property
    def kept_back(self) -> float:
        """US dollars for the last measurement.

        Its worst case, but no more than what it comes to if every attempt of it is as dear as
        the dearest so far, with one at its worst; before any was made, than its share of the
        ceiling.
        """
        if self.ceiling_usd is None:
            return 0.0
        cap, costs = self.cap_usd or 0.0, list(chain(*self._attempts.values()))
        worst = self.last_attempts * cap
        if not costs:
            part = self.last_attempts / (self.attempts + self.last_attempts)
            return min(worst, part * self.ceiling_usd)
        return min(worst, self.last_attempts * max(costs) + cap)

    @property
    def holds_a_round(self) -> bool:
        """Whether another round likely fits, by what attempts cost on average so far."""
        left, costs = self.left(), list(chain(*self._attempts.values()))
        usual = sum(costs) / len(costs) if costs else 0.0
        return left is None or left >= self.attempts * usual + (self.cap_usd or 0.0)


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

    def measure(self, description: str, *, fresh: bool = False) -> Outcomes:
        """Measure a description, as `Measure` has it."""
        self._heed()
        doing = "measuring again" if fresh else "measuring"
        own = [query for query in self.queries if not fresh or query.split == "test"]
        self._report(doing)
        measured = self.measuring(
            queries=own,
            description=description,
            series=FRESH if fresh else "",
            budget_usd=self.money.left(fresh=fresh),
            progress=lambda progress: self._report(doing, progress),
            stop=self.stop,
        )
        self.money.measured(measured, fresh=fresh)
        outcomes = outcomes_of(measured.attempts)
        if not fresh:
            if not self.steps:
                self.doubts = tuple(measured.doubts["message"])
                self.broken = " ".join(measured.doubts.filter("broken")["message"]) or None
            self.steps.append(
                Step(
                    len(self.steps) + 1,
                    description,
                    score_of(outcomes, "train"),
                    score_of(outcomes, "test"),
                    asked=outcomes,
                )
            )
        return outcomes, self._lacking(measured, outcomes, fresh)

    def propose(self, rounds: Sequence[Round], base: Round) -> str:
        """Ask for the next description, as `Propose` has it."""
        self._heed()
        request = question(self.proposer, self.name, self.body, rounds, base, self.competing)
        there = kept(self.folder, request.key)
        self.money.proposed(request.key, there)
        # Where there is an answer an earlier start began the round, and what it made is read.
        if there.description is None and not self.money.holds_a_round:
            raise SearchOver(NO_ROUND)
        self._report("proposing")
        try:
            proposal = propose(
                request,
                self.folder,
                left_usd=self.money.left(),
                connection=self.connection,
                prices=self.prices,
                stop=self.stop,
            )
        except Stopped as error:
            raise SearchOver(str(error), halt=True) from error
        finally:
            self.money.proposed(request.key, kept(self.folder, request.key))
        assert proposal.description is not None
        return proposal.description

    def _lacking(
        self, measured: Measured, outcomes: Sequence[QueryOutcome], fresh: bool
    ) -> str | None:
        """Why a measurement is not whole; None where it is."""
        if measured.status == "partial":  # by the part of the budget that it was told
            missing = sum(attempt.outcome == "not run" for attempt in measured.attempts)
            beside = "" if fresh else ", with the last measurement kept back"
            return (
                f"the budget does not hold {count(missing, 'more attempt')}{beside}, each "
                f"{dollars(self.money.cap_usd or 0.0)} at worst; start again with a higher one, "
                "and what is missing is made"
            )
        # Where the first round tells nothing, the doubts say why.
        tells = any(outcome.right for outcome in outcomes) or (not fresh and len(self.steps) == 1)
        return None if measured.status == "done" and tells else measured.message

    def _heed(self) -> None:
        if self.stop is not None and self.stop.is_set():
            raise SearchOver("it was stopped", halt=True)

    def _report(
        self,
        doing: Literal["measuring", "proposing", "measuring again"],
        measuring: MeasuringProgress | None = None,
    ) -> None:
        if self.progress is None:
            return
        number = len(self.steps) + (doing != "measuring again")
        spent = self.money.spent_usd + (0.0 if measuring is None else measuring.spent_usd)
        self.progress(
            OptimisingProgress(doing, number, self.rounds, tuple(self.steps), measuring, spent)
        )


def split(queries: Sequence[Query], held_out: float, seed: int) -> tuple[Query, ...]:
    """Deal queries to train and test, those that should trigger apart from those that should not.

    Queries of the same tags are spread over both halves as evenly as can be. Which of them fall
    where depends on the seed and their words, not on their places. Queries that say their split
    keep it.

    Args:
        queries: at least two of each class, each with words of its own.
        held_out: the share of each class that is held out, above 0 and below 1; one query at
            least is held out and one is not.
        seed: of the dealing.

    Returns:
        The same queries in the same order, each with its split.

    Raises:
        Refused: the share is none, a query is there twice, or a half lacks a class; all faults
            at once.

    >>> asked = [Query(f"q{n}", should_trigger=n < 5) for n in range(10)]
    >>> dealt = split(asked, 0.4, seed=0)
    >>> sum(one.split == "test" for one in dealt if one.should_trigger)
    2
    """
    counts = Counter(" ".join(query.query.casefold().split()) for query in queries)
    # Queries that differ by spaces and capitals at most could be in both halves.
    faults = [
        f"the query “{words[:80]}” is there {times} times: one may be held out while another is "
        "learned from; leave one of them"
        for words, times in counts.items()
        if times > 1
    ]
    if not 0 < held_out < 1:
        faults.append(f"held_out is {held_out}: it is a share of the queries, such as 0.4")
        raise Refused(faults)

    def drawn(query: Query) -> str:
        text = f"{seed}\n{query.query}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()

    tested: set[Query] = set()
    for should in (True, False):
        own = [query for query in queries if query.should_trigger == should and query.split is None]
        own.sort(key=lambda query: (sorted(query.tags), drawn(query)))
        wanted = min(max(round(held_out * len(own)), 1), len(own) - 1)
        tested.update(own[int((at + 0.5) * len(own) / wanted)] for at in range(wanted))
    dealt = tuple(
        query if query.split else replace(query, split="test" if query in tested else "train")
        for query in queries
    )
    for should, verb in ((True, "should"), (False, "should not")):
        for half, name in (("train", "train"), ("test", "held-out")):
            if not any(query.should_trigger == should and query.split == half for query in dealt):
                faults.append(
                    f"there is no {name} query that {verb} trigger: a search needs two such "
                    "queries at least, and better ten, one half to learn from and one to choose by"
                )
    if faults:
        raise Refused(faults)
    return dealt
