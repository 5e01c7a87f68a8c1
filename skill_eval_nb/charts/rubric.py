"""Which scores are given: each dimension of the rubric by configuration, and all of its scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats import deltas_by_dimension, summarize
from skill_eval_nb.stats.pairing import side_key
from skill_eval_nb.stats.values import (
    GROUP,
    RUBRIC,
    judged_scores,
    natural_key,
    scores_of,
    sort_rows,
)
from skill_eval_nb.text import as_label, clip, in_quotes, tie

from .metrics import Metric
from .pick import Part, as_polars, first_of, pick_parts, why_none
from .theme import (
    SMALL_SIZE,
    SOFT,
    TEXT_SIZE,
    TOOLTIP,
    Row,
    Rows,
    baselines,
    chart_of,
    colour,
    colours,
    column,
    draw_nothing,
    finish,
    fit_text,
    head_facets,
    in_lanes,
    lane_y,
    lanes,
    make_subheading,
    n_of,
    stack_charts,
    tips,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from altair.typing import ChartType

    Array = np.ndarray[Any, Any]


DOT, STACKED, WIDE = 6.6, 5, 58
"""Pixels from dot to dot; dots above each other; pixels that dots of one score may take."""


def pack_swarm(dots: Rows) -> list[Row]:
    """Pack the dots of one score into a block; `right` and `below` are pixels from its middle.

    >>> [dot["below"] for dot in pack_swarm([{"score": 3.0}, {"score": 4.0}, {"score": 4.0}])]
    [0.0, -3.3, 3.3]
    """
    size = Counter(round(dot["score"], 1) for dot in dots)
    seen: Counter[float] = Counter()
    packed: list[Row] = []
    for dot in dots:
        near = round(dot["score"], 1)
        columns = -(-size[near] // STACKED)
        column, level = divmod(seen[near], STACKED)
        seen[near] += 1
        inside = min(STACKED, size[near] - column * STACKED)
        right = (column - (columns - 1) / 2) * min(DOT, WIDE / columns)
        packed.append(dot | {"right": right, "below": (level - (inside - 1) / 2) * DOT})
    return packed


def swarm_height(dots: Rows) -> float:
    """Pixels that packed dots take from top to bottom."""
    return 2 * max(abs(dot["below"]) for dot in dots) + DOT + 4


LOW, HIGH = 1, 5
WHOLE = tuple(range(LOW, HIGH + 1))


def nearest_whole(scores: Array) -> Array:
    """Each score as the nearest whole one, halves upwards; NaN if that is outside 1-5.

    >>> import numpy as np
    >>> nearest_whole(np.array([1.0, 3.5, 9.0])).tolist()
    [1.0, 4.0, nan]
    """
    import numpy as np

    near = np.floor(scores + 0.5)
    return np.where((near >= LOW) & (near <= HIGH), near, np.nan)


def caveats(scores: Array) -> list[str]:
    """What a chart has to say about scores that are not 1, 2, 3, 4 or 5.

    >>> import numpy as np
    >>> caveats(np.array([1.0, 5.0]))
    []
    """
    import numpy as np

    near = nearest_whole(scores)
    outside = int(np.isnan(near).sum())
    between = bool((near[~np.isnan(near)] != scores[~np.isnan(near)]).any())
    return [
        *(["A score between two whole ones counts as the nearest."] if between else []),
        *([f"{tie(outside, 'score')} outside {LOW}–{HIGH} not shown."] if outside else []),
    ]


DIMENSION_PLOT, MEAN, DIMENSION_N, DELTA = 480, 548, 596, 664
"""Pixels: the plot's width, and where the columns right of it end."""
DIMENSION_LANE, ROOM = 24, 0.15
"""Pixels of a lane at least; points beyond the ends of the axis."""
SCORE = Metric("", "score", "1-5")
"""A score on whatever dimension."""
MOST_DIMENSIONS = 40
"""Dimensions that one chart holds."""
MANY = 5000
"""Dots above which runs of about the same score share one."""
DIMENSION_KEYS = [*GROUP, "metric", "configuration"]
"""What a lane is: a configuration on a dimension."""
LANE_TIPS = {"dimension": "Dimension", "configuration": "Configuration"}


