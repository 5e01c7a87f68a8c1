"""Work that takes its time: in a thread of its own, watched, stopped; planned and priced first."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.threads import Stopped
from skill_eval_nb.stats.values import no_such
from skill_eval_nb.text import clock, dollars

from .panel import Panel, action
from .parts import Act, button, figure, pill, tick
from .source import PATIENCE, Background
from .tree import Child, Node, h

T = TypeVar("T")


class TaskPanel(Panel):
    """A panel of tabs, with work that goes on beside the page.

    Attributes:
        TABS: what each tab is called, by its name.
    """

    TABS: ClassVar[Mapping[str, str]]
    _tab: str
    _works: tuple[Background, ...] = ()

    @action
    def tab(self, name: str) -> None:
        """Turn to a tab."""
        if name not in self.TABS:
            raise no_such("tab", name, self.TABS)
        self._tab = name
        self._refresh_tab()

    def settle(self, seconds: float = 60) -> bool:
        """Wait until no work goes on, for one may begin another; whether it came to that."""
        until = time.monotonic() + seconds
        while any(work.busy for work in self._works):
            if not all(work.wait(until - time.monotonic()) for work in self._works):
                return False
        return True

    def _background(self) -> Background:
        self._works += (Background(self.show, self._fail),)
        return self._works[-1]

    def _refresh_tab(self, **patience: float) -> None:
        """Work out anew what the tab shows: what is on disk may have changed."""
        raise NotImplementedError


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
        share: Callable[[Any], float],
        progressed: Callable[[], object],
        ended: Callable[[Any], object] = lambda _: None,
        progress: Any = None,
    ) -> None:
        """Begin it.

        Args:
            do: the work, handed where to report progress, and what is set once it is to stop.
            share: gives how much of it is done, 0 to 1, from its progress.
            progressed: called, in its thread, when there is progress to see.
            ended: called with it, in its thread, once it does not go on.
            progress: what there is at first.
        """
        self.status: Status = "running"
        self.stopping = False
        self.progress = progress
        self.result: T | None = None
        self.message: str | None = None
        self._do, self._share, self._progressed, self._ended = do, share, progressed, ended
        self._first: tuple[float, float] | None = None  # when progress came first, and how much
        self._stop = threading.Event()
        self._began, self._shown, self._took = time.monotonic(), 0.0, 0.0
        self.ended = threading.Event()
        """Set when all is over, and everybody has been told."""
        for each in (self._run, self._tick):
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
        (since, before), now = self._first, self._share(self.progress)
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

    def _run(self) -> None:
        status: Status = "done"
        try:
            self.result = self._do(self._report, self._stop)
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

    def _tick(self) -> None:
        """Show that time passes, where there is nothing else to see."""
        while not self.ended.wait(TICK):
            self._progressed()

    def _report(self, now: Any) -> None:
        self.progress = now
        self._first = self._first or (time.monotonic(), self._share(now))
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


MAKING = "The plan is being made…"
OBSTACLE = "Fix the errors in the form first."
NO_BUDGET = "This may cost money: give a budget, or tick “Without a budget”."
ANEW = (
    "What is on disk or in the form has changed since that was shown, so it was planned anew: "
    "look at it, and start again."
)


class Preview(Protocol):
    """What would be done, as it is shown before anything is."""

    @property
    def token(self) -> str:
        """The same for what somebody who looks at it sees as one."""
        ...

    @property
    def faults(self) -> tuple[str, ...]:
        """What stands in its way."""
        ...

    @property
    def complete(self) -> str | None:
        """What to say where there is nothing to do; None where there is."""
        ...

    @property
    def costs(self) -> bool:
        """Whether money may be spent."""
        ...


P = TypeVar("P", bound=Preview)


class Launch(Generic[P]):
    """The way from a form to work that costs: planned, priced, and started as it was shown.

    Attributes:
        plan: what was planned last; None before.
        planning, starting: what is being done for it.
    """

    def __init__(
        self,
        background: Callable[[], Background],
        form: Callable[[], Any],
        make: Callable[[Any], P],
        start: Callable[[P], object],
        *,
        free: Callable[[], bool],
        busy: Callable[[], str | None],
        planned: Callable[[], object] = lambda: None,
    ) -> None:
        """Nothing is planned yet.

        Args:
            background: gives what works beside the page.
            form: all that a plan rests on, as it is now.
            make: plans that, without spending or writing anything.
            start: carries a plan out; returns at once.
            free: whether there is a budget, or none is wanted.
            busy: what is under way, in a sentence; None where nothing is.
            planned: called once a plan was made.
        """
        self.plan: P | None = None
        self.planning, self.starting = background(), background()
        self._planned_from: Any = None
        self._form, self._make, self._start = form, make, start
        self._free, self._busy, self._planned = free, busy, planned

    @property
    def current(self) -> P | None:
        """The plan, where it was made for what the form now holds."""
        return self.plan if self._planned_from == self._form() else None

    def replan(self, patience: float = PATIENCE) -> None:
        """Plan what the form holds."""
        form = self._form()
        self.planning.begin(lambda: self._make(form), lambda plan: self.take(plan, form), patience)

    def take(self, plan: P | None, form: Any = None) -> None:
        """Show a plan that was made from this; None forgets it."""
        self.plan, self._planned_from = plan, form
        self._planned()

    def why_not(self) -> str | None:
        """Why it cannot be started now; None where it can."""
        if busy := self._busy():
            return busy
        plan = self.current
        if self.planning.busy or plan is None:
            return MAKING
        if plan.faults:
            return OBSTACLE
        return plan.complete or (NO_BUDGET if plan.costs and not self._free() else None)

    def press(self, token: str) -> None:
        """Start the plan that was shown with this token; a second click on it does nothing.

        Raises:
            Refused: it is another one by now.
        """
        if self.starting.busy or self._busy():
            return
        if self.plan is None or self.plan.token != token:
            raise refuse(ANEW)
        self.starting.begin(self.start, lambda _: None)

    def start(self) -> None:
        """Start what is shown, if it is still what would be done.

        Raises:
            Refused: something stands in the way, or it is another plan by now.
        """
        if (why := self.why_not()) is not None:
            raise refuse(why)
        shown, form = self.plan, self._form()
        now = self._make(form)
        self.plan, self._planned_from = now, form
        if now.faults:
            raise Refused(now.faults)
        if shown is None or shown.token != now.token:
            raise refuse(ANEW)
        self._start(now)

    def row(
        self, act: str, free: tuple[Act, bool], label: str = "Start", look: str = "main"
    ) -> Node | None:
        """The button that starts it, why it cannot be started, a tick for no budget.

        Args:
            act: the action, handed the token of the plan that is shown.
            free: the action of that tick, and whether it is on.
            label: of the button.
            look: the kind of the button.
        """
        if self.plan is None:
            return None
        why, busy = self.why_not(), self.starting.busy
        token = (act, self.plan.token) if why is None and not busy else None
        wanted = self.plan.costs and (free[1] or not self._free())
        return h(
            "div",
            tick("Without a budget", free[1], free[0]) if wanted else None,
            button("Starting…" if busy else label, token, kind=look, key="start"),
            h("span", why, cls="sen-soft", role="status", key="why") if why else None,
            cls="sen-row sen-middle sen-start",
            key="start-row",
        )


def plan_card(label: str, content: Child, look: str = "") -> Node:
    """The card beside a form: what would be done, and its price."""
    return h(
        "section",
        content,
        cls=f"sen-card sen-plan-card{look}",
        aria_label=label,
        key="plan-card",
    )


def likely(low: float | None, high: float | None, worst: float | None) -> str:
    """What something may cost, before it is done.

    >>> print(likely(0.5, 1.25, 4.0))
    Likely $0.50 to $1.25; a budget that surely holds all of it is $4.00.
    >>> likely(0.0, 0.0, 0.0), likely(None, None, None)
    ('It costs nothing.', 'What it costs is not known: the price of a model is not.')
    """
    if low is None or high is None or worst is None:
        return "What it costs is not known: the price of a model is not."
    if not worst:
        return "It costs nothing."
    span = f"{dollars(low)} to {dollars(high)}" if low < high else dollars(low)
    return f"Likely {span}; a budget that surely holds all of it is {dollars(worst)}."


def at_most(usd: float | None) -> str:
    """What something costs at worst.

    >>> at_most(0.0), at_most(None), at_most(1.234)
    ('at no cost', 'no price is known', 'at most $1.23')
    """
    if usd is None:
        return "no price is known"
    return f"at most {dollars(usd)}" if usd else "at no cost"
