"""Which expectations tell the configurations apart, and which pass in which?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats.expectations import (
    CLASSES,
    DEPENDS,
    FAILS,
    FLAKY,
    HURTS,
    LITTLE,
    PASSES,
    SEPARATES,
)
from skill_eval_nb.stats.pairing import choose_baseline
from skill_eval_nb.stats.values import ENDS, GROUP, natural_key, rows_of_runs
from skill_eval_nb.text import TIE, as_label, clip, some, tie

from .. import stats
from .metrics import metric
from .pick import Part, as_polars, pick_parts, why_none
from .theme import (
    BASELINE,
    FAINT,
    FURTHER,
    GRID,
    SOFT,
    TOOLTIP,
    WITH_SKILL,
    Row,
    Rows,
    baselines,
    cells,
    chart_of,
    colours,
    draw_nothing,
    finish,
    fit_text,
    in_lanes,
    lane_y,
    lanes,
    make_subheading,
    n_of,
    shade,
    stack_charts,
    text_layer,
    thin,
    tips,
    width_of,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType


WIDTH, LABEL = 860, (260, 500)
"""Pixels: of the whole, about; and bounds of the column of texts."""
CELL = (76, 136)
"""Pixels: bounds of a cell's width."""
LINE = 27
"""Pixels of a row."""
TIPS = {
    "eval": "Eval",
    "expectation": "Expectation",
    "layer": "Layer",
    "configuration": "Configuration",
    "verdicts": "Passed/scored",
    "unscored": "Not scored",
    "evidence": "Evidence",
}


def share_of(cell: Row) -> float | None:
    """The share that passed, null if nothing was scored."""
    return cell["passes"] / cell["scored"] if cell["scored"] else None


def table(rows: Rows, shades: dict[str, str]) -> ChartType:
    """Texts to the left, a column of cells for each configuration.

    Args:
        rows: each with its heading, text, layer, and its `cells` by configuration: passes,
            scored, unscored, and one verdict that tells (run_number, passed, evidence).
        shades: the configurations' colours.
    """
    from .vega import alt

    wide = width_of(shades, *CELL)
    width = wide * len(shades)
    placed, headings = in_lanes([row | {"label": row["text"]} for row in rows])
    names = [fit_text(as_label(name), wide) for name in shades]
    marks = [
        _describe_cell(row, configuration) | {"side": name}
        for row in placed
        for configuration, name in zip(shades, names, strict=True)
        if configuration in row["cells"]
    ]
    axis = alt.Axis(orient="top", title=None, labelAngle=0, labelLimit=wide - 6, labelPadding=8)
    x = alt.X("side:N", sort=names, axis=axis)
    heads = [{"side": name, "shade": hue} for name, hue in zip(names, shades.values(), strict=True)]
    dots = chart_of(heads).mark_circle(size=70, opacity=1)
    layers = [
        cells(marks, x, alt.Y("row:O", axis=None), tips(**TIPS)),
        dots.encode(x=x, y=alt.YValue(-30), color=alt.Color("shade:N", scale=None)),
    ]
    most = min(max(WIDTH - width, LABEL[0]), LABEL[1])
    look = {"step": LINE, "width": width, "right": width, "what": "Expectation"}
    return lanes(layers, placed, headings, **look, most=most)


def _describe_cell(row: Row, configuration: str) -> Row:
    """A cell, and what its tooltip says; dashed where verdicts are missing."""
    cell = row["cells"][configuration]
    outcome = {True: "passed", False: "failed", None: "not scored"}[cell["passed"]]
    evidence = clip(cell["evidence"] or "none stated", TOOLTIP)
    share = share_of(cell)
    verdicts = f"{cell['passes']}/{cell['scored']}" if cell["scored"] else "–"
    return {
        "row": row["row"],
        "eval": row["heading"],
        "expectation": row["text"],
        "layer": row["layer"],
        "configuration": as_label(configuration),
        "verdicts": verdicts,
        "text": verdicts,
        "unscored": cell["unscored"],
        "evidence": f"run {cell['run_number']}, {outcome}: {evidence}",
        "fill": shade(share),
        "stroke": SOFT if cell["unscored"] else None,
    }


