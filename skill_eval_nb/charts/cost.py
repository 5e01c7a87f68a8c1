"""What does quality cost, in tokens, time and money?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats.pairing import side
from skill_eval_nb.stats.values import MODEL, RUN, runs_of, values_of
from skill_eval_nb.text import TIE, as_label, some, tied

from .. import stats
from .metrics import Metric, metric
from .pick import as_polars, pick, why_none
from .theme import (
    Row,
    Rows,
    baselines,
    below,
    chart_of,
    colour,
    colours,
    draw_nothing,
    finish,
    inline_rows,
    make_subheading,
    n_of,
    places,
    scale_of,
    thin,
    tips,
    with_figures,
)

if TYPE_CHECKING:
    import polars as pl
    from altair.typing import ChartType


HEIGHT = 240
"""Pixels of a panel."""
SPREAD = 50
"""Largest by smallest cost above which the axis is logarithmic."""
NAMES = {"configuration": "Configuration"}


def panel(
    runs: Rows,
    quality: Metric,
    cost: Metric,
    shades: dict[str, str],
    width: int,
    *,
    first: bool,
    crowded: bool,
) -> ChartType:
    """The runs that have both figures as dots, and their means as large marks.

    Args:
        runs: each with configuration, eval, run, and the two figures as `y` and `x`.
        quality: what `y` is.
        cost: what `x` is.
        shades: the configurations' colours.
        width: pixels.
        first: whether it is the leftmost one, which names the axis and the figures.
        crowded: whether runs near each other share a dot.
    """
    from .vega import alt

    low, high = min(run["x"] for run in runs), max(run["x"] for run in runs)
    log = low > 0 and high > SPREAD * low
    x = alt.X(
        "x:Q",
        scale=alt.Scale(type="log") if log else scale_of(cost),
        axis=alt.Axis(title=cost.axis, format=cost.style.ticks, tickCount=4, grid=not log),
    )
    title = quality.axis if first else None
    y = alt.Y(
        "y:Q",
        scale=scale_of(quality),
        axis=alt.Axis(title=title, format=quality.style.ticks, tickCount=5, grid=True),
    )
    hue = colour(shades)
    about = NAMES | {"y": (quality.title, quality.style.tip), "x": (cost.title, cost.style.tip)}
    marks = _mean_marks(runs, shades)
    if crowded:
        size = alt.Size("n:Q", legend=None, scale=alt.Scale(zero=True, range=[0, 140]))
        named = {"size": size, "tooltip": tips(**about, n=("Runs", ",d"))}
    else:
        named = {"size": alt.SizeValue(40), "tooltip": tips(eval="Eval", run="Run", **about)}
    dots_of = thin(runs, ["configuration"], 60, 40, log=log) if crowded else runs
    dots = chart_of(dots_of).mark_circle(opacity=0.4)
    large = chart_of(marks).mark_circle(size=240, opacity=1, stroke="white", strokeWidth=2)
    plot = alt.layer(
        dots.encode(x=x, y=y, color=hue, **named),
        large.encode(x=x, y=y, color=hue, tooltip=tips(**about, n=("Runs (n)", ",d"))),
        width=width,
        height=HEIGHT,
    )
    figures = [
        {"line": mark["configuration"], "text": text, "x": place}
        for mark in reversed(marks)
        for place, text in enumerate(
            (quality.figure(mark["y"]), cost.figure(mark["x"]), f"n{TIE}{mark['n']:,}")
        )
    ]
    return with_figures(plot, figures, places(3), width, named=first)


def _mean_marks(runs: Rows, shades: dict[str, str]) -> list[Row]:
    """The means of each configuration's runs, the baseline first so that it lies below."""
    import polars as pl

    figures = pl.len().alias("n"), pl.col("x", "y").mean()
    marks = inline_rows(runs).group_by("configuration").agg(figures).to_dicts()
    return sorted(marks, key=lambda mark: -list(shades).index(mark["configuration"]))


WIDTHS = {1: 520, 2: 350, 3: 230}
"""Pixels of a panel, by how many there are."""
COSTS = ("tokens", "time_seconds", "cost_usd")
MANY = 5000
"""Runs above which those near each other share a dot."""
FLOOR = "Overall efficiency counts the rubric score as a share of 5, which is never below 20%."


