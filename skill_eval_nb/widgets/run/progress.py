"""A job under way in a workspace: watched, shown, stopped, and what came of it."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from skill_eval_nb.running.job import SHOWN, Progress
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.spec import EXECUTED, errored
from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.comparison import SCOPES
from skill_eval_nb.stats.pairing import choose
from skill_eval_nb.stats.verdict import beyond_comes_first, sentence
from skill_eval_nb.stats.verdict import these as of_these
from skill_eval_nb.tables import load
from skill_eval_nb.text import brief, clock, count, dollars

from ..ui import Child, Node, h
from ..ui.parts import button, details, figure, frame, pill, place, soft
from ..ui.source import landed
from ..ui.task import Task, running_card
from .plan import plan_view

if TYPE_CHECKING:
    from skill_eval_nb.running import Cell, Job, Plan
    from skill_eval_nb.running.plan import Facts


SECONDS = 0.25
"""Between two looks."""

LANDING = 2.0
"""Seconds at least between two times that the other widgets are told of new runs."""

log = logging.getLogger(__name__)

_LOCK = threading.Lock()
_AT: dict[Path, WorkspaceTask[Any]] = {}
_OBSERVERS: weakref.WeakSet[Observer] = weakref.WeakSet()
T = TypeVar("T")


class Observer:
    """Whoever shows what is under way in a workspace."""

    home: Path

    def progressed(self, at: WorkspaceTask[Any]) -> None:
        """Show how far it is. Any thread may call it."""
        raise NotImplementedError


class WorkspaceTask(Task[T]):
    """Something under way in a workspace: all panels of it show it, and others read what came."""

    doing: str
    """What is being done, after "is": "running iteration-1"."""

    def __init__(
        self,
        home: Path,
        do: Callable[[Callable[[Any], None], threading.Event], T],
        share: Callable[[Any], float],
        progress: Any = None,
    ) -> None:
        self.home = home
        self._landed, self._landed_at = 0, time.monotonic()
        self._landing: threading.Thread | None = None
        super().__init__(do, share, self._follow, lambda _: self._conclude(), progress)

    @property
    def results(self) -> int:
        """How much has come of it so far: when it changes, others have something to read."""
        raise NotImplementedError

    def conclude(self) -> None:
        """Find out what came of it, once it has ended."""

    def stop(self, grace: float = 0.0) -> None:  # noqa: ARG002 -- not all can wait
        """Begin nothing new; what is in flight has `grace` seconds where it can."""
        super().stop()

    def _follow(self) -> None:
        self.show()
        free = self._landing is None or not self._landing.is_alive()
        if self.results != self._landed and free and time.monotonic() - self._landed_at >= LANDING:
            self._landed, self._landed_at = self.results, time.monotonic()
            self._landing = threading.Thread(target=self._land, daemon=True)
            self._landing.start()

    def _conclude(self) -> None:
        self.show()
        if self._landing is not None:
            self._landing.join()
        self._land()
        try:
            self.conclude()
        except Exception:
            log.exception("what came of it could not be told")
        with _LOCK:
            if _AT.get(self.home) is self:
                del _AT[self.home]
        self.show()

    def show(self) -> None:
        """Have it shown wherever its workspace is."""
        for observer in list(_OBSERVERS):
            if observer.home == self.home:
                observer.progressed(self)

    def _land(self) -> None:
        try:
            landed(self.home)
        except Exception:
            log.exception("a widget could not read %s anew", self.home)


U = TypeVar("U", bound=WorkspaceTask[Any])


def watch(observer: Observer) -> WorkspaceTask[Any] | None:
    """Tell it from now on; gives what is under way there already."""
    with _LOCK:
        _OBSERVERS.add(observer)
        return _AT.get(observer.home)


def begin(home: Path, start: Callable[[], U]) -> U:
    """Begin something in a workspace where nothing is under way.

    Raises:
        Refused: something is under way there, in this process.
    """
    with _LOCK:
        other = _AT.get(home)
        if other is not None:
            raise refuse(
                f"{home.name} is busy: it is {other.doing}. Wait until it ends, or stop it"
            )
        _AT[home] = task = start()
    task.show()
    return task


State = Literal["waiting", "in flight", "executed", "finished", "errored"]

LOOK: Mapping[State, str] = {
    "waiting": "sen-waits",
    "in flight": "sen-flies",
    "executed": "sen-half",
    "finished": "sen-ends",
    "errored": "sen-fails",
}

MOST = 600
"""Runs above which there is no board: the bar says it all."""


@dataclass
class Board:
    """The runs of a plan, looked at again and again while they are made.

    Only those that had not ended are looked at on the disk, so a look is cheap.
    """

    plan: Plan
    states: dict[str, State] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """By a run's folder why it errored."""
    _groups: dict[tuple[str, str], list[Cell]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the runs of an eval on a side together, in order."""
        for cell in sorted(self.plan.cells, key=lambda cell: cell.run_number):
            self._groups.setdefault((cell.eval_id, cell.configuration), []).append(cell)

    def look(self, progress: Progress) -> None:
        """Take in how far each run is."""
        if len(self.plan.cells) > MOST:
            return
        flying = {flight.folder for flight in progress.in_flight}
        for cell in self.plan.cells:
            if self.states.get(cell.folder) not in ("finished", "errored"):
                self.states[cell.folder] = self._state(cell, cell.folder in flying)
            if self.states[cell.folder] == "errored" and cell.folder not in self.reasons:
                self.reasons[cell.folder] = errored(self.plan.folder_of(cell)) or ""

    def _state(self, cell: Cell, flying: bool) -> State:
        folder = self.plan.folder_of(cell)
        if flying:
            return "in flight"
        if not (folder / EXECUTED).is_file():
            return "waiting"
        if self.plan.state(cell):
            return "executed"
        return "errored" if errored(folder) is not None else "finished"

    def view(self) -> Node | None:
        """A row an eval, a column a configuration, a square a run; None where it was too large."""
        if not self.states:
            return None
        names = self.plan.configurations
        baseline, _ = choose(names)
        rows = [
            h(
                "tr",
                h("th", brief(eval_.name), scope="row", title=eval_.name),
                [h("td", self._squares(eval_.id, name, name == baseline)) for name in names],
                key=f"eval-{eval_.id}",
            )
            for eval_ in self.plan.evals
        ]
        heads = [h("th", name, scope="col") for name in names]
        table = h(
            "table",
            h("caption", "Every run of the plan", cls="sen-unseen"),
            h("thead", h("tr", h("th", "eval", scope="col"), heads)),
            h("tbody", rows),
            cls="sen-board",
        )
        content = [table, _legend(), errors_view(self.reasons)]
        return frame(content, "every run of the plan", "sen-scroll sen-high")

    def _squares(self, eval_id: str, configuration: str, is_baseline: bool) -> Node:
        mine = self._groups.get((eval_id, configuration), [])
        states: list[State] = [self.states.get(cell.folder, "waiting") for cell in mine]
        caption = ", ".join(
            f"{states.count(state)} {state}" for state in LOOK if states.count(state)
        )
        squares = [
            h(
                "span",
                cls=f"sen-square {LOOK[state]}",
                title=f"run {cell.run_number}: {state}",
                key=cell.folder,
            )
            for cell, state in zip(mine, states, strict=True)
        ]
        look = "sen-squares sen-of-base" if is_baseline else "sen-squares"
        return h("span", squares, cls=look, role="img", aria_label=f"{configuration}: {caption}")


def errors_view(reasons: Mapping[str, str]) -> Node | None:
    """Why runs are errored, a line a reason; None where none is.

    Args:
        reasons: by a run's folder in the workspace its reason.
    """
    if not reasons:
        return None
    runs: dict[str, list[str]] = {}
    for folder, reason in reasons.items():
        runs.setdefault(reason, []).append(folder.partition("/")[2])
    lines = [
        h(
            "li",
            f"{reason}: " if reason else None,
            h("span", ", ".join(sorted(names)), cls="sen-soft"),
        )
        for reason, names in runs.items()
    ]
    head = h("p", h("b", f"Why {count(len(reasons), 'run')} errored"))
    return h("div", head, h("ul", lines, dir="auto"), cls="sen-notice", key="errors")


def _legend() -> Node:
    """What the squares mean; they say it themselves to who cannot see them."""
    squares = [
        h("span", h("span", cls=f"sen-square {look}"), f" {state}") for state, look in LOOK.items()
    ]
    return h("p", squares, cls="sen-legend sen-soft sen-small", aria_hidden="true")


KINDS = {"helps": "good", "hurts": "bad"}
"""How the word of a verdict stands out; any other is neither good nor bad."""

Verdict = tuple[str, str, str]
"""What an iteration says of a skill: a word, a sentence and the reason for it."""


class Running(WorkspaceTask[None]):
    """A plan that is being carried out."""

    progress: Progress

    def __init__(self, plan: Plan, facts: Facts) -> None:
        """Start it.

        Args:
            plan: what to do.
            facts: what was shown of it.

        Raises:
            Held: another job is at this iteration.
            Refused: a skill has changed since the plan was made.
            OSError: the workspace cannot be written.
        """
        self.doing = f"running iteration-{plan.iteration}"
        self.plan, self.facts, self.gently = plan, facts, False
        self.board = Board(plan)
        self.verdicts: list[Verdict] | None = None
        """What the iteration says, once that is known."""
        self.job: Job = plan.start()
        super().__init__(plan.workspace, self._watch, lambda now: now.share, self.job.progress)

    @property
    def results(self) -> int:
        """Runs that have ended."""
        return self.progress.finished + self.progress.errored

    def conclude(self) -> None:
        """Find out what the iteration says."""
        self.verdicts = verdicts(self.plan.workspace, f"iteration-{self.plan.iteration}")

    def stop(self, grace: float = 0.0) -> None:
        """Begin nothing new; what is in flight has `grace` seconds."""
        self.stopping, self.gently = True, grace > 0
        self.job.stop(grace)

    def _watch(self, report: Callable[[Progress], None], _: threading.Event) -> None:
        while True:
            now = self.job.progress
            try:
                self.board.look(now)
            except OSError:  # it is a picture only; the job says what is wrong with the disk
                log.exception("the board could not be drawn")
            report(now)
            if now.status != "running":
                return
            time.sleep(SECONDS)


def verdicts(home: Path, iteration: str) -> list[Verdict]:
    """What an iteration says of each configuration; nothing without a baseline.

    Of its evals; or of tasks like them, where only that can be said.
    """
    ws = load(home).select(iteration=iteration)
    found: list[Verdict] = []
    for these, beyond in zip(
        *(deltas(ws, scope=scope).to_dicts() for scope in SCOPES), strict=True
    ):
        wide = beyond_comes_first(these, beyond)
        row = beyond if wide else these
        word = row["verdict"] or "unclear"
        if not row["n_evals"]:
            found.append((word, "There is nothing to compare", row["reason"]))
            continue
        where = "tasks like these" if wide else of_these(row["n_evals"])
        claim = sentence(row["verdict"], row["metric"], row["configuration"], where)
        found.append((word, claim, f"Pass rate: {row['reason']}"))
    return found


LONG = 3600.0
"""Seconds that what is in flight has to end by itself, where somebody stops gently."""

LATEST = 3
"""Problems that are shown; the others are a click away."""


def running_view(at: Running) -> Node:
    """The job while it goes on."""
    now = at.progress
    return running_card(
        f"Running iteration-{at.plan.iteration} of {at.plan.skill_name}",
        (now.share, "runs that have ended"),
        list(_figures(now)),
        stopping=at.stopping,
        stop=[_money(now), _stop(at)],
        below=[
            h("div", _flights(now), at.board.view(), cls="sen-columns sen-live"),
            problems(now, at.board.reasons),
            details("The plan", plan_view(at.facts, None), key="plan"),
        ],
    )


def _figures(now: Progress) -> Iterator[Node]:
    yield figure(f"{now.finished + now.errored:,} of {now.cells:,}", "runs ended")
    if now.errored:
        yield figure(f"{now.errored:,}", "errored", "bad")
    yield figure(f"{now.waiting:,}", "waiting")
    of = f" of {dollars(now.ceiling_usd)}" if now.ceiling_usd is not None else ""
    known = "" if now.priced else ", some calls without a known price"
    yield figure(dollars(now.spent_usd), f"spent{of}{known}")
    if now.reserved_usd:
        yield figure(dollars(now.reserved_usd), "in flight at worst")
    yield figure(clock(now.seconds), "time")
    if now.status == "running" and now.left_seconds is not None:
        yield figure(f"~{clock(now.left_seconds)}", "left")


def _money(now: Progress) -> Node | None:
    """How much of the budget is spent, and how much may be."""
    if not now.ceiling_usd:
        return None
    spent = min(now.spent_usd / now.ceiling_usd, 1.0)
    flying = min(now.reserved_usd / now.ceiling_usd, 1.0 - spent)
    caption = (
        f"{dollars(now.spent_usd)} of the budget of {dollars(now.ceiling_usd)} is spent, and "
        f"{dollars(now.reserved_usd)} may be by what is in flight"
    )
    return h(
        "div",
        h("span", cls="sen-spent", style={"width": f"{spent:.1%}"}),
        h("span", cls="sen-reserved", style={"width": f"{flying:.1%}"}),
        cls="sen-money",
        role="img",
        aria_label=caption,
        title=caption,
    )


def _stop(at: Running) -> Node:
    if at.stopping:
        words = (
            f"Stopping: nothing new is begun{', and what is in flight may end' * at.gently}. What "
            "is finished stays on disk, and going on later does only what is missing."
        )
        at_once = button("Stop at once", ("press_stop", 0.0)) if at.gently else None
        return h("div", h("p", words, role="status"), at_once, key="stopping")
    return h(
        "div",
        button("Stop", ("press_stop", 0.0), key="stop"),
        button(
            "Stop when what is in flight has ended",
            ("press_stop", LONG),
            kind="quiet",
            key="gently",
        ),
        cls="sen-row sen-middle",
        key="stops",
    )


def _flights(now: Progress) -> Node:
    lines = [
        h(
            "li",
            h("span", flight.step, cls="sen-pill"),
            # its folder without the iteration, which the heading has
            h("span", flight.folder.partition("/")[2], cls="sen-place", title=flight.folder),
            h("span", clock(flight.seconds), cls="sen-numbers"),
            key=f"{flight.step} {flight.folder}",
        )
        for flight in now.in_flight[:SHOWN]
    ]
    rest = len(now.in_flight) - SHOWN
    if rest > 0:
        lines.append(h("li", f"and {rest:,} more", key="rest"))
    ready = "nothing at this moment" if now.waiting < now.cells else "making ready…"
    content = h("ul", lines, cls="sen-flights") if lines else h("p", ready)
    return h("div", h("h5", f"In flight ({len(now.in_flight):,})"), content)


def problems(now: Progress, reasons: Mapping[str, str]) -> Node | None:
    """What went wrong, the last of it first to be seen; but for the reasons beside the runs."""
    known = {f"{folder}: {reason}" for folder, reason in reasons.items()}
    news = [problem for problem in now.problems if problem not in known]
    if not news:
        return None
    last = [h("li", problem) for problem in news[-LATEST:]]
    rest = news[:-LATEST]
    return h(
        "div",
        h("p", h("b", count(len(news), "problem"))),
        h("ul", last),
        details(f"{len(rest):,} before", h("ul", [h("li", text) for text in rest]), key="before")
        if rest
        else None,
        cls="sen-notice",
        key="problems",
    )


HEADINGS = {
    "done": ("Done", "good"),
    "partial": ("The budget was reached", "odd"),
    "stopped": ("Stopped", "odd"),
    "failed": ("Failed", "bad"),
}


def ended_card(title: str, heading: tuple[str, str], summary: str, *content: Child) -> Node:
    """What became of something: a word for it with its kind, figures, what to do next."""
    return h(
        "section",
        h(
            "div",
            h("h4", f"{title} "),
            pill(*heading),
            h("span", summary, cls="sen-soft"),
            button("Put away", ("put_away",), kind="quiet"),
            cls="sen-row sen-middle",
        ),
        content,
        cls="sen-card sen-ended",
        role="status",
        key="ended",
    )


def ended_view(at: Running) -> Node:
    """What became of the job, and what to do next."""
    now = at.progress
    heading = HEADINGS.get(now.status, (now.status, "odd"))
    if now.errored and now.status == "done":
        heading = f"Done, {now.errored:,} errored", "odd"
    ran = now.finished + now.errored
    message = now.message if now.status in ("partial", "failed") else None
    return ended_card(
        f"iteration-{at.plan.iteration} of {at.plan.skill_name}",
        heading,
        f"{ran:,} of {now.cells:,} runs, {dollars(now.spent_usd)}, {clock(now.seconds)}",
        h("p", message, key="message") if message else None,
        h(
            "div",
            h(
                "div",
                _verdicts(at),
                problems(now, at.board.reasons),
                h("p", list(_next(at)), cls="sen-next"),
            ),
            at.board.view(),
            cls="sen-columns sen-came",
        ),
    )


def _verdicts(at: Running) -> Child:
    if not at.results:
        return None
    if at.verdicts is None:
        return h("p", "Working out what the runs say…", key="verdict")
    return [
        h(
            "div",
            h("p", pill(word, KINDS.get(word, "odd")), " ", h("b", f"{claim}.")),
            soft(reason),
            key=f"verdict-{place}",
        )
        for place, (word, claim, reason) in enumerate(at.verdicts)
    ]


def _next(at: Running) -> Iterator[Child]:
    status, home = at.progress.status, repr(place(at.plan.workspace))
    if status in ("stopped", "failed"):
        yield "What is finished stays; starting the plan again does only what is missing. "
    if status == "partial":
        yield "Raise the budget and start again: what is done is not done again. "
    if at.progress.errored:
        yield "Runs that errored are done again with “Do runs that errored again”. "
    yield from ("Next: ", h("code", f"sen.explore({home})"), " shows the deltas and the runs, ")
    yield from (h("code", f"sen.review({home})"), " the outputs.")
