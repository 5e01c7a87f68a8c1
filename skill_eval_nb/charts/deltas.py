"""What does the skill change, and how sure is that: by eval, by dimension, with each model?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.stats.comparison import SCOPES
from skill_eval_nb.stats.confounds import OFFLINE
from skill_eval_nb.stats.factors import FACTORS
from skill_eval_nb.stats.overview import compare_page, overview_by_eval
from skill_eval_nb.stats.pairing import Versus
from skill_eval_nb.stats.values import (
    ITERATION,
    MODEL,
    headline_of,
    metrics_of,
    no_such,
    none_stated,
)
from skill_eval_nb.stats.verdict import TASKS, sentence, these_evals, word_of
from skill_eval_nb.text import as_label, clip, in_quotes, p_value, some, tie

from .. import stats
from .metrics import Metric
from .metrics import metric as metric_of
from .pick import Part, as_polars, model_keys, not_compared, pick_parts, why_none
from .theme import (
    BASELINE,
    FAINT,
    GRID,
    SOFT,
    TOOLTIP,
    WITH_SKILL,
    Row,
    Rows,
    chart_of,
    colour,
    colours,
    column,
    draw_nothing,
    finish,
    in_lanes,
    interval,
    lane_y,
    lanes,
    n_of,
    scale_of,
    text_layer,
    tips,
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
    parts, said = pick_parts(paired, iteration, ws)
    meant = metric_of(metric)
    if not parts:
        why = why_none(ws, meant.name, reasons=by_eval["unpaired"])
        return draw_nothing(f"No {meant.name} to compare", why)
    every = as_polars(stats.deltas(ws, metric, baseline))
    overall = every.drop_nulls("estimate")
    compared = [(part, row) for part in parts for row in part.rows(overall).to_dicts()]
    most = max(EVALS // len(compared), 5)
    rows = [
        row | {"heading": "" if len(compared) == 1 else _deltas_heading(part, comparison, meant)}
        for part, comparison in compared
        for row in _largest_rows(part.rows(paired), comparison, most, meant)
    ]
    left = sum(comparison["n_evals"] for _, comparison in compared) - len(rows)
    unpaired = by_eval.filter(pl.col("estimate").is_null())
    notes = [
        *said,
        "A side is the mean of its runs; the line has the colour of the better side.",
        f"{tie(left, 'more eval')} with smaller deltas." if left else "",
        _list_unpaired([row for part in parts for row in part.rows(unpaired).to_dicts()]),
        not_compared(every, parts),
    ]
    comparisons = [comparison for _, comparison in compared]
    shown = [row[side] for row in comparisons for side in ("configuration", "baseline")]
    against = set(overall["baseline"])
    shades = colours([*overall["configuration"], *against], against, shown)
    estimates = [estimate for part in parts for estimate in part.rows(paired)["estimate"]]
    title = answer_deltas(comparisons, estimates, meant)
    return finish(_deltas_drawn(rows, shades, meant), title, notes)


def _largest_rows(paired: pl.DataFrame, comparison: Row, most: int, meant: Metric) -> list[Row]:
    """The evals of a comparison with the largest deltas, from above to below the baseline."""
    configuration, baseline = comparison["configuration"], comparison["baseline"]
    shown = list_largest(paired, comparison, most)
    names = Counter(row["eval_name"] for row in shown)
    return [
        {name: row[name] for name in SHOWN}
        | {
            # with its id where evals share the name
            "label": as_label(
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
    sides = part.heading_of(comparison["configuration"], comparison["baseline"])
    mean = meant.difference(comparison["estimate"])
    return f"{sides}: {mean} over {tie(comparison['n_evals'], 'eval')}"


def _list_unpaired(rows: Rows) -> str:
    """Which evals lack a side, and why."""
    if not rows:
        return ""
    named = [f"{in_quotes(row['eval_name'], 40)} ({clip(row['reason'], TOOLTIP)})" for row in rows]
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
        *interval(placed, "baseline_mean", "mean", lane_y(), better, wide=4, opacity=0.6),
        chart_of(points)
        .mark_circle(opacity=1)
        .encode(
            x=x,
            y=lane_y(),
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


def answer_deltas(comparisons: Rows, estimates: Sequence[float], meant: Metric) -> str:
    """On how many evals a side is above the baseline, and by how much on average.

    Comparisons are rows of `stats.deltas`, estimates those of their evals.
    """
    above = sum(estimate > 0 for estimate in estimates)
    below = sum(estimate < 0 for estimate in estimates)
    where, often = ("above", above) if above >= below else ("below", below)
    every = tie(len(estimates), "eval")
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


FOREST_PLOT, FOREST_DELTA, P, VERDICT = 375, 452, 515, 530
"""Pixels: the plot's width, where two columns of figures end and where the verdicts begin."""
FOREST_ROW = 26
ENDS = ("estimate", "low", "high", "wide_low", "wide_high", "lean_low", "lean_high", "worth")
"""What is drawn of a delta; `wide_…` is of tasks like these, `lean_…` is by borrowed noise."""
LOWER, UPPER = ENDS[1:-1:2], ENDS[2:-1:2]
DASHED = (
    "Dashed line: where too few runs lean, by the noise of public benchmarks; it is not a verdict."
)
EVALS = 40
"""Evals that one chart holds."""
WIDTH = 695
VERDICTS = {"helps": WITH_SKILL, "hurts": BASELINE, "not decided": FAINT}
"""What the marks' colours say."""


