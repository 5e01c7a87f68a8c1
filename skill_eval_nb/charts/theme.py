"""What every chart shares: colours, type, titles, words, lanes, intervals, cells, pictures."""

from __future__ import annotations

import json
import struct
import textwrap
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats.pairing import choose_baseline, side_key
from skill_eval_nb.text import TIE, as_label, clip, tie

from .metrics import Metric

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType


BROADEST = 20
"""Pixels that no character of a label is broader than."""
TOOLTIP = 1000
"""Characters of a text that a tooltip shows."""


def n_of(*numbers: int, noun: str = "run") -> str:
    r"""How many, on each side, kept on one line.

    >>> n_of(15, 14).replace("\xa0", " "), n_of(1).replace("\xa0", " ")
    ('n = 15 and 14 runs', 'n = 1 run')
    """
    *first, last = numbers
    return TIE.join(["n", "=", *(f"{number:,}{TIE}and" for number in first), tie(last, noun)])


def is_cuttable(text: str) -> bool:
    """Whether Vega can cut the text: it cuts between 16-bit units, and draws no half emoji."""
    return all(character <= "\uffff" for character in text)


def fit_text(text: str, pixels: float) -> str:
    """The text so short that Vega need not cut it, where Vega could not.

    >>> fit_text("plain, however long", 20), fit_text("a\N{PARTY POPPER}b\N{PARTY POPPER}c", 60)
    ('plain, however long', 'a🎉…')
    """
    if is_cuttable(text):
        return text
    return clip(text, max(int(pixels // BROADEST), 1))


def breadth(text: str) -> int:
    """The width of a text in letters; Chinese, Japanese and Korean ones count twice.

    >>> breadth("abc"), breadth("技能")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrap_text(text: str, letters: int) -> list[str]:
    """The text in lines of so many letters; names with hyphens stay whole.

    >>> wrap_text("技能技能", 4)
    ['技能', '技能']
    """
    characters = max(letters * len(text) // max(breadth(text), 1), 1)
    return textwrap.wrap(text, characters, break_on_hyphens=False)


RENDERER = "skill_eval_nb"
"""The renderer's name in `altair.renderers`."""

MIME = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
FORMATS = ("png", "svg", "html", "json")
SCALE = 2.0
"""Pixels of a picture per pixel of a chart: sharp on dense screens."""


def show_offline() -> None:
    """Make this room's renderer the current one, unless the user has chosen another.

    Every chart calls it. Registering twice is harmless.
    """
    from .vega import alt

    # every time: looking whether it is there already would search every package
    alt.renderers.register(RENDERER, make_mimebundle)
    if alt.renderers.active == "default":
        alt.renderers.enable(RENDERER)


def make_mimebundle(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The forms in which a notebook keeps a chart: Vega-Lite 5, PNG (base64), its title as text.

    The picture is drawn from the specification as Altair wrote it, so that it also holds where a
    user's own chart needs more than version 5. Live, a chart of ours is light or dark as the page.
    """
    import base64

    import vl_convert

    picture = compress_png(vl_convert.vegalite_to_png(spec, scale=SCALE))
    live = spec
    if spec.get("config", {}).get("font") == FONT:  # one of ours: a user's own keeps its colours
        live = {key: own if key == "datasets" else use_page_ink(own) for key, own in spec.items()}
    return {
        MIME: live | {"$schema": SCHEMA},
        "image/png": base64.b64encode(picture).decode("ascii"),
        "text/plain": spec.get("description", "a chart"),
    }


def use_page_ink(part: Any) -> Any:
    """A part of a specification without our paper and ink: JupyterLab has a theme for each page.

    A theme gives the paper and the ink of axes, legends and titles, but none for text marks: they
    are made the opposite of their paper. What else is drawn in ink becomes a grey for any paper.

    >>> use_page_ink({"background": "white", "axis": {"labelColor": SOFT, "grid": True}})
    {'axis': {'labelOpacity': 0.7, 'grid': True}}
    >>> use_page_ink({"type": "text", "color": INK, "align": "left"})
    {'type': 'text', 'align': 'left', 'color': 'white', 'blend': 'difference', 'opacity': 0.9}
    >>> use_page_ink({"type": "rule", "color": SOFT})
    {'type': 'rule', 'color': '#9AA5B1'}
    """
    if isinstance(part, list):
        return [use_page_ink(own) for own in part]
    if not isinstance(part, dict):
        return ON_ANY_PAPER.get(part, part) if isinstance(part, str) else part
    is_text = part.get("type") == "text" and part.get("color") in OPACITY
    of_theme = {"background", "subtitleColor"}  # a subtitle has no opacity of its own
    if is_text or "type" not in part:
        of_theme.add("color")
    kept: dict[str, Any] = {}
    for key, own in part.items():
        ink = OPACITY.get(own) if isinstance(own, str) else None
        if key in of_theme and (ink or own == "white"):
            continue
        if ink and key.endswith("Color"):
            kept[key.replace("Color", "Opacity")] = ink
        else:
            kept[key] = use_page_ink(own)
    if is_text:
        kept |= {"color": "white", "blend": "difference", "opacity": OPACITY[part["color"]]}
    return kept


def compress_png(picture: bytes) -> bytes:
    """The same PNG in about a third of the bytes: it was compressed for speed."""
    at, head, pixels = 8, picture[:8], b""
    while at < len(picture):
        size, kind = struct.unpack_from(">I4s", picture, at)
        end = at + 12 + size
        if kind == b"IDAT":
            pixels += picture[at + 8 : end - 4]
        elif kind != b"IEND":
            head += picture[at:end]
        at = end
    return head + png_chunk(b"IDAT", zlib.compress(zlib.decompress(pixels), 5)) + png_chunk(b"IEND")


def png_chunk(kind: bytes, data: bytes = b"") -> bytes:
    """A part of a PNG."""
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def save(chart: ChartType, path: str | Path) -> Path:
    """Write a chart as `.png`, `.svg`, `.html` (one file, no outside links) or `.json`.

    Missing folders are created.

    Returns:
        The path that was written.

    Raises:
        ValueError: if the file ending is another.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(f"A chart is not written as `{path.name}`. End the name in {endings}.")
    options = {"png": {"scale_factor": SCALE}, "html": {"inline": True}}.get(kind, {})
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(str(path), format=kind, **options)
    return path


INK, SOFT, FAINT, GRID = "#1F2933", "#616E7C", "#9AA5B1", "#EBEEF1"
WITH_SKILL, BASELINE = "#0072B2", "#E69F00"
"""The one colour pair: blue and orange of Okabe and Ito's palette for colour-blind readers."""
FURTHER = ("#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#4D4D4D")
"""The palette's other colours, for further configurations."""

ON_ANY_PAPER = {INK: FAINT, SOFT: FAINT, GRID: FAINT + "40"}
"""What can be seen on white as well as on a dark page."""
OPACITY = {INK: 0.9, SOFT: 0.7, GRID: 0.5}
"""How much of a page's own ink makes one as dark as ours."""

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', system-ui, sans-serif"
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 16, 12, 11
TITLE_LINE, SUBTITLE_LINE = 92, 140
"""Characters at which they break, so that they stay within a notebook's width, some 900 px."""
LETTER = 7.0
"""Pixels that a letter of a label takes, about."""

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "padding": 14,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "gridColor": GRID,
        "labelColor": SOFT,
        "labelFlush": False,
        "labelFontSize": SMALL_SIZE,
        "labelPadding": 6,
        "ticks": False,
        "titleColor": SOFT,
        "titleFontSize": SMALL_SIZE,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": TEXT_SIZE,
        "offset": 26,
        "symbolSize": 80,
    },
    "text": {"color": INK, "fontSize": TEXT_SIZE, "baseline": "middle"},
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": TITLE_SIZE,
        "frame": "bounds",
        "lineHeight": 21,
        "offset": 18,
        "subtitleColor": SOFT,
        "subtitleFontSize": TEXT_SIZE,
        "subtitleLineHeight": 17,
        "subtitlePadding": 6,
    },
}


def baselines(frame: pl.DataFrame) -> set[str]:
    """What other configurations are compared against, workspace by workspace.

    Args:
        frame: a table with the columns workspace, skill, iteration and configuration.
    """
    groups = frame.group_by("workspace", "skill", "iteration").agg("configuration")
    chosen = (choose_baseline(set(names))[0] for names in groups["configuration"])
    return {name for name in chosen if name is not None}


def colours(
    configurations: Iterable[str], against: Iterable[str], shown: Iterable[str]
) -> dict[str, str]:
    """A colour for each configuration `shown`, the with-skill side first and the baseline last.

    Orange is what others are compared `against`; blue is `with_skill`, else the first other.
    A configuration has the same colour whichever others are shown.

    >>> colours(["old_skill", "with_skill", "x"], ["old_skill"], ["old_skill", "with_skill"])
    {'with_skill': '#0072B2', 'old_skill': '#E69F00'}
    """
    names = sorted(set(configurations), key=side_key)
    rest = [name for name in names if name not in set(against)]
    others = sorted(rest, key=lambda name: name != "with_skill")
    row = (WITH_SKILL, *FURTHER)
    shades = {name: row[place % len(row)] for place, name in enumerate(others)}
    seen = set(shown)
    return {name: shades.get(name, BASELINE) for name in names if name in seen}


def width_of(names: Iterable[str], least: int, most: int) -> int:
    """Pixels that the longest of the labels takes, about, within bounds."""
    longest = max((breadth(as_label(name)) for name in names), default=0)
    return int(min(max(longest * LETTER, least), most))


def finish(chart: ChartType, title: str, notes: Sequence[str] = ()) -> ChartType:
    """The chart with its answer as the title, what it rests on below it, and the shared look.

    It is changed in place: Altair's own way copies it, which is most of what a chart costs.
    """
    from .vega import alt

    show_offline()
    subtitle = wrap_text(" ".join(note for note in dict.fromkeys(notes) if note), SUBTITLE_LINE)
    heading = alt.TitleParams(text=wrap_text(title, TITLE_LINE), subtitle=subtitle or alt.Undefined)
    chart.title, chart.description, chart.config = heading, title, CONFIG
    return chart


def make_subheading(text: str, story: str = "") -> Any:
    """The title of one part among several; none if there is no text."""
    from .vega import alt

    if not text:
        return alt.Undefined
    return alt.TitleParams(text=text, subtitle=story or alt.Undefined, fontSize=13, offset=10)


def head_facets(names: Sequence[Sequence[str]], **look: Any) -> Any:
    """The heads of facets that are numbered from 0: names of several lines."""
    from .vega import alt

    lines = f"{json.dumps(names)}[datum.value]"
    return alt.Header(title=None, labelExpr=lines, labelColor=INK, **look)


def draw_nothing(what: str, why: str) -> ChartType:
    """The chart of nothing: what there is none of, and why."""
    rows = [{"line": line, "row": at} for at, line in enumerate(wrap_text(why, SUBTITLE_LINE))]
    layer = text_layer(rows, "line", 0, ink=SOFT)
    return finish(layer.properties(width=640, height=17 * len(rows)), what)


Row = dict[str, Any]
Rows = Sequence[Row]
WIDTH, NAME = 800, 260
"""Pixels of a legend and of a name in it, at most."""
ROW = 20
"""Pixels of a row of figures."""
SEAM = 0.06
"""What of a cell's place is left free between cells."""
SHARES = ("#CFA3C9", "#F4F2F5", "#86C9AE")
"""Purple for none right, green for all: apart for colour-blind readers too."""
CELL_INK = "#20262D"
"""Ink on the cells: their own, as they stay pale where a page is dark."""


def inline_rows(rows: Rows) -> pl.DataFrame:
    """Rows as a chart's data. A frame, as Altair copies lists of rows over and over."""
    import polars as pl

    return pl.DataFrame(list(rows), infer_schema_length=None)


def thin(dots: Rows, by: Sequence[str], columns: int, rows: int, *, log: bool = False) -> list[Row]:
    """One dot for all of the same `by` that lie in the same cell of a grid over `x` and `y`.

    `n` counts them, most of them first; `x` and `y` are their means.

    >>> [dot["n"] for dot in thin([{"x": x, "y": 1.0} for x in (1, 9, 1)], [], 60, 40)]
    [2, 1]
    """
    import polars as pl

    axes = pl.col("x").log10() if log else pl.col("x"), pl.col("y")
    grid = [
        ((axis - axis.min()) / (axis.max() - axis.min()) * cells).floor().alias(f"cell{cells}{at}")
        for at, (axis, cells) in enumerate(zip(axes, (columns, rows), strict=True))
    ]
    counted = inline_rows(dots).group_by(*by, *grid, maintain_order=True)
    found = counted.agg(pl.col("x", "y").mean(), pl.len().alias("n")).select(*by, "x", "y", "n")
    return found.sort("n", descending=True, maintain_order=True).to_dicts()


def chart_of(rows: Rows) -> alt.Chart:
    """A chart of rows, to be put together with others."""
    from .vega import Leaf

    return Leaf(inline_rows(rows))


def scale_of(meant: Metric, **more: Any) -> alt.Scale:
    """The scale of a metric: all that it can be, which may `clamp`, else from zero on."""
    from .vega import alt

    if meant.range:
        return alt.Scale(domain=list(meant.range), nice=False, zero=False, **more)
    return alt.Scale(zero=True, nice=True)


def place_axis(number: int, field: str = "x") -> alt.X:
    """The field, counted from 0, as so many places beside each other."""
    from .vega import alt

    scale = alt.Scale(domain=[-0.5, number - 0.5], nice=False, zero=False)
    return alt.X(f"{field}:Q", axis=None, scale=scale)


def colour(
    shades: Mapping[str, str], field: str = "configuration", *, legend: bool = True
) -> alt.Color:
    """The configuration as colour, with its legend above the plot unless the rows name it."""
    from .vega import alt

    names = [as_label(name) for name in shades]
    above = alt.Legend(
        orient="top",
        title=None,
        symbolType="circle",
        symbolOpacity=1,
        labelLimit=NAME if all(map(is_cuttable, names)) else 0,
        columns=max(WIDTH // (width_of(names, 40, NAME) + 40), 1),
    )
    scale = alt.Scale(domain=names, range=list(shades.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=above if legend else None)


def tips(**titles: str | tuple[str, str]) -> list[alt.Tooltip]:
    """Fields of a tooltip with their titles; numbers as title and d3 format.

    >>> tips(mean=("Mean", ".2f"))[0].to_dict()
    {'field': 'mean', 'format': '.2f', 'title': 'Mean', 'type': 'quantitative'}
    """
    from .vega import alt

    return [
        alt.Tooltip(field=field, title=title, type="nominal")
        if isinstance(title, str)
        else alt.Tooltip(field=field, title=title[0], format=title[1], type="quantitative")
        for field, title in titles.items()
    ]


def text_layer(
    rows: Rows,
    field: str,
    x: float | alt.X,
    y: float | alt.Y | None = None,
    *,
    align: str = "left",
    limit: float = 0,
    form: str = "",
    heavy: bool = False,
    small: bool = False,
    ink: str = INK,
    tooltip: Sequence[alt.Tooltip] = (),
) -> alt.Chart:
    """Text, one a row.

    Args:
        rows: what is written.
        field: the field that holds the text.
        x: a pixel (negative: left of the plot), or a field.
        y: the same downwards; the lane, `row`, if it is not given.
        align: of the text.
        limit: pixels that it may take.
        form: the d3 format of a number.
        heavy: whether it is bold.
        small: whether it is small.
        ink: its colour.
        tooltip: what it says when pointed at.
    """
    from .vega import alt

    mark: Row = {"align": align, "color": ink, "fontSize": SMALL_SIZE if small else TEXT_SIZE}
    mark |= {"fontWeight": "bold"} if heavy else {}
    if limit:
        mark |= {"limit": limit}
        rows = [row | {field: fit_text(str(row[field]), limit)} for row in rows]
    kind: Row = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
    return (
        chart_of(rows)
        .mark_text(**mark)
        .encode(
            x=alt.XValue(x) if isinstance(x, (int, float)) else x,
            y=alt.YValue(y) if isinstance(y, (int, float)) else y or lane_y(),
            text=alt.Text(field=field, **kind),
            tooltip=list(tooltip) if tooltip else alt.Undefined,
        )
    )


def column(rows: Rows, field: str, x: float, **look: Any) -> list[alt.Chart]:
    """A column of figures that ends at pixel `x`, under its field's name as head."""
    head = text_layer([{"text": field}], "text", x, -10, align="right", small=True, ink=SOFT)
    return [head, text_layer(rows, field, x, align="right", **look)]


def stack_charts(charts: Sequence[ChartType]) -> ChartType:
    """Charts below each other; one as it is."""
    from .vega import alt

    return charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=36)


def lane_y(at: float = 0.5) -> alt.Y:
    """The `row` of what is drawn as a lane across the plot; `at` 0 is the upper edge of it."""
    from .vega import alt

    return alt.Y("row:O", axis=None, bandPosition=at)


def in_lanes(rows: Rows) -> tuple[list[Row], list[Row]]:
    """Rows with the `row` of their lane, and the headings between them, which have their own.

    >>> in_lanes([{"heading": ""}, {"heading": "a"}])
    ([{'heading': '', 'row': 0}, {'heading': 'a', 'row': 2}], [{'text': 'a', 'row': 1}])
    """
    placed: list[Row] = []
    headings: list[Row] = []
    heading = ""
    for row in rows:
        if row["heading"] != heading:
            heading = row["heading"]
            headings.append({"text": heading, "row": len(placed) + len(headings)})
        placed.append(row | {"row": len(placed) + len(headings)})
    return placed, headings


def lanes(
    layers: Sequence[ChartType],
    rows: Rows,
    headings: Rows,
    *,
    step: float,
    width: float,
    right: float,
    what: str = "",
    most: int = 240,
) -> ChartType:
    """Lanes with what is drawn on them: labels to the left, headings and quiet rules between.

    Args:
        layers: what is drawn on the rows, by their `row`.
        rows: what `in_lanes` gave, each with the `label` it carries; those of one `group`,
            if they have such, share it.
        headings: what `in_lanes` gave.
        step: pixels of a lane.
        width: pixels of the plot.
        right: pixel at which the rules end.
        what: what a label is called in its tooltip; "" where the plot before has the labels.
        most: pixels that a label may take.
    """
    from .vega import alt

    groups = [row.get("group", row["row"]) for row in rows]
    below_heading = {heading["row"] + 1 for heading in headings}
    first = [
        {"label": row["label"], "row": row["row"]}
        for row, group, before in zip(rows, groups, [None, *groups], strict=False)
        if group != before or row["row"] in below_heading
    ]
    left = width_of([row["label"] for row in first], 60, most)
    edge = -left - 22 if what else -22
    rules = chart_of([row for row in first if row["row"]]).mark_rule(color=GRID)
    names = [
        text_layer(first, "label", edge, limit=left, tooltip=tips(label=what)),
        text_layer(headings, "text", edge, heavy=True),
    ]
    return alt.layer(
        rules.encode(x=alt.XValue(edge), x2=alt.X2Value(right), y=lane_y(0)),
        *layers,
        *(names if what else ()),
        width=width,
        height=step * (len(rows) + len(headings)),
    )


def interval(
    rows: Rows,
    low: str,
    high: str,
    other: alt.X | alt.Y,
    hue: alt.Color | str,
    *,
    wide: float,
    opacity: float = 1,
    dash: Sequence[float] = (),
    tooltip: Sequence[alt.Tooltip] = (),
) -> list[alt.Chart]:
    """A line from one end to the other of each row that has both; none if none has.

    Args:
        rows: what is drawn.
        low: the field of the lower end.
        high: the field of the upper end.
        other: where it stands: a `Y` for lines across, an `X` for upright ones.
        hue: its colour, by what it says or one for all.
        wide: its width in pixels.
        opacity: of it.
        dash: pixels that are drawn and left out in turn.
        tooltip: what it says when pointed at.
    """
    from .vega import alt

    known = [row for row in rows if row[low] is not None and row[high] is not None]
    if not known:
        return []
    upright = isinstance(other, alt.X)
    ends = (
        {"x": other, "y": alt.Y(f"{low}:Q"), "y2": alt.Y2(f"{high}:Q")}
        if upright
        else {"y": other, "x": alt.X(f"{low}:Q"), "x2": alt.X2(f"{high}:Q")}
    )
    dashes = list(dash) or alt.Undefined
    marks = chart_of(known).mark_rule(strokeWidth=wide, opacity=opacity, strokeDash=dashes)
    about = list(tooltip) if tooltip else alt.Undefined
    colour = alt.value(hue) if isinstance(hue, str) else hue
    return [marks.encode(**ends, color=colour, tooltip=about)]


def draw_rings(rows: Rows, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A ring around each row, its `text` above it; none if there is no row."""
    from .vega import alt

    if not rows:
        return []
    plot = chart_of(rows).encode(x=x, y=y)
    ring = plot.mark_point(shape="circle", size=400, strokeWidth=2, color=INK, opacity=1)
    name = plot.mark_text(dy=-22, align="center", fontWeight="bold", color=INK)
    return [ring, name.encode(text=alt.Text("text:N"))]


def cells(
    rows: Rows, x: alt.X, y: alt.Y, tooltip: Sequence[alt.Tooltip], *, dash: Sequence[int] = (3, 3)
) -> ChartType:
    """Boxes with a text each, one layer of them and one of the words in them.

    Args:
        rows: each with its `text`, its `fill` and its `stroke` (a colour, or None for none).
        x: the column.
        y: the row.
        tooltip: what a box says when pointed at.
        dash: how a stroke is dashed.
    """
    from .vega import alt

    x["scale"] = y["scale"] = alt.Scale(paddingInner=SEAM, paddingOuter=SEAM / 2)
    base = chart_of(rows).encode(x=x, y=y, tooltip=list(tooltip))
    shades = {
        "fill": alt.Fill("fill:N", scale=None),
        "stroke": alt.Stroke("stroke:N", scale=None),
    }
    boxes = base.mark_rect(cornerRadius=3, strokeDash=list(dash)).encode(**shades)
    return alt.layer(boxes, base.mark_text(color=CELL_INK).encode(text=alt.Text("text:N")))


def shade(share: float | None) -> str:
    """The colour of a cell by the share that is right; transparent if that is unknown.

    >>> shade(0) == SHARES[0], shade(0.5) == SHARES[1], shade(1) == SHARES[2], shade(None)
    (True, True, True, 'transparent')
    """
    if share is None:
        return "transparent"
    ends = SHARES[:2] if share < 0.5 else SHARES[1:]
    part = 2 * share - (share >= 0.5)
    both = ([int(end[at : at + 2], 16) for at in (1, 3, 5)] for end in ends)
    mixed = (round(low + part * (high - low)) for low, high in zip(*both, strict=True))
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def with_figures(
    plot: ChartType,
    figures: Rows,
    x: alt.X,
    width: float,
    tooltip: Sequence[alt.Tooltip] = (),
    *,
    named: bool = True,
) -> ChartType:
    """A plot with lines of figures below it, each named to the left.

    Args:
        plot: what stands above.
        figures: each with its `line`, its `text`, and where it stands on `x`.
        x: as the plot has it.
        width: pixels of the plot.
        tooltip: what a figure says when pointed at.
        named: whether the lines are named, which they need not be beside another such plot.
    """
    from .vega import alt

    figures = [figure | {"line": fit_text(figure["line"], NAME)} for figure in figures]
    names = list(dict.fromkeys(figure["line"] for figure in figures))
    axis = alt.Axis(title=None, grid=False, labelLimit=150, labelPadding=14)
    y = alt.Y("line:N", sort=names, axis=axis if named else None)
    written = text_layer(figures, "text", x, y, align="center", small=True, tooltip=tooltip)
    table = written.properties(width=width, height=ROW * len(names))
    return alt.vconcat(plot, table, spacing=6)
