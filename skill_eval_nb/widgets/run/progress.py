"""A job under way in a workspace: watched, shown, stopped, and its result."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skill_eval_nb.running.job import SHOWN, Progress
from skill_eval_nb.running.journal import InFlight
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.spec import EXECUTE, EXECUTED, reason_errored
from skill_eval_nb.stats.overview import answer_headline
from skill_eval_nb.stats.pairing import choose_baseline
from skill_eval_nb.stats.values import order_iterations
from skill_eval_nb.text import clip, clock, count, dollars

from ..show.transcript import show_last_steps
from ..ui import Node, h
from ..ui.paid import HEADINGS, ended_card, plan_view, running_card
from ..ui.parts import button, details, figure, note, pill, short_path, table, waiting_note
from ..ui.source import Background, Task, tell_landed
from .plan import PlanPreview

if TYPE_CHECKING:
    from skill_eval_nb.running import Cell, Job, Plan
    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.tables import Workspace


SECONDS = 0.25
"""Between two looks."""

LANDING = 2.0
"""Least seconds between two times that the other widgets read new runs."""

log = logging.getLogger(__name__)

_LOCK = threading.Lock()
_AT: dict[Path, WorkspaceTask[Any]] = {}
_WATCHING: weakref.WeakSet[Any] = weakref.WeakSet()
"""Panels, each of which shows what is under way in its `home`: see `watch_workspace`."""
T = TypeVar("T")


class WorkspaceTask(Task[T]):
    """Something under way in a workspace: all its panels show it, others read what has landed."""

    def __init__(self, home: Path, doing: str, do: Callable[..., T], progress: Any) -> None:
        self.home = home
        self._landed, self._landed_at = progress.share, time.monotonic()
        self._landing = Background(lambda: None, lambda error: log.error("%s", error))
        super().__init__(doing, do, progress, self.show, lambda _: self._conclude())

    def _take_progress(self, now: Any) -> None:
        # in the thread of the work alone: no landing begins once that has ended
        super()._take_progress(now)
        late = time.monotonic() - self._landed_at >= LANDING
        if now.share != self._landed and late and not self._landing.busy:
            self._landed, self._landed_at = now.share, time.monotonic()
            self._landing.begin(lambda: tell_landed(self.home), lambda _: None, 0.0)

    def _conclude(self) -> None:
        self.show()
        self._landing.wait()
        tell_landed(self.home)
        with _LOCK:
            if _AT.get(self.home) is self:
                del _AT[self.home]
        self.show()

    def show(self) -> None:
        """Have it shown wherever its workspace is, unless another has begun there since."""
        if _AT.get(self.home, self) is not self:
            return
        for panel in list(_WATCHING):
            if panel.home == self.home:
                panel.progressed(self)


def watch_workspace(panel: Any) -> WorkspaceTask[Any] | None:
    """Call its `progressed` from now on, in any thread; returns what is under way already."""
    with _LOCK:
        _WATCHING.add(panel)
        return _AT.get(panel.home)


def begin_task(home: Path, start: Callable[[], WorkspaceTask[Any]]) -> None:
    """Begin something in a workspace where nothing is under way.

    Raises:
        Refused: something is under way there, in this process.
    """
    with _LOCK:
        other = _AT.get(home)
        if other is not None and other.running:
            raise refuse(
                f"{home.name} is busy: it is {other.doing}. Wait until it ends, or stop it"
            )
        _AT[home] = task = start()
    task.show()


LOOK = {
    "waiting": "sen-waits",
    "in flight": "sen-flies",
    "executed": "sen-half",
    "finished": "sen-ends",
    "errored": "sen-fails",
}
"""By the state of a run how its square looks."""

MOST = 600
"""Runs above which there is no board: the bar says it all."""


class Board:
    """The runs of a plan, looked at again and again while they are made.

    Only those that had not ended are looked at on the disk, so a look is cheap.

    Attributes:
        states: of each run, by its folder, a key of LOOK.
        reasons: by a run's folder why it errored.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.states: dict[str, str] = {}
        self.reasons: dict[str, str] = {}

    def update_states(self, progress: Progress) -> None:
        """Take in how far each run is."""
        if len(self.plan.cells) > MOST:
            return
        flying = {flight.folder for flight in progress.in_flight}
        for cell in self.plan.cells:
            if self.states.get(cell.folder) not in ("finished", "errored"):
                state = "in flight" if cell.folder in flying else self._read_state(cell)
                self.states[cell.folder] = state

    def _read_state(self, cell: Cell) -> str:
        run = self.plan.run_of(cell)
        if not (run.place / EXECUTED).is_file():
            return "waiting"
        if run.missing:
            return "executed"
        why = reason_errored(run.place)
        if why is None:
            return "finished"
        self.reasons[cell.folder] = why
        return "errored"

    def view(self) -> Node | None:
        """A row an eval, a column a configuration, a square a run; None where it was too large."""
        if not self.states:
            return None
        names = self.plan.configurations
        baseline, _ = choose_baseline(names)
        rows = [
            [
                h("span", clip(eval_.name), title=eval_.name),
                *(self._run_squares(eval_.id, name, is_base=name == baseline) for name in names),
            ]
            for eval_ in self.plan.evals
        ]
        label, look = "every run of the plan", "sen-scroll sen-high"
        board = table(["eval", *names], rows, label=label, look=look, cls="sen-board")
        return h("div", board, _square_legend(), errors_view(self.reasons))

    def _run_squares(self, eval_id: str, configuration: str, *, is_base: bool) -> Node:
        mine = sorted(
            (cell.run_number, self.states.get(cell.folder, "waiting"))
            for cell in self.plan.cells
            if (cell.eval_id, cell.configuration) == (eval_id, configuration)
        )
        counts = Counter(state for _, state in mine)
        caption = ", ".join(f"{counts[state]} {state}" for state in LOOK if counts[state])
        squares = [
            h("span", cls=f"sen-square {LOOK[state]}", title=f"run {run}: {state}", key=str(run))
            for run, state in mine
        ]
        look = "sen-squares sen-of-base" if is_base else "sen-squares"
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
        h("li", reason and f"{reason}: ", h("span", ", ".join(sorted(names)), cls="sen-soft"))
        for reason, names in runs.items()
    ]
    head = h("p", h("b", f"Why {count(len(reasons), 'run')} errored"))
    return h("div", head, h("ul", lines, dir="auto"), cls="sen-notice", key="errors")


