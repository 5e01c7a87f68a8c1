"""`measure`: does a skill's description do its work?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from skill_eval_nb.models import Connection, Prices, load_prices
from skill_eval_nb.running.driving.journal import ENDED, PLANNED, STARTED, Journal
from skill_eval_nb.running.driving.progress import dollars
from skill_eval_nb.running.driving.warming import OURS, warm_up
from skill_eval_nb.running.executors import Executor, Limits, SandboxKind
from skill_eval_nb.running.money.budget import Budget
from skill_eval_nb.running.planning.asked import executor_of, figures
from skill_eval_nb.running.refused import Refused, gathered
from skill_eval_nb.running.steps.folders import STAGING, remove
from skill_eval_nb.running.threads import Stopped, in_thread
from skill_eval_nb.stats.phrases import count
from skill_eval_nb.workspace.lock import who

from ..values import Attempt, Query
from .checking import faults_of, model_of, reached_from
from .filing import Cell, default_folder, further_attempts, write_summary
from .going import Going, MeasuringProgress, in_order, spent_on, take_up
from .measured import Measured, Status
from .offering import Others, PathLike, read_offer, staged
from .pricing import Price
from .setting import Setting
from .wanted import Wanted

TURNS = 6
SECONDS = 180.0
"""The limits of an attempt where none are given: whether a skill is opened shows early."""


def measure(
    skill: PathLike,
    queries: Iterable[Query],
    *,
    runs: int = 3,
    model: str | None = None,
    executor: str | Executor = "messages-api",
    others: Others = "bundled",
    description: str | None = None,
    series: str = "",
    folder: PathLike | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    limits: Limits | None = None,
    sandbox: SandboxKind = "bubblewrap",
    connection: Connection | None = None,
    prices: Prices | None = None,
    seed: int = 0,
    retry_errored: bool = False,
    dry_run: bool = False,
    progress: Callable[[MeasuringProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Measured:
    """Ask each query several times, and see whether the skill is picked up.

    Each attempt has a working folder, a home and a configuration of its own, with the skill
    among the others; it ends as soon as the skill was opened. `triggered`: the skill's body was
    opened at any point. `not triggered`: the run came to its end, or to its limit of turns,
    without. `errored`: it broke, ran out of time or was refused. `not run`: it never began.

    Each attempt is written at once, and is never made again: called again after an
    interruption, this makes those that are missing, and more where `runs` or `queries` have
    grown. What can stand for each other has the same skill, description, others, executor,
    model, limits of turns, time and output, sandbox and series.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: each with words of its own.
        runs: attempts of each query.
        model: who decides; `stand-in` where a stand-in answers and no other is named.
        executor: its name, or itself.
        others: the skills beside it: `"bundled"` for a handful that come with the package (but
            one of the skill's own name), `"none"`, or paths of skills' folders, or of folders
            that hold such.
        description: measured in place of the one in SKILL.md, which is not touched.
        series: a name; the same thing measured under another name is measured anew.
        folder: where attempts are written; `triggers` in NAME-workspace beside the skill where
            it is not given.
        budget_usd: the most that these attempts may cost, earlier starts included, in US
            dollars; an attempt whose worst case does not fit is not begun.
        concurrency: attempts at a time.
        limits: what one attempt may use; 6 turns and 180 s where they are not given.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how the model is reached; where it is not given, the stand-in answers in
            process for its own models, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        seed: of the order of attempts.
        retry_errored: whether attempts that errored are made again.
        dry_run: nobody is asked, and `price` says what the rest may cost.
        progress: called whenever an attempt has ended.
        stop: once it is set, what is in flight is cancelled, and what was written stays.

    Raises:
        Refused: a skill, a query or a figure cannot be used, two skills have the same name, no
            model is known, or there is a budget and no known price; all faults at once. Or the
            same thing is being measured already, here or in another process.
        OSError: an attempt cannot be written.
    """
    asked = list(queries)
    allowed = limits or Limits(turns=TURNS, seconds=SECONDS)
    faults = faults_of(asked, budget_usd)
    figures(faults, runs, 0, concurrency, None, None, allowed)
    runner = executor_of(executor, {}, sandbox, faults)
    worker = model_of(model, runner, connection, faults)
    known = prices or load_prices()
    if worker is not None and budget_usd is not None and not known.known(worker):
        faults.append(f"budget_usd is set, so the price must be known: {known.unknown(worker)}")
    reached = connection or reached_from(runner, worker)
    if not dry_run and type(runner).__module__.startswith(OURS) and (why := reached.why_not()):
        faults.append(why)
    offer = None
    with gathered(faults):
        offer = read_offer(skill, others, description)
    if faults or offer is None or runner is None or worker is None:
        raise Refused(dict.fromkeys(faults))
    base = default_folder(offer.skill.folder) if folder is None else Path(folder).expanduser()
    cells = tuple(Cell(query, run) for query in asked for run in range(1, runs + 1))
    with staged(offer) as offered:
        setting = Setting(offered, runner, worker, allowed, sandbox, reached, series)
        wanted = Wanted(setting, cells, base / setting.fingerprint, known, retry_errored)
        if dry_run:
            return wanted.measured(wanted.there(), "dry run", "nobody was asked")
        if not wanted.missing(wanted.there()):
            told = f"all of it was there already{_errored(wanted.there().values())}"
            return _concluded(wanted, wanted.there(), "done", told)
        return _made(wanted, budget_usd, concurrency, seed, progress, stop)


def _made(
    wanted: Wanted,
    budget_usd: float | None,
    concurrency: int,
    seed: int,
    progress: Callable[[MeasuringProgress], None] | None,
    stop: threading.Event | None,
) -> Measured:
    """Make what is missing, as the one writer of this measurement."""
    setting, home = wanted.setting, wanted.home
    journal = Journal(home, {"event": PLANNED, "measured": setting.told})
    try:
        there = wanted.there()
        missing, price = wanted.missing(there), wanted.price(there)
        spent = spent_on(journal.told, home, wanted.cells)
        skills = str(setting.offered.skill.folder.parent)
        journal.add(STARTED, **who(), ceiling_usd=budget_usd, skills=skills, attempts=len(missing))
        take_up(journal, home)
        budget = Budget(budget_usd, wanted.prices, spent)
        cap = None if budget_usd is None else price.cap_usd
        going = Going(home, setting, cap, budget, len(wanted.cells), progress)
        going.made.update((one, there[one]) for one in there if one not in set(missing))
        warm_up(setting.connection, setting.executor, judged=False)
        status: Status = "done"
        try:
            work = going.all(in_order(missing, seed), journal, concurrency)
            in_thread(work, stop, name="measure")
        except Stopped:
            status = "stopped"
        status = "partial" if going.left_out and status == "done" else status
        message = _message(going, status, budget_usd, cap)
        remove(home / STAGING)
        journal.add(ENDED, status=status, message=message)
        return _concluded(wanted, {**there, **going.made}, status, message, price)
    finally:
        journal.close()


def _concluded(
    wanted: Wanted,
    made: Mapping[Cell, Attempt],
    status: Status,
    message: str,
    price: Price | None = None,
) -> Measured:
    """The measurement, with its summary written, in which all runs of a query count."""
    measured = wanted.measured(made, status, message, price)
    if made:
        every = (*measured.attempts, *further_attempts(wanted.home, wanted.cells))
        write_summary(wanted.home, replace(measured, attempts=every).document())
    return measured


def _message(going: Going, status: Status, budget_usd: float | None, cap: float | None) -> str:
    if status == "stopped":
        return "it was stopped; measure again, and what is missing is made"
    if status == "partial":
        return (
            f"the budget of {dollars(budget_usd or 0.0)} does not hold "
            f"{count(len(going.left_out), 'more attempt')}, each {dollars(cap or 0.0)} at worst; "
            "measure again with a higher one, and what is missing is made"
        )
    return f"{count(len(going.made), 'attempt')}{_errored(going.made.values())}"


def _errored(made: Iterable[Attempt]) -> str:
    errored = sum(one.outcome == "errored" for one in made)
    again = "; retry_errored=True makes them again" if errored else ""
    return f", {errored:,} errored{again}"
