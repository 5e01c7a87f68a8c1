"""Expectations, dimensions of the rubric, what stands out, and problems: a view each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.charts.judges import SOURCES
from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.expectations import CLASSES
from skill_eval_nb.stats.values import RUBRIC, natural_key
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.text import as_label, count

from ..ui import Child, Node, h
from ..ui.parts import KINDS, button, details, note, notice, pill, table, table_row, waiting_note
from ..ui.track import Axis, axis_of, delta_view, figure_or_dash, of_figures, scale, track
from .choice import (
    TURNS,
    Cells,
    EvalCell,
    Part,
    Place,
    count_cells,
    count_checks,
    count_flips,
    count_headline,
    count_means,
    count_notes,
    count_others,
    count_sources,
    iteration_name,
    select_path,
)
from .evals import EvalSide, draw_sides, lane_heads, lane_keys
from .look import (
    Drawn,
    Lines,
    Look,
    kind_buttons,
    left_out,
    place_of,
    runs_behind,
    side_heads,
    sides_legend,
    swatch,
)
from .rows import of_page, pager, sort_button
from .verdict import verdict_pill

if TYPE_CHECKING:
    import polars as pl

ORDER = (*CLASSES, *TURNS)
"""Classes of expectations, and what became of one from one iteration to another."""
LOOKS = dict.fromkeys(("separates", "newly passing", "gain and cost"), "good")
LOOKS |= dict.fromkeys(("hurts", "newly failing"), "bad")
LOOKS |= dict.fromkeys(("flaky", "left out", "unpaired", "outlier"), "odd")
"""How classes of expectations, and kinds of notes, stand out."""

Check = tuple[str, str, str | None]
"""Layer and text of an expectation, and the eval's id where it is of one."""
Line = tuple[Check, Part]


def checks(look: Look) -> Node:
    """The view of expectations."""
    found = look.figures(count_flips if look.suite.turned else count_checks)
    if any(rows is None for rows in found.values()):
        return waiting_note("Counting")
    lines = _check_lines(look, found)
    if not lines:
        return notice("No run was checked for any expectation.")
    classes = Counter(sorted((check["class"] for check in lines.values()), key=ORDER.index))
    kind = look.seen.kind if look.seen.kind in classes else ""
    wanted = [line for line, check in lines.items() if kind in ("", check["class"])]
    heads: list[Child] = [
        side_heads(look, "checks", lambda side: as_label(side, 30)),
        sort_button("Class", "checks", "class"),
        "Why",
    ]
    shown = Lines(
        *("checks", "expectation", wanted, lambda line: _check_row(look, line, lines[line])),
        keys=_sort_keys(look, lines),
        data=lines,
    )
    caption = "Runs that passed, of those scored; click to see them with their evidence"
    filter_buttons = kind_buttons("Class of expectation", "kind", classes, kind)
    return h("div", filter_buttons, shown.view(look, heads, caption=caption))


def _check_lines(look: Look, found: Mapping[Part, Sequence[Row] | None]) -> dict[Line, Row]:
    """A line for each expectation of each iteration, in the order of the last iteration."""
    known: dict[Line, Row] = {
        ((check["layer"], check["text"], check.get("eval_id")), part): check
        for part, rows in found.items()
        for check in rows or []
    }
    last_first = sorted(known, key=lambda line: -look.parts.index(line[1]))
    lines = ((about, part) for about in dict(last_first) for part in look.parts)
    return {line: known[line] for line in lines if line in known}


def _sort_keys(look: Look, lines: Mapping[Line, Row]) -> dict[str, Callable[[Line], Any]]:
    """What expectations are sorted by: words, the share that passed on each side, the class."""

    def share_on(name: str, line: Line) -> float | None:
        passed, failed, *_ = _side_counts(lines[line], name) or (0, 0)
        return passed / (passed + failed) if passed + failed else None

    return {
        "text": lambda line: natural_key(line[0][1]),
        **{kind: partial(share_on, name) for kind, name in look.kinds},
        "class": lambda line: ORDER.index(lines[line]["class"]),
    }


