"""Further views: what stands out, problems, charts as pictures, and what is written to files."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb import charts
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.stats.values import headline_of, metrics_of, model_name, secondary_level
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.text import as_label, count

from ..ui import Child, Node, h, offer
from ..ui.parts import KINDS, button, choose, details, entry, notice, pill, table, waiting_note
from . import figures
from .choice import Choice, Part, iteration_name, of_path
from .look import Look, behind, filters, row
from .rows import of_page, pager

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


LOOKS = {
    "gain and cost": "good",
    "hurts": "bad",
    "left out": "odd",
    "unpaired": "odd",
    "outlier": "odd",
}


def notes_view(look: Look) -> Node:
    """The view of notes, an iteration after the other."""
    found = look.figures(figures.notes)
    if not any(found.values()):
        if any(rows is None for rows in found.values()):
            return waiting_note("Counting")
        return notice("Nothing notable.", fine=True)
    return h("div", [_of_iteration(look, part, rows) for part, rows in found.items()])


def _of_iteration(look: Look, part: Part, rows: list[Row] | None) -> list[Child]:
    title = h("h4", iteration_name(part.iteration)) if look.several else None
    if rows is None:
        return [title, h("p", "Counting …", cls="sen-soft")]
    items: list[Node] = []
    for number, note in enumerate(rows):
        at = ("notes", part.iteration, str(number))
        below = h("div", behind(look), key="below") if look.is_at(at) else None
        look.placed |= below is not None
        items.append(h("li", _note_item(part, number, note), below, key=str(at)))
    return [title, h("ul", items, cls="sen-x-notes")]


def _note_item(part: Part, number: int, note: Row) -> list[Child]:
    act = ("pick", "note", part.iteration, number) if note["evals"] or note["runs"] else None
    more = note["expectations"]
    return [
        pill(note["kind"], LOOKS.get(note["kind"], "")),
        h("span", f" {as_label(note['text'], 2000)} "),
        button("Show the runs", act, kind="quiet") if act else None,
        h("small", f"({len(more):,} expectations)", cls="sen-soft") if len(more) > 1 else None,
    ]


PLURALS = {"error": "errors", "warning": "warnings", "info": "for information"}
COLUMNS = 4


def problems(look: Look) -> Node:
    """The view of problems: errors first."""
    every = look.problems
    if not every:
        return notice("Everything could be used as it is.", fine=True)
    counts = Counter(problem["severity"] for _, problem in every)
    chosen = look.seen.severity if look.seen.severity in counts else ""
    kept = [item for item in every if chosen in ("", item[1]["severity"])]
    runs = look.ws.polars("runs").filter(workspace=look.choice.workspace, skill=look.choice.skill)
    rows: list[Node] = []
    for number, problem in of_page(kept, look.seen.page("problems")):
        at = ("problems", str(number))
        rows.append(_row(look, number, problem, runs, at))
        rows += look.below(at, COLUMNS)
    return h(
        "div",
        _severity_filter(counts, chosen),
        table(
            ["Problem", "Where", "What was found", "Runs"],
            rows,
            caption="What was found in the files, and what to do",
            cls="sen-x-problems",
        ),
        pager(len(kept), look.seen.page("problems"), "problems", "problem"),
    )


def _severity_filter(counts: Counter[str], chosen: str) -> Node | None:
    if len(counts) < 2:
        return None
    names = [name for name in KINDS if counts[name]]
    words = {name: PLURALS[name] if counts[name] > 1 else name for name in names}
    labels = {name: f"{counts[name]:,} {words[name]}" for name in names}
    return filters("Severity", "severity", counts.total(), labels, chosen)


def _row(look: Look, number: int, problem: Row, runs: pl.DataFrame, at: tuple[str, ...]) -> Node:
    touched = of_path(runs, problem["path"]).height
    found: Child = h("span", "of no run alone", cls="sen-soft sen-small")
    if touched:
        spoken = f"{as_label(problem['code'])}: show the {count(touched, 'run')} it is about"
        found = button(count(touched, "run"), ("pick", "problem", number), aria_label=spoken)
    return row(
        [
            [
                pill(problem["severity"], KINDS[problem["severity"]]),
                h("small", f" {as_label(problem['code'])}"),
            ],
            [
                h("code", as_label(problem["path"], 400), cls="sen-x-path"),
                h("small", f" {as_label(problem['where'], 200)}", cls="sen-soft")
                if problem["where"]
                else None,
            ],
            as_label(problem["message"], 600),
            found,
        ],
        key=str(at),
        chosen=look.is_at(at),
    )


FOLDER = "report"
PARTS = {"all": "everything that was loaded", "chosen": "the skill and iterations chosen above"}


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


class Outcome(NamedTuple):
    """The tab where one asked for files, their paths, and what a dialect has no place for."""

    tab: str
    paths: tuple[Path, ...]
    losses: tuple[str, ...] = ()


def dialects() -> list[str]:
    """Those that have a benchmark."""
    return [name for name, forms in DIALECTS.items() if "benchmark" in forms]


def write(ws: Workspace, choice: Choice, export: Export) -> Outcome:
    """Write benchmark.json, benchmark.md and report.html, as the shell's `report` does.

    Raises:
        OSError: a file cannot be written.
    """
    from skill_eval_nb import report

    if export.part == "chosen":
        ws = ws.select(
            workspace=choice.workspace or "",
            skill=choice.skill or "",
            iteration=choice.iterations,
        )
    written = report.write_report(ws, _folder(export), dialect=export.dialect)
    return Outcome("export", tuple(written), tuple(written.losses))


def write_chart(picture: Picture, name: str, kind: str, export: Export) -> Outcome:
    """Write a chart as a picture.

    Raises:
        OSError: the file cannot be written.
    """
    path = _folder(export) / f"{name}.{kind}"
    return Outcome("charts", (charts.save(picture.chart, path),))


def _folder(export: Export) -> Path:
    return Path(export.folder.strip() or FOLDER).expanduser()


def export_view(export: Export, *, busy: bool) -> Node:
    """The view of what can be handed on."""
    return h(
        "div",
        h(
            "div",
            _folder_entry(export),
            choose("What", PARTS, export.part, ("hand", "part")),
            choose("Form of benchmark.json", dialects(), export.dialect, ("hand", "dialect")),
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


def outcome_view(outcome: Outcome, export: Export) -> Child:
    """What was written, and what could not be."""
    items = [h("li", h("code", str(path.resolve()))) for path in outcome.paths]
    losses = h("ul", [h("li", loss) for loss in outcome.losses])
    return [
        notice("Written:", fine=True, key="written"),
        h("ul", items, cls="sen-x-written"),
        details(f"What {export.dialect} has no place for", losses) if outcome.losses else None,
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


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, drawn: the chart itself, its PNG, and its answer in words.

    It is no SVG: where a browser has other fonts than those that the chart was laid out with, the
    words of one are cut at its edge.
    """

    chart: Any
    png: bytes
    answer: str

    @property
    def width(self) -> int:
        """How many pixels of the page it is wide."""
        return round(int.from_bytes(self.png[16:20]) / SCALE)


def draw(ws: Workspace, choice: Choice, name: str) -> Picture:
    """Draw a chart."""
    import vl_convert

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
    spec = chart.to_dict(validate=False)  # our own, and tested: a third of the time
    png = vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE)
    return Picture(chart, png, spec.get("description", "a chart"))


def key_of(choice: Choice, name: str) -> Hashable:
    """What a picture is remembered by."""
    return ("chart", name, choice)


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
    picture = look.counted.get(key_of(look.choice, name), lambda: draw(look.ws, look.choice, name))
    if picture is None:
        return waiting_note("Drawing")
    digest = hashlib.sha256(picture.png).hexdigest()[:16]
    blob = offer(f"chart-{name}-{digest}", lambda: (picture.png, "image/png"))
    answer, width = as_label(picture.answer, 400), str(picture.width)
    return h("img", alt=answer, width=width, blob=blob, key=blob, cls="sen-x-chart")
