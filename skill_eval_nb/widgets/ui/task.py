"""Work that takes its time: in a thread of its own, watched and stopped, and how it ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.text import clock, dollars

from .parts import button, figure, pill, soft
from .tree import Child, Node, h

T = TypeVar("T")

BETWEEN = 0.2
"""Seconds at least between two times that progress is shown."""

TICK = 1.0
"""Seconds between two times that it is shown without progress."""

log = logging.getLogger(__name__)


NOT_BEGUN = AskingProgress(0, 0, 0, 0.0, "")


class Task(Generic[T]):
    """Work that takes its time, in a thread of its own.

    Attributes:
        doing: what it does, after "it is": "running iteration-1".
        status: `done` if it came to a result, `failed` if it raised.
        stopping: whether somebody asked it to stop.
        progress: the last progress; its `share` is how much is done, 0 to 1.
        result: None until there is one.
        message: why it ended without a result; None otherwise.
    """

    def __init__(
        self,
        doing: str,
        do: Callable[[Callable[[Any], None], threading.Event], T],
        progressed: Callable[[], object],
        ended: Callable[[Any], object] = lambda _: None,
        progress: Any = NOT_BEGUN,
    ) -> None:
        """Begin it.

        Args:
            doing: what it does.
            do: the work; it gets where to report progress, and what is set once it is to stop.
            progressed: called, in its thread, when there is progress to see.
            ended: called with it, in its thread, once it is over.
            progress: the progress at first.
        """
        self.doing = doing
        self.status: Literal["running", "done", "stopped", "failed"] = "running"
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

    def stop(self, grace: float = 0.0) -> None:  # noqa: ARG002 -- not all can wait
        """Cancel what is in flight; what was written stays, and is not paid for again.

        Args:
            grace: seconds that what is in flight has to end, if it can wait.
        """
        self.stopping = True
        self._stop.set()

    def _run_work(self) -> None:
        status: Literal["done", "stopped", "failed"] = "done"
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
    task: Task[Any],
    title: str,
    noun: str,
    figures: Child,
    *,
    stop: Child = None,
    below: Child = None,
) -> Node:
    """The card of something under way.

    Args:
        task: what is under way.
        title: what it is called.
        noun: what ends one by one, in plural.
        figures: in a row below the bar, before those of the time.
        stop: the way to stop it; a button of the action `stop` if none is given.
        below: what stands below that.
    """
    stopping, ended = task.stopping, f"{noun} that have ended"
    return h(
        "section",
        h(
            "div",
            h("h4", f"{title} "),
            pill("stopping", "odd") if stopping else pill("running", "good"),
            cls="sen-row sen-middle",
        ),
        h("progress", max="1", value=f"{task.progress.share:.4f}", aria_label=ended),
        h("div", figures, time_figures(task), cls="sen-job-figures"),
        stop or button("Stop", None if stopping else ("stop",), key="stop"),
        below,
        cls="sen-card sen-running",
        aria_label=title[:1].lower() + title[1:],
        key="running",
    )


STOPPING = "Stopping: nothing new is begun."
PROMISE = "Each is written when it ends; what is there is not paid for again."


def asking_card(
    task: Task[Any], now: AskingProgress, title: str, noun: str, doing: str = "", more: Child = None
) -> Node:
    """The card of questions to models that are under way.

    Args:
        task: what asks them.
        now: how far it is.
        title: what it is called.
        noun: what ends one by one, in plural.
        doing: what is done just now, in a sentence.
        more: what stands below.
    """
    figures = [
        figure(f"{now.done:,} of {now.total:,}", f"{noun} ended"),
        figure(f"{now.failed:,}", "failed", "bad") if now.failed else None,
        figure(dollars(now.spent_usd), "spent"),
    ]
    said = soft(STOPPING if task.stopping else f"{doing}{PROMISE}", role="status")
    last = soft(f"Last: {now.what}", dir="auto") if now.what else None
    return running_card(task, title, noun, figures, below=[said, last, more])


HEADINGS = {
    "done": ("Done", "good"),
    "partial": ("The budget was reached", "odd"),
    "stopped": ("Stopped", "odd"),
    "failed": ("Failed", "bad"),
}


def ended_card(title: str, heading: tuple[str, str], summary: str, *content: Child) -> Node:
    """How something ended: a word for it with its kind, figures, what to do next."""
    head = [
        h("h4", f"{title} "),
        pill(*heading),
        h("span", summary, cls="sen-soft"),
        button("Put away", ("put_away",), kind="quiet"),
    ]
    row = h("div", head, cls="sen-row sen-middle")
    return h("section", row, content, cls="sen-card sen-ended", role="status", key="ended")
