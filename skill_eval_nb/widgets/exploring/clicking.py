"""Actions of the views: turning to another one, and clicking what is drawn there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skill_eval_nb.widgets.panel import action
from skill_eval_nb.widgets.runs import RunKey

from ..later import PENDING
from . import clicks, figures
from .drawing import CHARTS
from .evals import ORDERS
from .page import TABS
from .part import parts_of
from .state import Exploring, known


class Clicking(Exploring):
    """Looking, and clicking what is seen."""

    @action
    def choose_tab(self, name: str) -> None:
        """Open another view."""
        self.seen = replace(self.seen, tab=known(name, TABS))

    @action
    def turn(self, name: str, page: int) -> None:
        """Show another page of what is paged."""
        pages = {**dict(self.seen.pages), name: page}
        self.seen = replace(self.seen, pages=tuple(pages.items()))

    @action
    def choose_order(self, name: str) -> None:
        """Show the evals in another order."""
        self.seen = replace(self.seen, order=known(name, ORDERS)).from_first("evals")

    @action
    def choose_class(self, name: str) -> None:
        """Show the expectations of a class alone."""
        self.seen = replace(self.seen, kind=name).from_first("checks")

    @action
    def choose_severity(self, name: str) -> None:
        """Show the problems of a severity alone."""
        self.seen = replace(self.seen, severity=name).from_first("problems")

    @action
    def choose_chart(self, name: str) -> None:
        """Draw another chart."""
        self.seen = replace(self.seen, chart=known(name, CHARTS))

    @action
    def pick_iteration(self, iteration: str) -> None:
        """Show the runs of an iteration."""
        self.pick(clicks.of_iteration(iteration))

    @action
    def pick_eval(self, iteration: str, eval_id: str, name: str) -> None:
        """Show the runs of an eval."""
        self.pick(clicks.of_eval(iteration, eval_id, name))

    @action
    def pick_runs(
        self, iteration: str, eval_id: str, name: str, configuration: str, *numbers: int
    ) -> None:
        """Show the runs of a point, or all of an eval and configuration."""
        self.pick(clicks.of_runs(iteration, eval_id, name, configuration, numbers))

    @action
    def pick_dimension(
        self, iteration: str, dimension: str, configuration: str | None = None
    ) -> None:
        """Show the runs that were scored on a dimension, with the judge's reasons."""
        self.pick(clicks.of_dimension(iteration, dimension, configuration))

    @action
    def pick_check(
        self, iteration: str, layer: str, text: str, configuration: str | None = None
    ) -> None:
        """Show the runs behind a cell of the expectations, with the evidence."""
        self.pick(clicks.of_check(iteration, layer, text, configuration))

    @action
    def pick_note(self, iteration: str, number: int) -> None:
        """Show the runs that a note is about."""
        choice = self.choice
        part = next(one for one in parts_of(choice) if one.iteration == iteration)
        notes = self.counted.figures(figures.notes, [part], choice.metric)[part]
        if notes is not PENDING:
            self.pick(clicks.of_note(iteration, number, notes[number]))

    @action
    def pick_problem(self, number: int) -> None:
        """Show the runs that a problem touches."""
        rows = self.source.ws.polars("problems")
        self.pick(clicks.of_problem(number, rows.row(number, named=True)))

    @action
    def open_run(self, *key: Any) -> None:
        """Show a run as a whole, or no longer."""
        run = RunKey(*key)
        self.seen = replace(self.seen, opened=None if self.seen.opened == run else run)

    @action
    def clear(self) -> None:
        """Show all runs again."""
        self.pick(None)
