"""How did it go: the means iteration by iteration, and the versions of a skill?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats import summarize
from skill_eval_nb.stats.pairing import side_key
from skill_eval_nb.stats.values import cast_columns, keep_finite, order_iterations, runs_of
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.text import TIE, as_label, clip, in_quotes, tie

from .metrics import Metric, metric
from .pick import SUITE, Part, as_polars, model_keys, part_by, why_none
from .theme import (
    BASELINE,
    FAINT,
    INK,
    SOFT,
    WITH_SKILL,
    Row,
    Rows,
    baselines,
    chart_of,
    colour,
    colours,
    draw_nothing,
    draw_rings,
    finish,
    interval,
    make_subheading,
    n_of,
    place_axis,
    scale_of,
    stack_charts,
    tips,
    with_figures,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType


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
        what = "pass rate or rubric score"
        return draw_nothing(f"No {what}", why_none(ws, what))
    parts, more = part_by(means, [*SUITE, *model_keys(means)])
    rows = {part: part.rows(means).to_dicts() for part in parts}
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
        _uneven_note(runs, parts),
        more,
    ]
    drawn = [_draw_panels(part, rows[part], names[part][-ITERATIONS:], shades) for part in parts]
    return finish(stack_charts(drawn), _answer_by_metric(list(rows.values())), notes)


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


def _uneven_note(runs: pl.DataFrame, parts: Sequence[Part]) -> str:
    """What to say where a change may come from other evals rather than from the skill."""
    held = (part.rows(runs).group_by("iteration").agg("eval_id")["eval_id"] for part in parts)
    uneven = any(len({frozenset(evals) for evals in own}) > 1 for own in held)
    return "The iterations do not have the same evals: compare with care." if uneven else ""


def _answer_by_metric(parts: Sequence[Rows]) -> str:
    """The title, from the with-skill side of each part, its rows in the order of iterations."""
    known = {row["metric"] for own in parts for row in own}
    column = next(name for name in PANELS if name in known)
    lines: list[Rows] = []
    for own in parts:
        mine = [row for row in own if row["metric"] == column]
        first = min((row["configuration"] for row in mine), key=side_key, default=None)
        lines.append([row for row in mine if row["configuration"] == first])
    return answer_iterations([line for line in lines if line], metric(column))


def _draw_panels(part: Part, rows: Rows, names: Sequence[str], shades: dict[str, str]) -> ChartType:
    """The panels of one workspace."""
    from .vega import alt

    panels: list[ChartType] = []
    for name in PANELS:
        means = {(r["configuration"], r["iteration"]): r for r in rows if r["metric"] == name}
        if means:
            panels.append(_iteration_panel(metric(name), means, names, shades))
    return alt.vconcat(*panels, spacing=30, title=make_subheading(part.heading))


def _iteration_panel(
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
    x, hue = place_axis(len(names)), colour(shades)
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


def answer_iterations(lines: Sequence[Rows], meant: Metric) -> str:
    """Where the with-skill side began and where it is now.

    A line is a workspace's means in the order of its iterations: iteration, configuration,
    mean, n; or a model's, if several ran it.
    """
    if len(lines) == 1:
        return _say_change(lines[0], meant)
    n = n_of(sum(line[-1]["n"] for line in lines))
    long = [line for line in lines if len(line) > 1]
    if not long:
        return f"{tie(len(lines), 'panel')} with a {meant.name} in one iteration each ({n})"
    rising = sum(line[-1]["mean"] > line[0]["mean"] for line in long)
    return (
        f"The {meant.name} rises in {rising} of {tie(len(long), 'panel')} from the first "
        f"to the last iteration ({n} in the last)"
    )


def _say_change(line: Rows, meant: Metric) -> str:
    first, last = line[0], line[-1]
    who = as_label(last["configuration"], 40)
    start, end = meant.figure(first["mean"]), meant.figure(last["mean"])
    if len(line) == 1:
        return f"{who} has a {meant.name} of {end} in its only iteration ({n_of(last['n'])})"
    n = n_of(first["n"], last["n"])
    before, now = in_quotes(first["iteration"], 40), in_quotes(last["iteration"], 40)
    return f"{who}: the {meant.name} goes from {start} in {before} to {end} in {now} ({n})"


FIGURES = ("expectation_pass_rate", "mean", "estimate", "low", "high")
"""The columns of a history that are drawn as numbers."""
LETTERS = 200
"""Characters of what changed, and half of those of a reason, in a tooltip."""


def versions_of(data: Any) -> pl.DataFrame:
    """One row per version, with every column that is drawn; null if it is not known."""
    import polars as pl

    frame = as_polars(data.polars("history") if isinstance(data, Workspace) else data)
    types = {
        **{column.name: pl.String for column in TABLES["history"].columns if column.type == "text"},
        **dict.fromkeys(("metric", "iteration", "reason", "what_changed"), pl.String),
        **dict.fromkeys(FIGURES, pl.Float64),
        **dict.fromkeys(("n_evals", "n_runs"), pl.Int64),
        "is_current_best": pl.Boolean,
    }
    whole = cast_columns(frame, types).with_columns(map(keep_finite, FIGURES))
    if "metric" in frame.columns:
        return whole
    return whole.with_columns(
        pl.col("expectation_pass_rate").alias("mean"), pl.lit("pass_rate").alias("metric")
    )


def drawn_of(rows: Rows) -> list[Row]:
    """The versions of one skill as they are drawn, without their places."""
    names = {row["version"] for row in rows}
    return [_version_row(row, names) for row in rows]


def _version_row(row: Row, names: set[str]) -> Row:
    meant = metric(row["metric"])
    mean, estimate = row["mean"], row["estimate"]
    before = None if mean is None or estimate is None else mean - estimate
    result = row["grading_result"]
    parent = row["parent"] if row["parent"] in names else None
    return {
        "key": row["version"],
        "version": as_label(row["version"]),
        "iteration": "" if row["iteration"] is None else as_label(row["iteration"]),
        "parent_key": parent,
        "parent": "" if parent is None else as_label(parent),
        "value": mean,
        "mean": "no figure" if mean is None else meant.figure(mean),
        "result": result if result in RESULTS else "not compared",
        "best": row["is_current_best"] is True,
        "before": before,
        **{
            end: None if before is None or row[end] is None else before + row[end]
            for end in ("low", "high")
        },
        "n_evals": row["n_evals"],
        "n_runs": row["n_runs"],
        "n": "" if row["n_runs"] is None else f"n {row['n_runs']:,}",
        "difference": "" if estimate is None else meant.difference(estimate),
        "changed": clip(row["what_changed"] or "not known", LETTERS),
        "reason": clip(row["reason"] or "not known", 2 * LETTERS),
        "metric": row["metric"],
    }


def answer_versions(parts: Sequence[Rows]) -> str:
    """Which version is the best, and how it came to be that. Parts are what `drawn_of` gives."""
    if len(parts) > 1:
        won = sum(any(row["best"] and row["result"] == "won" for row in rows) for rows in parts)
        return f"A version that won is the best in {won} of {tie(len(parts), 'skill')}"
    rows = parts[0]
    best = next((row for row in rows if row["best"]), None)
    if best is None:
        return f"No best version is named among {tie(len(rows), 'version')}"
    runs = best["n_runs"]
    n = "" if runs is None else f" ({n_of(runs)} of {tie(best['n_evals'] or 0, 'eval')})"
    figure = f"{metric(best['metric']).name} {best['mean']}{n}"
    name, of = in_quotes(best["version"], 40), tie(len(rows), "version")
    over = f"{best['difference']} against {in_quotes(best['parent'], 40)}, "
    return f"{name} is the best of {of}: {over if best['difference'] else ''}{figure}"


VERSIONS_WIDTH, VERSIONS_HEIGHT = 700, 240
"""Pixels of the plot, less width if there are few versions."""
STEP = 150
"""Pixels between two versions, at most."""
VERSIONS = 8
"""Versions that one panel holds: the last ones."""
RESULTS = {
    "baseline": (SOFT, "circle"),
    "won": (WITH_SKILL, "triangle-up"),
    "lost": (BASELINE, "triangle-down"),
    "tie": (FAINT, "diamond"),
    "not compared": (FAINT, "cross"),
}
"""Each result's colour and shape."""
UNDER = {
    "version": "version",
    "result": "result",
    "iteration": "iteration",
    "mean": "mean",
    "n": "runs",
    "difference": "from its parent",
}
"""The lines of words below the plot, and what stands before them."""


