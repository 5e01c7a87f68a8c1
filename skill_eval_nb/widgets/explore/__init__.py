"""Exploring a workspace: the verdict, the deltas, the variance and the runs behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.stats.looks import find_iterations
from skill_eval_nb.workspace.jobs import find_skill

from ..show.run import SHOWING_CSS
from ..ui import Child, action, h, style
from ..ui.parts import button
from ..ui.source import Background
from ..ui.tree import forward
from .choice import HEADLINE, Choice, SkillRuns
from .explorer import VIEWS, Explorer
from .export import Export, charts_view, export_view, written_view
from .figures import Counted
from .look import Look
from .rows import RowSearch, read_condition

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.report import Written
    from skill_eval_nb.tables import Workspace

    from ..run import RunPanel

__all__ = ["Explore", "explore"]

HERE = Path(__file__).parent
NO_SKILL = "No skill with evals is in or next to these runs: sen.run_panel(SKILL) takes another."


def explore(
    ws: Workspace | str | PathLike[str],
    *,
    workspace: str | None = None,
    skill: str | None = None,
    iteration: str | Iterable[str] | None = None,
    configuration: str | None = None,
    baseline: str | None = None,
    evals: Iterable[str | int] | None = None,
    metric: str | None = None,
    find: str = "",
    where: str | pl.Expr | None = None,
) -> Explore:
    """Look through a workspace: what the skill changes, how sure that is, and the runs behind it.

    You can click everything: a point, an eval, a dimension, a cell of the expectations or a
    problem shows its runs with evidence, the judge's reasons, transcript and outputs. The
    widget's `.selection` gives these runs as a table.

    Args:
        ws: what `load` returned, or the path of a workspace, which may still be empty: runs
            appear as they finish.
        workspace: which one, if several were loaded.
        skill: which one, if there are several.
        iteration: its name, or several; the last one if not given.
        configuration: the one to compare.
        baseline: the one to compare it with; chosen by name if not given.
        evals: ids or names of the evals to include; all if not given.
        metric: a number column of `runs`, or a rubric dimension by its name; the pass rate if
            not given.
        find: words that the runs listed have in their prompt, outputs or evidence.
        where: a condition that the runs listed meet, in SQL, such as
            `"status = 'graded' and failed > 0"`, or as a polars expression; on the columns of
            `ws.runs`. It selects what is listed, never what the figures are counted from.

    Raises:
        ValueError: if a name does not exist; the message suggests the nearest one.
    """
    named = [iteration] if isinstance(iteration, str) else list(iteration or ())
    wanted = [evals] if isinstance(evals, str | int) else list(evals or ())
    ids = tuple(str(id_) for id_ in wanted)
    sides = configuration, baseline
    request = Choice(workspace, skill, tuple(named), *sides, ids, metric or HEADLINE)
    return Explore(ws, request, find, where)


class Explore(Explorer):
    """A workspace to look through; `selection` gives back what is selected."""

    _css = style(SHOWING_CSS, *(HERE / sheet for sheet in ("explore.css", "../run/run.css")))
    label: ClassVar[str] = "Explore evaluations"
    TABS = {name: words for name, (words, _) in VIEWS.items()} | {
        "charts": "Charts",
        "export": "Export",
    }
    WITHOUT_RUNS = frozenset(("models", "charts", "export"))

    def __init__(
        self,
        ws: Any,
        request: Choice,
        find: str = "",
        where: str | pl.Expr | None = None,
    ) -> None:
        """Look at a workspace; see `explore`."""
        self.export_to = Export()
        self._written: Written | None = None
        self._writing = Background(self.show, self._fail)
        self._runs: RunPanel | None = None
        super().__init__(ws, request)
        condition = read_condition(where, self.source.ws.polars("runs"))
        self.seen = replace(self.seen, search=RowSearch(find), condition=condition)
        self.show()

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted, drawn or written; whether it came to that."""
        return self._writing.wait(seconds) and super().settle(seconds)

    def view(self) -> Child:
        """All of it, or the panel that makes more runs."""
        if self._runs is None:
            return super().view()
        back = button("← Back to the figures", ("leave_runs",), kind="quiet", key="back")
        return [back, *(forward(node, "in_runs") for node in self._runs._tree)]  # noqa: SLF001

    def _make_look(self, counted: Counted, suite: SkillRuns, choice: Choice) -> Look:
        return replace(super()._make_look(counted, suite, choice), run_more=self._run_more)

    def _run_more(self, iteration: str, runs: int) -> Child:
        """The button that opens the run panel, or what it lacks."""
        if self._find_skill(iteration) is not None:
            return button("Run these …", ("run_more", iteration, runs))
        return [button("Run these …", None), " ", h("small", NO_SKILL, cls="sen-soft")]

    def _find_skill(self, iteration: str) -> tuple[Path, Path] | None:
        """The folder of an iteration, and that of its skill."""
        names = (self.choice.workspace or "", self.choice.skill or "", iteration)
        folder = find_iterations(self.source.ws).get(names)
        skill = None if folder is None else find_skill(folder)
        return None if folder is None or skill is None else (folder, skill)

    @action
    def run_more(self, iteration: str, runs: int) -> None:
        """Open the run panel, filled in so that each eval has this number of runs a side."""
        from ..run import run_panel
        from ..run.plan import settings_of

        found = self._find_skill(iteration)
        if found is not None:
            self._runs = run_panel(**settings_of(*found, runs))
            self._runs.observe(lambda _: self.show(), "_wire")

    @action
    def in_runs(self, name: str, *values: Any) -> None:
        """Do what was clicked in the run panel."""
        if self._runs is not None:
            self._runs.do(name, *values)

    @action
    def leave_runs(self) -> None:
        """Show the figures again; what runs goes on."""
        self._runs = None

    def _content(self, look: Look) -> Child:
        tab, busy = self.seen.tab, self._writing.busy
        if tab in VIEWS:
            return super()._content(look)
        if tab == "export":
            view = export_view(self.export_to, busy=busy)
        else:
            view = charts_view(look, self.export_to, busy=busy)
        return [view, written_view(self._written) if self._written else None]

    @action
    def hand(self, name: str, value: str) -> None:
        """Choose the `folder` to write to, the `dialect`, or the `part` to report on."""
        self.export_to = replace(self.export_to, **{name: value})

    @action
    def export(self) -> None:
        """Write benchmark.json, benchmark.md and report.html."""
        ws, choice, export = self.source.ws, self.choice, self.export_to
        self._write(lambda: export.write_report(ws, choice))

    @action
    def save_chart(self, kind: str) -> None:
        """Write the chart that is drawn as a picture."""
        ws, choice, export, name = self.source.ws, self.choice, self.export_to, self.seen.chart
        self._write(lambda: export.write_chart(ws, choice, name, kind))

    def _write(self, work: Callable[[], Written]) -> None:
        """Write in a thread; what goes wrong is shown as every fault is."""

        def take(written: Written) -> None:
            self._written = written

        if not self._writing.busy:
            self._written = None
            self._writing.begin(work, take, patience=0.0)