def _square_legend() -> Node:
    """What the squares mean; a screen reader hears it from the squares themselves."""
    squares = [
        h("span", h("span", cls=f"sen-square {look}"), f" {state}") for state, look in LOOK.items()
    ]
    return h("p", squares, cls="sen-legend sen-soft sen-small", aria_hidden="true")


class Running(WorkspaceTask[None]):
    """A plan that is being carried out.

    Attributes:
        plan: what is done.
        shown: what was shown of it.
        board: its runs.
        gently: whether what is in flight may end when it is stopped.
        job: what does it.
    """

    progress: Progress

    def __init__(self, preview: PlanPreview) -> None:
        """Start it.

        Raises:
            Held: another job is at this iteration.
            Refused: a skill has changed since the plan was made.
            OSError: the workspace cannot be written.
        """
        assert preview.found is not None
        self.plan, self.shown, self.gently = preview.found, preview.shown, False
        self.board = Board(self.plan)
        self.job: Job = self.plan.start()
        doing = f"running iteration-{self.plan.iteration}"
        super().__init__(self.plan.workspace, doing, self._poll_job, self.job.progress)

    @property
    def title(self) -> str:
        """What is run."""
        return f"iteration-{self.plan.iteration} of {self.plan.skill_name}"

    @property
    def left_seconds(self) -> float | None:
        """As the job estimates it, step by step."""
        return self.progress.left_seconds

    def stop(self, grace: float = 0.0) -> None:
        """Begin nothing new; what is in flight has `grace` seconds."""
        self.stopping, self.gently = True, grace > 0
        self.job.stop(grace)

    def _poll_job(self, progress: Callable[[Progress], None], **_: object) -> None:
        while True:
            now = self.job.progress
            try:
                self.board.update_states(now)
            except OSError:  # it is a picture only; the job says what is wrong with the disk
                log.exception("the progress board could not be drawn")
            progress(now)
            if now.status != "running":
                return
            time.sleep(SECONDS)


LONG = 3600.0
"""Seconds that what is in flight has to end, if somebody stops gently."""

STEPS = 3
"""Steps of a run in flight that are shown, the last ones."""

LATEST = 3
"""Problems that are shown; the others are a click away."""


def running_view(at: Running) -> Node:
    """The job while it goes on."""
    now = at.progress
    live = h("div", _flight_list(now), at.board.view(), cls="sen-columns sen-live")
    return running_card(
        at,
        f"Running {at.title}",
        "runs",
        _progress_figures(now),
        stop=_stop_button(at),
        below=[
            note("Interim: the verdict comes at the next planned look, or when the job ends."),
            h("div", h("p", now.retrying), cls="sen-notice", key="retry") if now.retrying else None,
            live,
            problems(now, at.board.reasons),
            details("The plan", plan_view(at.shown, None), key="plan"),
        ],
    )


def _progress_figures(now: Progress) -> Iterator[Node]:
    yield figure(f"{now.finished + now.errored:,} of {now.cells:,}", "runs ended")
    if now.errored:
        yield figure(f"{now.errored:,}", "errored", "bad")
    yield figure(f"{now.waiting:,}", "waiting")
    of = f" of {dollars(now.ceiling_usd)}" if now.ceiling_usd is not None else ""
    known = "" if now.priced else ", some calls without a known price"
    yield figure(dollars(now.spent_usd), f"spent{of}{known}")
    if now.usd_per_run:
        yield figure(f"~{dollars(now.usd_per_run)}", "per run")
    if now.reserved_usd:
        yield figure(dollars(now.reserved_usd), "in flight, at most")