def forest(
    ws: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    iteration: str | Sequence[str] | None = None,
    *,
    by: Literal["eval", "dimension"] = "eval",
    versus: Versus | None = None,
    worth: float | None = None,
    together: bool = False,
) -> ChartType:
    """Each delta with its interval, and the zone of differences too small to matter.

    The thick line is the interval for *these evals* (another run could come out differently),
    the thin one for *tasks like these* (other evals could have been chosen). A dashed line shows
    how these evals lean, by borrowed noise; it is not a verdict and has no verdict's colour. An
    arrow marks an interval that continues beyond the axis. The figures come from `stats.deltas`,
    `stats.deltas_by_eval` and `stats.deltas_by_dimension`.

    Args:
        ws: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by its name.
        baseline: the configuration to compare against; chosen by name if not given.
        iteration: name of the iteration, or several; None for each workspace's last one.
        by: `eval` for all evals and each of them; `dimension` for the rubric dimensions, and
            then `metric` is ignored.
        versus: two configurations or two iterations, the baseline last.
        worth: the smallest difference worth having; as in `stats.deltas` if not given.
        together: whether the figures are adjusted for all other metrics of a `Workspace`, as in
            `explore` and `report` (dimensions always are); `worth` is then as in `stats.deltas`.

    Raises:
        ValueError: for a metric, baseline, iteration or name in `versus` that is not there.
    """
    if by not in ("eval", "dimension"):
        raise no_such("forest by", by, ("eval", "dimension"))
    options = {"baseline": baseline, "versus": versus, "worth": worth}
    meant = metric_of(metric if by == "eval" else "rubric_weighted_mean")
    of_all = partial(stats.deltas, metric=metric)
    statistic = of_all if by == "eval" else stats.deltas_by_dimension
    frames = [as_polars(statistic(ws, scope=scope, **options)) for scope in SCOPES]
    by_eval = as_polars(stats.deltas_by_eval(ws, metric, **options)) if by == "eval" else frames[0]
    if together and by == "eval":
        others = headline_of(metrics_of(ws)) not in {*frames[0]["metric"]}
        how: dict[str, Any] = {"versus": versus, "others": others}
        rows = compare_page(ws, baseline, **how)
        frames = [_rows_of([both[at] for both in rows], frame) for at, frame in enumerate(frames)]
        by_eval = _rows_of(overview_by_eval(ws, baseline, **how), by_eval)
    whole = join_scopes(*frames)
    deltas = whole.drop_nulls("estimate")
    parts, said = pick_parts(deltas, iteration, ws)
    if not parts:
        return draw_nothing(f"No {meant.name} to compare", why_none(ws, meant.name, iteration))
    compared = [(part, row) for part in parts for row in part.rows(deltas).to_dicts()]
    every = [row for _, row in compared]
    keys = ("workspace", "iteration", "configuration", *MODEL)
    several = len({tuple(row[key] for key in keys) for row in every}) > 1
    headings = [head_comparison(part, row, versus) if several else "" for part, row in compared]
    if by == "dimension":
        rows = [
            forest_row(row, row["dimension"], heading, meant)
            for row, heading in zip(every, headings, strict=True)
        ]
        title, left = answer_forests(every, "rubric dimension", ""), 0
    else:
        most = max(EVALS // len(compared), 5)
        rows = [
            drawn
            for (part, row), heading in zip(compared, headings, strict=True)
            for drawn in _with_evals(row, part.rows(by_eval), most, heading, meant)
        ]
        left = sum(row["n_evals"] for row in every) + len(every) - len(rows)
        title = (
            answer_forest(every[0], meant)
            if len(every) == 1
            else answer_forests(every, "comparison", f"{meant.title}: ")
        )
    notes = [
        *said,
        "Thick line: these evals; thin line: tasks like these; grey: no worthwhile difference.",
        f"p is corrected for the number of {by}s.",
        DASHED if any(row["lean_low"] is not None for row in rows) else "",
        "Arrow: the interval continues." if any(_cut_rows(rows, _axis_domain(rows, meant))) else "",
        f"{tie(left, 'more eval')} with smaller deltas." if left else "",
        not_compared(whole, parts) if by == "eval" else "",
        OFFLINE if any(row["stand_in"] for row in every) else "",
    ]
    return finish(draw_forest(rows, meant), title, notes)


def _rows_of(rows: Sequence[Mapping[str, Any]], like: pl.DataFrame) -> pl.DataFrame:
    """The rows as a table as `like`, of its metrics, with the p that decides."""
    import polars as pl

    metrics = {*like["metric"]}
    known = [row for row in rows if row["metric"] in metrics]
    return pl.DataFrame(known, {**like.schema, "p_adjusted": pl.Float64})


def head_comparison(part: Part, row: Row, versus: Versus | None) -> str:
    """What stands above a comparison if there are several."""
    if versus == (row["iteration"], row["baseline"]):
        where = f"{part.heading} · " if part.heading else ""
        sides = f"{as_label(row['iteration'])} against {as_label(row['baseline'])}"
        return f"{where}{as_label(row['configuration'], 40)}: {sides}"
    return part.heading_of(row["configuration"], row["baseline"])


def join_scopes(own: pl.DataFrame, like: pl.DataFrame) -> pl.DataFrame:
    """The deltas of these evals, with the interval and verdict of tasks like these."""
    return own.hstack(like.select(wide_low="low", wide_high="high", wide_verdict="verdict"))


def _with_evals(
    row: Row, by_eval: pl.DataFrame, most: int, heading: str, meant: Metric
) -> list[Row]:
    """A comparison, then its evals with the largest deltas, from above to below the baseline."""
    evals = list_largest(by_eval, row, most)
    whole = forest_row(row, f"All {tie(row['n_evals'], 'eval')}", heading, meant) | {"all": True}
    return [whole, *(forest_row(eval_, eval_["eval_name"], heading, meant) for eval_ in evals)]


def list_largest(by_eval: pl.DataFrame, comparison: Row, most: int) -> list[Row]:
    """The evals of a comparison with the largest deltas, from above to below the baseline."""
    import polars as pl

    sides = {name: comparison[name] for name in ("configuration", "baseline")}
    size = pl.col("estimate").abs()
    own = by_eval.filter(**sides).drop_nulls("estimate")
    largest = own.sort(size, descending=True, maintain_order=True).head(most)
    return largest.sort("estimate", descending=True, maintain_order=True).to_dicts()


def forest_row(row: Row, name: str, heading: str, meant: Metric) -> Row:
    """A delta as it is drawn, in the unit of the axis."""
    ends = {end: row.get(end) for end in ENDS}
    verdict = word_of(row["verdict"], row["metric"]) or "–"
    p = row.get("p_adjusted", row["p"])
    return {
        **{end: None if at is None else at * meant.style.factor for end, at in ends.items()},
        "all": False,
        "heading": heading,
        "label": as_label(name),
        "verdict": verdict,
        "decided": verdict if row["verdict"] in VERDICTS else "not decided",
        "reason": as_label(row["reason"], 400),
        "delta": meant.difference(row["estimate"]),
        "exact p": p_value(p),
        "n": f"{row['n_runs']:,} vs {row['n_runs_baseline']:,} runs",
        "lean": say_lean(row, meant) or "–",
    }


def draw_forest(rows: Rows, meant: Metric) -> ChartType:
    """The rows with their intervals, figures and verdicts."""
    from .vega import alt

    placed, headings = in_lanes(rows)
    domain = _axis_domain(rows, meant)
    scale = alt.Scale(domain=domain, nice=False, zero=False, clamp=True)
    axis = alt.Axis(title=meant.difference_axis, format="+~f", tickCount=7)
    hues = {word_of(word, meant.column) or word: hue for word, hue in VERDICTS.items()}
    hue = colour(hues, "decided")
    about = tips(
        label="What", delta="Delta", n="n", verdict="Verdict", reason="Reason", lean="Lean"
    )
    zones = [row | {"from": -row["worth"]} for row in placed if row["worth"]]
    points = chart_of(placed).mark_point(
        filled=True, size=90, opacity=1, stroke="white", strokeWidth=1.5
    )
    sizes = alt.Scale(domain=[False, True], range=["circle", "diamond"])
    layers = [
        chart_of(zones)
        .mark_rect(color=GRID)
        .encode(x=alt.X("from:Q"), x2=alt.X2("worth:Q"), y=lane_y()),
        chart_of([{"zero": 0}]).mark_rule(color=SOFT).encode(x=alt.X("zero:Q")),
        *interval(
            placed, "lean_low", "lean_high", lane_y(), SOFT, wide=1.5, dash=(4, 3), tooltip=about
        ),
        *interval(placed, "wide_low", "wide_high", lane_y(), hue, wide=1.5, tooltip=about),
        *interval(placed, "low", "high", lane_y(), hue, wide=5, tooltip=about),
        *(
            chart_of(cut)
            .mark_point(shape=f"triangle-{way}", filled=True, size=90, opacity=1)
            .encode(x=alt.X("cut:Q"), y=lane_y(), color=hue, tooltip=about)
            for way, cut in zip(("left", "right"), _cut_rows(placed, domain), strict=True)
            if cut
        ),
        points.encode(
            x=alt.X("estimate:Q", scale=scale, axis=axis),
            y=lane_y(),
            color=hue,
            shape=alt.Shape("all:N", scale=sizes, legend=None),
            tooltip=about,
        ),
        *column(placed, "delta", FOREST_DELTA, heavy=True),
        *column(placed, "exact p", P, ink=SOFT),
        text_layer(placed, "verdict", VERDICT, limit=WIDTH - VERDICT),
    ]
    look = {"step": FOREST_ROW, "width": FOREST_PLOT, "right": WIDTH, "what": "What"}
    return lanes(layers, placed, headings, **look)


def _cut_rows(rows: Rows, domain: Sequence[float]) -> tuple[Rows, Rows]:
    """The rows of which an interval goes on to the left of the axis, and to its right."""
    low, high = domain
    return (
        [row | {"cut": low} for row in rows if min(_known_ends(row, *LOWER)) < low],
        [row | {"cut": high} for row in rows if max(_known_ends(row, *UPPER)) > high],
    )


def _known_ends(row: Row, *ends: str) -> list[float]:
    """The ends that the row has, and its estimate."""
    return [row[end] for end in ("estimate", *ends) if row[end] is not None]


def _axis_domain(rows: Rows, meant: Metric) -> list[float]:
    """What the axis shows: zero, the zone, each estimate and the intervals over all evals.

    The interval of a single eval may reach far beyond; it is cut off there.
    """
    marks = [0.0]
    for row in rows:
        marks += [row["estimate"], row["worth"] or 0.0, -(row["worth"] or 0.0)]
        if row["all"] or not any(other["all"] for other in rows):
            marks += [row[end] or 0.0 for end in (*LOWER, *UPPER)]
    low, high = min(marks), max(marks)
    spare = (high - low) * 0.06 or 1.0
    low, high = low - spare, high + spare
    if meant.unit == "rate":
        return [max(low, -100.0), min(high, 100.0)]
    return [low, high]


def answer_forest(own: Row, meant: Metric) -> str:
    """The verdict on these evals with its interval, and that on tasks like these.

    `own` is a row of `stats.deltas`, with the `wide_verdict` on tasks like these.
    """
    who, where = as_label(own["configuration"], 40), these_evals(own["n_evals"])
    verdict = sentence(own["verdict"], own["metric"], who, where)
    n = n_of(own["n_runs"], own["n_runs_baseline"])
    wide = word_of(own["wide_verdict"], own["metric"])
    beyond = f"; on tasks like these: {wide}" if wide else ""
    ends = [meant.difference(own[end]) for end in ("low", "high") if own[end] is not None]
    much = f"{meant.difference(own['estimate'])} ({' to '.join(ends)})".removesuffix(" ()")
    leans = f", {own['lean']} by the noise of public benchmarks" if own["lean"] else ""
    return f"{verdict}: {much} {meant.name}{leans}{beyond} ({n})"


def say_lean(row: Row, meant: Metric) -> str:
    """What a row leans to with its interval; "" if it has no lean."""
    if row.get("lean") is None:
        return ""
    low, high = (meant.difference(row[end]) for end in ("lean_low", "lean_high"))
    return f"{row['lean']} ({low} to {high}, by the noise of public benchmarks)"


def answer_forests(comparisons: Rows, what: str, about: str) -> str:
    """Of several comparisons, what they say of these evals; with too few runs, of tasks like these.

    `what` is that which is counted, `about` the beginning that names the metric, or "".
    """
    few = all(row["verdict"] == "too few runs" for row in comparisons)
    verdict, where = ("wide_verdict", TASKS) if few else ("verdict", "these evals")
    helps, hurts = (sum(row[verdict] == word for row in comparisons) for word in ("helps", "hurts"))
    n = n_of(*(max(row[side] for row in comparisons) for side in ("n_runs", "n_runs_baseline")))
    who = {as_label(row["configuration"], 40) for row in comparisons}
    subject = who.pop() if len(who) == 1 else "the skill"
    every = tie(len(comparisons), what)
    better, worse = (word_of(word, comparisons[0]["metric"]) for word in ("helps", "hurts"))
    text = f"{about}{subject} {better} in {helps} of {every}, {worse} in {hurts} ({n}, {where})"
    return text[0].upper() + text[1:] if subject == "the skill" else text


def factors(
    ws: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    iteration: str | Sequence[str] | None = None,
    *,
    factor: Literal["model", "harness"] = "model",
    level: float = 0.95,
) -> ChartType:
    """What the skill changes with each model, and whether that differs between models.

    It looks like `forest`, with one row per model. The figures come from `stats.factors`, whose
    sentences are below the title.

    Args:
        ws: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by its name.
        baseline: the configuration to compare against; chosen by name if not given.
        iteration: name of the iteration, or several; None for each workspace's last one.
        factor: `model` or `harness`.
        level: of the intervals; verdicts need p of at most 1 - level.

    Raises:
        ValueError: for a metric, baseline, iteration or factor that is not there.
    """
    import polars as pl

    meant = metric_of(metric)
    how = {"factor": factor, "level": level}
    scopes = [stats.factors(ws, metric, baseline, scope=scope, **how) for scope in SCOPES]
    near, beyond = map(as_polars, scopes)
    column, of = FACTORS[factor]
    own = pl.col(column).fill_null(none_stated(column)).alias("of")
    wide = beyond.select(wide_differs="differs", wide_interaction="interaction")
    rows = join_scopes(near, beyond).hstack(wide).with_columns(own).drop(column)
    known = rows.drop_nulls("estimate")
    apart = [*ITERATION, *model_keys(known), "configuration", "baseline"]
    parts, said = pick_parts(known.filter(pl.len().over(apart) > 1), iteration, ws)
    if not parts:
        why = known["interaction"].first() or why_none(ws, meant.name, iteration)
        return draw_nothing(f"No {of} to compare", str(why))
    each, drawn, groups = [], [], {}
    for part in parts:
        for row in part.rows(known).to_dicts():
            above = part.heading_of(row["configuration"], row["baseline"])
            each.append(row)
            drawn.append(forest_row(row, row["of"], above, meant))
            groups[above] = row
    sentences = ("interaction", "wide_interaction") if len(groups) == 1 else ()
    differs = sum(row["differs"] is True for row in groups.values())
    notes = [
        *said,
        *(each[0][name] for name in sentences),
        "" if sentences else f"The effect differs in {differs} of {len(groups):,} comparisons.",
        "Thick line: these evals; thin line: tasks like these; grey: no worthwhile difference.",
        f"p is corrected for the number of {of} and must be at most {1 - level:.2g}.",
        OFFLINE if any(row["stand_in"] for row in each) else "",
    ]
    title = answer_forests(each, factor, f"{meant.title}: ")
    return finish(draw_forest(drawn, meant), title, notes)