def rubric_dimensions(ws: Any, iteration: str | Sequence[str] | None = None) -> ChartType:
    """Each run's score on each dimension, by configuration, with the mean and its n.

    A run's score is the mean over its judgings. The dimension on which the sides differ most
    comes first; with only one side, the one on which its runs differ most.

    Args:
        ws: a `Workspace` or a table of rubric scores (polars or pandas).
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for an iteration that is not there.
    """
    runs = _scored_runs(ws)
    parts, said = pick_parts(runs, iteration, ws)
    if not parts:
        why = why_none(ws, "score on a rubric dimension", iteration)
        return draw_nothing("No rubric scores", why)
    figures = _lane_figures(ws)
    found, left = first_of(parts, lambda part: _dimension_lanes(part, figures), MOST_DIMENSIONS)
    sides = [lane for own in found for lane in own]
    own = runs.partition_by(DIMENSION_KEYS, as_dict=True)
    frames = [own[tuple(side[key] for key in DIMENSION_KEYS)] for side in sides]
    crowded = sum(frame.height for frame in frames) > MANY
    dots = [_crowd_dots(frame) if crowded else pack_swarm(_lane_dots(frame)) for frame in frames]
    notes = [
        *said,
        "A dot may stand for several runs." if crowded else "A dot is a run.",
        "A run's score is the mean over its judgings. Bars are the means of the runs, n the runs.",
        f"{tie(left, 'more dimension')} with smaller differences." if left else "",
    ]
    shown = [side["configuration"] for side in sides]
    shades = colours(runs["configuration"], baselines(runs), shown)
    return finish(_dimensions_drawn(sides, dots, shades), answer_rubric_dimensions(sides), notes)


def _scored_runs(ws: Any) -> pl.DataFrame:
    """A row a run and dimension: its score as `value`, how often it was judged, evidence."""
    import polars as pl

    keys = [*GROUP, "eval_id", "configuration", "run_number", "metric"]
    judged = (
        as_polars(judged_scores(ws))
        .group_by(keys, maintain_order=True)
        .agg(pl.col("score").count().alias("judgings"), pl.col("evidence").drop_nulls().first())
    )
    scores = as_polars(scores_of(ws)).drop_nulls("value")
    return scores.join(judged, on=keys, how="left", nulls_equal=True)


def _crowd_dots(runs: pl.DataFrame) -> list[Row]:
    """One dot for all runs of about the same score, a quarter of a point wide."""
    import polars as pl

    near = ((pl.col("value") * 4).round() / 4).alias("score")
    counted = runs.group_by(near).agg(pl.len().alias("runs")).sort("score")
    return [dot | {"right": 0.0, "below": 0.0} for dot in counted.to_dicts()]


def _lane_dots(runs: pl.DataFrame) -> list[Row]:
    """What is drawn of each run of a lane, from the lowest score up."""
    return [
        {
            "score": run["value"],
            "eval": as_label(run["eval_name"]),
            "run": run["run_number"],
            "judgings": run["judgings"],
            "evidence": clip(run["evidence"] or "none stated", TOOLTIP),
        }
        for run in runs.sort("value", "eval_name", "run_number").iter_rows(named=True)
    ]


def _lane_figures(ws: Any) -> pl.DataFrame:
    """A row a lane: mean, stddev, n, and the delta with its own n on both sides."""
    import polars as pl

    means = as_polars(summarize(ws)).filter(
        pl.col("metric").str.starts_with(RUBRIC), pl.col("mean").is_not_null()
    )
    columns = ["baseline", "estimate", "n_evals", "n_runs", "n_runs_baseline"]
    deltas = as_polars(deltas_by_dimension(ws)).select(*DIMENSION_KEYS, *columns)
    return means.drop("n_runs").join(deltas, on=DIMENSION_KEYS, how="left")