PLOT, ROOM = 380, 0.1
"""Pixels of the square; what of 100 % is left beyond its ends, for dots that lie there."""
SIDE, WIDE = 40, 430
"""Pixels between the square and the classes; and that a text beside it takes."""
DOT, STEP = 76, 5.8
"""Area of a dot; pixels by which dots of one place are set apart."""
MOST = 400
"""Dots above which those of about the same place share one."""
QUADRANT_LINE, NAMED = 18, 3
"""Pixels of a line; expectations of a class that are named."""
SHADES = {
    SEPARATES: WITH_SKILL,
    HURTS: BASELINE,
    PASSES: FURTHER[0],
    FAILS: FURTHER[4],
    DEPENDS: FURTHER[2],
    FLAKY: FURTHER[1],
    LITTLE: FAINT,
}
"""Blue where the skill's side is better and orange where the baseline is, as everywhere."""
BY = ["class", "shade"]
"""What dots that share a place have in common."""
TURN = pi * (3 - sqrt(5))
"""The angle by which a sunflower sets each seed apart from the one before."""
QUADRANT_TIPS = {
    "class": "Class",
    "expectation": "Expectation",
    "eval": "Eval",
    "own": "Passed",
    "other": "Baseline passed",
    "estimate": "Difference",
    "p": "Exact p",
}


def draw_square(rows: Rows, configuration: str, baseline: str, heading: str = "") -> ChartType:
    """The expectations of a comparison as dots, and their classes with the most telling ones.

    Args:
        rows: expectations, each with `x` and `y` (the pass rates of the baseline and of the
            configuration), `class`, `expectation`, and what else TIPS names, as text.
        configuration: the side that is drawn upwards.
        baseline: the side that is drawn to the right.
        heading: what stands above it.
    """
    from .vega import alt

    dots = alt.layer(
        *_draw_ground(), _draw_dots(rows, configuration, baseline), width=PLOT, height=PLOT
    )
    return alt.hconcat(dots, *_list_classes(rows), spacing=SIDE, title=make_subheading(heading))


def _rate_axes(configuration: str = "", baseline: str = "") -> dict[str, Any]:
    """Both rates; their axes where the sides are named."""
    from .vega import alt

    scale = alt.Scale(domain=[-ROOM, 1 + ROOM], nice=False, zero=False)
    marks = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".0%", "grid": False}
    axes: list[Row] = [
        {"axis": alt.Axis(title=f"pass rate of {as_label(name, 40)} (%)", **marks)} if name else {}
        for name in (baseline, configuration)
    ]
    x, y = axes
    return {"x": alt.X("x:Q", scale=scale, **x), "y": alt.Y("y:Q", scale=scale, **y)}


