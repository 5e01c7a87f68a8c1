"""What does the skill change, eval by eval and iteration by iteration?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats import summarize
from skill_eval_nb.stats.pairing import side
from skill_eval_nb.stats.values import order_iterations, runs_of
from skill_eval_nb.text import TIE, as_label, brief, in_quotes, some, tied

from .. import stats
from .forest import EVALS, list_largest
from .metrics import Metric
from .metrics import metric as metric_of
from .pick import SUITE, Part, as_polars, model_keys, not_compared, part_by, pick, why_none
from .theme import (
    BASELINE,
    SOFT,
    TOOLTIP,
    Row,
    Rows,
    baselines,
    below,
    chart_of,
    colour,
    colours,
    column,
    draw_nothing,
    finish,
    in_lanes,
    interval,
    lane,
    lanes,
    make_subheading,
    n_of,
    places,
    scale_of,
    tips,
    with_figures,
)

if TYPE_CHECKING:
    import polars as pl
    from altair.typing import ChartType


DELTAS_PLOT, DELTA, N = 440, 524, 600
"""Pixels: the plot's width, and where the columns right of it end."""
DELTA_ROW = 28
SHOWN = (
    *("configuration", "baseline", "mean", "baseline_mean", "estimate"),
    *("n_runs", "n_runs_baseline"),
)
"""What is drawn of a delta as it is."""
NAMED = 4
"""Evals without a pair that the subtitle names."""