def _side_counts(found: Row, name: str) -> list[int] | None:
    """Passed, failed, errored and not scored of a side; None where it has no run."""
    end = {found["configuration"]: "", found["baseline"]: "_baseline"}.get(name)
    if end is None:
        return None
    return [found[f"n_{outcome}{end}"] for outcome in ("passed", "failed", "errored", "unscored")]


def _check_row(look: Look, line: Line, found: Row) -> Drawn:
    (layer, text, eval_id), part = line
    act = ("pick", "check", part.iteration, layer, text, *((None, eval_id) if eval_id else ()))
    cells = [
        h(
            "div",
            [_share_cell(line, found, kind, name) for kind, name in look.kinds],
            cls="sen-x-pair",
        ),
        pill(found["class"], LOOKS.get(found["class"], "")),
        h("span", found["reason"], cls="sen-small sen-soft"),
    ]
    return Drawn(as_label(text, 400), act, cells, _about_check(found))


def _about_check(found: Row) -> str:
    evals = found["evals"]
    of = as_label(evals[0], 40) if len(evals) == 1 else count(len(evals), "eval")
    critical = "critical" if found["critical"] else ""
    return " · ".join(filter(None, (as_label(found["layer"]), of, critical)))


def _share_cell(line: Line, found: Row, kind: str, name: str) -> Node:
    """Passed of scored on one side, coloured by its share."""
    (layer, text, eval_id), part = line
    counts = _side_counts(found, name)
    if counts is None:
        return h("span", "–", cls=f"sen-x-cell sen-x-none sen-x-at-{kind}", title="no run")
    passed, failed, errored, unscored = counts
    scored = passed + failed
    left = left_out(errored, unscored)
    ratio = f"{passed:,}/{scored:,}" if scored else "–"
    outcome = ", ".join([f"{passed:,} of {scored:,} passed", *left])
    spoken = f"{as_label(name, 40)}: {outcome}"
    share = passed / scored if scored else 0.5
    look_of = "sen-x-none" if not scored else "sen-x-more" if share >= 0.5 else "sen-x-less"
    act = ("pick", "check", part.iteration, layer, text, name, *((eval_id,) if eval_id else ()))
    return button(
        [h("b", ratio), h("small", "+" + " + ".join(left)) if left else None],
        act,
        cls=f"sen-x-cell {look_of} sen-x-at-{kind}",
        style={"--sen-share": f"{abs(share - 0.5) * 200:.3g}%"},
        aria_label=f"{spoken}; show these runs",
        title=spoken,
    )


Dimension = tuple[tuple[str], Part]


