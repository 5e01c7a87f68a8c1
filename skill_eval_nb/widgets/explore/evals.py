"""The evals: every run as a point, means, differences; and how the outputs of each begin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.values import better, natural_key
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.text import as_label, count

from ..show.outputs import read_beginning
from ..show.run import folder_of
from ..ui import Child, Node, h
from ..ui.parts import button, note, waiting_note
from ..ui.source import key_of
from ..ui.track import Axis, axis_of, delta_view, figure_or_dash, of_figures, scale, track
from .choice import (
    Cells,
    EvalCell,
    EvalKey,
    Part,
    count_cells,
    count_headline_by_eval,
    count_others_by_eval,
    list_evals,
)
from .look import Drawn, Lines, Look, left_out, place_of, side_heads, sides_legend, swatch
from .rows import sort_button

NEAR = 2.5
"""Percent of a lane within which points would lie on each other: they become one that counts."""
Run = tuple[int | str, float]
"""A run's number, or its name where there are runs of several evals, and its figure."""


class EvalSide(NamedTuple):
    """One side of an eval in an iteration.

    Attributes:
        kind: `with` or `base`.
        name: what it is called beside others.
        act: what shows its runs; some of them with their numbers behind it.
        cell: its runs; None where none has the figure.
        left: what else there is to say of them, as what is left out.
        clicked: the runs that were clicked.
    """

    kind: str
    name: str
    act: tuple[Any, ...]
    cell: EvalCell | None
    left: str
    clicked: frozenset[int | str]


def _draw_lane(axis: Axis, meant: Metric, sides: Sequence[EvalSide]) -> Node:
    """The runs of an eval on the axis of all lanes."""
    rules = [h("i", cls="sen-x-rule", style={"left": axis.at(value)}) for value in axis.marks]
    halves = [
        h("div", _draw_half(axis, meant, side), cls=f"sen-x-half sen-x-{side.kind}")
        for side in sides
    ]
    return h("div", rules, halves, cls="sen-x-lane")


def _draw_half(axis: Axis, meant: Metric, side: EvalSide) -> list[Node]:
    if side.cell is None:
        return []
    mean = h("i", cls="sen-x-mean", style={"left": axis.at(side.cell.mean)})
    groups: list[list[Run]] = []  # each is drawn as one mark
    for run in side.cell.runs:
        if groups and axis.place(run[1]) - axis.place(groups[-1][0][1]) < NEAR:
            groups[-1].append(run)
        else:
            groups.append([run])
    return [mean, *(_draw_point(axis, meant, side, runs) for runs in groups)]


def _draw_point(axis: Axis, meant: Metric, side: EvalSide, runs: Sequence[Run]) -> Node:
    """One run, or several that would lie on each other: a click shows them.

    By keyboard the means are reached, and the list of runs.
    """
    known = [run for run, _ in runs]
    low, high = runs[0][1], runs[-1][1]
    which = as_label(known[0]) if isinstance(known[0], str) else f"run {known[0]}"
    which = which if len(runs) == 1 else count(len(runs), "run")
    ends = " to ".join(dict.fromkeys((figure_or_dash(meant, low), figure_or_dash(meant, high))))
    name = f"{side.name}, {which}: {ends}"
    return button(
        str(len(runs)) if len(runs) > 1 else None,
        (*side.act, *known),
        cls="sen-x-point sen-x-several" if len(runs) > 1 else "sen-x-point",
        style={"left": axis.at((low + high) / 2)},
        aria_label=name,
        aria_pressed=side.clicked.issuperset(known),
        title=name,
        tabindex="-1",
    )


def mean_of(
    kind: str, meant: Metric, value: float | None, n: int, name: str, act: Sequence[Any]
) -> Node:
    """A mean with its n, as the way to the runs behind it."""
    shown = figure_or_dash(meant, value)
    return button(
        [swatch(kind), h("b", shown), h("span", f"n {n:,}", cls="sen-soft")],
        act,
        cls="sen-x-figure",
        aria_label=f"{name}: mean {shown}, {count(n, 'run')}; show them",
    )


Line = tuple[EvalKey, Part]
"""What a row is: an eval in an iteration."""
Deltas = dict[Line, Row]


def evals(look: Look) -> Node:
    """The view of evals."""
    keys, found = look.figures(list_evals), look.figures(count_cells)
    # asked for last, for it takes longest
    differences = look.of_metric(count_headline_by_eval, count_others_by_eval)
    deltas: Deltas = {
        ((row["eval_id"], row["eval_name"]), part): row
        for part, rows in differences.items()
        for row in rows or ()
    }
    runs = [run for own in found.values() for cell in (own or {}).values() for run in cell.runs]
    values = [value for _, value in runs]
    axis = of_figures(look.meant, min(values, default=None), max(values, default=None))
    apart = axis_of(deltas.values(), look.meant)

    def draw_eval(line: Line) -> Drawn:
        (eval_id, name), part = line
        difference = deltas.get(line)
        shown = draw_sides(axis, look.meant, _eval_sides(look, line, found[part], difference))
        if look.compares:
            none = as_label((difference or {}).get("unpaired") or "no difference", 80)
            words = delta_view(look.meant, difference, none=none)
            shown.append([words, track(apart, difference, look.meant)])
        act = ("pick", "eval", part.iteration, eval_id, name)
        about = f"eval {as_label(eval_id, 40)}" if look.suite.has_twins else ""
        return Drawn(as_label(name), act, shown, about)

    of_differences = scale(apart, look.meant, look.meant.difference_axis, difference=True)
    heads = lane_heads(look, "evals", scale(axis, look.meant, look.meant.axis), of_differences)

    def mean_on(side: str, line: Line) -> float | None:
        cell = (found[line[1]] or {}).get((line[0], side))
        return cell and cell.mean

    worst = None if look.compares else ("with", better(look.choice.metric) == "less")
    lines = Lines(
        *("evals", "eval", sort_evals(look, keys), draw_eval),
        keys=lane_keys(look, mean_on, deltas),
        data=deltas,
        order=worst,
    )
    return h(
        "div",
        sides_legend(look),
        waiting_note("Counting the differences") if None in differences.values() else None,
        lines.view(look, heads, caption=f"Every run’s {look.meant.name}, eval by eval"),
    )


