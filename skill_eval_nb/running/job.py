"""A job: a plan carried out in a thread, its progress, waiting for it, stopping it, its display.

It is the only writer of its iteration's journal. `engine` makes a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Evals, dump, to_json
from skill_eval_nb.models import ModelFault
from skill_eval_nb.text import clock, count, dollars, make_visible
from skill_eval_nb.view import Block, Items, Mark, Text, frame_html
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.jobs import STARTED
from skill_eval_nb.workspace.writing import this_process

from . import protocol
from .batch import Batches
from .budget import Budget
from .engine import Engine
from .files import Unwritable, clear, clear_error, remove, unwritable
from .journal import (
    DECIDED,
    ENDED,
    InFlight,
    Journal,
    Ledger,
    close_interrupted,
    delete_half_written,
    read_journal,
)
from .pool import JobFailed
from .protocol import calls_models
from .spec import EXECUTE, JUDGE, SNAPSHOTS, Run, Spec
from .spec import reason_errored as why_errored
from .steps import CannotRun
from .suite import SUITE, is_ours, metadata_of
from .threads import is_exiting, run_alone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Status = Literal["running", "done", "partial", "stopped", "failed"]
"""running; done: every cell is finished or errored, or a planned look has decided; partial: the
budget was too small; stopped: by the user; failed: by an error of the machine or in our code."""


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """The progress of a job.

    Attributes:
        status: see `Status`.
        cells: runs of the plan; once a planned look has decided, those up to it.
        finished: complete runs, without errored ones.
        errored: runs that ended in an error, of this start or an earlier one.
        waiting: runs that have not begun.
        in_flight: the steps being done.
        spent_usd: US dollars, over all starts.
        reserved_usd: the most that steps in flight may still cost.
        ceiling_usd: the budget; None if there is none.
        priced: whether every call had a known price; `spent_usd` lacks the others.
        seconds: since this start.
        left_seconds: an estimate of the rest; None if it is too early to tell.
        problems: what went wrong or stands out, in words, in order.
        message: why the job ended; None while it runs.
    """

    status: Status
    cells: int = 0
    finished: int = 0
    errored: int = 0
    waiting: int = 0
    in_flight: tuple[InFlight, ...] = ()
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    ceiling_usd: float | None = None
    priced: bool = True
    seconds: float = 0.0
    left_seconds: float | None = None
    problems: tuple[str, ...] = ()
    message: str | None = None

    @property
    def share(self) -> float:
        """The share of runs that are finished or errored, 0 to 1."""
        return (self.finished + self.errored) / self.cells if self.cells else 1.0

    @property
    def usd_per_run(self) -> float | None:
        """US dollars for a run that has ended; None if none has, or a price is not known.

        The cost of steps in flight and of repeated steps is spread over them.

        >>> Progress("running", cells=9, finished=2, errored=1, spent_usd=0.75).usd_per_run
        0.25
        """
        ended = self.finished + self.errored
        return self.spent_usd / ended if ended and self.priced else None

    @property
    def retrying(self) -> str:
        """Why a call is retried, and how many steps that delays; empty if none is."""
        retries = [flight.retry for flight in self.in_flight if flight.retry]
        steps = f" ({len(retries)} of {count(len(self.in_flight), 'step')} in flight)."
        return f"{retries[0]}{steps}" if retries else ""

    def __str__(self) -> str:
        """One line for people.

        >>> print(Progress("running", cells=6, finished=2, errored=1, spent_usd=0.5,
        ...                reserved_usd=0.25, ceiling_usd=5.0, seconds=62, left_seconds=60))
        running: 3 of 6 runs (1 errored), $0.50 spent of $5.00 ($0.25 in flight), 1:02, about
        1:00 left
        """
        parts = [f"{self.finished + self.errored} of {self.cells} runs"]
        if self.errored:
            parts[0] += f" ({self.errored} errored)"
        money = f"{dollars(self.spent_usd)} spent"
        if self.ceiling_usd is not None:
            money += f" of {dollars(self.ceiling_usd)}"
        if self.reserved_usd:
            money += f" ({dollars(self.reserved_usd)} in flight)"
        parts += [money if self.priced else f"{money}, some calls without a known price"]
        parts.append(clock(self.seconds))
        if self.status == "running" and self.left_seconds is not None:
            parts.append(f"about {clock(self.left_seconds)} left")
        lines = (f"{self.status}: {', '.join(parts)}", self.retrying, self.message)
        return "\n".join(line for line in lines if line)

    def __repr__(self) -> str:
        """The same, for notebooks."""
        return str(self)


def estimate_left(
    rest: Mapping[str, int],
    flying: Sequence[InFlight],
    took: Mapping[str, tuple[float, int]],
    concurrency: int,
) -> float | None:
    """Estimated seconds for the rest, by the mean of each step so far.

    Args:
        rest: how many of each step are still to be launched.
        flying: the steps in flight.
        took: seconds and number of the steps that have ended, by step.
        concurrency: steps at a time.

    Returns:
        Seconds; None if a kind of step is still to come and none of it has ended.

    >>> estimate_left({"execute": 4}, [InFlight("execute", "…", 1.0)], {"execute": (6.0, 3)}, 2)
    4.5
    """
    means = {step: total / count for step, (total, count) in took.items() if count}
    if any(count and step not in means for step, count in rest.items()):
        return None
    seconds = sum(count * means.get(step, 0.0) for step, count in rest.items())
    seconds += sum(max(means.get(flight.step, 0.0) - flight.seconds, 0.0) for flight in flying)
    return seconds / max(concurrency, 1)


NOT_SWEPT = frozenset(("outputs", "inputs", SNAPSHOTS))
"""Folders with other programs' files."""


