"""What does quality cost, and what would another eval, run or judging buy?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats.pairing import side_key
from skill_eval_nb.stats.plan import AS_IT_WAS, LEVERS
from skill_eval_nb.stats.values import GROUP, MODEL, RUN, runs_of, values_of
from skill_eval_nb.stats.verdict import in_words
from skill_eval_nb.text import TIE, as_label, clip, dollars, duration, some, tie

from .. import stats
from .metrics import Metric
from .metrics import metric as metric_of
from .pick import Part, as_polars, pick_parts, why_none
from .theme import (
    FURTHER,
    INK,
    SOFT,
    TEXT_SIZE,
    TOOLTIP,
    Row,
    Rows,
    baselines,
    chart_of,
    colour,
    colours,
    draw_nothing,
    finish,
    inline_rows,
    make_subheading,
    n_of,
    place_axis,
    scale_of,
    stack_charts,
    thin,
    tips,
    with_figures,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType


HEIGHT = 240
"""Pixels of a panel."""
SPREAD = 50
"""Largest by smallest cost above which the axis is logarithmic."""


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
    about = {
        "configuration": "Configuration",
        "y": (quality.title, quality.style.tip),
        "x": (cost.title, cost.style.tip),
    }
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
    return with_figures(plot, figures, place_axis(3), width, named=first)


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

    runs = _priced_runs(ws, quality)
    if quality == "overall_efficiency" and runs.is_empty():
        quality, runs = "pass_rate", _priced_runs(ws, "pass_rate")
    meant = metric_of(quality)
    parts, said = pick_parts(runs, iteration, ws)
    if not parts:
        why = why_none(ws, f"{meant.name} together with tokens, time or cost", iteration)
        return draw_nothing(f"No {meant.name} to hold against a cost", why)
    frames = {part: part.rows(runs) for part in parts}
    known = {part: [c for c in COSTS if frame[c].count()] for part, frame in frames.items()}
    most = max(map(len, known.values()))
    crowded = sum(frame.height for frame in frames.values()) > MANY
    shown = {name for frame in frames.values() for name in frame["configuration"]}
    shades = colours(runs["configuration"], baselines(runs), shown)
    named = {as_label(name): shade for name, shade in shades.items()}
    gains = as_polars(stats.deltas(ws, quality)).drop_nulls("estimate")
    first = {part: next(iter(part.rows(gains).to_dicts()), None) for part in frames}
    stories: list[str] = []
    rows: list[ChartType] = []
    for part, frame in frames.items():
        panels = [
            panel(
                _cost_points(frame, cost),
                meant,
                metric_of(cost),
                named,
                WIDTHS[most],
                first=not place,
                crowded=crowded,
            )
            for place, cost in enumerate(known[part])
        ]
        stories.append(_say_gain(frame, first[part], known[part], meant))
        title = make_subheading(part.heading, stories[-1])
        rows.append(alt.hconcat(*panels, spacing=34, title=title))
    lacking = [
        metric_of(cost).name for cost in COSTS if not any(cost in own for own in known.values())
    ]
    floor = quality == "overall_efficiency" and runs["rubric_normalized"].count()
    notes = [
        *said,
        "A dot may stand for several runs." if crowded else "A dot is a run.",
        "Large marks are means, with n below: the runs that have both figures.",
        f"Not known for any run: {some(lacking, 99)}." if lacking else "",
        FLOOR if floor else "",
    ]
    answer = stories[0] if len(stories) == 1 else answer_bargains([*first.values()], meant)
    return finish(stack_charts(rows), answer, notes)


def _priced_runs(ws: Any, quality: str) -> pl.DataFrame:
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


def _say_gain(runs: pl.DataFrame, gain: Row | None, costs: Sequence[str], meant: Metric) -> str:
    """What the with-skill side gains, and for how many times the baseline's cost.

    `gain` is the row of `stats.deltas`; where it has no two sides here, what one of them reaches.
    """
    import polars as pl

    figures = pl.len().alias("n"), pl.col("value", *costs).mean()
    rows = runs.group_by("configuration").agg(figures).to_dicts()
    means = {row["configuration"]: row for row in rows}
    if gain is None or not {gain["configuration"], gain["baseline"]} <= means.keys():
        own = means[min(means, key=side_key)]
        paid = [metric_of(cost).text(own[cost]) for cost in costs if own[cost] is not None]
        at = f" at {some(paid, 99)} per run" if paid else ""
        who, much = as_label(own["configuration"], 40), meant.figure(own["value"])
        return f"{who}: {much} {meant.name}{at} ({n_of(own['n'])})"
    own, other = (means[gain[name]] for name in ("configuration", "baseline"))
    times = [
        f"{_format_ratio(own[cost] / other[cost])}{TIE}×{TIE}the {metric_of(cost).name}"
        for cost in costs
        if own[cost] is not None and other[cost]
    ]
    who, against = (as_label(gain[name], 40) for name in ("configuration", "baseline"))
    much = f"{meant.difference(gain['estimate'])} {meant.name}"
    paid = f" for {some(times, 99)}" if times else ""
    n = n_of(gain["n_runs"], gain["n_runs_baseline"])
    return f"{who} against {against}: {much}{paid} ({n})"


def _format_ratio(ratio: float) -> str:
    """How many times as much, to a digit that says something.

    >>> _format_ratio(1.53), _format_ratio(0.034)
    ('1.5', '0.034')
    """
    return f"{ratio:,.1f}" if ratio >= 0.1 else f"{ratio:.2g}"


def answer_bargains(gains: Sequence[Row | None], meant: Metric) -> str:
    """Of several workspaces, in how many the quality is above the baseline's."""
    paired = [gain for gain in gains if gain]
    above = sum(gain["estimate"] > 0 for gain in paired)
    n = n_of(*(sum(gain[side] for gain in paired) for side in ("n_runs", "n_runs_baseline")))
    every = tie(len(paired), "comparison")
    return f"{meant.title} is above the baseline in {above} of {every} ({n})"


