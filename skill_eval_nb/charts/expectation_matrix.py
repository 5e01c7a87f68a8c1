"""Which expectations pass, in which configuration?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..stats.names import natural
from ..stats.pairing import side
from ..tables.frames import frame_of
from . import answers
from .layout import Row, Rows, across, down, inline, lines, stack, tips, words
from .look import SOFT, baselines, colours, finish, nothing, width_of
from .pick import GROUP, Part, as_polars, pick, why_none
from .text import TOOLTIP, brief, called, clean, count, wrapped

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType

WIDTH, LABEL = 860, (260, 500)
"""Pixels: of the whole, about; and bounds of the column of texts."""
CELL, SEAM = (76, 136), 3
"""Pixels: bounds of a cell's width, and between cells."""
LINE, PAD, LINES, LETTER = 15, 6, 2, 5.7
"""Pixels of a line and around the text; lines that a text may take; pixels of a letter."""
EXPECTATIONS = 40
"""Expectations that one chart holds."""
SHARES = ("#CFA3C9", "#F4F2F5", "#86C9AE")
"""Purple for none passed, green for all: apart for colour-blind readers too."""
CELL_INK = "#20262D"
"""Ink on the cells: their own, as they stay pale where a page is dark."""
ANY_SIDES = ["the skill's side", "the baseline"]
TIPS = {
    "eval": "Eval",
    "expectation": "Expectation",
    "layer": "Layer",
    "configuration": "Configuration",
    "verdicts": "Passed/scored",
    "unscored": "Not scored",
    "evidence": "Evidence",
}
KEYS = [*GROUP, "eval_id", "eval_name", "layer", "text"]
"""What an expectation is."""


def expectation_matrix(ws: Any, iteration: str | Sequence[str] | None = None) -> ChartType:
    """Of each expectation, how many of its verdicts passed, in each configuration.

    A cell says passed/scored. What was not scored is in neither number: a dashed cell lacks
    verdicts, and one with a dash has none. Of many expectations those that differ most
    between configurations are shown, and the subtitle says so.

    Args:
        ws: a `Workspace` or a table of expectations (polars or pandas).
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for an iteration that is not there.
    """
    checks = as_polars(frame_of(ws, "expectations"))
    picked = pick(checks, iteration, ws)
    if not picked.parts:
        return nothing("No expectations", why_none(ws, "graded expectation", iteration))
    every = [row for part in picked.parts for row in _rows(part, _cells(part.of(checks)))]
    rows = _telling(every)
    few = f"The {len(rows)} of {count(len(every), 'expectation')} that differ most are shown."
    notes = [
        *picked.notes,
        few if len(rows) < len(every) else "",
        "Passed/scored, from purple (none) to green (all). Dashed: verdicts are missing; –: none.",
    ]
    shades = colours(checks["configuration"], baselines(checks))
    return finish(_drawn(rows, shades), _answer(every), notes)


def _cells(checks: pl.DataFrame) -> pl.DataFrame:
    """A row an expectation and configuration: passed, scored, not scored, and evidence.

    The evidence is that of the first run that failed, else of the first that passed.
    """
    import polars as pl

    verdict = pl.col("passed")
    telling = pl.col("run_number", "passed", "evidence").sort_by(
        "passed", "run_number", nulls_last=True
    )
    return checks.group_by(*KEYS, "configuration", maintain_order=True).agg(
        verdict.sum().alias("passes"),
        verdict.count().alias("scored"),
        verdict.null_count().alias("unscored"),
        telling.first(),
    )


def _rows(part: Part, cells: pl.DataFrame) -> list[Row]:
    """The expectations of a part, evals in natural order: their cells, and how these differ."""
    names = sorted(cells["configuration"].unique(), key=side)
    against = baselines(cells)
    one = next((name for name in names if name not in against), None)
    other = next((name for name in names if name in against), None)
    evals = cells.select("eval_id", "eval_name").unique()["eval_name"].to_list()
    rows: list[Row] = []
    for (*_, number, name, layer, text), own in cells.partition_by(KEYS, as_dict=True).items():
        marks = {cell["configuration"]: cell for cell in own.to_dicts()}
        shares = [share for cell in marks.values() if (share := _share(cell)) is not None]
        label = called(name) + (f" ({called(number)})" if evals.count(name) > 1 else "")
        rows.append(
            {
                "heading": f"{part.heading} · {label}" if part.heading else label,
                "order": (natural(number), natural(name)),
                "text": called(text, TOOLTIP),
                "layer": clean(layer),
                "cells": marks,
                "sides": (one, other),
                "passed": sum(cell["passes"] for cell in marks.values()),
                "scored": sum(cell["scored"] for cell in marks.values()),
                "spread": max(shares) - min(shares) if shares else -1.0,
            }
        )
    return sorted(rows, key=lambda row: row["order"])


def _share(cell: Row) -> float | None:
    """The share that passed, null where nothing was scored."""
    return cell["passes"] / cell["scored"] if cell["scored"] else None