def dimensions(look: Look) -> Node:
    """The view of dimensions."""
    if not look.suite.dimensions:
        return notice("No run of this skill was scored on a rubric, so there are no dimensions.")
    counts = (count_headline, count_others, count_sources, count_means)
    headline, others, sources, summaries = (look.figures(count) for count in counts)
    cells = {
        (name,): look.counted.figures(count_cells, look.parts, RUBRIC + name)
        for name in look.suite.dimensions
    }
    if any(None in found.values() for found in (others, sources, summaries, *cells.values())):
        return waiting_note("Counting")
    deltas = {
        ((difference["metric"].removeprefix(RUBRIC),), part): difference
        for part in look.parts
        for difference in (*(headline[part] or ()), *others[part])
        if difference["metric"].startswith(RUBRIC) and difference["scope"] == "suite"
    }
    means = {
        (((mean["metric"].removeprefix(RUBRIC),), part), mean["configuration"]): mean
        for part in look.parts
        for mean in summaries[part]
        if mean["metric"].startswith(RUBRIC)
    }
    lines = sorted(
        {line for (line, _), mean in means.items() if mean["n"]},
        key=lambda line: (natural_key(line[0][0]), look.parts.index(line[1])),
    )
    meant = metric_of(RUBRIC)
    axis, points = axis_of(deltas.values(), meant), of_figures(meant, None, None)

    def mean_on(side: str, line: Dimension) -> float | None:
        return means.get((line, side), {}).get("mean")

    def draw(line: Dimension) -> Drawn:
        (dimension,), part = line
        own = [source for source in sources[part] if source["dimension"] == dimension]
        act = ("pick", "dimension", part.iteration, dimension)
        sides: list[EvalSide] = []
        bars: list[Child] = []
        for kind, name in look.kinds:
            shares = [row for row in own if row["configuration"] == name]
            bars.append(_draw_shares(shares, kind, name))
            spoken = f"{as_label(name, 40)}, {as_label(dimension, 60)}"
            runs = _runs_of_evals(cells[line[0]][part], name)
            spread = f"SD {figure_or_dash(meant, means.get((line, name), {}).get('stddev'))}"
            clicked = look.clicked_runs(place_of("dimensions", line), name)
            sides.append(EvalSide(kind, spoken, (*act, name), runs, spread, clicked))
        difference = [_delta_cell(deltas.get(line), axis)] if look.compares else []
        shown = [*draw_sides(points, meant, sides), *difference, bars]
        return Drawn(as_label(dimension), act, shown)

    title = metric_of("rubric_weighted_mean").difference_axis
    every = [source for found in sources.values() for source in found]
    differences = scale(axis, meant, title, difference=True)
    heads = lane_heads(look, "dimensions", scale(points, meant, "score of each run"), differences)
    heads.append(["Source of spread", _shares_legend(every)])
    keys = lane_keys(look, mean_on, deltas)
    shown = Lines("dimensions", "dimension", lines, draw, keys, deltas)
    caption = "Scores on the rubric, 1–5, each run’s and their mean and standard deviation"
    return h(
        "div",
        sides_legend(look),
        shown.view(look, heads, caption=caption),
        _remarks(every),
    )


def _runs_of_evals(cells: Cells, side: str) -> EvalCell | None:
    """The runs of all evals of a side, each by its name, as notes name runs."""
    runs = [
        (f"{eval_name} {side} run {number}", value)
        for ((_, eval_name), of), cell in cells.items()
        if of == side
        for number, value in cell.runs
    ]
    runs.sort(key=lambda run: run[::-1])
    return EvalCell(runs, fmean(value for _, value in runs)) if runs else None


LEGIBLE = 0.13
"""The smallest share that is written into its part of the bar."""


def _draw_shares(rows: Sequence[Mapping[str, Any]], kind: str, name: str) -> Child:
    """Where a configuration's variance comes from, as one bar; a sentence where none is known."""
    known = [row for row in rows if row["component"] != "judge severity"]
    shares = [(row["component"], row["share"]) for row in known if row["share"] is not None]
    if not shares:
        return note(next((row["note"] for row in known if row["note"]), "nothing was scored"))
    words = [f"{_component_name(part)} {share:.0%}" for part, share in shares]
    parts = [
        h(
            "i",
            h("span", f"{share:.0%}") if share >= LEGIBLE else None,
            cls=f"sen-x-part sen-x-{_share_look(component)}",
            style={"width": f"{100 * share:.4g}%"},
            title=text,
        )
        for (component, share), text in zip(shares, words, strict=True)
    ]
    label = f"{name}: {', '.join(words)}"
    return h(
        "div",
        swatch(kind),
        h("div", parts, cls="sen-x-stack", role="img", aria_label=label),
        cls="sen-x-stack-row",
    )


def _component_name(component: str) -> str:
    return SOURCES.get(component, component).removeprefix("the ")


def _share_look(component: str) -> str:
    return f"of-{component.replace(' + ', '-')}"


def _shares_legend(rows: Sequence[Mapping[str, Any]]) -> Node:
    """What the parts of the bars are."""
    there = dict.fromkeys(row["component"] for row in rows if row["share"])
    parts = [h("span", swatch(_share_look(part)), _component_name(part)) for part in there]
    return h("p", parts, cls="sen-x-legend")


