"""`optimise`: measure and propose in rounds, choose on held-out queries, measure the choice.

It also has the result, the progress, and the money of a search.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Optimization, OptimizationStep, dump, to_json
from skill_eval_nb.models import Connection, Prices, load_prices
from skill_eval_nb.models.ask import ATTEMPTS, Question
from skill_eval_nb.running.asking import AskingProgress, Terms, worst_usd
from skill_eval_nb.running.journal import hold_folders, make_ready
from skill_eval_nb.running.options import executor_of
from skill_eval_nb.running.protocol import (
    Executor,
    Limits,
    Refused,
    SandboxKind,
    find_unpriced,
    gather_refusals,
)
from skill_eval_nb.running.skill import folder_beside
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.skill_md import SKILL_FILE, read_text
from skill_eval_nb.skill_md import body as body_of
from skill_eval_nb.text import count, dollars
from skill_eval_nb.view import Block, Mark, Shown, Table, Text, Title
from skill_eval_nb.workspace import PathLike, write_atomic

from .attempt import Query, SkillSet, read_offer, short_hash
from .describe import MOST, faults_of, with_description
from .measurement import CostRange, Measured, Price, QueryOutcome, default_connection, measure
from .search import (
    KEPT,
    NOTHING,
    Score,
    Search,
    SearchOver,
    Step,
    propose,
    question,
    read_proposal,
    score_row,
    scores_of,
)

if TYPE_CHECKING:
    from .attempt import Others

NAME = "optimization_result.json"


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
        ends = dict.fromkeys((*score_row("train", None), *score_row("test", None)), pl.Float64)
        schema = {"round": pl.Int64, "description": pl.String, **ends, "is_best": pl.Boolean}
        return pl.DataFrame(rows, schema)

    def document(self) -> Optimization:
        """The result as other tools write it, with intervals added to the scores."""
        steps = [OptimizationStep(iteration=step.round, **step.row) for step in self.steps]
        return Optimization(
            best_description=self.best_description,
            iterations=steps,
            **score_row("best", self.best),
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
            yield "The chosen one was not measured on new runs: do not trust its score."
        if self.status != "broken":
            yield f"The search ended: {self.ended}"
        yield f"Spent: {dollars(self.cost_usd)}"


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


@dataclass
class Money:
    """What a search may spend, and has spent.

    Attributes:
        ceiling_usd: the most that everything may cost, in US dollars; None for no ceiling.
        attempts: attempts in one round.
        last_attempts: attempts in the last measurement.
        cap_usd: the most that one attempt may cost; None if no price is known.
        costs: what each measurement and question has cost, earlier starts included, by name;
            None if a price is not known.
        made: what each attempt so far has cost.
    """

    ceiling_usd: float | None
    attempts: int
    last_attempts: int
    cap_usd: float | None
    costs: dict[str, float | None] = field(default_factory=dict)
    made: list[float] = field(default_factory=list)

    def count_measurement(self, measured: Measured) -> None:
        """Count a measurement."""
        self.costs[str(measured.folder)] = measured.cost_usd
        costs = (attempt.cost_usd for attempt in measured.attempts)
        self.made += [cost for cost in costs if cost is not None]

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent, earlier starts included; None if a price is not known."""
        return None if None in self.costs.values() else self.spent_usd

    @property
    def spent_usd(self) -> float:
        """US dollars spent, as far as prices are known."""
        return sum(filter(None, self.costs.values()))

    def left(self, *, fresh: bool = False) -> float | None:
        """US dollars that may still be spent; None for no ceiling.

        The money for the last measurement is not included, except for that measurement itself
        (`fresh`).
        """
        if self.ceiling_usd is None:
            return None
        back = 0.0 if fresh else self._keep_back(self.ceiling_usd)
        return max(self.ceiling_usd - self.spent_usd - back, 0.0)

    def _keep_back(self, ceiling_usd: float) -> float:
        """US dollars for the last measurement.

        Its worst case, but not more than it would cost if every attempt were as expensive as the
        most expensive one so far, plus one worst case. Before any attempt was made: not more than
        its share of the ceiling.
        """
        cap = self.cap_usd or 0.0
        share = self.last_attempts / (self.attempts + self.last_attempts) * ceiling_usd
        likely = self.last_attempts * max(self.made) + cap if self.made else share
        return min(self.last_attempts * cap, likely)

    @property
    def holds_a_round(self) -> bool:
        """Whether another round probably fits, by the mean cost of the attempts so far."""
        left, usual = self.left(), sum(self.made) / max(len(self.made), 1)
        return left is None or left >= self.attempts * usual + (self.cap_usd or 0.0)