NUMBERS: dict[str, str] = dict(zip(LEVERS, ("n_evals", "n_runs", "n_judgings"), strict=True))
"""The column of each lever."""
ONE_MORE = {
    "evals": "one more eval",
    "runs": "one more run of each eval",
    "judgings": "one more judging of each output",
}


@dataclass(frozen=True, slots=True)
class Paid:
    """What designs are held against: a column, its axis, its figures in words."""

    column: str
    axis: str
    text: Callable[[float], str]
    per: float = 1


def choose_price(rows: Rows) -> Paid:
    """Money if it is known, else time, else how many runs and judgings there are."""
    if rows[0]["price_usd"] is not None:
        return Paid("price_usd", "price (US$)", dollars)
    if rows[0]["seconds"] is None:
        what = "runs and judging" if plans_judgings(rows) else "run"
        return Paid("calls", f"{what}s per side (number)", lambda number: tie(round(number), what))
    return Paid("seconds", "time, one run at a time (min)", duration, 60)


@dataclass(frozen=True, slots=True)
class Sharpness:
    """What designs are judged by: the smallest detectable effect, or the standard error."""

    column: str
    name: str
    meant: Metric | None

    @property
    def axis(self) -> str:
        """The axis title, with the unit."""
        return f"{self.name} ({self.meant.style.axis})" if self.meant else self.name

    def text(self, value: float) -> str:
        """The figure with its unit."""
        return f"{value:.3g}" if self.meant is None else in_words(value, self.meant.column)


def choose_sharpness(rows: Rows) -> Sharpness:
    """The smallest detectable effect if that is known of some design, else the error."""
    name = rows[0]["metric"]
    meant = metric_of(name) if name else None
    if any(row["mde"] is not None for row in rows):
        return Sharpness("mde", "smallest detectable effect", meant)
    return Sharpness("se", "standard error", meant)


def plans_judgings(rows: Rows) -> bool:
    """Whether judgings are planned."""
    return any(row["changed"] == "judgings" for row in rows)


def planned_levers(rows: Rows) -> Sequence[str]:
    """What a design is named by: judgings only if they are planned."""
    return LEVERS if plans_judgings(rows) else LEVERS[:2]


def describe_design(row: Row, levers: Sequence[str] = LEVERS) -> str:
    """The design in words."""
    return " × ".join(tie(row[NUMBERS[lever]], lever.removesuffix("s")) for lever in levers)


def answer_plan(rows: Rows, sharp: Sharpness, cost: Paid) -> str:
    """Which design to choose, or that none is enough; and what that is based on."""
    base, behind = rows[0], _say_basis(rows)
    finds = "have a standard error of at most" if sharp.column == "se" else "detect a difference of"
    reach = f"would {finds} {sharp.text(base['wanted'])}"
    if base["chosen"]:
        price = cost.text(base[cost.column])
        return f"{describe_design(base, planned_levers(rows))} {reach}, for {price} {behind}"
    return f"No design within the limits {reach} {behind}"


def _say_basis(rows: Rows) -> str:
    """Who is planned for, and from how many evals and runs."""
    base = rows[0]
    measured = base["configuration"] or base["baseline"]
    who = [as_label(base["configuration"], 40)] if measured else []
    if base["baseline"]:
        who[0] += f" against {as_label(base['baseline'], 40)}"
    run = next((row for row in rows if row["changed"] == AS_IT_WAS), base)
    n = f"n{TIE}={TIE}{tie(run['n_evals'], 'eval')} × {tie(run['n_runs'], 'run')}"
    parts = [*who, n] if who else ["assumed variances"]
    return f"({', '.join(parts)})"


