"""`optimise`: rounds of measuring and proposing, chosen on held-out queries, measured afresh."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models import Connection, Prices, load_prices
from skill_eval_nb.models.ask import ATTEMPTS
from skill_eval_nb.running.asking import Terms, worst_usd
from skill_eval_nb.running.journal import hold_paid_folders
from skill_eval_nb.running.options import executor_of
from skill_eval_nb.running.protocol import Executor, Limits, Refused, SandboxKind, gather_refusals
from skill_eval_nb.skill_md import SKILL_FILE, read_text
from skill_eval_nb.skill_md import body as body_of
from skill_eval_nb.workspace import PathLike

from .attempt import Query, SkillSet, default_folder, mark, read_offer
from .describe import MOST, faults_of, with_description
from .measured import CostRange, Price, QueryOutcome
from .measurement import measure, reached_from
from .optimised import NAME, Optimised, OptimisingProgress, Step
from .propose import KEPT, question
from .search import NOTHING, Money, PaidSearch, split

if TYPE_CHECKING:
    from .attempt import Others


def estimate_search(work: PaidSearch, price: Price) -> CostRange:
    """What a search comes to.

    Args:
        work: the search.
        price: of one round of which nothing is there yet.
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
    "This very search was begun before ({}): started again, it makes only what is missing, and "
    "what is there is not paid for twice."
)
PRICED = "priced"
"""A series of which nothing is ever there, so that all of it has its price."""


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
    """Search for a description by which a skill is picked up when it should be, and only then.

    The queries are dealt into train and held-out ones. Round 1 measures the present description;
    if that measurement cannot be trusted (`stats.trigger_doubts`) the search ends there.
    Before each further round a model proposes another description, from the train queries that
    went wrong; it is never shown a held-out one. The search ends where every train query
    passes, where the train score did not improve for two rounds, after the last round, or where
    the budget holds no further one.

    The held-out queries alone choose. A later description takes the place of an earlier one
    where chance seldom gives it such a lead (exact permutation test over queries, one-sided p
    at most 12.5 %; it is called better at 5 % over all that are compared, and seems so above);
    where the two cannot be told apart the shorter or earlier one is kept.

    The score that a winner was chosen by flatters it, so the winner is measured once more, on fresh
    runs of the held-out queries: that is `best_score`. The luck of runs is out of it; that of which
    queries were held out is not, and its interval says how much that may be.

    A score is the share of runs that were right; runs that errored are in none. SKILL.md is not
    touched: `write_description` does that.

    Every attempt and every proposal is written at once: called again after an interruption, this
    makes only what is missing. The result is written, too, as `optimization_result.json`.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: at least two that should trigger and two that should not, and better twenty of
            each; those that have a split keep it.
        model: who decides whether to open the skill; as for `measure`.
        proposer_model: who writes descriptions; the same if it is not given.
        executor: as for `measure`.
        others: as for `measure`.
        runs: attempts of each query in each round.
        rounds: descriptions that are measured at most, the present one included.
        held_out: the share of each class that descriptions are chosen by.
        seed: of the split and of the order of attempts.
        budget_usd: the most that all of it may cost, in US dollars: rounds, proposals and the
            last measurement, whose money is kept back. Earlier starts count, and so does what
            was measured of the same there before.
        competing: skills whose descriptions the proposer is shown, given as `others` are.
        folder: where all of it is kept; `triggers` in NAME-workspace beside the skill if it
            is not given.
        concurrency: attempts at a time.
        limits: what one attempt may use; as for `measure`.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how models are reached; if it is not given, the stand-in answers in
            process for its own models, and any other model from outside.
        prices: what calls cost; the bundled table if it is not given.
        retry_errored: whether attempts that errored in an earlier start are made again.
        dry_run: nobody is asked; `n_runs` and `estimate` say what it comes to, and a note
            whether it was begun before.
        progress: called between the steps, and whenever an attempt has ended.
        stop: once it is set, what is in flight is cancelled, and what was written stays.

    Raises:
        Refused: a skill, a query or a figure cannot be used, a half of the queries lacks a
            class, no API key was found, there is a budget and no known price, the same thing is
            being measured or searched for already, or the folder cannot be written.
        OSError: something cannot be written.
    """
    faults: list[str] = []
    offer: SkillSet | None = None
    dealt: tuple[Query, ...] = ()
    with gather_refusals(faults):
        offer = read_offer(skill, competing, None)
        # Front matter that cannot be changed is told now, and not after a round was paid for.
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
    base = default_folder(source.folder) if folder is None else Path(folder).expanduser()
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
    reached = connection or reached_from(runner, proposer)
    if budget_usd is not None and not known.known(proposer):
        faults.append(f"budget_usd is set, so its price must be known: {known.unknown(proposer)}")
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
        notes=tuple(f"The present description has a fault: {why}." for why in faults_of(present)),
    )
    texts = [(query.query, query.should_trigger, query.split) for query in dealt]
    parts = [present, texts, priced.model, proposer, priced.executor, priced.others, body]
    # What sets it apart from another search of the same skill.
    kept = base / FOLDER / mark([*parts, beside, runs, rounds])
    if dry_run:
        begun = (BEGUN.format(kept / NAME),) if (kept / NAME).exists() else ()
        return replace(planned, notes=(*planned.notes, *begun))
    with hold_paid_folders([base / KEPT], "a search for a description", into=[base / KEPT, kept]):
        found = work.run_search()
        done = replace(
            planned,
            status=found.status,
            steps=tuple(replace(step, is_best=step is found.best) for step in found.steps),
            best_description=found.best.description if found.best is not None else present,
            best=found.fresh.test if found.fresh is not None else None,
            why=found.why,
            ended=found.ended,
            cost_usd=work.money.cost_usd,
        )
        if found.steps:
            done.write(kept)
    return done
