"""When the same output is scored again, by the same judge or by another, is the score the same?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats import agreement
from skill_eval_nb.stats.agreement import HUMAN, ITSELF, JUDGE, KEYS, KINDS, Raters, pair_raters
from skill_eval_nb.stats.pairing import side_key
from skill_eval_nb.stats.values import GROUP, no_such
from skill_eval_nb.stats.variance import ROUGH
from skill_eval_nb.text import MINUS, MISSING, TIE, as_label, clip, in_quotes, some, tie

from .. import stats
from .metrics import metric as metric_of
from .pick import Part, as_polars, first_of, pick_parts, why_none
from .rubric import WHOLE, caveats, nearest_whole
from .theme import (
    FAINT,
    SMALL_SIZE,
    SOFT,
    TOOLTIP,
    Row,
    Rows,
    baselines,
    cells,
    chart_of,
    colour,
    colours,
    column,
    draw_nothing,
    finish,
    fit_text,
    head_facets,
    in_lanes,
    interval,
    lane_y,
    lanes,
    make_subheading,
    n_of,
    shade,
    stack_charts,
    text_layer,
    tips,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType

    from .rubric import Array


SOURCES = {
    "eval": "the evals",
    "eval + run": "evals and runs",
    "eval + run + judge": "evals, runs and judge",
    "run": "the runs",
    "run + judge": "runs and judge",
    "judge": "the judge",
}
"""What each component is called; the panels from left to right. The severity of judges is no part
of the whole."""
HALF = 0.5


def say_main_sources(lanes: Rows) -> str:
    """On which dimensions most of the variance comes from where, on the with-skill side.

    A lane is a configuration on a metric: heading, configuration, label, meant, parts (its rows of
    `stats.variance` by component) and sizes (evals, runs and, where known, judgings).
    """
    own = _first_sides(lanes)
    who = {lane["configuration"] for lane in own}
    sizes = [max(numbers) for numbers in zip(*(lane["sizes"] for lane in own), strict=False)]
    n = ", ".join(map(tie, sizes, ("eval", "run", "judging")))
    n = f"n{TIE}={TIE}{n}"
    behind = f"({as_label(who.pop(), 40)}, {n})" if len(who) == 1 else f"({n})"
    if all(len(lane["parts"]) == 1 for lane in own):
        together = next(iter(own[0]["parts"])).replace(" + ", " and ")
        return f"Variance of {together} cannot be separated {behind}"
    labels: dict[str, list[str]] = {}
    for row in own:
        labels.setdefault(_main_source(row), []).append(in_quotes(row["label"], 40))
    texts = [
        f"from {SOURCES.get(component, 'several sources')} on {some(names)}"
        for component, names in sorted(labels.items(), key=lambda own: (-len(own[1]), not own[0]))
    ]
    return f"Most of the variance comes {some(texts, 99)} {behind}"


def _first_sides(lanes: Rows) -> list[Row]:
    """The lanes of the with-skill side, heading by heading."""
    names: dict[str, set[str]] = {}
    for row in lanes:
        names.setdefault(row["heading"], set()).add(row["configuration"])
    first = {heading: min(own, key=side_key) for heading, own in names.items()}
    return [lane for lane in lanes if lane["configuration"] == first[lane["heading"]]]


def _main_source(lane: Row) -> str:
    """The component that more than half of the variance is, or ""."""
    found = max(lane["parts"].values(), key=lambda row: row["share"])
    return found["component"] if found["share"] > HALF else ""


def rough_note(lanes: Rows) -> str:
    """That what lies between few evals is a rough guess."""
    fewest = min(lane["sizes"][0] for lane in lanes)
    has_evals = any("eval" in lane["parts"] for lane in lanes)
    if fewest >= ROUGH or not has_evals:
        return ""
    return f"With {tie(fewest, 'eval')}, the variance between evals is a rough guess."


PLOT, WIDEST, GAP = 480, 300, 30
"""Pixels that the panels share, of one at most, and between two of them."""
SPREAD, N = 62, 210
"""Pixels right of the last panel where the columns of figures end."""
LANE = 24
ROWS = 40
"""Dimensions and configurations that one chart holds."""
COUNTED, SEPARATOR = ("evals", "runs", "judgings"), " · "
LANE_TIPS = {"name": "Of", "configuration": "Configuration", "component": "Component"}


def variance_components(
    ws: Any, metric: str | None = None, iteration: str | Sequence[str] | None = None
) -> ChartType:
    """How much of the scores' variance comes from evals, runs and the judge.

    There is one panel per component and one bar per configuration; the line is the share's 95 %
    interval. The figures come from `stats.variance`. The dimension that varies most comes first.

    Args:
        ws: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for a metric or iteration that is not there.
    """
    import polars as pl

    found = as_polars(stats.variance(ws, metric)).filter(pl.col("component").is_in(SOURCES))
    known = found.drop_nulls("share")
    parts, said = pick_parts(known, iteration, ws)
    if not parts:
        what = metric_of(metric).name if metric else "score on a rubric dimension"
        why = why_none(ws, what, iteration, found["note"])
        return draw_nothing("No variance to split", why)
    sides, left = first_of(parts, lambda part: _lane_rows(part, known), ROWS)
    notes = [
        *said,
        "Bars are shares of the variance of one score, lines their 95% intervals;",
        "SD is the standard deviation of one score.",
        rough_note(sides),
        f"{tie(left, 'more row')} with a smaller SD." if left else "",
    ]
    shown = [lane["configuration"] for lane in sides]
    shades = colours(found["configuration"], baselines(found), shown)
    return finish(_draw_components(sides, shades), say_main_sources(sides), notes)


def _lane_rows(part: Part, known: pl.DataFrame) -> list[Row]:
    """The rows of a part from top to bottom, each with its components."""
    own = part.rows(known).partition_by("metric", "configuration", maintain_order=True)
    rows = [_lane_row(part, frame.to_dicts()) for frame in own]
    spread: dict[str, float] = defaultdict(float)
    for row in rows:
        spread[row["group"]] = max(spread[row["group"]], row["SD"])
    rows.sort(key=lambda row: (-spread[row["group"]], row["group"], side_key(row["configuration"])))
    return rows


def _lane_row(part: Part, components: Rows) -> Row:
    """One configuration on one metric."""
    first = components[0]
    meant = metric_of(first["metric"])
    sizes = (first["n_evals"], first["n_runs"], first["n_judgings"])
    return {
        "heading": part.heading,
        "group": first["metric"],
        "label": as_label(first["dimension"] or meant.name),
        "meant": meant,
        "configuration": first["configuration"],
        "parts": {row["component"]: row for row in components},
        "SD": sum(row["variance"] for row in components) ** 0.5,
        "sizes": [size for size in sizes if size is not None],
    }


def _draw_components(sides: Rows, shades: dict[str, str]) -> ChartType:
    """A panel a component beside each other, labels to the left, figures to the right."""
    from .vega import alt

    placed, headings = in_lanes(sides)
    shown = [name for name in SOURCES if any(name in lane["parts"] for lane in sides)]
    width = min((PLOT - GAP * (len(shown) - 1)) // len(shown), WIDEST)
    plots: list[ChartType] = []
    for name in shown:
        is_last = name == shown[-1]
        layers = _component_layers(name, placed, shades)
        if is_last:
            layers += _draw_spreads(placed, width)
        look = {"step": LANE, "width": width, "right": width + N if is_last else width}
        what = "" if plots else "Of"
        plots.append(lanes(layers, placed, headings, what=what, most=230, **look))
    return alt.hconcat(*plots, spacing=GAP) if len(plots) > 1 else plots[0]


def _component_layers(component: str, placed: Rows, shades: dict[str, str]) -> list[alt.Chart]:
    """One component: bars of shares, and their intervals."""
    from .vega import alt

    bars = [
        {
            "name": lane["label"],
            "configuration": as_label(lane["configuration"]),
            "component": SOURCES[component],
            "share": row["share"],
            "low": row["share_low"],
            "high": row["share_high"],
            "sd": row["variance"] ** 0.5,
            "note": clip(row["note"] or "", TOOLTIP),
            "row": lane["row"],
        }
        for lane in placed
        if (row := lane["parts"].get(component))
    ]
    axis = alt.Axis(title="share (%)", format=".0%", values=[0, 0.5, 1])
    x = alt.X("share:Q", axis=axis, scale=alt.Scale(domain=[0, 1], nice=False, zero=True))
    hue = colour(shades)
    ends = {"low": ("From", ".1%"), "high": ("To", ".1%")}
    about = tips(**LANE_TIPS, share=("Share", ".1%"), **ends, sd=("SD", ".3~g"), note="Note")
    plot = chart_of(bars).encode(x=x, y=lane_y(), color=hue, tooltip=about)
    head = [{"text": SOURCES[component]}]
    return [
        plot.mark_bar(opacity=0.35, size=14),
        *interval(bars, "low", "high", lane_y(), hue, wide=2),
        plot.mark_circle(size=44, opacity=1),
        text_layer(head, "text", 0, -12, heavy=True, small=True),
    ]


def _draw_spreads(placed: Rows, width: float) -> list[alt.Chart]:
    """The spread of one score, and how many there are, right of the panels."""
    counted = SEPARATOR.join(COUNTED[: max(len(lane["sizes"]) for lane in placed)])
    rows = [
        {
            "SD": lane["meant"].figure(lane["SD"]),
            counted: SEPARATOR.join(f"{n:,}" for n in lane["sizes"]),
            "row": lane["row"],
        }
        for lane in placed
    ]
    return [*column(rows, "SD", width + SPREAD), *column(rows, counted, width + N, ink=SOFT)]


CELL = 32
"""Pixels of a cell."""
BESIDE = 4
"""Panels side by side."""


def draw_confusions(rows: Rows, pairs: Sequence[Array]) -> ChartType:
    """Comparisons (rows of `stats.agreement`) with their pairs, a panel each, by who scored."""
    both = zip(rows, pairs, strict=True)
    parts = groupby(
        both, lambda pair: tuple(pair[0][name] for name in ("heading", "judge", "other"))
    )
    return stack_charts([_draw_facets(list(own)) for _, own in parts])


def _draw_facets(panels: Sequence[tuple[Row, Array]]) -> ChartType:
    """Panels beside each other: green on the diagonal and purple off it, darker for more pairs."""
    from .vega import alt

    first = panels[0][0]
    raters = [as_label(first["judge"]), as_label(first["other"])]
    if first["kind"] == ITSELF:
        raters = ["earlier judging", "later judging"]
    side, room = CELL * len(WHOLE), CELL * len(WHOLE) + 30
    boxes = [box for place, panel in enumerate(panels) for box in _confusion_cells(place, *panel)]
    about = tips(title="Dimension", across="First", up="Second", pairs=("Pairs", ",d"))
    across, up = (
        alt.Axis(title=fit_text(name, side), labelAngle=0, titleLimit=side) for name in raters
    )
    x, y = alt.X("across:O", axis=across), alt.Y("up:O", sort="descending", axis=up)
    names = [
        [fit_text(as_label(row["dimension"]), room), *_list_measures(row, own)]
        for row, own in panels
    ]
    above = {"labelAlign": "left", "labelAnchor": "start", "labelLineHeight": 16}
    header = head_facets(names, labelLimit=room, labelFontSize=SMALL_SIZE, **above)
    plot = cells(boxes, x, y, about, dash=()).properties(width=side, height=side)
    facets = plot.facet(alt.Facet("panel:O", header=header), columns=BESIDE, spacing=24)
    facets.title = make_subheading(first["heading"])
    return facets


def _confusion_cells(place: int, row: Row, pairs: Array) -> list[Row]:
    """The cells of a panel: how often each score stands beside each."""
    import numpy as np

    ends = np.arange(WHOLE[0] - 0.5, WHOLE[-1] + 1)
    counts = np.histogram2d(*nearest_whole(pairs).T, bins=(ends, ends))[0].astype(int).tolist()
    most = max(map(max, [*counts, [1]]))
    return [
        {
            "panel": place,
            "title": as_label(row["dimension"]),
            "across": first,
            "up": second,
            "pairs": number,
            "fill": shade(0.5 + number / most / (2 if first == second else -2)),
            "stroke": FAINT if first == second else None,
            "text": f"{number:,}" if number else "",
        }
        for first, row_of in zip(WHOLE, counts, strict=True)
        for second, number in zip(WHOLE, row_of, strict=True)
    ]


def _list_measures(row: Row, pairs: Array) -> list[str]:
    """What stands above a panel: raw agreement, coefficients, n."""
    measures = {"alpha": "alpha", "AC2": "ac2"}
    measures |= {} if row["kind"] == ITSELF else {"kappa": "kappa"}
    figures = {name: row[column] for name, column in measures.items()}
    return [
        f"{row['exact']:.0%} equal, {row['within_one']:.0%} within 1 point",
        ", ".join(
            f"{name} {MISSING if figure is None else f'{figure:.2f}'.replace('-', MINUS)}"
            for name, figure in figures.items()
        ),
        f"n = {tie(len(pairs), 'pair')} of {tie(row['n_repeated'], 'output')}",
    ]


PANELS = 12
"""Panels that one chart holds."""
NO_PAIRS = {
    ITSELF: "output judged twice by one judge",
    JUDGE: "output judged by two judges",
    HUMAN: "output scored by a judge and a human",
}
SCORERS = {
    ITSELF: "A judge gives an output the same score again",
    JUDGE: "Two judges give an output the same score",
    HUMAN: "Judge and human give an output the same score",
}


def judge_confusion(
    ws: Any,
    human: Any = None,
    iteration: str | Sequence[str] | None = None,
    kind: str | None = None,
) -> ChartType:
    """Score against score: how often each pair of scores was given to the same output.

    There is one panel per dimension, with the raw agreement and coefficients of
    `stats.agreement`. The one with the least agreement comes first.

    Args:
        ws: a `Workspace` or a table of rubric scores (polars or pandas).
        human: scores given by people, as for `stats.agreement`.
        iteration: name of the iteration, or several; None for each workspace's last one.
        kind: `judge against itself`, `judge against judge` or `judge against human`; None for
            the last of these that exists.

    Raises:
        ValueError: if an iteration or kind does not exist, or the table `human` matches no run.
    """
    import numpy as np
    import polars as pl

    if kind not in (None, *KINDS):
        raise no_such("kind", str(kind), KINDS)
    found = as_polars(agreement(ws, human)).filter(pl.col("n_repeated") > 0)
    there = [name for name in KINDS if name in set(found["kind"])]
    kind = kind or (there[-1] if there else ITSELF)
    rows = found.filter(kind=kind)
    parts, said = pick_parts(rows, iteration, ws)
    if not parts:
        return draw_nothing("No judgings to compare", why_none(ws, NO_PAIRS[kind], iteration))
    shown, left = _least_agreed(parts, rows)
    pairs = {_rater_key(rater.keys): _score_pairs(rater) for rater in pair_raters(ws, human)}
    mine = [pairs[_rater_key(row[name] for name in KEYS)] for row in shown]
    notes = [
        *said,
        "A number counts pairs of scores of the same output; on the diagonal both are equal.",
        *caveats(np.concatenate(mine).ravel()),
        f"{tie(left, 'more panel')} with more agreement." if left else "",
    ]
    return finish(draw_confusions(shown, mine), _say_agreement(shown), notes)


def _least_agreed(parts: Sequence[Part], rows: pl.DataFrame) -> tuple[list[Row], int]:
    """The dimensions with the least agreement, by part and raters, and how many are left out.

    All raters of a part have their dimensions in the same order, so that they compare.
    """
    import polars as pl

    ranked = rows.sort(pl.col("exact").min().over(*GROUP, "dimension"), maintain_order=True)
    groups = [
        (part.heading, own)
        for part in parts
        for own in part.rows(ranked).partition_by("judge", "other", maintain_order=True)
    ]
    several = rows.select("judge", "other").n_unique() > 1
    most = max(PANELS // len(groups), 1)
    shown: list[Row] = []
    for heading, own in groups:
        who = " and ".join(dict.fromkeys(map(as_label, own.select("judge", "other").row(0))))
        title = " · ".join(text for text in (heading, who if several else "") if text)
        shown += [row | {"heading": title} for row in own.head(most).to_dicts()]
    return shown, sum(own.height for _, own in groups) - len(shown)


def _rater_key(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(name or "" for name in names)


def _score_pairs(raters: Raters) -> Array:
    """The scores that stand beside each other: a row a pair, the earlier or first one first."""
    import numpy as np

    left, right = np.triu_indices(raters.matrix.shape[1], 1)
    pairs = np.stack([raters.matrix[:, left].ravel(), raters.matrix[:, right].ravel()], axis=1)
    return pairs[~np.isnan(pairs).any(1)]


def _say_agreement(rows: Rows) -> str:
    """How often both scores are equal, where least and where most."""
    least, most = (end(rows, key=lambda row: row["exact"]) for end in (min, max))
    low, high = (f"{row['exact']:.0%}" for row in (least, most))
    where = f"in {low} of pairs on {in_quotes(least['dimension'], 40)}"
    if low != high:
        where += f" and in {high} on {in_quotes(most['dimension'], 40)}"
    elif len(rows) > 1:
        where = f"in {low} of pairs on every dimension"
    outputs = sorted({least["n_repeated"], most["n_repeated"]})
    n = n_of(*outputs, noun="output")
    return f"{SCORERS[least['kind']]} {where} ({n})"