FRESH = "fresh"
"""The series of the last measurement, which never decides a choice."""
RESERVE = " (money is reserved for the last measurement)"
NO_ROUND = "the budget is probably too small for another round and the last measurement"


@dataclass(kw_only=True)
class PaidSearch(Search):
    """A search with real attempts and a proposer, within a budget; it continues earlier starts.

    Attributes:
        asking: makes the question for the proposer from the steps so far and the one to build on.
        queries: all queries, each with its split.
        measuring: `measure` with the arguments that never change.
        money: what may be spent.
        folder: where proposals are stored.
        terms: how the proposer is asked; once its `stop` is set, nothing more is begun.
        progress: called with each `OptimisingProgress`.
    """

    asking: Callable[[Sequence[Step], Step], Question[str]]
    queries: Sequence[Query]
    measuring: Callable[..., Measured]
    money: Money
    folder: Path
    terms: Terms
    progress: Callable[[OptimisingProgress], None] | None

    def measure(self, description: str, *, fresh: bool = False) -> Step:
        """Measure a description; see `Search.measure`."""
        self._check_stop()
        doing = "measuring again" if fresh else "measuring"
        first = not self.steps
        self._report_progress(doing)
        measured = self.measuring(
            queries=[query for query in self.queries if not fresh or query.split == "test"],
            description=description,
            series=FRESH if fresh else "",
            budget_usd=self.money.left(fresh=fresh),
            progress=lambda progress: self._report_progress(doing, progress),
            stop=self.terms.stop,
        )
        self.money.count_measurement(measured)
        asked, scores = measured.outcomes, scores_of(measured)
        doubts = measured.doubts.to_dicts() if first else []
        # If no run of the first round was scored, the doubts say why.
        done, tells = measured.status == "done", first or any(outcome.right for outcome in asked)
        reserve = "" if fresh or measured.status != "partial" else RESERVE
        return Step(
            0,
            description,
            asked,
            train=scores.get("train"),
            test=scores.get("test"),
            lacking=None if done and tells else measured.message + reserve,
            doubts=tuple(doubt["message"] for doubt in doubts),
            broken=" ".join(doubt["message"] for doubt in doubts if doubt["broken"]) or None,
        )

    def propose(self, base: Step) -> str:
        """Ask for the next description; see `Search.propose`."""
        self._check_stop()
        request = self.asking(self.steps, base)
        there = read_proposal(self.folder, request.key)
        self.money.costs[request.key] = there.spent_usd
        # If there is an answer, an earlier start began this round, and its attempts are reused.
        if there.description is None and not self.money.holds_a_round:
            raise SearchOver(NO_ROUND)
        self._report_progress("proposing")
        try:
            return propose(request, self.folder, replace(self.terms, budget_usd=self.money.left()))
        except Stopped as error:
            raise SearchOver(str(error), halt=True) from error
        finally:
            self.money.costs[request.key] = read_proposal(self.folder, request.key).spent_usd

    def _check_stop(self) -> None:
        if self.terms.stop is not None and self.terms.stop.is_set():
            raise SearchOver("it was stopped", halt=True)

    def _report_progress(
        self,
        doing: Literal["measuring", "proposing", "measuring again"],
        measuring: AskingProgress | None = None,
    ) -> None:
        if self.progress is None:
            return
        number = len(self.steps) + (doing != "measuring again")
        spent = self.money.spent_usd + (0.0 if measuring is None else measuring.spent_usd)
        self.progress(
            OptimisingProgress(doing, number, self.rounds, tuple(self.steps), measuring, spent)
        )