def purchases(rows: Rows, sharp: Sharpness, cost: Paid) -> str:
    """What one more eval, run or judging makes of the first design, and what it costs."""
    base = rows[0]
    texts: list[str] = []
    for lever, number in NUMBERS.items():
        for row in rows:
            if row["changed"] == lever and row[number] == base[number] + 1:
                extra = cost.text(row[cost.column] - base[cost.column])
                texts.append(f"{ONE_MORE[lever]} to {sharp.text(row[sharp.column])} (+{extra})")
    if not texts or base[sharp.column] is None:
        return ""
    return f"The {sharp.name} goes from {sharp.text(base[sharp.column])} with {some(texts, 99)}."


PLAN_WIDTH, PLAN_HEIGHT = 560, 300
PANELS = 4
"""Plans that one chart holds."""
PLAN = [*GROUP, "configuration", "baseline", "metric"]
CROWD = 60
"""Points above which they are drawn smaller."""
HEADROOM = 1.1
"""How much higher than its highest point a plot is, for the names of designs."""
MORE = {
    "evals": "more evals",
    "runs": "more runs of each eval",
    "judgings": "more judgings of each output",
}
SHADES = dict(zip(MORE.values(), (FURTHER[0], FURTHER[1], FURTHER[4]), strict=True))
"""Green, pink and grey: no configuration is meant."""


def plan_curve(
    ws: Any,
    metric: str | None = "pass_rate",
    iteration: str | Sequence[str] | None = None,
    **wanted: Any,
) -> ChartType:
    """What designs can detect and what they cost, around the one to choose.

    There is one line for more evals, one for more runs of each eval and one for more judgings of
    each output. The figures come from `stats.plan`: the smallest detectable effect, or with
    `target_se` the standard error, against the price if known, else the time, else the number of
    runs and judgings.

    Args:
        ws: a `Workspace`, a table of runs or of rubric scores (polars or pandas), or what
            `stats.plan` gave.
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.
        iteration: name of the iteration, or several; None for each workspace's last one.
        **wanted: what `stats.plan` takes: `effect` or `target_se`, `power`, `scope`, prices.

    Raises:
        ValueError: for a metric or iteration that is not there, or as `stats.plan`.
    """
    import polars as pl

    given = "chosen" in getattr(ws, "columns", ())
    found = as_polars(ws if given else stats.plan(ws, metric=metric, **wanted))
    parts, said = pick_parts(found.drop_nulls("n_evals"), iteration, ws)
    if not parts:
        why = why_none(ws, metric_of(metric or "score").name, iteration, found["note"])
        return draw_nothing("No design to show", why)
    shown = pl.concat([part.rows(found).drop_nulls("n_evals") for part in parts])
    plans = [_count_calls(own.to_dicts()) for own in shown.partition_by(PLAN, maintain_order=True)]
    left = len(plans) - PANELS
    notes = [*said, f"{left} more: name a metric or an iteration." if left > 0 else ""]
    if len(plans) == 1:
        rows = plans[0]
        sharp, cost = choose_sharpness(rows), choose_price(rows)
        notes += [purchases(rows, sharp, cost), clip(rows[0]["note"].partition(". ")[2], TOOLTIP)]
        return finish(_draw_plan(rows, ""), answer_plan(rows, sharp, cost), notes)
    panels = [_draw_plan(rows, _plan_heading(rows[0], parts)) for rows in plans[:PANELS]]
    reach = f"{sum(rows[0]['chosen'] for rows in plans)} of {tie(len(plans), 'plan')} reach"
    return finish(stack_charts(panels), f"{reach} what is wanted within the limits", notes)


def _count_calls(rows: Rows) -> list[Row]:
    """The rows with how many runs and judgings a side makes."""
    judgings = plans_judgings(rows)
    return [
        row | {"calls": row["n_evals"] * row["n_runs"] * (1 + row["n_judgings"] * judgings)}
        for row in rows
    ]


def _plan_heading(row: Row, parts: Sequence[Part]) -> str:
    """Which of several plans it is."""
    where = next(part.heading for part in parts if all(row[k] == v for k, v in part.keys))
    sides = [as_label(row[side]) for side in ("configuration", "baseline") if row[side]]
    names = [where, " against ".join(sides), metric_of(row["metric"]).name if row["metric"] else ""]
    return " · ".join(name for name in names if name)


