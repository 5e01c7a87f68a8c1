"""`Explore`: the panel itself. Every click and choice is an action here, and no more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count as counter
from pathlib import Path
from typing import Any, ClassVar

from skill_eval_nb.tables.frames import like
from skill_eval_nb.widgets.panel import Child, Panel, action, style
from skill_eval_nb.widgets.runs import RunKey
from skill_eval_nb.widgets.showing import SHOWING_CSS
from skill_eval_nb.widgets.source import Source

from . import clicks, figures
from .choice import Choice, initial, settled, suite_of
from .counted import Counted
from .drawing import CHARTS, Picture, draw, key_of
from .evals import ORDERS
from .exporting import PARTS, Export, dialects, write, write_chart
from .facts import Suite
from .later import PENDING, Later
from .look import Seen
from .page import TABS, nothing, page
from .part import parts_of
from .selection import Selection

FIRST_PATIENCE, PATIENCE = 1.2, 0.15
"""Seconds that the first view, and every other one, waits for what is being counted."""
Outcome = tuple[tuple[Path, ...], tuple[str, ...]]
"""What was written, and what was lost on the way."""
_NUMBERS = counter(1)


class Explore(Panel):
    """A workspace to look through; `selection` gives back what is selected.

    Attributes:
        source: what is looked at, as it was last read.
        asked: the choice as it was made.
        seen: what is open.
        export_to: how it is handed on, and what was written.
    """

    _css = style(SHOWING_CSS, Path(__file__).with_name("exploring.css"))
    label: ClassVar[str] = "Explore evaluations"

    def __init__(self, ws: Any, **asked: Any) -> None:
        """Look at a workspace; see `explore`."""
        self.source = Source(ws, self._read_anew)
        self._later = Later(self.show, FIRST_PATIENCE)
        self._counted = Counted(self.source.ws, self._later)
        self.asked = initial(self._counted.suites, **asked)
        self.seen = Seen()
        self.export_to = Export()
        self._writer: threading.Thread | None = None
        self._page = f"sen-explore-{next(_NUMBERS)}"
        super().__init__()
        self._later.patience = PATIENCE

    @property
    def suite(self) -> Suite | None:
        """The skill that is looked at; None where there is none."""
        return suite_of(self._counted.suites, self.asked)

    @property
    def choice(self) -> Choice:
        """What is looked at, with all that was left open chosen."""
        return settled(self.suite, self.asked)

    @property
    def selection(self) -> Any:
        """The runs that were clicked, else all that are looked at: rows of `ws.runs`.

        In the backend of the workspace, polars or pandas.
        """
        return like(self.source.ws, self._counted.runs(self.choice, self.seen.clicked))

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted or written; whether it came to that."""
        if self._writer is not None:
            self._writer.join(seconds)
        return self._later.wait(seconds) and not self.export_to.busy

    def view(self) -> Child:
        """All of it."""
        self._later.begin()
        suite = self.suite
        if suite is None or not (suite.n_runs or len(self._counted.suites) > 1):
            return nothing(suite, self.source.lacking, self.source.path)
        return page(self._counted, suite, self.choice, self.seen, self.export_to, number=self._page)

    # ── choosing ──────────────────────────────────────────────────────────────────────────

    @action
    def choose_suite(self, number: str) -> None:
        """Look at another skill."""
        suite = self._counted.suites[int(number)]
        self._choose(Choice(suite.workspace, suite.skill, metric=self.asked.metric))

    @action
    def choose_iterations(self, *names: str) -> None:
        """Look at these iterations; at the last one where none is named."""
        self._choose(replace(self.asked, iterations=names))

    @action
    def tick_iteration(self, name: str, on: bool) -> None:  # noqa: FBT001 -- as the page sends it
        """Look at one iteration more, or less."""
        self._choose(replace(self.asked, iterations=_ticked(self.choice.iterations, name, on)))

    @action
    def choose_configuration(self, name: str) -> None:
        """Compare this one; what it is compared against gives way."""
        other = self.choice.baseline
        other = self.choice.configuration if name == other else other
        self._choose(replace(self.asked, configuration=name, baseline=other))

    @action
    def choose_baseline(self, name: str) -> None:
        """Compare against this one; what is compared gives way."""
        own = self.choice.configuration
        own = self.choice.baseline if name == own else own
        self._choose(replace(self.asked, configuration=own, baseline=name))

    @action
    def choose_metric(self, name: str) -> None:
        """Look at another metric or dimension; the runs that were clicked stay."""
        self.asked = replace(self.asked, metric=name)

    @action
    def choose_evals(self, *ids: str) -> None:
        """Count these evals alone; all where none is named."""
        self._choose(replace(self.asked, evals=ids))

    @action
    def tick_eval(self, eval_id: str, on: bool) -> None:  # noqa: FBT001 -- as the page sends it
        """Count one eval more, or less."""
        suite = self.suite
        every = tuple(suite.evals) if suite is not None else ()
        chosen = _ticked(self.choice.evals or every, eval_id, on)
        self._choose(replace(self.asked, evals=chosen))

    @action
    def unfold(self, name: str, is_open: bool) -> None:  # noqa: FBT001 -- as the page sends it
        """Open a list to choose from, or close it."""
        kept = self.seen.unfolded - {name}
        self.seen = replace(self.seen, unfolded=kept | {name} if is_open else kept)

    # ── looking ───────────────────────────────────────────────────────────────────────────

    @action
    def choose_tab(self, name: str) -> None:
        """Open another view."""
        self.seen = replace(self.seen, tab=_known(name, TABS))

    @action
    def turn(self, name: str, page: int) -> None:
        """Show another page of what is paged."""
        pages = {**dict(self.seen.pages), name: page}
        self.seen = replace(self.seen, pages=tuple(pages.items()))

    @action
    def choose_order(self, name: str) -> None:
        """Show the evals in another order."""
        self.seen = replace(self.seen, order=_known(name, ORDERS))
        self._first_page("evals")

    @action
    def choose_class(self, name: str) -> None:
        """Show the expectations of a class alone."""
        self.seen = replace(self.seen, kind=name)
        self._first_page("checks")

    @action
    def choose_severity(self, name: str) -> None:
        """Show the problems of a severity alone."""
        self.seen = replace(self.seen, severity=name)
        self._first_page("problems")

    @action
    def choose_chart(self, name: str) -> None:
        """Draw another chart."""
        self.seen = replace(self.seen, chart=_known(name, CHARTS))

    # ── clicking ──────────────────────────────────────────────────────────────────────────

    @action
    def pick_iteration(self, iteration: str) -> None:
        """Show the runs of an iteration."""
        self._pick(clicks.of_iteration(iteration))

    @action
    def pick_eval(self, iteration: str, eval_id: str, name: str) -> None:
        """Show the runs of an eval."""
        self._pick(clicks.of_eval(iteration, eval_id, name))

    @action
    def pick_runs(
        self, iteration: str, eval_id: str, name: str, configuration: str, *numbers: int
    ) -> None:
        """Show the runs of a point, or all of an eval and configuration."""
        self._pick(clicks.of_runs(iteration, eval_id, name, configuration, numbers))

    @action
    def pick_dimension(
        self, iteration: str, dimension: str, configuration: str | None = None
    ) -> None:
        """Show the runs that were scored on a dimension, with the judge's reasons."""
        self._pick(clicks.of_dimension(iteration, dimension, configuration))

    @action
    def pick_check(
        self, iteration: str, layer: str, text: str, configuration: str | None = None
    ) -> None:
        """Show the runs behind a cell of the expectations, with the evidence."""
        self._pick(clicks.of_check(iteration, layer, text, configuration))

    @action
    def pick_note(self, iteration: str, number: int) -> None:
        """Show the runs that a note is about."""
        choice = self.choice
        part = next(one for one in parts_of(choice) if one.iteration == iteration)
        notes = self._counted.figures(figures.notes, part, choice.metric)
        if notes is not PENDING:
            self._pick(clicks.of_note(iteration, number, notes[number]))

    @action
    def pick_problem(self, number: int) -> None:
        """Show the runs that a problem touches."""
        rows = self.source.ws.polars("problems")
        self._pick(clicks.of_problem(number, rows.row(number, named=True)))

    @action
    def open_run(self, *key: Any) -> None:
        """Show a run as a whole, or no longer."""
        run = RunKey(*key)
        self.seen = replace(self.seen, opened=None if self.seen.opened == run else run)

    @action
    def clear(self) -> None:
        """Show all runs again."""
        self._pick(None)

    # ── handing on ────────────────────────────────────────────────────────────────────────

    @action
    def choose_folder(self, folder: str) -> None:
        """Write to another folder."""
        self.export_to = replace(self.export_to, folder=folder)

    @action
    def choose_dialect(self, name: str) -> None:
        """Write benchmark.json in another form."""
        self.export_to = replace(self.export_to, dialect=_known(name, dialects()))

    @action
    def choose_part(self, name: str) -> None:
        """Report on all, or on what is chosen."""
        self.export_to = replace(self.export_to, part=_known(name, PARTS))

    @action
    def export(self) -> None:
        """Write benchmark.json, benchmark.md and report.html."""
        ws, choice, export = self.source.ws, self.choice, self.export_to

        def written() -> Outcome:
            found = write(ws, choice, export)
            return tuple(found), tuple(found.losses)

        self._beside(written)

    @action
    def save_chart(self, kind: str) -> None:
        """Write the chart that is drawn as a picture."""
        ws, choice, export, name = self.source.ws, self.choice, self.export_to, self.seen.chart
        drawn = self._counted.get(key_of(choice, name), lambda: draw(ws, choice, name))

        def written() -> Outcome:
            picture: Picture = draw(ws, choice, name) if drawn is PENDING else drawn
            return (write_chart(picture.chart, name, kind, export),), ()

        self._beside(written)

    # ── how ───────────────────────────────────────────────────────────────────────────────

    def _beside(self, written: Callable[[], Outcome]) -> None:
        """Write in a thread; what goes wrong is shown as every fault is."""
        if self.export_to.busy:
            return
        self.export_to = replace(self.export_to, busy=True, written=(), losses=())

        def work() -> None:
            paths: tuple[Path, ...] = ()
            losses: tuple[str, ...] = ()
            try:
                paths, losses = written()
            except Exception as error:  # noqa: BLE001 -- shown, whatever it is
                self._fail(error)
            self.export_to = replace(self.export_to, busy=False, written=paths, losses=losses)
            self.show()

        self._writer = threading.Thread(target=work, daemon=True)
        self._writer.start()

    def _choose(self, asked: Choice) -> None:
        """Look at something else: what was clicked is of what was looked at before."""
        self.asked = asked
        self.seen = replace(self.seen, clicked=None, opened=None, pages=())

    def _pick(self, clicked: Selection | None) -> None:
        self.seen = replace(self.seen, clicked=clicked, opened=None)
        self._first_page("runs")

    def _first_page(self, name: str) -> None:
        pages = tuple(one for one in self.seen.pages if one[0] != name)
        self.seen = replace(self.seen, pages=pages)

    def _read_anew(self) -> None:
        """Runs have landed: count anew, and keep what was chosen."""
        self._counted = Counted(self.source.ws, self._later)
        self.show()


def _ticked(chosen: tuple[str, ...], name: str, on: bool) -> tuple[str, ...]:  # noqa: FBT001
    kept = tuple(one for one in chosen if one != name)
    return (*kept, name) if on else kept


def _known(name: str, names: Any) -> str:
    if name not in names:
        raise ValueError(f"There is no `{name}` here. There are: {', '.join(names)}.")
    return name
