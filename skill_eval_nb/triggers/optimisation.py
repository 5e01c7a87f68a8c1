"""`optimise`: measure and propose in rounds, choose on held-out queries, measure the choice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.models import Connection, Prices, load_prices
from skill_eval_nb.models.ask import ATTEMPTS
from skill_eval_nb.running.asking import Terms, worst_usd
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
from skill_eval_nb.skill_md import SKILL_FILE, read_text
from skill_eval_nb.skill_md import body as body_of
from skill_eval_nb.workspace import PathLike

from .attempt import Query, SkillSet, mark, read_offer
from .describe import MOST, faults_of, with_description
from .measurement import CostRange, Price, QueryOutcome, measure, reached_from
from .optimised import NAME, Optimised, OptimisingProgress, Step
from .search import KEPT, NOTHING, Money, PaidSearch, question, split

if TYPE_CHECKING:
    from .attempt import Others


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
    "This search was begun before ({}). Started again, it makes only what is missing: nothing is "
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
    reached = connection or reached_from(runner, proposer)
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
    kept = base / FOLDER / mark([*parts, beside, runs, rounds])
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