def _draw_plan(rows: Rows, heading: str) -> ChartType:
    """The curves of one plan, the design that they start from and that which was run."""
    from .vega import alt

    sharp, cost = choose_sharpness(rows), choose_price(rows)
    levers = planned_levers(rows)
    points = [
        _design_point(row, sharp, cost, levers) for row in rows if row[sharp.column] is not None
    ]
    curves = _lever_curves(points)
    top = max([rows[0]["wanted"], *(point["y"] for point in points)]) * HEADROOM
    ticks = sharp.meant.style.ticks if sharp.meant else "~g"
    below = alt.Axis(title=cost.axis, tickCount=6, format=",~f")
    beside = alt.Axis(title=sharp.axis, tickCount=6, format=ticks, grid=True)
    x = alt.X("x:Q", axis=below, scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("y:Q", axis=beside, scale=alt.Scale(domain=[0, top], nice=False))
    hue = colour({more: SHADES[more] for more in dict.fromkeys(p["more"] for p in curves)}, "more")
    about = tips(design="Design", sharp=sharp.name.capitalize(), cost=cost.axis)
    line = chart_of(curves).encode(x=x, y=y, color=hue)
    ends = [point for point in curves if point["end"]]
    few = len(curves) <= CROWD
    layers = [
        _draw_wanted_line(rows[0], sharp),
        line.mark_line(strokeWidth=2.5, opacity=0.8),
        line.mark_circle(size=42 if few else 14, opacity=1).encode(tooltip=about),
        chart_of(ends)
        .mark_text(align="left", dx=8, fontSize=TEXT_SIZE)
        .encode(x=x, y=y, color=hue, text=alt.Text("end:N")),
        *_draw_named_designs(points, x, y, about),
    ]
    return alt.layer(*layers, width=PLAN_WIDTH, height=PLAN_HEIGHT, title=make_subheading(heading))


def _design_point(row: Row, sharp: Sharpness, cost: Paid, levers: Sequence[str]) -> Row:
    """A design as it is drawn."""
    return {
        "lever": row["changed"] or "",
        "x": row[cost.column] / cost.per,
        "y": row[sharp.column],
        "design": describe_design(row, levers),
        "sharp": sharp.text(row[sharp.column]),
        "cost": cost.text(row[cost.column]),
        "chosen": row["chosen"],
        "was_run": bool(row["configuration"]),
        **{lever: row[number] for lever, number in NUMBERS.items()},
    }


def _lever_curves(points: Rows) -> list[Row]:
    """A curve for each lever through the first design; at its end how many there are."""
    curves: list[Row] = []
    for lever in LEVERS:
        own = [point for point in points if point["lever"] in ("", lever)]
        own.sort(key=lambda point: point[lever])
        if any(point["lever"] == lever for point in own):
            ends = [""] * (len(own) - 1) + [str(own[-1][lever]) if own[-1]["lever"] else ""]
            more = {"more": MORE[lever]}
            curves += [point | more | {"end": end} for point, end in zip(own, ends, strict=True)]
    return curves


def _draw_wanted_line(row: Row, sharp: Sharpness) -> ChartType:
    """The line that a design has to reach."""
    from .vega import alt

    rows = [{"wanted": row["wanted"], "text": f"wanted: {sharp.text(row['wanted'])}"}]
    plot = chart_of(rows).encode(y=alt.Y("wanted:Q"))
    return alt.layer(
        plot.mark_rule(color=SOFT, strokeDash=[5, 4]),
        plot.mark_text(align="right", baseline="bottom", dy=-4, color=SOFT).encode(
            x=alt.XValue(PLAN_WIDTH), text=alt.Text("text:N")
        ),
    )


def _draw_named_designs(
    points: Rows, x: alt.X, y: alt.Y, about: Sequence[alt.Tooltip]
) -> list[alt.Chart]:
    """The chosen design as a ring and that which was run as a diamond, each with its name."""
    from .vega import alt

    middle = max((point["x"] for point in points), default=0) * 0.6
    marks: list[alt.Chart] = []
    for point in points:
        if point["lever"] in ("", AS_IT_WAS):
            label = "chosen" if point["chosen"] else AS_IT_WAS if point["was_run"] else "largest"
            plot = chart_of([point | {"text": f"{label}: {point['design']}"}])
            shape = "circle" if point["chosen"] else "diamond"
            ring = plot.mark_point(shape=shape, size=230, strokeWidth=2.5, color=INK, opacity=1)
            left = point["x"] > middle
            name = plot.mark_text(
                align="right" if left else "left",
                baseline="bottom",
                dx=-10 if left else 10,
                dy=-8,
                color=INK,
            )
            marks += [
                ring.encode(x=x, y=y, tooltip=list(about)),
                name.encode(x=x, y=y, text=alt.Text("text:N")),
            ]
    return marks