def _telling(rows: Rows) -> list[Row]:
    """Where there are too many: those that differ most, then those that fail most."""

    def rank(at: int) -> tuple[float, float]:
        passed, scored = rows[at]["passed"], rows[at]["scored"]
        return -rows[at]["spread"], passed / scored if scored else 1.0

    return [rows[at] for at in sorted(sorted(range(len(rows)), key=rank)[:EXPECTATIONS])]


def _answer(rows: Rows) -> str:
    """The title, from the two sides where both are scored."""
    pairs = [
        (own, other)
        for row in rows
        if (own := row["cells"].get(row["sides"][0])) and own["scored"]
        if (other := row["cells"].get(row["sides"][1])) and other["scored"]
    ]
    if not pairs:
        return answers.verdicts(rows)
    sides = {(own["configuration"], other["configuration"]) for own, other in pairs}
    names = [brief(name) for name in sides.pop()] if len(sides) == 1 else ANY_SIDES
    return answers.expectations(pairs, names)


def _drawn(rows: Rows, shades: dict[str, str]) -> ChartType:
    """Texts to the left, a column of cells for each configuration."""
    import altair as alt

    wide = width_of(shades, *CELL)
    width = wide * len(shades)
    limit = min(max(WIDTH - width, LABEL[0]), LABEL[1])
    edge = -limit - 16
    texts = [_lines(row["text"], int(limit / LETTER)) for row in rows]
    sized = [
        row | {"high": LINE * len(own) + 2 * PAD, "label": "", "group": place}
        for place, (row, own) in enumerate(zip(rows, texts, strict=True))
    ]
    lying = stack(sized)
    height = lying.height
    cells = [
        _mark(row, configuration, place * wide, wide, top)
        for row, top in zip(sized, lying.tops, strict=True)
        for place, configuration in enumerate(shades)
        if configuration in row["cells"]
    ]
    said = [
        {"text": line, "full": row["text"], "y": top + PAD + LINE * (place + 0.5)}
        for row, own, top in zip(rows, texts, lying.tops, strict=True)
        for place, line in enumerate(own)
    ]
    heads = [
        {"text": called(name), "shade": shade, "x": (place + 0.5) * wide, "y": -12, "above": -30}
        for place, (name, shade) in enumerate(shades.items())
    ]
    x = across("x", width)
    full = tips(full="Expectation")
    dots = alt.Chart(inline(heads)).mark_circle(size=70, opacity=1)
    return alt.layer(
        lines(lying.rules, edge, width, height),
        *_boxes(cells, width, height),
        words(cells, "verdicts", x, height, align="center", ink=CELL_INK, tooltip=tips(**TIPS)),
        words(said, "text", edge, height, limit=limit, tooltip=full),
        words(lying.headings, "text", edge, height, heavy=True),
        words(heads, "text", x, height, align="center", small=True, ink=SOFT, limit=wide - 6),
        dots.encode(x=x, y=down("above", height), color=alt.Color("shade:N", scale=None)),
    ).properties(width=width, height=height)


def _lines(text: str, characters: int) -> list[str]:
    """The text in so few lines, cut with an ellipsis."""
    whole = wrapped(text, characters)
    return whole if len(whole) <= LINES else [*whole[: LINES - 1], whole[LINES - 1] + " …"]


def _boxes(cells: Rows, width: float, height: float) -> list[alt.Chart]:
    """The cells as boxes: coloured where something was scored, dashed where something was not."""
    import altair as alt

    share = alt.Scale(domain=[0, 0.5, 1], range=list(SHARES), interpolate="rgb")
    scored = alt.Chart(inline([cell for cell in cells if cell["scored"]]))
    lacking = alt.Chart(inline([cell for cell in cells if cell["unscored"]]))
    where: Row = {"x": across("x1", width), "x2": "x2:Q", "y": down("y1", height), "y2": "y2:Q"}
    dashes: Row = {"fill": "transparent", "stroke": SOFT, "strokeDash": [3, 3]}
    return [
        scored.mark_rect(cornerRadius=3).encode(
            **where, fill=alt.Fill("share:Q", scale=share, legend=None), tooltip=tips(**TIPS)
        ),
        lacking.mark_rect(cornerRadius=3, **dashes).encode(**where, tooltip=tips(**TIPS)),
    ]


def _mark(row: Row, configuration: str, x: float, width: float, y: float) -> Row:
    """A cell where it is drawn, and what its tooltip says."""
    cell = row["cells"][configuration]
    outcome = {True: "passed", False: "failed", None: "not scored"}[cell["passed"]]
    evidence = clean(cell["evidence"] or "none stated")
    return {
        "eval": row["heading"],
        "expectation": row["text"],
        "layer": row["layer"],
        "configuration": called(configuration),
        "verdicts": f"{cell['passes']}/{cell['scored']}" if cell["scored"] else "–",
        "share": _share(cell),
        "scored": cell["scored"],
        "unscored": cell["unscored"],
        "evidence": f"run {cell['run_number']}, {outcome}: {evidence}",
        "x": x + width / 2,
        "y": y + row["high"] / 2,
        "x1": x + SEAM / 2,
        "x2": x + width - SEAM / 2,
        "y1": y + SEAM / 2,
        "y2": y + row["high"] - SEAM / 2,
    }
