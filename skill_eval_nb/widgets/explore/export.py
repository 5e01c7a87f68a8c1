"""What is handed on: charts as pictures, and the files of a report."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb import charts
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.stats.values import headline_of, metrics_of, model_name, secondary_level
from skill_eval_nb.text import as_label

from ..ui import Child, Node, h, offer
from ..ui.parts import button, choose, details, entry, notice, waiting_note
from .choice import Choice
from .look import Look

if TYPE_CHECKING:
    from skill_eval_nb.report import Written
    from skill_eval_nb.tables import Workspace


FOLDER = "report"
PARTS = {"all": "everything that was loaded", "chosen": "what is chosen above"}


@dataclass(frozen=True, slots=True)
class Export:
    """How it is to be written.

    Attributes:
        folder: where to.
        dialect: the form of benchmark.json.
        part: one of PARTS.
    """

    folder: str = FOLDER
    dialect: str = "skill-creator"
    part: str = "all"

    @property
    def path(self) -> Path:
        """The folder as a path."""
        return Path(self.folder.strip() or FOLDER).expanduser()

    def write_report(self, ws: Workspace, choice: Choice) -> Written:
        """Write benchmark.json, benchmark.md and report.html, as the shell's `report` does.

        Raises:
            OSError: a file cannot be written.
        """
        from skill_eval_nb import report

        own = choice.select(ws, iteration=choice.iterations) if self.part == "chosen" else ws
        return report.write_report(own, self.path, dialect=self.dialect)

    def write_chart(self, ws: Workspace, choice: Choice, name: str, kind: str) -> Written:
        """Write a chart as a picture.

        Raises:
            OSError: the file cannot be written.
        """
        from skill_eval_nb.report import Written

        path = self.path / f"{name}.{kind}"
        return Written([charts.save(chart_of(ws, choice, name), path)])


def export_view(export: Export, *, busy: bool) -> Node:
    """The view of what can be handed on."""
    dialects = [name for name, forms in DIALECTS.items() if "benchmark" in forms]
    return h(
        "div",
        h(
            "div",
            _folder_entry(export),
            choose("What", PARTS, export.part, ("hand", "part")),
            choose("Form of benchmark.json", dialects, export.dialect, ("hand", "dialect")),
            cls="sen-row",
        ),
        h(
            "p",
            "Writes benchmark.json, benchmark.md and report.html, one file that opens anywhere.",
            cls="sen-soft sen-x-export",
        ),
        button(
            "Writing …" if busy else "Write the report",
            None if busy else ("export",),
            kind="main",
        ),
    )


def _folder_entry(export: Export) -> Node:
    act, look = ("hand", "folder"), {"spellcheck": "false", "cls": "sen-x-folder"}
    return entry("Folder", export.folder, act, **look)


def written_view(written: Written) -> Child:
    """What was written, and what could not be."""
    items = [h("li", h("code", str(path.resolve()))) for path in written]
    losses = h("ul", [h("li", loss) for loss in written.losses])
    return [
        notice("Written:", fine=True, key="written"),
        h("ul", items),
        details("What this form has no place for", losses) if written.losses else None,
    ]


FORMATS = ("png", "svg")
SCALE = 2.0
"""Pixels of a picture per pixel of the page: sharp on dense screens."""
SPANNING = "iterations"
"""The chart that shows every iteration, whichever are chosen."""

CHARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "forest": ("How sure is the difference?", ("metric", "baseline")),
    "deltas": ("Which evals gain?", ("metric", "baseline")),
    "factors": ("Which models does it help with?", ("metric", "baseline")),
    "forest_by_dimension": ("Which dimensions gain?", ("baseline",)),
    "rubric_dimensions": ("Every run on every dimension", ()),
    "score_distributions": ("How often is which score given?", ()),
    "variance_components": ("Evals, runs or the judge: where is the spread from?", ("metric",)),
    "judge_confusion": ("Does the judge agree with itself?", ()),
    "expectation_matrix": ("Which expectations pass?", ()),
    "discrimination": ("Which expectations tell something?", ("baseline",)),
    "quality_against_cost": ("Quality against cost", ()),
    "iterations": ("Iteration by iteration", ()),
    "plan_curve": ("What would more runs bring?", ("metric",)),
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


def draw(ws: Workspace, choice: Choice, name: str) -> tuple[str, bytes]:
    """A chart's answer in words, and the chart as PNG.

    It is no SVG: where a browser has other fonts than those that the chart was laid out with, the
    words of one are cut at its edge.
    """
    import vl_convert

    spec = chart_of(ws, choice, name).to_dict(validate=False)  # our own: a third of the time
    return spec["description"], vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE)


def charts_view(look: Look, export: Export, *, busy: bool) -> Node:
    """The view of charts.

    Args:
        look: what is looked at.
        export: where a chart is written to.
        busy: whether one is being written.
    """
    name = look.seen.chart
    options = {chart: words for chart, (words, _) in CHARTS.items()}
    return h(
        "div",
        h(
            "div",
            choose("Chart", options, name, ("see", "chart")),
            _folder_entry(export),
            [
                button(f"Save as {kind.upper()}", None if busy else ("save_chart", kind))
                for kind in FORMATS
            ],
            cls="sen-row",
        ),
        _show_chart(look, name),
    )


def models(look: Look) -> Node:
    """The view of models, or of harnesses, where there are several."""
    return _show_chart(look, "factors")


def _show_chart(look: Look, name: str) -> Node:
    key = "chart", name, look.choice
    drawn = look.counted.get(key, lambda: draw(look.ws, look.choice, name))
    if drawn is None:
        return waiting_note("Drawing")
    answer, png = drawn
    blob = offer(f"chart-{name}-{sha256(png).hexdigest()[:16]}", lambda: (png, "image/png"))
    width = str(round(int.from_bytes(png[16:20]) / SCALE))
    return h("img", alt=as_label(answer, 400), width=width, blob=blob, key=blob, cls="sen-x-chart")
