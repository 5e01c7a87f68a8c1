"""Work that takes its time: in a thread of its own, watched and stopped."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.text import clock

from .parts import button, figure, pill
from .tree import Child, Node, h

T = TypeVar("T")


BETWEEN = 0.2
"""Seconds at least between two times that progress is shown."""

TICK = 1.0
"""Seconds between two times that it is shown without progress."""

log = logging.getLogger(__name__)

Status = Literal["running", "done", "stopped", "failed"]


class Task(Generic[T]):
    """Something under way.

    Attributes:
        status: how it is: `done` where it came to a result, `failed` where it raised.
        stopping: whether somebody asked it to stop.
        progress: the progress reported last; None before.
        result: None until there is one.
        message: why it ended without a result; None otherwise.
    """

    def __init__(
        self,
        do: Callable[[Callable[[Any], None], threading.Event], T],
        progressed: Callable[[], object],
        ended: Callable[[Any], object] = lambda _: None,
        progress: Any = None,
    ) -> None:
        """Begin it.

        Args:
            do: the work, handed where to report progress (`share` of which is how much is done,
                0 to 1), and what is set once it is to stop.
            progressed: called, in its thread, when there is progress to see.
            ended: called with it, in its thread, once it does not go on.
            progress: what there is at first.
        """
        self.status: Status = "running"
        self.stopping = False
        self.progress = progress
        self.result: T | None = None
        self.message: str | None = None
        self._do, self._progressed, self._ended = do, progressed, ended
        self._first: tuple[float, float] | None = None  # when progress came first, and how much
        self._stop = threading.Event()
        self._began, self._shown, self._took = time.monotonic(), 0.0, 0.0
        self.ended = threading.Event()
        """Set when all is over, and everybody has been told."""
        for each in (self._run_work, self._show_ticks):
            threading.Thread(target=each, name="skill-eval-nb task", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.status == "running"

    @property
    def seconds(self) -> float:
        """How long it has gone on, or did."""
        return time.monotonic() - self._began if self.running else self._took

    @property
    def left_seconds(self) -> float | None:
        """How long it will go on, about; None where nothing can be told yet."""
        if self._first is None or not self.running:
            return None
        (since, before), now = self._first, self.progress.share
        if now <= before:
            return None
        return (time.monotonic() - since) * (1 - now) / (now - before)

    def stop(self) -> None:
        """Cancel what is in flight; what was written stays, and is not paid for again."""
        self.stopping = True
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over, and everybody has been told; whether it came to that."""
        return self.ended.wait(seconds)

    def _run_work(self) -> None:
        status: Status = "done"
        try:
            self.result = self._do(self._take_progress, self._stop)
        except Stopped:
            status = "stopped"
            self.message = "Stopped. What was done is kept, and is not paid for again."
        except Exception as error:
            log.warning("work of a panel failed", exc_info=error)
            status, self.message = "failed", str(error) or type(error).__name__
        self._took = time.monotonic() - self._began
        self.status = status
        try:
            self._ended(self)
        finally:
            self.ended.set()

    def _show_ticks(self) -> None:
        """Show that time passes, where there is nothing else to see."""
        while not self.ended.wait(TICK):
            self._progressed()

    def _take_progress(self, now: Any) -> None:
        self.progress = now
        self._first = self._first or (time.monotonic(), now.share)
        if time.monotonic() - self._shown >= BETWEEN:
            self._shown = time.monotonic()
            self._progressed()


def time_figures(task: Task[Any]) -> list[Node]:
    """How long it has gone on, and will."""
    left = task.left_seconds
    more = [figure(f"~{clock(left)}", "left")] if left is not None else []
    return [figure(clock(task.seconds), "time"), *more]


def running_card(
    title: str,
    bar: tuple[float, str],
    figures: Child,
    *,
    stopping: bool,
    doing: str = "running",
    stop: Child = None,
    below: Child = None,
) -> Node:
    """The card of something under way.

    Args:
        title: what is under way.
        bar: how much of it has ended, 0 to 1, and what a screen reader calls that.
        figures: in a row below the bar.
        stopping: whether it was asked to stop.
        doing: what it does while it was not.
        stop: the way to stop it; a button of the action `stop` where none is given.
        below: what stands below that.
    """
    share, called = bar
    return h(
        "section",
        h(
            "div",
            h("h4", f"{title} "),
            pill("stopping", "odd") if stopping else pill(doing, "good"),
            cls="sen-row sen-middle",
        ),
        h("progress", max="1", value=f"{share:.4f}", aria_label=called),
        h("div", figures, cls="sen-job-figures"),
        stop or button("Stop", None if stopping else ("stop",), key="stop"),
        below,
        cls="sen-card sen-running",
        aria_label=title[:1].lower() + title[1:],
        key="running",
    )
