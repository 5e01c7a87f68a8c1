"""A job: its progress, waiting for it, stopping it, and its display."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from skill_eval_nb.text import clock, count, dollars, visible
from skill_eval_nb.view import Block, Items, Mark, Text, frame_html

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


Status = Literal["running", "done", "partial", "stopped", "failed"]
"""running; done: every cell is finished or errored, or a planned look has decided; partial: the
budget was too small; stopped: by the user; failed: by an error of the machine or in our code."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """A step in flight.

    Attributes:
        step: execute, check, judge or grade.
        folder: the run's folder in the workspace.
        seconds: how long it has taken so far.
        retry: why a call is retried, how many times so far and when; empty if none is.
        spent_usd: US dollars so far; None if it calls no model, or a price is not known.
        events: the latest events of the run, as in `Execution`; None if they are only known at the
            end: for steps other than execute, in a pool, with some executors.
    """

    step: str
    folder: str
    seconds: float
    retry: str = ""
    spent_usd: float | None = None
    events: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """The progress of a job.

    Attributes:
        status: see `Status`.
        cells: runs of the plan; once a planned look has decided, those up to it.
        finished: complete runs, without errored ones.
        errored: runs that ended in an error, of this start or an earlier one.
        waiting: runs that have not begun.
        steps: how many of each step this start has done: execute, check, judge, grade.
        in_flight: the steps being done.
        spent_usd: US dollars, over all starts.
        reserved_usd: the most that steps in flight may still cost.
        ceiling_usd: the budget; None if there is none.
        tokens: used by this start.
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
    steps: tuple[tuple[str, int], ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    ceiling_usd: float | None = None
    tokens: int = 0
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


class Worker(Protocol):
    """What a `Job` needs from the driver that carries it out."""

    status: Status

    def run(self) -> None:
        """Carry it out to the end."""
        ...

    def ask_to_stop(self, grace: float) -> None:
        """Begin nothing new; what is in flight is cancelled after `grace` seconds."""
        ...

    def snapshot(self) -> Progress:
        """Its progress; may be called from any thread."""
        ...


class Job:
    """A plan being carried out: wait for it, await it, stop it, look at it.

    It continues in the background, also after a notebook's cell has returned. If the program ends
    or is killed, so does the job: what was finished is kept, and starting the plan again does the
    rest.
    """

    def __init__(self, driver: Worker) -> None:
        self._driver = driver
        self._ended: Future[Progress] = Future()
        self._ended.set_running_or_notify_cancel()
        threading.Thread(target=self._run_driver, name="skill-eval-nb job", daemon=True).start()

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
        self._driver.ask_to_stop(grace)

    @property
    def progress(self) -> Progress:
        """The job's current progress."""
        return self._driver.snapshot()

    @property
    def status(self) -> Status:
        """running, done, partial, stopped or failed."""
        return self._driver.status

    def __await__(self) -> Generator[Any, None, Progress]:
        """Wait until the job has ended, like `wait`, without blocking the event loop."""
        return asyncio.shield(asyncio.wrap_future(self._ended)).__await__()

    def __repr__(self) -> str:
        return str(self.progress)

    def _run_driver(self) -> None:
        try:
            self._driver.run()
        except BaseException as error:  # noqa: BLE001 -- kept for whoever waits
            self._ended.set_exception(error)
        else:
            self._ended.set_result(self._driver.snapshot())


OnProgress = Callable[[Progress], object]
"""A function called with each new state of a job."""


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
            _in_place(job)
        else:
            _in_a_console(job, console)
    except KeyboardInterrupt:
        job.stop()
    return job.wait()


def page(progress: Progress) -> str:
    """The job at one moment, as HTML."""
    bar = f"<progress max='1' value='{progress.share:.4f}' aria-label='runs that have ended'>"
    inside = "".join(block.html() for block in _progress_blocks(progress))
    return frame_html(f"{bar}</progress>{inside}", "progress {display:block;width:100%}")


def picture(progress: Progress) -> RenderableType:
    """The job at one moment, for a terminal."""
    from rich import text
    from rich.console import Group
    from rich.progress_bar import ProgressBar

    lines = (line for block in _progress_blocks(progress) for line in block.lines())
    return Group(text.Text("\n".join(lines)), ProgressBar(total=1.0, completed=progress.share))


def _progress_blocks(progress: Progress) -> Iterator[Block]:
    for line in str(progress).splitlines():
        yield Text(visible(line))
    flights = [
        f"{flight.step} {clock(flight.seconds)} {visible(flight.folder)}"
        for flight in progress.in_flight[:SHOWN]
    ]
    yield Items(flights, soft=True, more=len(progress.in_flight) - SHOWN)
    for problem in progress.problems[-3:]:
        yield Mark("warning", "problem", visible(problem))


def _in_a_notebook() -> bool:
    """Whether a Jupyter kernel shows what we print; if so, IPython is already imported."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


def _in_place(job: Job) -> None:
    from IPython.display import HTML, display

    handle: Any = display(HTML(page(job.progress)), display_id=True)
    _follow(job, lambda now: handle.update(HTML(page(now))))


def _in_a_console(job: Job, console: Console | None) -> None:
    from rich.console import Console
    from rich.live import Live

    to = console or Console(highlight=False, soft_wrap=True)
    if to.is_terminal:
        with Live(console=to, transient=True, auto_refresh=False) as live:
            _follow(job, lambda now: live.update(picture(now), refresh=True))
    else:
        told = {""}

        def tell_retry(now: Progress) -> None:
            without_seconds = now.retrying.rpartition(", ")[0]
            if without_seconds not in told:
                told.add(without_seconds)
                sys.stderr.write(f"{visible(now.retrying)}\n")

        _follow(job, tell_retry)


def _follow(job: Job, show: Callable[[Progress], object]) -> None:
    """Show each state until the last, and that one too."""
    while (now := job.progress).status == "running":
        show(now)
        time.sleep(SECONDS)
    show(now)