def _dimension_lanes(part: Part, figures: pl.DataFrame) -> list[list[Row]]:
    """The lanes of each dimension of a part, from top to bottom."""
    of_metric: dict[str, list[Row]] = {}
    for row in sort_rows(part.rows(figures), configuration=side_key).to_dicts():
        metric, label = row["metric"], as_label(row["metric"].removeprefix(RUBRIC))
        lane = row | {"heading": part.heading, "group": metric, "label": label}
        of_metric.setdefault(metric, []).append(lane)
    return sorted(of_metric.values(), key=_rank_by_delta)


def _rank_by_delta(lanes: Rows) -> tuple[Any, ...]:
    """A sorting key for dimensions: the largest delta first, else the largest spread."""
    delta = max(abs(row["estimate"] or 0) for row in lanes)
    return -delta, -max(row["stddev"] or 0 for row in lanes), natural_key(lanes[0]["group"])


def _dimensions_drawn(sides: Rows, dots: Sequence[Rows], shades: dict[str, str]) -> ChartType:
    """The lanes with their dots, means and figures."""
    from .vega import alt

    step = max(DIMENSION_LANE, *map(swarm_height, dots))
    placed, headings = in_lanes(sides)
    scores = [dot["score"] for own in dots for dot in own]
    low, top = min(1, *scores) - ROOM, max(5, *scores) + ROOM
    points: list[Row] = []
    means: list[Row] = []
    for side_of, own in zip(placed, dots, strict=True):
        side_of["dimension"] = side_of["label"]
        shared = {name: side_of[name] for name in ("row", "dimension", "configuration")}
        shared["configuration"] = as_label(side_of["configuration"])
        wide = (top - low) / DIMENSION_PLOT
        points += [dot | shared | {"x": dot["score"] + dot["right"] * wide} for dot in own]
        figures = {name: side_of[name] for name in ("group", "label", "heading", "mean", "n")}
        delta = "" if side_of["estimate"] is None else SCORE.difference(side_of["estimate"])
        means.append(shared | figures | {"delta": delta})
    scale = alt.Scale(domain=[low, top], nice=False, zero=False)
    whole = list(range(ceil(low), floor(top) + 1)) if top - low < 20 else alt.Undefined
    axis = alt.Axis(title="score of a run (1–5)", values=whole, format="d")
    hue = colour(shades)
    offset = alt.YOffset("below:Q", scale=alt.Scale(domain=[-step / 2, step / 2]))
    mean_tips = {"mean": ("Mean score", ".2f"), "n": ("Runs (n)", ",d"), "delta": "Delta"}
    paired = any(row["delta"] for row in means)
    layers = [
        chart_of(means)
        .mark_tick(thickness=3, size=step - 2, opacity=1)
        .encode(x=alt.X("mean:Q"), y=lane_y(), color=hue, tooltip=tips(**LANE_TIPS, **mean_tips)),
        chart_of(points)
        .mark_circle(opacity=0.55)
        .encode(
            x=alt.X("x:Q", axis=axis, scale=scale),
            y=lane_y(),
            yOffset=offset,
            color=hue,
            **_dot_encoding(points),
        ),
        *column(means, "mean", MEAN, form=".2f"),
        *column(means, "n", DIMENSION_N, form=",d", ink=SOFT),
        *(column(means, "delta", DELTA, heavy=True) if paired else ()),
    ]
    right = DELTA if paired else DIMENSION_N
    look = {"step": step, "width": DIMENSION_PLOT, "right": right, "what": "Dimension"}
    return lanes(layers, means, headings, **look, most=230)


def _dot_encoding(points: Rows) -> Row:
    """Size and tooltip of the dots: of a run, or of the runs that a dot counts."""
    from .vega import alt

    if "runs" in points[0]:
        size = alt.Size("runs:Q", legend=None, scale=alt.Scale(zero=True, range=[0, 380]))
        named = tips(**LANE_TIPS, score=("Score, about", ".2f"), runs=("Runs", ",d"))
        return {"size": size, "tooltip": named}
    score = {"score": ("Score", ".2f"), "judgings": "Judgings", "evidence": "Evidence"}
    return {
        "size": alt.SizeValue(32),
        "tooltip": tips(**LANE_TIPS, eval="Eval", run="Run", **score),
    }