def split(queries: Sequence[Query], held_out: float, seed: int) -> tuple[Query, ...]:
    """Split queries into train and held-out ones, in the same proportion for each class.

    Queries with the same tags are spread over both parts as evenly as possible. Where a query goes
    depends on the seed and its words, not on its place. Queries that state a split keep it.

    Args:
        queries: at least two of each class, no two with the same words.
        held_out: the share of each class to hold out, above 0 and below 1; at least one query of
            each class is held out, and at least one is not.
        seed: for the random split.

    Returns:
        The same queries in the same order, each with its split.

    Raises:
        Refused: the share is not one, a query occurs twice, or a part lacks a class; all faults
            at once.

    >>> asked = [Query(f"q{n}", should_trigger=n < 5) for n in range(10)]
    >>> dealt = split(asked, 0.4, seed=0)
    >>> sum(one.split == "test" for one in dealt if one.should_trigger)
    2
    """
    counts = Counter(" ".join(query.query.casefold().split()) for query in queries)
    # Queries that differ only in spaces and capitals could end up in both parts.
    faults = [
        f"the query “{words[:80]}” occurs {times} times, so it could be both train and held-out: "
        "keep one of them"
        for words, times in counts.items()
        if times > 1
    ]
    if not 0 < held_out < 1:
        faults.append(f"held_out is {held_out}: it must be a share of the queries, such as 0.4")
        raise Refused(faults)

    def random_key(query: Query) -> str:
        text = f"{seed}\n{query.query}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()

    tested: set[Query] = set()
    for should in (True, False):
        own = [query for query in queries if query.should_trigger == should and query.split is None]
        own.sort(key=lambda query: (sorted(query.tags), random_key(query)))
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
                    f"there is no {name} query that {verb} trigger: a search needs at least two "
                    "such queries, better ten, some to learn from and some to choose by"
                )
    if faults:
        raise Refused(faults)
    return dealt


def estimate_search(work: PaidSearch, price: Price) -> CostRange:
    """What a search may cost.

    Args:
        work: the search.
        price: of one round if all of it has to be made.
    """
    outcomes = tuple(QueryOutcome(query, (not query.should_trigger,)) for query in work.queries)
    tried = [Step(n, f"{n}{'?' * MOST}", outcomes) for n in range(1, work.rounds)]
    texts = [work.asking(tried, tried[-1]) for _ in tried]
    proposals = worst_usd(texts, work.terms.known_prices)
    money, known = work.money, (*price.usd, proposals)
    if None in known:
        return CostRange(None, None, None)
    low, high, worst, talk = (usd or 0.0 for usd in known)
    last = money.last_attempts / money.attempts
    rounds = work.rounds + last
    return CostRange(low * (1 + last), high * rounds + talk / ATTEMPTS, worst * rounds + talk)


FOLDER = "optimisations"
BEGUN = (
    "This search was started before ({}). Starting it again makes only what is missing: nothing is "
    "paid for twice."
)
PRICED = "priced"
"""A series that nothing is ever stored under, so that a dry run prices a whole round."""


