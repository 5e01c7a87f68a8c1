"""A job as one watches it in a terminal: a bar, a line a run in flight, money and time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from skill_eval_nb.running import Job
    from skill_eval_nb.running.driving.progress import Progress

SECONDS = 0.25
"""Between two looks at the job."""

SHOWN = 12
"""So many runs in flight have a line; more are counted."""


def watch(job: Job, console: Console) -> Progress:
    """Show a job until it ends, and give how it ended; Ctrl-C stops it.

    A terminal shows a picture that changes; a file or a pipe gets a line whenever a run ends.
    """
    try:
        if console.is_terminal:
            _live(job, console)
        else:
            _lines(job, console)
    except KeyboardInterrupt:
        console.print("Stopping: nothing new is begun. The same command goes on from here.")
        job.stop()
    job.wait()
    return job.progress


def _live(job: Job, console: Console) -> None:
    from rich.live import Live

    with Live(picture(job.progress), console=console, transient=True, auto_refresh=False) as live:
        while job.progress.status == "running":
            time.sleep(SECONDS)
            live.update(picture(job.progress), refresh=True)


def _lines(job: Job, console: Console) -> None:
    ended = 0
    while (now := job.progress).status == "running":
        if now.finished + now.errored != ended:
            ended = now.finished + now.errored
            console.print(Text(str(now)))
        time.sleep(SECONDS)


def picture(progress: Progress) -> RenderableType:
    """The job at one moment.

    >>> from skill_eval_nb.running.driving.progress import InFlight, Progress
    >>> moment = Progress("running", cells=4, finished=1, spent_usd=0.2, seconds=5,
    ...                   in_flight=(InFlight("judge", "eval-1/with_skill/run-1", 2.0),))
    >>> Console(width=60).print(picture(moment))
    running: 1 of 4 runs, $0.20 spent, 0:05
    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
      judge  0:02  eval-1/with_skill/run-1
    """
    from skill_eval_nb.running.driving.progress import clock

    flights = Table.grid(padding=(0, 2, 0, 0))
    for one in progress.in_flight[:SHOWN]:
        flights.add_row(f"  {one.step}", clock(one.seconds), Text(one.folder, overflow="ellipsis"))
    more = len(progress.in_flight) - SHOWN
    bar = ProgressBar(total=1.0, completed=progress.share)
    parts: list[RenderableType] = [Text(str(progress)), bar, flights]
    if more > 0:
        parts.append(Text(f"  and {more} more", style="dim"))
    if progress.problems:
        parts.append(Text(f"  {progress.problems[-1]}", style="yellow", overflow="ellipsis"))
    return Group(*parts)