def lineage(data: Any) -> ChartType:
    """The versions of a skill from left to right: what each was made from, and whether it won.

    A point is a version's mean over evals; a line leads to it from its parent. The thick bar is
    the interval of its difference from the parent, drawn around the parent's mean on the same
    evals (the dash): if the dash is outside the bar, the difference is unlikely to be chance.
    Figures from a history.json have neither bar nor n.

    Args:
        data: the `table()` of what `sen.improving.history` gave (polars or pandas); or a
            `Workspace`, then the figures of its history.json are drawn.
    """
    versions = versions_of(data)
    if versions.is_empty():
        why = "`sen.improving.history(ws)` makes a history of a workspace's runs."
        return draw_nothing("No version to show", why)
    parts, more = part_by(versions, SUITE)
    drawn = {part: drawn_of(part.rows(versions).to_dicts()) for part in parts}
    long = any(len(rows) > VERSIONS for rows in drawn.values())
    notes = [
        "As history.json states it; `sen.improving.history` says what the runs bear out."
        if versions["reason"].is_null().all()
        else "Bar: the interval of the difference from the parent; dash: the parent, same evals.",
        f"The last {VERSIONS} versions are shown." if long else "",
        more,
    ]
    panels = [_version_panel(part, rows[-VERSIONS:]) for part, rows in drawn.items()]
    return finish(stack_charts(panels), answer_versions(list(drawn.values())), notes)


