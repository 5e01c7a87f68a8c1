"""Exploring a workspace: the verdict, the deltas, the variance and the runs behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb import charts
from skill_eval_nb.charts.theme import SCALE
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.stats.looks import find_iterations
from skill_eval_nb.stats.values import headline_of, metrics_of, model_name, secondary_level
from skill_eval_nb.text import as_label
from skill_eval_nb.workspace.jobs import find_skill

from ..show.run import SHOWING_CSS
from ..ui import Child, Node, action, h, offer, style
from ..ui.parts import button, choose, details, entry, notice, waiting_note
from ..ui.source import Background
from ..ui.tree import forward_actions
from .choice import HEADLINE, Choice, Counted, SkillRuns
from .explorer import VIEWS, Explorer
from .look import Look
from .rows import RowSearch, read_condition

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.report import Written
    from skill_eval_nb.tables import Workspace

    from ..run import RunPanel

__all__ = ["Explore", "explore"]

HERE = Path(__file__).parent
NO_SKILL = "No skill with evals is in or next to these runs. For another: sen.run_panel(SKILL)."


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


WRITES = "Writes benchmark.json, benchmark.md and report.html, a single file that opens anywhere."
FOLDER = "report"
PARTS = {"all": "everything that was loaded", "chosen": "what is selected above"}


class Explore(Explorer):
    """A workspace to look through; `selection` gives back what is selected."""

    _css = style(SHOWING_CSS, *(HERE / sheet for sheet in ("explore.css", "../run/run.css")))
    label: ClassVar[str] = "Explore evaluations"
    OWN: ClassVar = {"models": "Models", "charts": "Charts", "export": "Export"}
    """Tabs that show no run."""
    TABS = {name: words for name, (words, _) in VIEWS.items()} | OWN
    WITHOUT_RUNS = frozenset(OWN)

    def __init__(
        self,
        ws: Any,
        request: Choice,
        find: str = "",
        where: str | pl.Expr | None = None,
    ) -> None:
        """Look at a workspace; see `explore`."""
        self.handed = {"folder": FOLDER, "dialect": "skill-creator", "part": "all"}
        self._written: Written | None = None
        self._writing = Background(self.show, self._show_fault)
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
        return [back, *(forward_actions(node, "in_runs") for node in self._runs._tree)]  # noqa: SLF001

    # ── more runs ─────────────────────────────────────────────────────────────────────────────

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
        skill = folder and find_skill(folder)
        return (folder, skill) if folder and skill else None

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

    # ── what is handed on: charts as pictures, and the files of a report ──────────────────────

    def _content(self, look: Look) -> Child:
        tab = self.seen.tab
        if tab == "models":
            return show_chart(look, "factors")
        if tab in self.OWN:
            view = self._export_view() if tab == "export" else self._charts_view(look)
            return [view, written_view(self._written) if self._written else None]
        return super()._content(look)

    def _charts_view(self, look: Look) -> Node:
        """The view of charts."""
        options = {chart: words for chart, (words, _) in CHARTS.items()}
        chart = choose("Chart", options, self.seen.chart, ("see", "chart"))
        saves = [
            button(f"Save as {kind.upper()}", None if self._writing.busy else ("save_chart", kind))
            for kind in FORMATS
        ]
        controls = h("div", chart, self._folder_entry(), saves, cls="sen-row")
        return h("div", controls, show_chart(look, self.seen.chart))

    def _export_view(self) -> Node:
        """The view of what can be written."""
        busy, handed = self._writing.busy, self.handed
        dialects = [name for name, forms in DIALECTS.items() if "benchmark" in forms]
        return h(
            "div",
            h(
                "div",
                self._folder_entry(),
                choose("What", PARTS, handed["part"], ("hand", "part")),
                choose("benchmark.json format", dialects, handed["dialect"], ("hand", "dialect")),
                cls="sen-row",
            ),
            h("p", WRITES, cls="sen-soft sen-x-export"),
            button(
                "Writing …" if busy else "Write the report",
                None if busy else ("export",),
                kind="main",
            ),
        )

    def _folder_entry(self) -> Node:
        look = {"spellcheck": "false", "cls": "sen-x-folder"}
        return entry("Folder", self.handed["folder"], ("hand", "folder"), **look)

    @action
    def hand(self, name: str, value: str) -> None:
        """Choose the `folder` to write to, the `dialect`, or the `part` to report on."""
        self.handed = {**self.handed, name: value}

    @property
    def _folder(self) -> Path:
        """The folder to write to."""
        return Path(self.handed["folder"].strip() or FOLDER).expanduser()

    @action
    def export(self) -> None:
        """Write benchmark.json, benchmark.md and report.html, as the shell's `report` does."""
        from skill_eval_nb import report

        ws, folder, dialect = self.source.ws, self._folder, self.handed["dialect"]
        if self.handed["part"] == "chosen":
            ws = self.choice.select(ws, iteration=self.choice.iterations)
        self._begin_writing(lambda: report.write_report(ws, folder, dialect=dialect))

    @action
    def save_chart(self, kind: str) -> None:
        """Write the chart that is drawn as a picture."""
        from skill_eval_nb.report import Written

        ws, choice, name = self.source.ws, self.choice, self.seen.chart
        path = self._folder / f"{name}.{kind}"
        self._begin_writing(lambda: Written([charts.save(chart_of(ws, choice, name), path)]))

    def _begin_writing(self, work: Callable[[], Written]) -> None:
        """Write in a thread; what goes wrong is shown as every fault is."""

        def keep_written(written: Written) -> None:
            self._written = written

        if not self._writing.busy:
            self._written = None
            self._writing.begin(work, keep_written, patience=0.0)