def _delta_cell(found: Row | None, axis: Axis) -> list[Child]:
    if found is None or found["estimate"] is None:
        return [h("span", "no eval was scored on both sides", cls="sen-soft sen-small")]
    meant = metric_of(found["metric"])
    return [delta_view(meant, found, " ", verdict_pill(found)), track(axis, found, meant)]


def _remarks(rows: Sequence[Row]) -> list[Child]:
    """What to know about these figures before believing them."""
    notes: dict[str, dict[str, None]] = {}
    for source in rows:
        who = f"{as_label(source['dimension'], 40)} ({as_label(source['configuration'], 40)})"
        for sentence in (source["note"] or "").replace(". ", ".\n").splitlines():
            notes.setdefault(sentence, {})[who] = None
    remarks = [
        h("li", sentence, h("span", f" {', '.join(who)}", cls="sen-soft"))
        for sentence, who in notes.items()
    ]
    doubts = details("Notes on the shares", h("ul", remarks), key="doubts")
    said = "Means are over all runs that were scored; deltas are paired by eval."
    return [note(said), doubts if remarks else None]


def notes_view(look: Look) -> Node:
    """The view of notes, an iteration after the other."""
    found = look.figures(count_notes)
    if any(rows is None for rows in found.values()):
        return waiting_note("Counting")
    if not any(found.values()):
        return notice("Nothing notable.", fine=True)
    return h("div", [_notes_of(look, part, rows) for part, rows in found.items()])


def _notes_of(look: Look, part: Part, rows: Sequence[Row]) -> list[Child]:
    items: list[Node] = []
    for number, row in enumerate(rows):
        at = ("notes", part.iteration, str(number))
        below = h("div", runs_behind(look), key="below") if look.is_at(at) else None
        look.placed |= below is not None
        items.append(h("li", _note_item(part, number, row), below, key=str(at)))
    title = h("h4", iteration_name(part.iteration)) if look.several else None
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


def problems(look: Look) -> Node:
    """The view of problems: errors first."""
    every = look.problems
    if not every:
        return notice("No problems: everything could be used as it is.", fine=True)
    counts = Counter(problem["severity"] for _, problem in every)
    chosen = look.seen.severity if look.seen.severity in counts else ""
    kept = [item for item in every if chosen in ("", item[1]["severity"])]
    runs = look.ws.polars("runs").filter(workspace=look.choice.workspace, skill=look.choice.skill)
    rows: list[Node] = []
    for number, problem in of_page(kept, look.seen.page("problems")):
        at = ("problems", str(number))
        rows.append(_problem_row(look, number, problem, runs, at))
        rows += look.runs_below(at, 4)
    return h(
        "div",
        kind_buttons("Severity", "severity", counts, chosen),
        table(
            ["Problem", "Where", "What was found", "Runs"],
            rows,
            caption="Problems in the files, and what to do",
            cls="sen-x-problems",
        ),
        pager(len(kept), look.seen.page("problems"), "problems", "problem"),
    )


def _problem_row(look: Look, number: int, problem: Row, runs: pl.DataFrame, at: Place) -> Node:
    severity, code = problem["severity"], as_label(problem["code"])
    where = problem["where"] and as_label(problem["where"], 200)
    touched = select_path(runs, problem["path"]).height
    found: Child = h("span", "of no single run", cls="sen-soft sen-small")
    if touched:
        spoken = f"{code}: show the {count(touched, 'run')} concerned"
        found = button(count(touched, "run"), ("pick", "problem", number), aria_label=spoken)
    path = h("code", as_label(problem["path"], 400), cls="sen-x-path")
    cells = [
        [pill(severity, KINDS[severity]), h("small", f" {code}")],
        [path, h("small", f" {where}", cls="sen-soft") if where else None],
        as_label(problem["message"], 600),
        found,
    ]
    return table_row(cells, key=str(at), cls="sen-chosen" if look.is_at(at) else None)