def delete_leftovers(plan: Spec) -> None:
    """Delete what a killed job was writing: in this iteration, and of the suite."""
    copies = (plan.folder / SNAPSHOTS).glob(".*")
    for folder in (*plan.workspace.glob(f".{plan.folder.name}.*"), *copies):
        remove(folder)
    delete_half_written(plan.workspace / SUITE.parent)
    delete_half_written(plan.folder)  # reports, for one, are put there by others
    for at, names, _ in os.walk(plan.folder):
        names[:] = [name for name in names if name not in NOT_SWEPT]
        for name in names:
            delete_half_written(Path(at, name), 0)


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
        return None, [f"{target.parent} is not a folder, so the suite is not saved there"]
    data = read_bytes(path) if path.name == SUITE.name else _as_suite(plan)
    mark = hashlib.sha256(data).hexdigest()
    there = read_bytes(target) if target.is_file() else data
    if there != data and not is_ours(plan.workspace, hashlib.sha256(there).hexdigest()):
        left = f"{target} differs from the suite {path}, and was left unchanged"
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


class Job:
    """A plan being carried out: wait for it, await it, stop it, look at it.

    It continues in the background, also after a notebook's cell has returned. If the program ends
    or is killed, so does the job: what was finished is kept, and starting the plan again does the
    rest. `Plan.start` makes it.

    Attributes:
        status: running, done, partial, stopped or failed.
    """

    def __init__(
        self, plan: Spec, pool: Pool | None, on_progress: Callable[[Progress], object] | None
    ) -> None:
        self.status: Status = "running"
        self._plan, self._pool = plan, pool
        self._on_progress = on_progress
        self._message: str | None = None
        self._began = monotonic()
        self._seconds: float | None = None  # in all, once it has ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._grace: float | None = None  # seconds, once somebody has asked to stop
        self._ended: Future[Progress] = Future()
        self._ended.set_running_or_notify_cancel()
        self._journal = Journal(plan.folder, plan.fingerprint.event())
        try:
            self._open()
        except BaseException:
            self._journal.close()
            raise
        threading.Thread(target=self._run, name="skill-eval-nb job", daemon=True).start()

    def wait(self, timeout: float | None = None) -> Progress:
        """Wait until the job has ended, or for `timeout` seconds.

        Ctrl-C, or interrupting the kernel, stops the job.

        Returns:
            The progress; its `status` is "running" if the time ran out first.

        Raises:
            Exception: whatever ended the job, if its status is "failed".
        """
        try:
            wait([self._ended], timeout)
        except KeyboardInterrupt:
            self.stop()
            wait([self._ended])  # an interrupted `Thread.join` marks a running thread as ended
            raise
        return self._ended.result() if self._ended.done() else self.progress

    def watch(self) -> None:
        """Show its progress to the end in a notebook or a terminal; otherwise like `wait`."""
        watch(self)

    def stop(self, grace: float = 0.0) -> None:
        """Begin nothing new and end what is in flight; returns at once.

        What is in flight has `grace` seconds to end by itself, and is then cancelled: a call that
        was sent counts at its worst case, since it may be billed, and the next start repeats the
        step. Work in a pool is not interrupted: it ends at its next call. The status becomes
        "stopped".
        """
        self._grace = grace
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the job has just ended
                self._loop.call_soon_threadsafe(self._engine.stop, grace)

    @property
    def progress(self) -> Progress:
        """The job's current progress; may be read from any thread."""
        engine, ledger = self._engine, self._engine.ledger
        budget, flying, rest = ledger.budget, ledger.flying, engine.waiting
        return Progress(
            status=self.status,
            cells=self._needed,
            finished=engine.counts["finished"],
            errored=engine.counts["errored"],
            waiting=rest[EXECUTE],
            in_flight=flying,
            spent_usd=budget.spent_usd,
            reserved_usd=budget.reserved_usd,
            ceiling_usd=budget.cap_usd,
            priced=ledger.priced,
            seconds=monotonic() - self._began if self._seconds is None else self._seconds,
            left_seconds=estimate_left(rest, flying, dict(ledger.took), self._plan.concurrency),
            problems=tuple(engine.problems),
            message=self._message,
        )

    def __await__(self) -> Generator[Any, None, Progress]:
        """Wait until the job has ended, like `wait`, without blocking the event loop."""
        return asyncio.shield(asyncio.wrap_future(self._ended)).__await__()

    def __repr__(self) -> str:
        return str(self.progress)

    # ── its beginning ────────────────────────────────────────────────────────────────────────

    def _open(self) -> None:
        plan, journal = self._plan, self._journal
        skills = {side.name: plan.staged(side) for side in plan.sides}
        delete_leftovers(plan)
        mark, odd = write_suite(plan)
        write_metadata(plan)
        journal.add(
            STARTED,
            **this_process(),
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
            self._count_run(run)
        incomplete = (run for run in runs if run.missing)
        # What was paid for is graded before anything else is executed.
        self._runs = sorted(incomplete, key=lambda run: run.missing.execute)

    def _count_run(self, run: Run) -> None:
        """Count what a run lacks, or that it has ended; clear the error of a grading to repeat."""
        missing, engine = run.missing, self._engine
        if not missing:
            why = why_errored(run.place)
            engine.counts["finished" if why is None else "errored"] += 1
            return
        judgings = 0 if self._plan.judge is None else len(missing.judgings)
        engine.rest[run.cell.key] = Counter({EXECUTE: missing.execute, JUDGE: judgings})
        if not missing.execute and self._plan.retry_errored:
            clear_error(run.place)

    # ── the job's thread ─────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        try:
            self._carry_out()
        except BaseException as error:  # noqa: BLE001 -- kept for whoever waits
            self._ended.set_exception(error)
        else:
            self._ended.set_result(self.progress)

    def _carry_out(self) -> None:
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
        engine, plan = self._engine, self._plan
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
        plan = self._plan
        if not plan.looks or plan.decision is not None:
            return False
        ask = protocol.look_rules().decide_look
        why = await asyncio.to_thread(ask, plan.workspace, plan.iteration, plan.looks, runs)
        if why is not None:
            evals = plan.asked["evals"]
            self._journal.add(DECIDED, runs=runs, looks=plan.looks, evals=evals, why=why)
            self._needed = len(plan.cut_to(runs).cells)
            self._engine.rest.clear()
        return why is not None

    def _conclude_job(self, fatal: BaseException | None) -> BaseException | None:
        engine, trace = self._engine, None
        if fatal is not None:
            status: Status = "failed"
            self._message = _say_error(fatal)
            trace = "".join(traceback.format_exception(fatal))
        elif engine.stopping and engine.counts.total() < self._needed:
            status, self._message = "stopped", "stopped; the same plan, or command, continues it"
        elif (lacking := engine.lacking) is not None:
            status, self._message = "partial", lacking
        else:
            status, self._message = "done", self._tell_decision()
        self._seconds = monotonic() - self._began
        try:
            if fatal is None:
                with contextlib.suppress(OSError):  # the next start removes it
                    clear(self._plan.folder)
            self._journal.add(ENDED, status=status, message=self._message, traceback=trace)
        except OSError as error:
            if fatal is None:
                fatal, self._message, status = error, _say_error(error), "failed"
        finally:
            self._journal.close()
            self.status = status
            self._report()
        return fatal

    def _tell_decision(self) -> str | None:
        """The result of the planned looks, in words; None if there are none."""
        decision, plan = self._plan.decision, self._plan
        if decision is None:
            return "no planned look reached a verdict" if plan.looks else None
        spared = f"{count(len(plan.cells) - self._needed, 'run')} fewer than the maximum"
        at = f"the planned look at {count(decision['runs'], 'run')} per side"
        return f"decided at {at}, with {spared}: {decision['why']}"

    def _report(self) -> None:
        """Tell observers that something has changed."""
        if self._on_progress is None:
            return
        try:
            self._on_progress(self.progress)
        except Exception as error:  # noqa: BLE001 -- a view that fails must not end the job
            self._on_progress = None
            self._engine.report(f"on_progress raised {type(error).__name__}: {error}; now off")


def _say_error(error: BaseException) -> str:
    """The error that ended a job, in words."""
    if isinstance(error, (Unwritable, CannotRun, JobFailed)):
        return str(error)
    if isinstance(error, OSError):
        return unwritable(error)
    return f"the job failed: {type(error).__name__}: {error}"


SECONDS = 0.25
"""Between two looks at the job."""

SHOWN = 12
"""This many runs in flight have a line; the rest are only counted."""


def watch(job: Job, console: Console | None = None) -> Progress:
    """Show a job until it has ended; interrupting stops it, and what is finished is kept.

    A notebook and a terminal show a changing display; if the output goes to a file or a pipe, only
    retries are reported, on standard error.

    Returns:
        The progress at the end.

    Raises:
        JobFailed: the job ended by an error of the machine or an internal one.
    """
    try:
        if console is None and _in_a_notebook():
            _watch_in_notebook(job)
        else:
            _watch_in_console(job, console)
    except KeyboardInterrupt:
        job.stop()
    return job.wait()


def render_html(progress: Progress) -> str:
    """The job at one moment, as HTML."""
    bar = f"<progress max='1' value='{progress.share:.4f}' aria-label='finished runs'>"
    inside = "".join(block.html() for block in _progress_blocks(progress))
    return frame_html(f"{bar}</progress>{inside}", "progress {display:block;width:100%}")


def render_text(progress: Progress) -> RenderableType:
    """The job at one moment, for a terminal."""
    from rich import text
    from rich.console import Group
    from rich.progress_bar import ProgressBar

    lines = (line for block in _progress_blocks(progress) for line in block.lines())
    return Group(text.Text("\n".join(lines)), ProgressBar(total=1.0, completed=progress.share))


def _progress_blocks(progress: Progress) -> Iterator[Block]:
    for line in str(progress).splitlines():
        yield Text(make_visible(line))
    flights = [
        f"{flight.step} {clock(flight.seconds)} {make_visible(flight.folder)}"
        for flight in progress.in_flight[:SHOWN]
    ]
    yield Items(flights, soft=True, more=len(progress.in_flight) - SHOWN)
    for problem in progress.problems[-3:]:
        yield Mark("warning", "problem", make_visible(problem))


def _in_a_notebook() -> bool:
    """Whether a Jupyter kernel shows what we print; if so, IPython is already imported."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


def _watch_in_notebook(job: Job) -> None:
    from IPython.display import HTML, display

    handle: Any = display(HTML(render_html(job.progress)), display_id=True)
    _follow(job, lambda now: handle.update(HTML(render_html(now))))


def _watch_in_console(job: Job, console: Console | None) -> None:
    from rich.console import Console
    from rich.live import Live

    to = console or Console(highlight=False, soft_wrap=True)
    if to.is_terminal:
        with Live(console=to, transient=True, auto_refresh=False) as live:
            _follow(job, lambda now: live.update(render_text(now), refresh=True))
    else:
        told = {""}

        def tell_retry(now: Progress) -> None:
            without_seconds = now.retrying.rpartition(", ")[0]
            if without_seconds not in told:
                told.add(without_seconds)
                sys.stderr.write(f"{make_visible(now.retrying)}\n")

        _follow(job, tell_retry)


def _follow(job: Job, show: Callable[[Progress], object]) -> None:
    """Show each state until the last, and that one too."""
    while (now := job.progress).status == "running":
        show(now)
        time.sleep(SECONDS)
    show(now)