def _stop_button(at: Running) -> Node:
    if at.stopping:
        words = "Stopping: nothing new is started. Finished runs are kept and not repeated."
        at_once = button("Stop now", ("stop",)) if at.gently else None
        return h("div", h("p", words, role="status"), at_once, key="stopping")
    words, act = "Stop after what is in flight", ("stop", LONG)
    ways = [
        button("Stop", ("stop",), key="stop"),
        button(words, act, kind="quiet", key="gently"),
    ]
    return h("div", ways, cls="sen-row sen-middle", key="stops")


def _flight_list(now: Progress) -> Node:
    lines = [
        h(
            "li",
            h("span", flight.step, cls="sen-pill"),
            # its folder without the iteration, which the heading has
            h("span", flight.folder.partition("/")[2], cls="sen-place", title=flight.folder),
            h("span", dollars(flight.spent_usd), cls="sen-soft") if flight.spent_usd else None,
            h("span", clock(flight.seconds), cls="sen-numbers"),
            _live_steps(flight) if flight.step == EXECUTE else None,
            key=f"{flight.step} {flight.folder}",
        )
        for flight in now.in_flight[:SHOWN]
    ]
    rest = len(now.in_flight) - SHOWN
    if rest > 0:
        lines.append(h("li", f"and {rest:,} more", key="rest"))
    ready = "nothing right now" if now.waiting < now.cells else "preparing…"
    content = h("ul", lines, cls="sen-flights") if lines else h("p", ready)
    return h("div", h("h5", f"In flight ({len(now.in_flight):,})"), content)


def _live_steps(flight: InFlight) -> Node:
    return show_last_steps(flight.events or (), STEPS) or note("No steps reported yet.")


def problems(now: Progress, reasons: Mapping[str, str]) -> Node | None:
    """What went wrong, the latest at once; without the reasons that are shown with the runs."""
    known = {f"{folder}: {reason}" for folder, reason in reasons.items()}
    news = [h("li", problem) for problem in now.problems if problem not in known]
    if not news:
        return None
    rest = news[:-LATEST]
    before = details(f"{len(rest):,} earlier", h("ul", rest), key="before") if rest else None
    head = h("p", h("b", count(len(news), "problem")))
    return h("div", head, h("ul", news[-LATEST:]), before, cls="sen-notice", key="problems")


def ended_view(at: Running) -> Node:
    """How the job ended, and what to do next."""
    now = at.progress
    heading = HEADINGS.get(now.status, (now.status, "odd"))
    if now.errored and now.status == "done":
        heading = f"Done, {now.errored:,} errored", "odd"
    message = now.message if now.status != "stopped" else None
    money = dollars(now.spent_usd)
    money += f" ({dollars(now.usd_per_run)} per run)" if now.usd_per_run else ""
    first = h("div", problems(now, at.board.reasons), _next_steps(at))
    return ended_card(
        at.title,
        heading,
        f"{now.finished + now.errored:,} of {now.cells:,} runs, {money}, {clock(at.seconds)}",
        h("p", message, key="message") if message else None,
        h("div", first, at.board.view(), cls="sen-columns sen-came"),
    )


GO_ON = "Finished runs are kept; starting the plan again does only what is missing. "


def _next_steps(at: Running) -> Node:
    home = repr(short_path(at.plan.workspace))
    again = "To retry runs that errored, tick “Retry runs that errored”. "
    return h(
        "p",
        GO_ON if at.progress.status != "done" else None,
        again if at.progress.errored else None,
        *("Next: ", h("code", f"sen.explore({home})"), " shows the deltas and the runs, "),
        *(h("code", f"sen.review({home})"), " the outputs."),
        cls="sen-next",
    )


def answer_newest(ws: Workspace) -> list[Answer]:
    """What the newest iteration says of each configuration; nothing if nothing was measured."""
    iteration = next(reversed(order_iterations(ws.polars("runs"))), None)
    return [] if iteration is None else answer_headline(ws.select(iteration=iteration))


NOTHING = "Nothing to compare yet. Two runs of each eval per side give a first result."


def answers_view(answers: Sequence[Answer] | None) -> Node:
    """What the newest iteration says, and what would decide it.

    Args:
        answers: None while they are being worked out.
    """
    if not answers:
        return waiting_note("Computing the results") if answers is None else note(NOTHING)
    title = f"What {answers[0].row['iteration']} says"
    lines = [h("div", _answer_nodes(answer), key=f"{at}") for at, answer in enumerate(answers)]
    return h("section", h("h4", title), lines, cls="sen-card", aria_label=title, key="answers")


def _answer_nodes(answer: Answer) -> Iterator[Node]:
    row, _, reason = answer.claims[0]
    word, kinds = row["verdict"] or "no verdict", {"helps": "good", "hurts": "bad"}
    yield h("p", pill(word, kinds.get(word, "odd")), " ", h("b", answer.short))
    if answer.lean:
        yield note(reason)
    for words, of in answer.next_steps:
        runs = of["next_runs"] if of["scope"] == "suite" else None
        yield h("p", words, " ", runs and button("Use these settings", ("take_runs", runs)))