def written_view(written: Written) -> Child:
    """What was written, and what could not be."""
    items = [h("li", h("code", str(path.resolve()))) for path in written]
    losses = h("ul", [h("li", loss) for loss in written.losses])
    return [
        notice("Written:", fine=True, key="written"),
        h("ul", items),
        details("What this format leaves out", losses) if written.losses else None,
    ]


FORMATS = ("png", "svg")
SPANNING = "iterations"
"""The chart that shows every iteration, whichever are chosen."""

CHARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "forest": ("How sure is the difference?", ("metric", "baseline")),
    "deltas": ("Which evals gain?", ("metric", "baseline")),
    "factors": ("Which models does it help with?", ("metric", "baseline")),
    "forest_by_dimension": ("Which dimensions gain?", ("baseline",)),
    "rubric_dimensions": ("Every run on every dimension", ()),
    "score_distributions": ("How often is each score given?", ()),
    "variance_components": ("Does the spread come from evals, runs or the judge?", ("metric",)),
    "judge_confusion": ("Does the judge agree with itself?", ()),
    "expectation_matrix": ("Which expectations pass?", ()),
    "discrimination": ("Which expectations are informative?", ("baseline",)),
    "quality_against_cost": ("Quality against cost", ()),
    "iterations": ("Iteration by iteration", ()),
    "plan_curve": ("What would more runs add?", ("metric",)),
}
"""The charts by name: what each asks, and what of a choice it is drawn of beside iterations."""


def chart_of(ws: Workspace, choice: Choice, name: str) -> Any:
    """A chart of what is looked at."""
    told_apart = list(dict(choice.model))
    if name == "factors":  # which is about all models
        choice = replace(choice, model=())
    own = choice.select(ws, **({} if name == SPANNING else {"iteration": choice.iterations}))
    options = {wanted: getattr(choice, wanted) for wanted in CHARTS[name][1]}
    if name != SPANNING:  # an iteration may have no run of either side
        there = set(own.polars("runs")["iteration"])
        options["iteration"] = [iteration for iteration in choice.iterations if iteration in there]
    kind, _, by = name.partition("_by_")
    if kind == "forest":
        options |= {"together": True} | ({"by": by} if by else {})
    if kind == "factors":
        decides = choice.metric == headline_of(metrics_of(own))
        options["level"] = 0.95 if decides else secondary_level(0.95)
        options["factor"] = "harness" if told_apart == ["harness"] else "model"
    chart = getattr(charts, kind)(own, **options)
    if choice.model:
        name_of_model = as_label(model_name(dict(choice.model)))
        chart.title.text = [f"{name_of_model}:", *chart.title.text]
        chart.description = f"{name_of_model}: {chart.description}"
    return chart


def draw_picture(ws: Workspace, choice: Choice, name: str) -> tuple[str, bytes]:
    """A chart's answer in words, and the chart as PNG.

    It is no SVG: where a browser has other fonts than those that the chart was laid out with, the
    words of one are cut at its edge.
    """
    import vl_convert

    spec = chart_of(ws, choice, name).to_dict(validate=False)  # our own: a third of the time
    return spec["description"], vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE)


def show_chart(look: Look, name: str) -> Node:
    """A chart of what is looked at, or that it is being drawn."""
    key = "chart", name, look.choice
    drawn = look.counted.get(key, lambda: draw_picture(look.ws, look.choice, name))
    if drawn is None:
        return waiting_note("Drawing")
    answer, png = drawn
    blob = offer(f"chart-{name}-{sha256(png).hexdigest()[:16]}", lambda: (png, "image/png"))
    width = str(round(int.from_bytes(png[16:20]) / SCALE))
    return h("img", alt=as_label(answer, 400), width=width, blob=blob, key=blob, cls="sen-x-chart")