SCORE_PLOT, SCORE_LANE, NAME = 520, 84, 230
"""Pixels: of the plot, of a dimension's bars from top to bottom, and of its name at most."""
BESIDE = 3
"""Configurations up to which there is room for a figure above each bar."""
DIMENSIONS = 16
"""Dimensions that one chart holds."""
FULL = 0.5
"""Share of judgings with the highest score from which little room is left above."""
LANE_KEYS = [*GROUP, "dimension", "configuration"]


def score_distributions(ws: Any, iteration: str | Sequence[str] | None = None) -> ChartType:
    """How often each score is given on each dimension, by configuration.

    Every judging counts. The dimension where most judgings give the highest score comes first:
    a better output can hardly score better there.

    Args:
        ws: a `Workspace` or a table of rubric scores (polars or pandas).
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for an iteration that is not there.
    """
    import polars as pl

    judged = as_polars(judged_scores(ws)).drop_nulls("score")
    parts, said = pick_parts(judged, iteration, ws)
    if not parts:
        why = why_none(ws, "score on a rubric dimension", iteration)
        return draw_nothing("No rubric scores", why)
    counted = _count_scores(judged)
    lanes, left = first_of(parts, lambda part: _score_lanes(part, counted), DIMENSIONS, 2)
    shown = [row["configuration"] for lane in lanes for row in lane["rows"]]
    shades = colours(judged["configuration"], baselines(judged), shown)
    scores = pl.concat([part.rows(judged) for part in parts])["score"].to_numpy()
    notes = [
        *said,
        "A bar is the share of the judgings that give the score; n counts the judgings.",
        *caveats(scores),
        f"{tie(left, 'more dimension')} with fewer scores of {HIGH}." if left else "",
    ]
    return finish(_scores_drawn(lanes, shades), _say_ceiling(lanes), notes)


def _count_scores(judged: pl.DataFrame) -> pl.DataFrame:
    """A row a configuration on a dimension: n, and how often each score is given."""
    import polars as pl

    near = pl.Series("near", nearest_whole(judged["score"].to_numpy()))
    given = [(pl.col("near") == score).sum().alias(str(score)) for score in WHOLE]
    return judged.with_columns(near).group_by(LANE_KEYS).agg(pl.len().alias("n"), *given)


def _score_lanes(part: Part, counted: pl.DataFrame) -> list[Row]:
    """The dimensions of a part from top to bottom, those near the ceiling first."""
    own = part.rows(counted).partition_by("dimension", as_dict=True)
    lanes: list[Row] = [
        {
            "heading": part.heading,
            "group": name,
            "label": as_label(name),
            "rows": sort_rows(frame, configuration=side_key).to_dicts(),
        }
        for (name,), frame in own.items()
    ]
    lanes.sort(key=lambda lane: (-max(map(_top_share, lane["rows"])), natural_key(lane["group"])))
    return lanes


def _top_share(row: Row) -> float:
    """The share of the judgings that give the highest score."""
    return row[str(HIGH)] / row["n"]


