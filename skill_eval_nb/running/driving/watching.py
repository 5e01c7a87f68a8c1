"""A job as one watches it: a bar, a line a run in flight, money and time; in notebook and shell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from skill_eval_nb.look import NO_FORMULAS, visible

from .progress import Progress, clock

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from .job import Job

SECONDS = 0.25
"""Between two looks at the job."""

SHOWN = 12
"""So many runs in flight have a line; more are counted."""

STYLE = """
.sen-job {font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;max-width:960px}
.sen-job progress {display:block;width:100%;height:14px;margin:4px 0 6px;accent-color:#0072b2}
.sen-job ul {list-style:none;margin:0;padding:0;opacity:.75;font-variant-numeric:tabular-nums}
.sen-job p {margin:4px 0 0;overflow-wrap:anywhere}
"""


def watch(job: Job, console: Console | None = None) -> Progress:
    """Show a job until it has ended; interrupting stops it, and what is finished stays.

    A notebook and a terminal show a picture that changes; a file or a pipe gets a line
    whenever a run ends.

    Returns:
        the progress at the end.

    Raises:
        JobFailed: the job ended by an error of the machine or of ours.
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
    flights = "".join(
        f"<li>{escape(one.step)} {clock(one.seconds)} {escape(visible(one.folder))}</li>"
        for one in progress.in_flight[:SHOWN]
    )
    rest = len(progress.in_flight) - SHOWN
    more = f"<li>and {rest} more</li>" if rest > 0 else ""
    told = "".join(f"<p>{escape(visible(one))}</p>" for one in progress.problems[-3:])
    return (
        f"<style>{STYLE}</style><div class='sen-job {NO_FORMULAS}'>{escape(visible(str(progress)))}"
        f"<progress max='1' value='{progress.share:.4f}' aria-label='runs that have ended'>"
        f"</progress><ul>{flights}{more}</ul>{told}</div>"
    )


def picture(progress: Progress) -> RenderableType:
    """The job at one moment, for a terminal."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    flights = Table.grid(padding=(0, 2, 0, 0))
    for one in progress.in_flight[:SHOWN]:
        flights.add_row(
            f"  {one.step}", clock(one.seconds), Text(visible(one.folder), overflow="ellipsis")
        )
    bar = ProgressBar(total=1.0, completed=progress.share)
    parts: list[RenderableType] = [Text(visible(str(progress))), bar, flights]
    more = len(progress.in_flight) - SHOWN
    if more > 0:
        parts.append(Text(f"  and {more} more", style="dim"))
    if progress.problems:
        parts.append(
            Text(visible(f"  {progress.problems[-1]}"), style="yellow", overflow="ellipsis")
        )
    return Group(*parts)


def _in_a_notebook() -> bool:
    """Whether a Jupyter kernel shows what we print; IPython is there already if so."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


def _in_place(job: Job) -> None:
    from IPython.display import HTML, display

    handle: Any = display(HTML(page(job.progress)), display_id=True)
    _follow(job, lambda now: handle.update(HTML(page(now))))


def _in_a_console(job: Job, console: Console | None) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    to = console or Console(highlight=False, soft_wrap=True)
    if to.is_terminal:
        with Live(console=to, transient=True, auto_refresh=False) as live:
            _follow(job, lambda now: live.update(picture(now), refresh=True))
        return
    ended = 0

    def line(now: Progress) -> None:
        nonlocal ended
        if now.status == "running" and now.finished + now.errored != ended:
            ended = now.finished + now.errored
            to.print(Text(visible(str(now))))

    _follow(job, line)


def _follow(job: Job, show: Callable[[Progress], object]) -> None:
    """Show each state until the last, and that one too."""
    while (now := job.progress).status == "running":
        show(now)
        time.sleep(SECONDS)
    show(now)