def deltas(
    ws: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    iteration: str | Sequence[str] | None = None,
) -> ChartType:
    """Each eval with both its sides, the largest delta first.

    The line between them has the colour of the better side. The figures come from
    `stats.deltas_by_eval`; those in the title and headings from `stats.deltas`.

    Args:
        ws: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by its name.
        baseline: the configuration to compare against; chosen by name if not given.
        iteration: name of the iteration, or several; None for each workspace's last one.

    Raises:
        ValueError: for a metric, baseline or iteration that is not there.
    """
    import polars as pl

    by_eval = as_polars(stats.deltas_by_eval(ws, metric, baseline))
    exact = pl.col("estimate").round(12)  # means that are equal may differ in their last digit
    paired = by_eval.drop_nulls("estimate").with_columns(exact)
    picked = pick(paired, iteration, ws)
    meant = metric_of(metric)
    if not picked.parts:
        why = why_none(ws, meant.name, reasons=by_eval["unpaired"])
        return draw_nothing(f"No {meant.name} to compare", why)
    every = as_polars(stats.deltas(ws, metric, baseline))
    overall = every.drop_nulls("estimate")
    compared = [(part, row) for part in picked.parts for row in part.of(overall).to_dicts()]
    most = max(EVALS // len(compared), 5)
    rows = [
        row | {"heading": "" if len(compared) == 1 else _deltas_heading(part, comparison, meant)}
        for part, comparison in compared
        for row in _rows(part.of(paired), comparison, most, meant)
    ]
    left = sum(comparison["n_evals"] for _, comparison in compared) - len(rows)
    unpaired = by_eval.filter(pl.col("estimate").is_null())
    notes = [
        *picked.notes,
        "A side is the mean of its runs; the line has the colour of the better side.",
        f"{tied(left, 'more eval')} with smaller deltas." if left else "",
        _list_unpaired([row for part in picked.parts for row in part.of(unpaired).to_dicts()]),
        not_compared(every, picked),
    ]
    comparisons = [comparison for _, comparison in compared]
    shown = [row[side] for row in comparisons for side in ("configuration", "baseline")]
    against = set(overall["baseline"])
    shades = colours([*overall["configuration"], *against], against, shown)
    estimates = [estimate for part in picked.parts for estimate in part.of(paired)["estimate"]]
    title = answer_deltas(comparisons, estimates, meant)
    return finish(_deltas_drawn(rows, shades, meant), title, notes)


def _rows(paired: pl.DataFrame, comparison: Row, most: int, meant: Metric) -> list[Row]:
    """The evals of a comparison with the largest deltas, from above to below the baseline."""
    configuration, baseline = comparison["configuration"], comparison["baseline"]
    shown = list_largest(paired, comparison, most)
    names = Counter(row["eval_name"] for row in shown)
    return [
        {name: row[name] for name in SHOWN}
        | {
            "label": as_label(  # with its id where evals share the name
                row["eval_name"] + f" ({row['eval_id']})" * (names[row["eval_name"]] > 1)
            ),
            "delta": meant.difference(row["estimate"]),
            "n": f"{row['n_runs']:,} vs {row['n_runs_baseline']:,}",
            "better": as_label(
                configuration if (row["estimate"] > 0) != meant.less_is_better else baseline
            ),
        }
        for row in shown
    ]


def _deltas_heading(part: Part, comparison: Row, meant: Metric) -> str:
    """What stands above a comparison if there are several."""
    sides = part.above(comparison["configuration"], comparison["baseline"])
    mean = meant.difference(comparison["estimate"])
    return f"{sides}: {mean} over {tied(comparison['n_evals'], 'eval')}"


def _list_unpaired(rows: Rows) -> str:
    """Which evals lack a side, and why."""
    if not rows:
        return ""
    named = [f"{in_quotes(row['eval_name'], 40)} ({brief(row['reason'], TOOLTIP)})" for row in rows]
    return f"Not paired: {some(named, NAMED)}."


def _deltas_drawn(rows: Rows, shades: dict[str, str], meant: Metric) -> ChartType:
    """The evals with their sides, deltas and n."""
    from .vega import alt

    placed, headings = in_lanes(rows)
    points = [point for row in placed for point in _both_sides(row)]
    axis = alt.Axis(title=meant.axis, format=meant.style.ticks, tickCount=5)
    x = alt.X("mean:Q", axis=axis, scale=scale_of(meant))
    better = colour(shades, "better")
    about = tips(
        eval="Eval",
        configuration="Configuration",
        mean=("Mean", meant.style.tip),
        n=("Runs (n)", ",d"),
        delta="Delta",
    )
    layers = [
        *interval(placed, "baseline_mean", "mean", lane(), better, wide=4, opacity=0.6),
        chart_of(points)
        .mark_circle(opacity=1)
        .encode(
            x=x,
            y=lane(),
            color=colour(shades),
            size=alt.Size("size:Q", scale=None),
            tooltip=about,
        ),
        *column(placed, "delta", DELTA, heavy=True),
        *column(placed, "n", N, ink=SOFT),
    ]
    look = {"step": DELTA_ROW, "width": DELTAS_PLOT, "right": N, "what": "Eval"}
    return lanes(layers, placed, headings, **look, most=260)


def _both_sides(row: Row) -> list[Row]:
    """The baseline and the other side; equal ones as a ring around a dot."""
    shared = {"eval": row["label"], "delta": row["delta"], "row": row["row"]}
    equal = row["estimate"] == 0
    return [
        shared
        | {"configuration": as_label(row["baseline"]), "mean": row["baseline_mean"]}
        | {"n": row["n_runs_baseline"], "size": 190 if equal else 100},
        shared
        | {"configuration": as_label(row["configuration"]), "mean": row["mean"]}
        | {"n": row["n_runs"], "size": 60 if equal else 100},
    ]


WIDTH, HEIGHT = 680, 190
"""Pixels of a panel."""
ITERATIONS = 8
"""Iterations that one panel holds: the last ones."""
PANELS = ("pass_rate", "rubric_weighted_mean")


def iterations(ws: Any) -> ChartType:
    """Mean pass rate and mean rubric score of each configuration, iteration by iteration.

    Below the plot are each mean and its n, the number of runs that have the figure. The rubric
    score is the weighted mean of a run's dimensions (1–5).

    Args:
        ws: a `Workspace` or a table of runs (polars or pandas).
    """
    means = _metric_means(ws)
    if means.is_empty():
        return draw_nothing(
            "No pass rate or rubric score", why_none(ws, "pass rate or rubric score")
        )
    parts, more = part_by(means, [*SUITE, *model_keys(means)])
    rows = {part: part.of(means).to_dicts() for part in parts}
    shown = [row["configuration"] for own in rows.values() for row in own]
    shades = colours(means["configuration"], baselines(means), shown)
    runs = as_polars(runs_of(ws))
    names: dict[Part, list[str]] = {}
    for part in parts:
        keys, known = dict(part.keys), {row["iteration"] for row in rows[part]}
        own_runs = runs.filter(workspace=keys["workspace"], skill=keys["skill"])
        names[part] = [name for name in order_iterations(own_runs) if name in known]
        rows[part].sort(key=lambda row, order=names[part]: order.index(row["iteration"]))
    long = any(len(own) > ITERATIONS for own in names.values())
    notes = [
        "Below each plot: the mean and n, the runs that it is the mean of.",
        f"The last {ITERATIONS} iterations are shown." if long else "",
        _uneven(runs, parts),
        more,
    ]
    drawn = [_panels(part, rows[part], names[part][-ITERATIONS:], shades) for part in parts]
    return finish(below(drawn), _answer(list(rows.values())), notes)


def _metric_means(ws: Any) -> pl.DataFrame:
    """What the summary knows of the two metrics; `rubric_normalized` as what it is a fifth of."""
    import polars as pl

    normalized = pl.col("metric") == "rubric_normalized"
    known = as_polars(summarize(ws)).filter(
        (pl.col("metric") == PANELS[0]) | normalized, pl.col("mean").is_not_null()
    )
    return known.with_columns(
        pl.when(normalized).then(pl.col("mean") * 5).otherwise("mean").alias("mean"),
        pl.when(normalized).then(pl.lit(PANELS[1])).otherwise("metric").alias("metric"),
    )


def _uneven(runs: pl.DataFrame, parts: Sequence[Part]) -> str:
    """What to say where a change may come from other evals rather than from the skill."""
    held = (part.of(runs).group_by("iteration").agg("eval_id")["eval_id"] for part in parts)
    uneven = any(len({frozenset(evals) for evals in own}) > 1 for own in held)
    return "The iterations do not hold the same evals: compare with care." if uneven else ""


def _answer(parts: Sequence[Rows]) -> str:
    """The title, from the with-skill side of each part, its rows in the order of iterations."""
    known = {row["metric"] for own in parts for row in own}
    column = next(name for name in PANELS if name in known)
    lines: list[Rows] = []
    for own in parts:
        mine = [row for row in own if row["metric"] == column]
        first = min((row["configuration"] for row in mine), key=side, default=None)
        lines.append([row for row in mine if row["configuration"] == first])
    return answer_iterations([line for line in lines if line], metric_of(column))


def _panels(part: Part, rows: Rows, names: Sequence[str], shades: dict[str, str]) -> ChartType:
    """The panels of one workspace."""
    from .vega import alt

    panels: list[ChartType] = []
    for name in PANELS:
        means = {(r["configuration"], r["iteration"]): r for r in rows if r["metric"] == name}
        if means:
            panels.append(_panel(metric_of(name), means, names, shades))
    return alt.vconcat(*panels, spacing=30, title=make_subheading(part.heading))


def _panel(
    meant: Metric,
    means: dict[tuple[str, str], Row],
    names: Sequence[str],
    shades: dict[str, str],
) -> ChartType:
    """One metric over the iterations, with its figures below."""
    from .vega import alt

    points: list[Row] = []
    there = {configuration for configuration, _ in means}
    figures: list[Row] = [
        {"line": "iteration", "text": as_label(name), "x": place}
        for place, name in enumerate(names)
    ]
    for configuration in (shade for shade in shades if shade in there):
        size = 130 if shades[configuration] == BASELINE else 70
        for place, name in enumerate(names):
            row = means.get((configuration, name), {"mean": None, "n": 0})
            shared = {"configuration": as_label(configuration), "x": place}
            named = {"iteration": as_label(name), "mean": row["mean"], "n": row["n"]}
            points.append(shared | named | {"size": size})
            if row["mean"] is not None:
                text = f"{meant.figure(row['mean'])}{TIE * 2}n{TIE}{row['n']:,}"
                figures.append({"line": as_label(configuration), "text": text, "x": place})
    points.reverse()  # the first configuration is drawn last, above the others
    x, hue = places(len(names)), colour(shades)
    axis = alt.Axis(title=meant.axis, format=meant.style.ticks, tickCount=5, grid=True)
    y = alt.Y("mean:Q", axis=axis, scale=scale_of(meant))
    about = tips(
        iteration="Iteration",
        configuration="Configuration",
        mean=(f"Mean {meant.name}", meant.style.tip),
        n=("Runs (n)", ",d"),
    )
    base = chart_of(points).encode(x=x, y=y, color=hue)
    circles = base.mark_circle(opacity=1).encode(size=alt.Size("size:Q", scale=None), tooltip=about)
    plot = alt.layer(base.mark_line(strokeWidth=2.5), circles, width=WIDTH, height=HEIGHT)
    return with_figures(plot, figures, x, WIDTH)


def answer_deltas(comparisons: Rows, estimates: Sequence[float], meant: Metric) -> str:
    """On how many evals a side is above the baseline, and by how much on average.

    Comparisons are rows of `stats.deltas`, estimates those of their evals.
    """
    above = sum(estimate > 0 for estimate in estimates)
    below = sum(estimate < 0 for estimate in estimates)
    where, often = ("above", above) if above >= below else ("below", below)
    every = tied(len(estimates), "eval")
    n = n_of(*(sum(row[side] for row in comparisons) for side in ("n_runs", "n_runs_baseline")))
    if len(comparisons) > 1:
        several = f"{often:,} of {every} in {len(comparisons)} comparisons ({n})"
        return f"{meant.title}: {where} the baseline on {several}"
    only = comparisons[0]
    who, other = as_label(only["configuration"], 40), as_label(only["baseline"], 40)
    if not often:
        return f"{meant.title}: {who} and {other} are equal on {every} ({n})"
    mean = meant.difference(only["estimate"])
    return (
        f"{meant.title}: {who} is {where} {other} on {often:,} of {every}, {mean} on average ({n})"
    )


def answer_iterations(lines: Sequence[Rows], meant: Metric) -> str:
    """Where the with-skill side began and where it is now.

    A line is a workspace's means in the order of its iterations: iteration, configuration,
    mean, n; or a model's, if several ran it.
    """
    if len(lines) == 1:
        return _turn(lines[0], meant)
    long = [line for line in lines if len(line) > 1]
    n = n_of(sum(line[-1]["n"] for line in lines))
    if not long:
        return f"{tied(len(lines), 'panel')} with a {meant.name} in one iteration each ({n})"
    rising = sum(line[-1]["mean"] > line[0]["mean"] for line in long)
    return (
        f"The {meant.name} rises in {rising} of {tied(len(long), 'panel')} from the first "
        f"to the last iteration ({n} in the last)"
    )


def _turn(line: Rows, meant: Metric) -> str:
    first, last = line[0], line[-1]
    who = as_label(last["configuration"], 40)
    start, end = meant.figure(first["mean"]), meant.figure(last["mean"])
    if len(line) == 1:
        return f"{who} has a {meant.name} of {end} in its only iteration ({n_of(last['n'])})"
    n = n_of(first["n"], last["n"])
    before, now = in_quotes(first["iteration"], 40), in_quotes(last["iteration"], 40)
    return f"{who}: the {meant.name} goes from {start} in {before} to {end} in {now} ({n})"