def sort_evals(look: Look, keys: Mapping[Part, Any]) -> list[Line]:
    """A row for each eval of each iteration; the rows of an eval stand together."""
    lines: list[Line] = [(key, part) for part, own in keys.items() for key in own or ()]
    at = {part: at for at, part in enumerate(look.parts)}
    return sorted(lines, key=lambda line: ([natural_key(name) for name in line[0]], at[line[1]]))


def lane_heads(look: Look, name: str, figures: Node, differences: Node) -> list[Child]:
    """The heads of the columns with the runs, the means and the differences."""
    heads: list[Child] = [figures, side_heads(look, name, lambda _: "Mean")]
    if look.compares:
        heads.append([sort_button("Difference", name, "delta"), differences])
    return heads


def lane_keys(
    look: Look, mean_on: Callable[[str, Any], float | None], deltas: Mapping[Any, Row]
) -> dict[str, Callable[[Any], Any]]:
    """What such rows are sorted by: their name, the mean on each side, the difference."""
    return {
        "name": lambda line: natural_key(line[0][-1]),
        **{kind: partial(mean_on, side) for kind, side in look.kinds},
        "delta": lambda line: deltas.get(line, {}).get("estimate"),
    }


def _eval_sides(
    look: Look, line: Line, found: Cells | None, difference: Row | None
) -> list[EvalSide]:
    key, part = line
    sides: list[EvalSide] = []
    for kind, name in look.kinds:
        end = "_baseline" if difference and difference["baseline"] == name else ""
        left: list[str] = []
        if difference:
            left = left_out(difference[f"n_errored{end}"], difference[f"n_unscored{end}"])
        sides.append(
            EvalSide(
                kind,
                f"{as_label(name, 40)}, {as_label(key[1], 60)}",
                ("pick", "runs", part.iteration, *key, name),
                found.get((key, name)) if found else None,
                ", ".join(left),
                look.clicked_runs(place_of("evals", line), name),
            )
        )
    return sides


def draw_sides(axis: Axis, meant: Metric, sides: Sequence[EvalSide]) -> list[Child]:
    """The cell with every run, and that with the mean of either side."""
    means: list[Node] = []
    for side in sides:
        value, n = (side.cell.mean, len(side.cell.runs)) if side.cell else (None, 0)
        left = h("small", side.left, cls="sen-soft") if side.left else None
        means.append(h("div", mean_of(side.kind, meant, value, n, side.name, side.act), left))
    return [_draw_lane(axis, meant, sides), h("div", means, cls="sen-x-means")]


RATE = metric_of("pass_rate")


def outputs(look: Look) -> Child:
    """The view of outputs; a click on one opens it beside that of the other side."""
    cells = look.counted.figures(count_cells, look.parts, RATE.column)
    runs: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for run in look.counted.runs(look.choice, None).iter_rows(named=True):
        key = (run["iteration"], run["eval_id"], run["eval_name"], run["configuration"])
        runs[key].append(run)

    def draw_eval(line: Line) -> Drawn:
        key, part = line
        act = ("pick", "eval", part.iteration, *key)
        known = cells[part] or {}
        shown = [
            _draw_output(look, runs[part.iteration, *key, name], known.get((key, name)))
            for _, name in look.kinds
        ]
        return Drawn(as_label(key[1]), act, shown)

    lines = sort_evals(look, look.figures(list_evals))
    heads = [h("span", swatch(kind), as_label(name, 60)) for kind, name in look.kinds]
    label = "Outputs by eval and configuration"
    return h(
        "div",
        note("How the first run’s output begins, and the pass rate of all runs. Click to compare."),
        Lines("outputs", "eval", lines, draw_eval).view(look, heads, label=label),
    )


def _draw_output(look: Look, runs: Sequence[dict[str, Any]], cell: EvalCell | None) -> Child:
    """How the first run's output begins, as the button that opens it."""
    if not runs:
        return note("no run")
    run = key_of(runs[0])
    file, words = read_beginning(folder_of(look.ws, runs[0]))
    about = h("small", f" {count(len(runs), 'run')} · {file}", cls="sen-soft")
    begins = h("div", words, cls="sen-x-begins", dir="auto") if words else None
    return button(
        [h("div", h("b", figure_or_dash(RATE, cell and cell.mean)), about), begins],
        ("open_outputs", runs[0]["eval_name"], *run),
        cls="sen-x-output",
        aria_expanded=run in look.seen.opened,
    )