def quality_against_cost(
    ws: Any,
    quality: str = "overall_efficiency",
    iteration: str | Sequence[str] | None = None,
) -> ChartType:
    """Each run's quality against its cost in tokens, time and money, as far as known.

    The large marks are means over runs; below the plot they are listed with n, the number of
    runs that have both figures.

    Args:
        ws: a `Workspace` or a table of runs (polars or pandas).
        quality: a number column of `runs`, or a rubric dimension by its name. If no run has an
            `overall_efficiency`, the pass rate is used.
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for a quality or iteration that is not there.
    """
    from .vega import alt

    runs = _runs(ws, quality)
    if quality == "overall_efficiency" and runs.is_empty():
        quality, runs = "pass_rate", _runs(ws, "pass_rate")
    meant = metric(quality)
    picked = pick(runs, iteration, ws)
    if not picked.parts:
        what = f"{meant.name} together with tokens, time or cost"
        return draw_nothing(
            f"No {meant.name} to hold against a cost", why_none(ws, what, iteration)
        )
    frames = {part: part.of(runs) for part in picked.parts}
    known = {part: [c for c in COSTS if frame[c].count()] for part, frame in frames.items()}
    most = max(map(len, known.values()))
    crowded = sum(frame.height for frame in frames.values()) > MANY
    shown = {name for frame in frames.values() for name in frame["configuration"]}
    shades = colours(runs["configuration"], baselines(runs), shown)
    named = {as_label(name): shade for name, shade in shades.items()}
    gains = as_polars(stats.deltas(ws, quality)).drop_nulls("estimate")
    first = {part: next(iter(part.of(gains).to_dicts()), None) for part in frames}
    stories: list[str] = []
    rows: list[ChartType] = []
    for part, frame in frames.items():
        panels = [
            panel(
                _cost_points(frame, cost),
                meant,
                metric(cost),
                named,
                WIDTHS[most],
                first=not place,
                crowded=crowded,
            )
            for place, cost in enumerate(known[part])
        ]
        stories.append(_story(frame, first[part], known[part], meant))
        title = make_subheading(part.heading, stories[-1])
        rows.append(alt.hconcat(*panels, spacing=34, title=title))
    lacking = [
        metric(cost).name for cost in COSTS if not any(cost in own for own in known.values())
    ]
    floor = quality == "overall_efficiency" and runs["rubric_normalized"].count()
    notes = [
        *picked.notes,
        "A dot counts the runs that are near each other." if crowded else "A dot is a run.",
        "Large marks are means, with n below: the runs that have both figures.",
        f"Not known of any run: {some(lacking, 99)}." if lacking else "",
        FLOOR if floor else "",
    ]
    answer = stories[0] if len(stories) == 1 else answer_bargains([*first.values()], meant)
    return finish(below(rows), answer, notes)


def _runs(ws: Any, quality: str) -> pl.DataFrame:
    """The runs that have the quality, as `value`, and some cost."""
    import polars as pl

    values = values_of(ws, quality).drop_nulls("value").select(*RUN, *MODEL, "value")
    costs = runs_of(ws).select(*RUN, *COSTS, "rubric_normalized")
    paid = costs.filter(pl.any_horizontal(pl.col(COSTS).is_not_null()))
    return as_polars(values.join(paid, on=RUN, nulls_equal=True)).sort(RUN)


def _cost_points(runs: pl.DataFrame, cost: str) -> list[Row]:
    """The runs that have this cost, as they are drawn."""
    return [
        {
            "configuration": as_label(run["configuration"]),
            "eval": as_label(run["eval_name"]),
            "run": run["run_number"],
            "x": run[cost],
            "y": run["value"],
        }
        for run in runs.drop_nulls(cost).iter_rows(named=True)
    ]


def _story(runs: pl.DataFrame, gain: Row | None, costs: Sequence[str], meant: Metric) -> str:
    """What the with-skill side gains, and for how many times the baseline's cost.

    `gain` is the row of `stats.deltas`; where it has no two sides here, what one of them reaches.
    """
    import polars as pl

    figures = pl.len().alias("n"), pl.col("value", *costs).mean()
    rows = runs.group_by("configuration").agg(figures).to_dicts()
    means = {row["configuration"]: row for row in rows}
    if gain is None or not {gain["configuration"], gain["baseline"]} <= means.keys():
        own = means[min(means, key=side)]
        paid = [metric(cost).text(own[cost]) for cost in costs if own[cost] is not None]
        at = f" at {some(paid, 99)} a run" if paid else ""
        who, much = as_label(own["configuration"], 40), meant.figure(own["value"])
        return f"{who}: {much} {meant.name}{at} ({n_of(own['n'])})"
    own, other = (means[gain[name]] for name in ("configuration", "baseline"))
    times = [
        f"{_times(own[cost] / other[cost])}{TIE}×{TIE}the {metric(cost).name}"
        for cost in costs
        if own[cost] is not None and other[cost]
    ]
    who, against = (as_label(gain[name], 40) for name in ("configuration", "baseline"))
    much = f"{meant.difference(gain['estimate'])} {meant.name}"
    paid = f" for {some(times, 99)}" if times else ""
    n = n_of(gain["n_runs"], gain["n_runs_baseline"])
    return f"{who} against {against}: {much}{paid} ({n})"


def _times(ratio: float) -> str:
    """How many times as much, to a digit that says something.

    >>> _times(1.53), _times(0.034)
    ('1.5', '0.034')
    """
    return f"{ratio:,.1f}" if ratio >= 0.1 else f"{ratio:.2g}"


def answer_bargains(gains: Sequence[Row | None], meant: Metric) -> str:
    """Of several workspaces, in how many the quality is above the baseline's."""
    paired = [gain for gain in gains if gain]
    above = sum(gain["estimate"] > 0 for gain in paired)
    n = n_of(*(sum(gain[side] for gain in paired) for side in ("n_runs", "n_runs_baseline")))
    every = tied(len(paired), "comparison")
    return f"{meant.title} is above the baseline in {above} of {every} ({n})"