def optimise(
    skill: PathLike,
    queries: Iterable[Query],
    *,
    model: str | None = None,
    proposer_model: str | None = None,
    executor: str | Executor = "messages-api",
    others: Others = "bundled",
    runs: int = 3,
    rounds: int = 5,
    held_out: float = 0.4,
    seed: int = 0,
    budget_usd: float | None = None,
    competing: Others = "none",
    folder: PathLike | None = None,
    concurrency: int = 4,
    limits: Limits | None = None,
    sandbox: SandboxKind = "bubblewrap",
    connection: Connection | None = None,
    prices: Prices | None = None,
    retry_errored: bool = False,
    dry_run: bool = False,
    progress: Callable[[OptimisingProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Optimised:
    """Search for a description that gets a skill picked up when it should be, and only then.

    The queries are split into train and held-out ones. Round 1 measures the current description;
    if that measurement cannot be trusted (`stats.trigger_doubts`), the search ends there. Before
    each further round a model proposes another description, based on the train queries that went
    wrong; it never sees a held-out query. The search ends once every train query passes, when the
    train score has not improved for two rounds, after the last round, or when the budget is too
    small for another one.

    Only the held-out queries decide. A later description replaces an earlier one if such a lead
    is rarely chance (exact permutation test over queries, one-sided p at most 12.5 %). It is
    called better at 5 %, shared among all comparisons; above that, it `seems` better. If two
    cannot be told apart, the shorter or earlier one is kept.

    The score that decided flatters the winner, so the winner is measured once more, on new runs
    of the held-out queries: that is `best`. It is free of lucky runs, but not of luck in
    which queries were held out; its interval says how much that may matter.

    A score is the share of runs that were right; runs that errored do not count. SKILL.md is not
    changed: use `write_description`.

    Every attempt and every proposal is written at once: after an interruption, the same call makes
    only what is missing. The result is written as `optimization_result.json`.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: at least two that should trigger and two that should not, better twenty of each;
            queries that already have a split keep it.
        model: the model that decides whether to open the skill; as for `measure`.
        proposer_model: the model that writes descriptions; the same one if not given.
        executor: as for `measure`.
        others: as for `measure`.
        runs: attempts of each query in each round.
        rounds: the most descriptions to measure, including the current one.
        held_out: the share of each class of queries to hold out.
        seed: for the split and the order of attempts.
        budget_usd: the most that everything may cost, in US dollars: rounds, proposals and the
            last measurement, whose money is set aside. Earlier starts count, and so do earlier
            measurements of the same thing in this folder.
        competing: skills whose descriptions the proposer sees, given like `others`.
        folder: where everything is stored; if not given, `triggers` in NAME-workspace next to
            the skill.
        concurrency: attempts at a time.
        limits: what one attempt may use; as for `measure`.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how models are reached; if not given, the stand-in answers in process for its
            own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        retry_errored: whether to repeat attempts that errored in an earlier start.
        dry_run: no model is asked; `n_runs` and `estimate` say what the search may take, and a
            note says whether it was begun before.
        progress: called between steps and after each attempt.
        stop: once set, calls in flight are cancelled; what was written stays.

    Raises:
        Refused: a skill, a query or a number cannot be used, the train or held-out queries lack a
            class, no API key was found, there is a budget and no known price, the same thing is
            being measured or searched for already, or the folder cannot be written.
        OSError: something cannot be written.
    """
    faults: list[str] = []
    offer: SkillSet | None = None
    dealt: tuple[Query, ...] = ()
    with gather_refusals(faults):
        offer = read_offer(skill, competing, None)
        # Front matter that cannot be changed is reported now, before anything is paid for.
        skill_md = read_bytes(offer.skill.folder / SKILL_FILE)
        with_description(skill_md, offer.skill.description)
    with gather_refusals(faults):
        dealt = split(list(queries), held_out, seed)
    runner = executor_of(executor, {}, sandbox, faults)
    if rounds < 1:
        faults.append(f"rounds is {rounds}; it must be at least 1, for the current description")
    if faults or offer is None or runner is None:
        raise Refused(dict.fromkeys(faults))
    source = offer.skill
    known = prices or load_prices()
    base = folder_beside(source.folder, folder, "triggers")
    measuring = partial(
        measure,
        source.folder,
        runs=runs,
        model=model,
        executor=runner,
        others=others,
        folder=base,
        concurrency=concurrency,
        limits=limits,
        sandbox=sandbox,
        connection=connection,
        prices=known,
        seed=seed,
        retry_errored=retry_errored,
    )
    priced = measuring(dealt, dry_run=True, budget_usd=budget_usd, series=PRICED)
    proposer = proposer_model or priced.model
    reached = connection or default_connection(runner, proposer)
    faults += find_unpriced([proposer], known, budget_usd)
    if not dry_run and (why := reached.why_not()):
        faults.append(why)
    if faults:
        raise Refused(faults)
    present, body = source.description, body_of(read_text(source.folder))
    beside = [(skill.name, skill.description) for skill in offer.others]
    n_test = sum(query.split == "test" for query in dealt)
    work = PaidSearch(
        present=present,
        rounds=rounds,
        asking=partial(question, proposer, source.name, body, competing=beside),
        queries=dealt,
        measuring=measuring,
        money=Money(budget_usd, len(dealt) * runs, n_test * runs, priced.price.cap_usd),
        folder=base,
        terms=Terms(reached, known, stop=stop),
        progress=progress,
    )
    planned = Optimised(
        skill_name=source.name,
        status="dry run",
        steps=(),
        best_description=present,
        best=None,
        why=NOTHING,
        ended="no model was asked",
        model=priced.model,
        proposer_model=proposer,
        runs=runs,
        n_train=len(dealt) - n_test,
        n_test=n_test,
        n_runs=rounds * work.money.attempts + work.money.last_attempts,
        cost_usd=0.0,
        estimate=estimate_search(work, priced.price),
        folder=base,
        notes=tuple(f"The current description has a fault: {why}." for why in faults_of(present)),
    )
    texts = [(query.query, query.should_trigger, query.split) for query in dealt]
    parts = [present, texts, priced.model, proposer, priced.executor, priced.others, body]
    # These set it apart from other searches for the same skill.
    kept = base / FOLDER / short_hash([*parts, beside, runs, rounds])
    if dry_run:
        begun = (BEGUN.format(kept / NAME),) if (kept / NAME).exists() else ()
        return replace(planned, notes=(*planned.notes, *begun))
    with hold_folders([base / KEPT], "a search for a description"):
        make_ready([base / KEPT, kept])
        work.run_search()
        done = replace(
            planned,
            status=work.status,
            steps=tuple(replace(step, is_best=step is work.best) for step in work.steps),
            best_description=work.best.description if work.best is not None else present,
            best=work.fresh.test if work.fresh is not None else None,
            why=work.why,
            ended=work.ended,
            cost_usd=work.money.cost_usd,
        )
        if work.steps:
            done.write(kept)
    return done
