"""The driver: opens a plan's iteration, carries the plan out in a thread, and concludes.

It is the only writer of the journal. `engine` makes a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import traceback
from collections import Counter
from concurrent.futures import Executor as Pool
from pathlib import Path
from time import monotonic

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Evals, dump, to_json
from skill_eval_nb.models import ModelFault
from skill_eval_nb.text import count
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.jobs import STARTED
from skill_eval_nb.workspace.writing import who

from . import protocol
from .batch import Batches
from .budget import Budget
from .engine import Engine
from .files import Unwritable, clear, clear_error, remove, unwritable
from .job import OnProgress, Progress, Status, estimate_left
from .journal import DECIDED, ENDED, Journal, Ledger, close_interrupted, read_journal, sweep
from .pool import JobFailed
from .protocol import calls_models
from .spec import CHECK, EXECUTE, GRADE, JUDGE, SNAPSHOTS, Run, Spec
from .spec import reason_errored as why_errored
from .steps import CannotRun
from .suite import SUITE, is_ours, metadata_of
from .threads import is_exiting, run_alone

NOT_SWEPT = frozenset(("outputs", "inputs", SNAPSHOTS))
"""Folders with other programs' files."""


def tidy(plan: Spec) -> None:
    """Delete what a killed job was writing: in this iteration, and of the suite."""
    for folder in plan.workspace.glob(f".{plan.folder.name}.*"):
        remove(folder)
    sweep(plan.workspace / SUITE.parent)
    sweep(plan.folder)  # reports, for one, are put there by others
    for at, names, _ in os.walk(plan.folder):
        names[:] = [name for name in names if name not in NOT_SWEPT]
        for name in names:
            sweep(Path(at, name), 0)


def write_suite(plan: Spec) -> tuple[str | None, list[str]]:
    """Keep the suite in the workspace, so that it can be loaded by itself.

    An existing suite that we did not write is left as it is.

    Returns:
        The hash of what was written, for the journal, and a message for the user.
    """
    path, target = plan.suite.path, plan.workspace / SUITE
    if path.resolve().is_relative_to(plan.workspace.resolve()):
        return None, []
    if target.parent.exists() and not target.parent.is_dir():
        return None, [f"{target.parent} is not a folder, so the suite is not kept in the workspace"]
    data = read_bytes(path) if path.name == SUITE.name else _as_suite(plan)
    mark = hashlib.sha256(data).hexdigest()
    there = read_bytes(target) if target.is_file() else data
    if there != data and not is_ours(plan.workspace, hashlib.sha256(there).hexdigest()):
        left = f"{target} is another suite than {path}, and is left as it is"
        return None, [f"{left}: the tables may describe the evals by it"]
    if there != data or not target.is_file():
        write_atomic(target, data)
    return mark, []


def _as_suite(plan: Spec) -> bytes:
    """The suite in the usual form, if its file has another one."""
    suite = Evals(
        evals=[eval_.definition for eval_ in plan.suite.evals],
        skill_name=plan.suite.skill_name or plan.skill_name,
        eval_config=plan.suite.config,
    )
    return to_json(dump(suite))


def write_metadata(plan: Spec) -> None:
    """Write eval_metadata.json at the level of each eval that has a cell."""
    for eval_ in plan.evals:
        data = to_json(metadata_of(eval_))
        target = plan.folder / eval_.folder / "eval_metadata.json"
        if not target.is_file() or read_bytes(target) != data:
            write_atomic(target, data)