def _draw_ground() -> Iterator[alt.Chart]:
    """What lies below the dots: the half of each side, the quadrants' lines and their names."""
    from .vega import alt

    low, high = -ROOM, 1 + ROOM
    for hue, end in ((WITH_SKILL, high), (BASELINE, low)):
        corners = [{"x": at, "y": at, "end": end} for at in (low, high)]
        area = chart_of(corners).mark_area(color=hue, opacity=0.06)
        yield area.encode(**_rate_axes(), y2=alt.Y2("end:Q"))
    rules = [(low, low, high, high), (0.5, low, 0.5, high), (low, 0.5, high, 0.5)]
    ends: list[Row] = [dict(zip(("x", "y", "x2", "y2"), rule, strict=True)) for rule in rules]
    lines = chart_of(ends).mark_rule(color=GRID, strokeWidth=1.5)
    yield lines.encode(**_rate_axes(), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    for align, x, upper, lower in (("left", low, SEPARATES, FAILS), ("right", high, PASSES, HURTS)):
        names = [{"name": upper, "x": x, "y": 0.54}, {"name": lower, "x": x, "y": 0.46}]
        look: Row = {"align": align, "dx": 8 if align == "left" else -8, "fontStyle": "italic"}
        marks = chart_of(names).mark_text(color=SOFT, fontSize=13, **look)
        yield marks.encode(**_rate_axes(), text=alt.Text("name:N"))


def _draw_dots(rows: Rows, configuration: str, baseline: str) -> alt.Chart:
    """The expectations; if there are very many, dots that count those of a place."""
    from .vega import alt

    shade = alt.Color("shade:N", scale=None)
    axes = _rate_axes(configuration, baseline)
    if len(rows) > MOST:
        size = alt.Size("n:Q", legend=None, scale=alt.Scale(zero=True, range=[0, 900]))
        named = tips(
            **{"class": "Class"}, x=("Baseline", ".0%"), y=("Pass rate", ".0%"), n="Expectations"
        )
        counted = thin([row | {"shade": SHADES[row["class"]]} for row in rows], BY, 20, 20)
        marks = chart_of(counted).mark_circle(opacity=0.6)
        return marks.encode(**axes, color=shade, size=size, tooltip=named)
    marks = chart_of(_pack_as_sunflowers(rows))
    circles = marks.mark_circle(size=DOT, opacity=0.9, stroke="white", strokeWidth=0.8)
    return circles.encode(**axes, color=shade, tooltip=tips(**QUADRANT_TIPS))


def _pack_as_sunflowers(rows: Rows) -> list[Row]:
    """Arrange the dots of one place like sunflower seeds, class by class from the middle out."""
    pixel = (1 + 2 * ROOM) / PLOT
    order = sorted(rows, key=lambda row: (row["x"], row["y"], CLASSES.index(row["class"])))
    packed: list[Row] = []
    for (x, y), own in groupby(order, key=lambda row: (row["x"], row["y"])):
        members = list(own)
        for seed, row in enumerate(members):
            away = STEP * sqrt(seed + 0.5) * pixel if len(members) > 1 else 0.0
            angle = seed * TURN
            place = {"x": x + away * cos(angle), "y": y + away * sin(angle)}
            packed.append(row | place | {"shade": SHADES[row["class"]]})
    return packed


def _list_classes(rows: Rows) -> Iterator[ChartType]:
    """Each class with its number, and its first expectations, right of the square."""
    from .vega import alt

    if not rows:
        return
    listed: list[Row] = []
    for name in CLASSES:
        own = [row for row in rows if row["class"] == name]
        for row in own[:NAMED]:
            size = f"{row['estimate']}{TIE * 2}" if name in (SEPARATES, HURTS, LITTLE) else ""
            text, full = size + row["expectation"], row["expectation"]
            head = f"{name}{TIE * 2}{len(own):,}"
            listed.append({"heading": head, "text": text, "full": full, "shade": SHADES[name]})
    texts, heads = in_lanes(listed)
    shades = {row["heading"]: row["shade"] for row in texts}
    heads = [head | {"shade": shades[head["text"]]} for head in heads]
    dots = chart_of(heads).mark_circle(size=80, opacity=1)
    yield alt.layer(
        dots.encode(x=alt.XValue(0), y=lane_y(), color=alt.Color("shade:N", scale=None)),
        text_layer(heads, "text", 12, heavy=True),
        text_layer(
            texts, "text", 12, small=True, ink=SOFT, limit=WIDE, tooltip=tips(full="Expectation")
        ),
        width=12,
        height=QUADRANT_LINE * (len(texts) + len(heads)),
    )


RATE = metric("pass_rate")
EVALS = 4
"""Evals that a tooltip names."""


def discrimination(
    ws: Any,
    baseline: str | None = None,
    iteration: str | Sequence[str] | None = None,
    level: float = 0.95,
) -> ChartType:
    """Each expectation by its pass rate with the skill and without, coloured by its class.

    A dot above the diagonal passes more often with the skill. Its position shows the direction,
    its colour what is proven (the classes of `stats.discrimination`).

    Args:
        ws: a `Workspace` or a table of expectations (polars or pandas).
        baseline: the configuration to compare against; chosen by name if not given.
        iteration: name of the iteration, or several; None for each workspace's last one.
        level: 1 - alpha of the classes.

    Raises:
        ValueError: for a baseline or iteration that is not there.
    """
    import polars as pl

    every = as_polars(stats.discrimination(ws, baseline, level))
    both = every.filter(pl.all_horizontal(pl.col("pass_rate", "baseline_pass_rate").is_not_null()))
    parts, said = pick_parts(both, iteration, ws)
    if not parts:
        names = every.group_by(GROUP).agg("configuration")["configuration"]
        reasons = sorted(choose_baseline(set(own))[1] for own in names)
        why = why_none(ws, "check graded on both sides", iteration, reasons)
        return draw_nothing("No expectations to compare", why)
    compared = [
        (part, *names, own)
        for part in parts
        for names, own in part.rows(both).group_by("configuration", "baseline", maintain_order=True)
    ]
    several = len(compared) > 1
    squares = [
        draw_square(_expectation_dots(own), who, other, part.heading_of(who, other) * several)
        for part, who, other, own in compared
    ]
    shown = pl.concat(own for *_, own in compared)
    lacking = sum(part.rows(every).height for part in parts) - shown.height
    notes = [
        *said,
        "A dot may stand for several expectations."
        if max(own.height for *_, own in compared) > MOST
        else "A dot is an expectation; dots with the same values are spread around it.",
        "Position shows which way it leans, colour what is proven.",
        f"{tie(lacking, 'more expectation')} scored on one side only." if lacking else "",
    ]
    names = {(who, other) for _, who, other, _ in compared}
    return finish(stack_charts(squares), _discrimination_answer(shown, sorted(names)), notes)


def _expectation_dots(found: pl.DataFrame) -> list[Row]:
    """The expectations as they are drawn and told, the largest differences first."""
    rows = [
        {
            "x": row["baseline_pass_rate"],
            "y": row["pass_rate"],
            "class": row["class"],
            "expectation": clip(row["text"], TOOLTIP) or "(no text)",
            "eval": some([as_label(name, 40) for name in row["evals"]], EVALS),
            "own": _count_passes(row, ""),
            "other": _count_passes(row, "_baseline"),
            "estimate": "" if row["estimate"] is None else RATE.difference(row["estimate"]),
            "p": _format_p(row),
            "size": -abs(row["estimate"] or 0),
        }
        for row in found.iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: row["size"])


def _count_passes(row: Row, end: str) -> str:
    passed, failed = row[f"n_passed{end}"], row[f"n_failed{end}"]
    return f"{passed:,} of {tie(passed + failed, 'run')}"


def _format_p(row: Row) -> str:
    if row["p"] is None:
        return "no eval is scored on both sides"
    return f"{row['p']:.3g}, adjusted {row['p_adjusted']:.3g}"


def _discrimination_answer(found: pl.DataFrame, names: Sequence[tuple[str, str]]) -> str:
    """How many expectations tell the sides apart, and how many cannot."""
    classes = Counter(found["class"])
    who, other = map(clip, names[0]) if len(names) == 1 else ("the skill's side", "the baseline")
    both = (
        int(found.select(f"n_passed{end}", f"n_failed{end}").sum().sum_horizontal().item())
        for end in ENDS
    )
    n = n_of(*both, noun="verdict")
    better, worse, every = classes[SEPARATES], classes[HURTS], tie(found.height, "expectation")
    more = f"{better:,} of {every} pass more often in {who} than in {other} beyond chance"
    always = classes[PASSES] + classes[FAILS]
    silent = f"; {always:,} always pass or always fail" if always else ""
    return f"{more}, {worse:,} less often{silent} ({n})"


EXPECTATIONS = 40
"""Expectations that one chart holds."""
KEYS = [*GROUP, "eval_id", "eval_name", "layer", "text"]
"""What an expectation is."""


def expectation_matrix(ws: Any, iteration: str | Sequence[str] | None = None) -> ChartType:
    """How many verdicts of each expectation passed, in each configuration.

    A cell shows passed/scored. Verdicts that were not scored are in neither number: a dashed
    cell lacks some, and one with a dash has none. If there are many expectations, the chart
    shows those that differ most between configurations, and the subtitle says so.

    Args:
        ws: a `Workspace` or a table of expectations (polars or pandas).
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for an iteration that is not there.
    """
    checks = as_polars(rows_of_runs(ws, "expectations"))
    parts, said = pick_parts(checks, iteration, ws)
    if not parts:
        return draw_nothing("No expectations", why_none(ws, "graded expectation", iteration))
    every = [row for part in parts for row in _matrix_rows(part, _count_cells(part.rows(checks)))]
    rows = _most_different(every)
    few = f"The {len(rows)} of {tie(len(every), 'expectation')} that differ most are shown."
    notes = [
        *said,
        few if len(rows) < len(every) else "",
        "Passed/scored, from purple (none) to green (all). Dashed: verdicts are missing; –: none.",
    ]
    shown = {name for row in rows for name in row["cells"]}
    shades = colours(checks["configuration"], baselines(checks), shown)
    return finish(table(rows, shades), _answer_verdicts(every), notes)


def _count_cells(checks: pl.DataFrame) -> pl.DataFrame:
    """A row an expectation and configuration: passed, scored, not scored, and evidence.

    The evidence is that of the first run that failed, else of the first that passed.
    """
    import polars as pl

    verdict = pl.col("passed")
    sample = pl.col("run_number", "passed", "evidence").sort_by(
        "passed", "run_number", nulls_last=True
    )
    return checks.group_by(*KEYS, "configuration", maintain_order=True).agg(
        verdict.sum().alias("passes"),
        verdict.count().alias("scored"),
        verdict.null_count().alias("unscored"),
        sample.first(),
    )


def _matrix_rows(part: Part, cells: pl.DataFrame) -> list[Row]:
    """The expectations of a part, evals in natural order: their cells, and how these differ."""
    evals = Counter(cells.select("eval_id", "eval_name").unique()["eval_name"])
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for cell in cells.to_dicts():
        key = tuple(cell[name] for name in KEYS)
        found.setdefault(key, {})[cell["configuration"]] = cell
    rows: list[Row] = []
    for (*_, number, name, layer, text), marks in found.items():
        shares = [share for cell in marks.values() if (share := share_of(cell)) is not None]
        label = as_label(name) + (f" ({as_label(number)})" if evals[name] > 1 else "")
        rows.append(
            {
                "heading": f"{part.heading} · {label}" if part.heading else label,
                "order": (natural_key(number), natural_key(name)),
                "text": as_label(text, TOOLTIP),
                "layer": clip(layer, TOOLTIP),
                "cells": marks,
                "passed": sum(cell["passes"] for cell in marks.values()),
                "scored": sum(cell["scored"] for cell in marks.values()),
                "spread": max(shares) - min(shares) if shares else -1.0,
            }
        )
    return sorted(rows, key=lambda row: row["order"])


def _most_different(rows: Rows) -> list[Row]:
    """Where there are too many: those that differ most, then those that fail most."""

    def rank(at: int) -> tuple[float, float]:
        passed, scored = rows[at]["passed"], rows[at]["scored"]
        return -rows[at]["spread"], passed / scored if scored else 1.0

    return [rows[at] for at in sorted(sorted(range(len(rows)), key=rank)[:EXPECTATIONS])]


def _answer_verdicts(rows: Rows) -> str:
    """How many expectations always pass, and how many never.

    A row is an expectation with `passed` and `scored` over all its configurations.
    """
    scored = [row for row in rows if row["scored"]]
    if not scored:
        return f"None of {tie(len(rows), 'expectation')} has been scored"
    always = sum(row["passed"] == row["scored"] for row in scored)
    never = sum(row["passed"] == 0 for row in scored)
    n = n_of(sum(row["scored"] for row in scored), noun="verdict")
    return f"{always} of {tie(len(scored), 'expectation')} always pass, {never} never ({n})"