def _version_panel(part: Part, rows: Rows) -> ChartType:
    """The versions of one skill."""
    from .vega import alt

    width = min(VERSIONS_WIDTH, STEP * len(rows))
    placed: list[Row] = [row | {"x": place} for place, row in enumerate(rows)]
    meant = metric(placed[0]["metric"])
    axis = alt.Axis(title=meant.axis, format=meant.style.ticks, tickCount=5, grid=True)
    x, y = place_axis(len(rows)), alt.Y("value:Q", axis=axis, scale=scale_of(meant, clamp=True))
    layers = [*_parent_lines(placed, x, y), *_intervals(placed, x), *_points(placed, x, y)]
    plot = alt.layer(
        *layers, width=width, height=VERSIONS_HEIGHT, title=make_subheading(part.heading)
    )
    figures = [
        {name: row[name] for name in ("version", "iteration", "changed", "x")}
        | {"line": UNDER[name], "text": clip(str(row[name]), 22)}
        for name in UNDER
        if any(row[name] for row in placed)
        for row in placed
    ]
    named = tips(version="Version", iteration="Iteration", changed="What changed")
    return with_figures(plot, figures, x, width, named)


def _parent_lines(rows: Rows, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A line to each version from the one that it was made from."""
    from .vega import alt

    places = {row["key"]: row for row in rows}
    links = [
        {"x": parent["x"], "value": parent["value"], "to": row["x"], "end": row["value"]}
        for row in rows
        if (parent := places.get(row["parent_key"])) and None not in (row["value"], parent["value"])
    ]
    if not links:
        return []
    lines = chart_of(links).mark_rule(color=FAINT, strokeWidth=1.5)
    return [lines.encode(x=x, y=y, x2=alt.X2("to:Q"), y2=alt.Y2("end:Q"))]


def _intervals(rows: Rows, x: alt.X) -> list[alt.Chart]:
    """The interval of each difference, and the parent's value that it is compared with."""
    from .vega import alt

    layers = interval(rows, "low", "high", x, _result_colour(), wide=5, opacity=0.35)
    if known := [row for row in rows if row["before"] is not None]:
        dashes = chart_of(known).mark_tick(
            color=INK, orient="horizontal", thickness=1.5, width=24, opacity=1
        )
        layers.append(dashes.encode(x=x, y=alt.Y("before:Q")))
    return layers


def _points(rows: Rows, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The versions by result, the best in a ring and named so."""
    from .vega import alt

    about = tips(
        version="Version",
        iteration="Iteration",
        parent="Made from",
        mean="Mean",
        result="Result",
        difference="Difference",
        n_evals=("Evals", ",d"),
        n_runs=("Runs (n)", ",d"),
        changed="What changed",
        reason="Why",
    )
    shape = alt.Shape(
        "result:N",
        scale=alt.Scale(domain=list(RESULTS), range=[shape for _, shape in RESULTS.values()]),
        legend=None,
    )
    best = [row | {"text": "best"} for row in rows if row["best"] and row["value"] is not None]
    layers = draw_rings(best, x, y)
    points = chart_of(rows).mark_point(filled=True, size=150, opacity=1)
    return [*layers, points.encode(x=x, y=y, color=_result_colour(), shape=shape, tooltip=about)]


def _result_colour() -> alt.Color:
    return colour({name: ink for name, (ink, _) in RESULTS.items()}, "result", legend=False)