def _scores_drawn(lanes: Rows, shades: dict[str, str]) -> ChartType:
    """The dimensions below each other, those of one heading together, with their bars and n."""
    from .vega import alt

    bars = [bar for place, lane in enumerate(lanes) for bar in _score_bars(lane, place)]
    names = [(fit_text(lane["label"], NAME), _count_judgings(lane["rows"])) for lane in lanes]
    tallest = max((bar["share"] for bar in bars), default=1) * 1.3  # room for the figures
    x = alt.X(
        "score:O",
        scale=alt.Scale(domain=list(WHOLE)),
        axis=alt.Axis(title="score of a judging (1–5)", labelAngle=0),
    )
    y = alt.Y("share:Q", axis=None, scale=alt.Scale(domain=[0, tallest]))
    offset = alt.XOffset("configuration:N", sort=[as_label(name) for name in shades])
    given = {"given": ("Judgings with it", ",d"), "share": ("Share", ".1%")}
    about = tips(**LANE_TIPS, score="Score", **given, n=("Judgings (n)", ",d"))
    beside = {"labelAlign": "right", "labelAnchor": "middle", "labelAngle": 0, "labelPadding": 16}
    header = head_facets(names, labelLimit=NAME, labelFontSize=TEXT_SIZE, **beside)
    drawn: list[ChartType] = []
    for heading, own in groupby(bars, key=lambda bar: lanes[bar["lane"]]["heading"]):
        base = chart_of(list(own)).encode(x=x, xOffset=offset, y=y, tooltip=about)
        layers = [base.mark_bar(cornerRadiusEnd=2).encode(color=colour(shades))]
        if len(shades) <= BESIDE:
            text = alt.Text("text:N")
            layers.append(base.mark_text(dy=-8, color=SOFT, fontSize=SMALL_SIZE).encode(text=text))
        facets = alt.layer(*layers, width=SCORE_PLOT, height=SCORE_LANE).facet(
            row=alt.Row("lane:O", header=header), spacing=10
        )
        facets.title = make_subheading(heading)
        drawn.append(facets)
    return stack_charts(drawn)


def _count_judgings(rows: Rows) -> str:
    """The judgings of each configuration."""
    return "n = " + " vs ".join(f"{row['n']:,}" for row in rows)


def _score_bars(lane: Row, place: int) -> list[Row]:
    """The bars of a dimension."""
    return [
        {
            "lane": place,
            "dimension": lane["label"],
            "configuration": as_label(row["configuration"]),
            "n": row["n"],
            "score": score,
            "given": row[str(score)],
            "share": share,
            "text": f"{share:.0%}" if share >= 0.005 else "<1%",
        }
        for row, score in product(lane["rows"], WHOLE)
        if (share := row[str(score)] / row["n"])
    ]


def _say_ceiling(lanes: Rows) -> str:
    """Whether a configuration is near the ceiling, and where most."""
    rows = [(lane, row) for lane in lanes for row in lane["rows"]]
    lane, row = max(rows, key=lambda pair: _top_share(pair[1]))
    where = f" in {in_quotes(lane['heading'], 40)}" if lane["heading"] else ""
    on, n = f"on {in_quotes(lane['label'], 40)}{where}", n_of(row["n"], noun="judging")
    share = _top_share(row)
    room = "Little headroom" if share >= FULL else "There is headroom on every dimension"
    who = as_label(row["configuration"], 40)
    return f"{room}: {who} has a {HIGH} most often {on}, in {share:.0%} of judgings ({n})"


def answer_rubric_dimensions(lanes: Rows) -> str:
    """Where the sides differ most; if there is one side, where its runs do.

    A lane is a configuration on a dimension: label, heading, mean, stddev, n and, if it is
    paired, estimate, baseline, n_evals, n_runs, n_runs_baseline.
    """
    top = max(
        lanes,
        key=lambda lane: (
            lane["estimate"] is not None,
            abs(lane["estimate"] or 0),
            lane["stddev"] or 0,
        ),
    )
    who, name = as_label(top["configuration"], 40), in_quotes(top["label"], 40)
    where = f" in {in_quotes(top['heading'], 40)}" if top["heading"] else ""
    if top["estimate"] is None:
        most = ", where its runs differ most" if top["stddev"] else ""
        return f"{who} has a mean of {top['mean']:.2f} on {name}{where}{most} ({n_of(top['n'])})"
    other = as_label(top["baseline"], 40)
    n = f"{n_of(top['n_runs'], top['n_runs_baseline'])} of {tie(top['n_evals'], 'eval')}"
    if SCORE.difference(top["estimate"]) == "0.00":
        return f"{who} and {other} score alike on every dimension ({n})"
    than = "above" if top["estimate"] > 0 else "below"
    return (
        f"The sides differ most on {name}{where}: {who} scores {abs(top['estimate']):.2f} points "
        f"{than} {other} ({n})"
    )