class Driver:
    """Carries out a plan; made by `Plan.start`, and observed through its `Job`."""

    def __init__(self, plan: Spec, pool: Pool | None, on_progress: OnProgress | None) -> None:
        self.plan, self._pool = plan, pool
        self.status: Status = "running"
        self._on_progress = on_progress
        self._message: str | None = None
        self._began = monotonic()
        self._seconds: float | None = None  # in all, once the job has ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._grace: float | None = None  # seconds, once somebody has asked to stop
        self._runs: list[Run] = []  # those that lack something
        self.journal = Journal(plan.folder, plan.fingerprint.event())
        try:
            self._open()
        except BaseException:
            self.journal.close()
            raise

    def _open(self) -> None:
        plan, journal = self.plan, self.journal
        skills = {side.name: plan.staged(side) for side in plan.sides}
        tidy(plan)
        mark, odd = write_suite(plan)
        write_metadata(plan)
        journal.add(
            STARTED,
            **who(),
            ceiling_usd=plan.budget_usd,
            cells=len(plan.cells),
            suite=mark,
            asked=plan.asked,
        )
        interrupted, self._batches = close_interrupted(journal)
        clear(plan.folder)
        waiting = sum(batch.worst_usd or 0.0 for batch in self._batches.values())
        spent = max(read_journal(plan.folder).spent_usd - waiting, 0.0)
        budget = Budget(plan.budget_usd, plan.prices, spent)
        ledger = Ledger(journal, budget, self._report)
        self._engine = Engine(plan, self._pool, ledger, skills)
        self._engine.problems += [*odd, *interrupted]
        runs = [plan.run_of(cell) for cell in plan.needed]
        self._needed = len(runs)
        for run in runs:
            self._count_missing(run)
        lacking = (run for run in runs if run.missing)
        self._runs = sorted(lacking, key=lambda run: run.missing.execute)  # paid for, then graded

    def _count_missing(self, run: Run) -> None:
        """Count what a run lacks."""
        missing, engine = run.missing, self._engine
        judgings = 0 if self.plan.judge is None else len(missing.judgings)
        if missing:
            engine.rest[run.cell.key] = Counter({EXECUTE: missing.execute, JUDGE: judgings})
        else:
            why = why_errored(run.place)
            engine.counts["finished" if why is None else "errored"] += 1
        if missing and not missing.execute and self.plan.retry_errored:
            clear_error(run.place)

    # ── asked from other threads ─────────────────────────────────────────────────────────────

    def ask_to_stop(self, grace: float) -> None:
        """Begin nothing new; what is in flight is cancelled after `grace` seconds."""
        self._grace = grace
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._engine.stop, grace)
            except RuntimeError:  # the loop is closed: the job has just ended
                return

    def snapshot(self) -> Progress:
        """The job's current progress."""
        engine, ledger = self._engine, self._engine.ledger
        budget, flying, rest = ledger.budget, ledger.flying, engine.waiting
        return Progress(
            status=self.status,
            cells=self._needed,
            finished=engine.counts["finished"],
            errored=engine.counts["errored"],
            waiting=rest[EXECUTE],
            steps=tuple((name, ledger.done[name]) for name in (EXECUTE, CHECK, JUDGE, GRADE)),
            in_flight=flying,
            spent_usd=budget.spent_usd,
            reserved_usd=budget.reserved_usd,
            ceiling_usd=budget.cap_usd,
            tokens=ledger.tokens,
            priced=ledger.priced,
            seconds=monotonic() - self._began if self._seconds is None else self._seconds,
            left_seconds=estimate_left(rest, flying, dict(ledger.took), self.plan.concurrency),
            problems=tuple(engine.problems),
            message=self._message,
        )

    # ── the job's thread ─────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Carry the plan out to its end.

        Raises:
            JobFailed: it could not continue.
        """
        engine, fatal = self._engine, None
        try:
            run_alone(self._drive_engine())
        except BaseException as error:  # noqa: BLE001 -- reported and raised below
            if is_exiting():
                engine.stopping = True
            else:
                fatal = error
                if not isinstance(error, (Unwritable, OSError)):
                    engine.halt()
        fatal = self._conclude_job(fatal)
        if fatal is not None:
            raise JobFailed(self._message) from fatal

    async def _drive_engine(self) -> None:
        self._loop = asyncio.get_running_loop()
        engine, plan = self._engine, self.plan
        executes = any(run.missing.execute for run in self._runs) and calls_models(plan.executor)
        async with engine:
            # Making a client blocks the loop for a moment.
            if self._pool is None and (executes or (self._runs and plan.judge is not None)):
                with contextlib.suppress(ModelFault):  # whoever calls gets it again
                    await engine.connected()
            make_all = engine.make_all
            if plan.judge_batch or self._batches:
                make_all = Batches(engine, self._batches.values(), self._runs).make_all
            if self._grace is not None:
                engine.stop(self._grace)
            for runs in plan.stages:
                due = [run for run in self._runs if run.cell.run_number <= runs]
                self._runs = [run for run in self._runs if run.cell.run_number > runs]
                await make_all(due)
                if engine.stopping or engine.short or await self._is_decided_at(runs):
                    break

    async def _is_decided_at(self, runs: int) -> bool:
        """Whether a planned look decides; an earlier decision stands."""
        plan = self.plan
        if not plan.looks or plan.decision is not None:
            return False
        ask = protocol.look_rules().decide_look
        why = await asyncio.to_thread(ask, plan.workspace, plan.iteration, plan.looks, runs)
        if why is not None:
            evals = plan.asked["evals"]
            self.journal.add(DECIDED, runs=runs, looks=plan.looks, evals=evals, why=why)
            self._needed = len(plan.cut_to(runs).cells)
            self._engine.rest.clear()
        return why is not None

    def _conclude_job(self, fatal: BaseException | None) -> BaseException | None:
        engine, trace = self._engine, None
        if fatal is not None:
            status: Status = "failed"
            self._message = _of(fatal)
            trace = "".join(traceback.format_exception(fatal))
        elif engine.stopping and engine.counts.total() < self._needed:
            status, self._message = "stopped", "stopped; start the plan again to continue"
        elif (lacking := engine.lacking) is not None:
            status, self._message = "partial", lacking
        else:
            status, self._message = "done", self._tell_decision()
        self._seconds = monotonic() - self._began
        try:
            if fatal is None:
                with contextlib.suppress(OSError):  # the next start removes it
                    clear(self.plan.folder)
            self.journal.add(ENDED, status=status, message=self._message, traceback=trace)
        except OSError as error:
            if fatal is None:
                fatal, self._message, status = error, _of(error), "failed"
        finally:
            self.journal.close()
            self.status = status
            self._report()
        return fatal

    def _tell_decision(self) -> str | None:
        """The result of the planned looks, in words; None if there are none."""
        decision, plan = self.plan.decision, self.plan
        if decision is None:
            return "no planned look has decided" if plan.looks else None
        spared = f"{count(len(plan.cells) - self._needed, 'run')} fewer than the maximum"
        at = f"the planned look at {count(decision['runs'], 'run')} per side"
        return f"decided at {at}, with {spared}: {decision['why']}"

    def _report(self) -> None:
        """Tell observers that something has changed."""
        if self._on_progress is None:
            return
        try:
            self._on_progress(self.snapshot())
        except Exception as error:  # noqa: BLE001 -- a view that fails must not end the job
            self._on_progress = None
            self._engine.report(f"on_progress raised {type(error).__name__}: {error}; it is off")


def _of(error: BaseException) -> str:
    """The error that ended a job, in words."""
    if isinstance(error, (Unwritable, CannotRun, JobFailed)):
        return str(error)
    if isinstance(error, OSError):
        return unwritable(error)
    return f"the job failed: {type(error).__name__}: {error}"
