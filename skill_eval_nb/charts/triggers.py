"""Does the description trigger: query by query, in all, and over the rounds of a search?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats.triggers import OUTCOMES
from skill_eval_nb.stats.triggers import SUITE as KEYS
from skill_eval_nb.stats.values import cast_columns, keep_finite
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import TIE, as_label, clip, in_quotes, tie

from .. import stats
from .pick import SUITE, Part, as_polars, part_by
from .theme import (
    BASELINE,
    FAINT,
    GRID,
    SOFT,
    TOOLTIP,
    WITH_SKILL,
    Row,
    Rows,
    cells,
    chart_of,
    colour,
    column,
    draw_nothing,
    draw_rings,
    finish,
    in_lanes,
    interval,
    lane_y,
    lanes,
    make_subheading,
    place_axis,
    shade,
    stack_charts,
    text_layer,
    tips,
    with_figures,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from altair.typing import ChartType


UNSTATED = "description not stated"


@dataclass(frozen=True, slots=True)
class Described:
    """One description, its queries and scores.

    `queries` are its rows of `stats.trigger_rates`, `scores` that of `stats.trigger_scores`;
    `broken` says why its measurement is worth nothing, or is empty.
    """

    part: Part
    queries: pl.DataFrame
    scores: Row
    broken: str


def describe_triggers(
    data: Any, level: float, threshold: float
) -> tuple[list[Described], list[str]]:
    """The descriptions of which something was measured, and what to say of the others.

    Args:
        data: as for the statistics.
        level: of the intervals.
        threshold: the rate from which on a query triggers.
    """
    import polars as pl

    rates = fill_null_keys(stats.trigger_rates(data, level, threshold))
    measured = rates.filter(pl.col("rate").count().over(KEYS) > 0)
    if measured.is_empty():
        return [], []
    parts, more = part_by(measured, KEYS)
    scores = fill_null_keys(stats.trigger_scores(data, level, threshold))
    doubts = fill_null_keys(stats.trigger_doubts(data)).filter("broken")
    found = [
        Described(
            part,
            part.rows(measured),
            part.rows(scores).row(0, named=True),
            next(iter(part.rows(doubts)["message"]), ""),
        )
        for part in parts
    ]
    left = rates.height - measured.height
    never = f"Not shown: {tie(left, 'row')} of sets that were never run." if left else ""
    return found, [more, never]


def fill_null_keys(table: Any) -> pl.DataFrame:
    """The table with no null among its keys."""
    import polars as pl

    return as_polars(table).with_columns(pl.col("description").fill_null(UNSTATED))


def why_none(data: Any) -> str:
    """Why there is no rate to draw."""
    table = data.polars("triggers") if isinstance(data, Workspace) else as_polars(data)
    if table.is_empty():
        return "There is no trigger query. `sen.triggers.measure` runs some and keeps them."
    return as_polars(stats.trigger_doubts(data))["message"][0]


def say_score(row: Row, score: str) -> str:
    r"""A score with its interval, in a sentence.

    >>> say_score({"f1": 0.857, "f1_low": 0.6, "f1_high": 0.96}, "f1").replace("\xa0", " ")
    '0.86 (0.60 to 0.96)'
    """
    value, low, high = (row[f"{score}{end}"] for end in ("", "_low", "_high"))
    return "unknown" if value is None else f"{value:.2f} ({low:.2f}{TIE}to{TIE}{high:.2f})"


def say_sizes(row: Row) -> str:
    """How many runs and queries scores rest on."""
    runs = "" if row["n_runs"] is None else f"{tie(row['n_runs'], 'run')} of "
    return f"n{TIE}={TIE}{runs}{tie(row['n_queries'], 'query')}"


def _say_best(shown: Sequence[Described], say: Callable[[Described], str]) -> str:
    """What is to say of one description; which of several has the highest F1."""
    best = max(shown, key=lambda description: description.scores["f1"] or 0.0)
    if len(shown) > 1:
        of = f"{in_quotes(best.part.heading, 40)} has the highest F1 of {len(shown)} descriptions"
        return f"{of}: {say_score(best.scores, 'f1')}"
    broken = "Broken measurement. " if best.broken else ""
    return f"{broken}{say(best)} ({say_sizes(best.scores)})"


LABEL, PLOT, RUNS, REMARK, RATES_WIDTH = 380, 250, 305, 320, 520
"""Pixels: of a query's text, of the plot; where the column of runs ends, where remarks begin, and
where they end."""
RATE_ROW = 22
QUERIES = 60
"""Queries that one chart holds."""
VERDICTS = {"as it should": WITH_SKILL, "not as it should": BASELINE, "nobody said": FAINT}
"""What the marks' colours say of a query's rate."""
SAYS = {True: "should trigger", False: "should not trigger", None: "nobody said"}
"""What each class of queries is called."""


def trigger_rates(data: Any, level: float = 0.95, threshold: float = 0.5) -> ChartType:
    """Each query's trigger rate with its interval, and what it should be.

    Queries that should trigger come first, the worst at the top. The grey zone is where the rate
    should lie; a diamond is a query whose runs differ. The figures come from
    `stats.trigger_rates` and `stats.trigger_scores`.

    Args:
        data: as for `stats.trigger_rates`.
        level: of the intervals.
        threshold: the rate at which a query counts as triggering.

    Raises:
        ValueError: as `stats.trigger_rates`.
    """
    shown, notes = describe_triggers(data, level, threshold)
    if not shown:
        return draw_nothing("No trigger rate to show", why_none(data))
    rows, left = _query_rows(shown, threshold)
    lost = sum(part.scores[name] or 0 for part in shown for name in ("n_errored", "n_not_run"))
    notes = [
        *(description.broken for description in shown),
        "Grey: where the rate should be; line: its interval; diamond: runs of the query differ.",
        f"In no rate: {tie(lost, 'run')} that errored or were not made." if lost else "",
        f"{left:,} more queries with smaller errors." if left else "",
        *notes,
    ]
    return finish(_rates_drawn(rows, level), _say_best(shown, say_rates), notes)


def say_rates(described: Described) -> str:
    """F1 with its interval, and how many queries of each class trigger."""
    row = described.scores
    f1 = "No F1" if row["f1"] is None else f"F1{TIE}{say_score(row, 'f1')}"
    return f"{f1}: {_count_triggering(described.queries)}"


def _count_triggering(queries: pl.DataFrame) -> str:
    """How many queries of each class trigger."""
    texts: list[str] = []
    for should, which in ((True, "that should"), (False, "that should not")):
        own = queries.filter(should_trigger=should).drop_nulls("rate")
        if own.height:
            what = "" if texts else f"{TIE}queries trigger"
            texts.append(f"{int(own['triggers'].sum()):,} of {own.height:,}{what} {which}")
    return ", ".join(texts) or "no query says whether it should trigger"


def _query_rows(shown: Sequence[Described], threshold: float) -> tuple[list[Row], int]:
    """The queries as they are drawn, the most wrong first, and how many are left out."""
    groups: list[tuple[str, list[Row]]] = []
    for described in shown:
        heading = described.part.heading
        for should, name in SAYS.items():
            own = [row for row in described.queries.to_dicts() if row["should_trigger"] is should]
            own.sort(  # the most wrong first; unlabelled ones by their rate
                key=lambda row: (
                    row["rate"] is None,
                    -(row["rate"] or 0.0) if row["right"] is None else row["right"],
                )
            )
            above = f"{heading} · {name}" if heading else name[:1].upper() + name[1:]
            groups.append((above, own))
    there = [group for group in groups if group[1]]
    most = max(QUERIES // len(there), 3)
    rows = [_query_row(row, heading, threshold) for heading, own in there for row in own[:most]]
    return rows, sum(len(own) for _, own in there) - len(rows)


def _query_row(row: Row, heading: str, threshold: float) -> Row:
    """A query as it is drawn."""
    rate, should = row["rate"], row["should_trigger"]
    hits, missed = row["n_triggered"], row["n_not_triggered"]
    runs = 0 if hits is None else hits + missed
    stated = "–" if rate is None else f"{rate:.0%}"
    remarks = [
        text
        for text, applies in (
            ("flips", row["flips"]),
            ("near miss", row["near_miss"]),
            (f"{row['n_errored'] or 0:,} errored", row["n_errored"]),
            (f"{row['n_not_run'] or 0:,} not run", row["n_not_run"]),
        )
        if applies
    ]
    wanted = {True: (threshold, 1.0), False: (0.0, threshold), None: (0.0, 0.0)}[should]
    return {
        "heading": heading,
        "label": as_label(row["query"], 200),
        "query": clip(row["query"], TOOLTIP),
        "rate": rate,
        "low": row["low"],
        "high": row["high"],
        "from": wanted[0],
        "to": wanted[1],
        "verdict": _query_verdict(row),
        "kind": "flips" if row["flips"] else "steady",
        "triggered": f"{hits:,}/{runs:,}" if runs else stated,
        "remark": " · ".join(remarks) or ("not measured" if rate is None else ""),
        "instead": clip(row["instead"] or "–", 300),
        "tags": clip(", ".join(row["tags"] or ()) or "–", 200),
    }


def _query_verdict(row: Row) -> str:
    """One of VERDICTS, or that there is no rate."""
    if row["rate"] is None:
        return "no rate"
    if row["should_trigger"] is None:
        return "nobody said"
    return "as it should" if row["triggers"] is row["should_trigger"] else "not as it should"


def _rates_drawn(rows: Rows, level: float) -> ChartType:
    from .vega import alt

    placed, headings = in_lanes(rows)
    there = [verdict for verdict in VERDICTS if any(row["verdict"] == verdict for row in rows)]
    scale = alt.Scale(domain=[0, 1], nice=False, zero=True)
    axis = alt.Axis(title=f"trigger rate (%), {level:.0%} interval", format=".0%", tickCount=5)
    hue = colour({verdict: VERDICTS[verdict] for verdict in there}, "verdict")
    about = tips(
        query="Query",
        heading="It",
        rate=("Trigger rate", ".0%"),
        triggered="Triggered/scored",
        remark="Remarks",
        tags="Tags",
        instead="Instead",
    )
    kinds = alt.Scale(domain=["steady", "flips"], range=["circle", "diamond"])
    points = chart_of([row for row in placed if row["rate"] is not None]).mark_point(
        filled=True, size=110, opacity=1, stroke="white", strokeWidth=1.5
    )
    layers = [
        chart_of(placed)
        .mark_rect(color=GRID)
        .encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=lane_y()),
        *interval(placed, "low", "high", lane_y(), hue, wide=3, opacity=0.6),
        points.encode(
            x=alt.X("rate:Q", scale=scale, axis=axis),
            y=lane_y(),
            color=hue,
            shape=alt.Shape("kind:N", scale=kinds, legend=None),
            tooltip=about,
        ),
        *column(placed, "triggered", RUNS, small=True),
        text_layer(placed, "remark", REMARK, limit=RATES_WIDTH - REMARK, small=True, ink=SOFT),
    ]
    look = {"step": RATE_ROW, "width": PLOT, "right": RATES_WIDTH, "what": "Query"}
    return lanes(layers, placed, headings, **look, most=LABEL)


WIDE, HIGH = 84, 48
"""Pixels of a cell."""
PANELS = {"n_queries": "By query", "n_runs": "By run"}
LABELS = {"title": None, "labelFontSize": 11}
SHARE = {"n_queries": "query_share", "n_runs": "run_share"}


def trigger_confusion(data: Any, level: float = 0.95, threshold: float = 0.5) -> ChartType:
    """What queries that should and should not trigger did, counted by query and by run.

    Green is right and purple is wrong, darker for a larger share of its row; queries that were
    not scored are shown separately, dashed. The figures come from `stats.trigger_confusion`.

    Args:
        data: as for `trigger_rates`.
        level: of the intervals in the title.
        threshold: the rate at which a query counts as triggering.

    Raises:
        ValueError: as `stats.trigger_rates`.
    """
    shown, notes = describe_triggers(data, level, threshold)
    if not shown:
        return draw_nothing("No trigger rate to show", why_none(data))
    counts = fill_null_keys(stats.trigger_confusion(data, threshold))
    notes = [
        *(description.broken for description in shown),
        f"By query: it triggers where at least {threshold:.0%} of its scored runs do.",
        *notes,
    ]
    return finish(_confusion_drawn(shown, counts), _say_best(shown, say_confusion), notes)


def say_confusion(described: Described) -> str:
    """Recall and precision with their intervals."""
    recall, precision = (say_score(described.scores, name) for name in ("recall", "precision"))
    return f"Recall{TIE}{recall}, precision{TIE}{precision}"


def _confusion_drawn(shown: Sequence[Described], counts: pl.DataFrame) -> ChartType:
    """The panels of each description, by query and by run, below those of the one before."""
    from .vega import alt

    apart = counts.filter(counts["outcome"].is_in(OUTCOMES[2:]))
    columns = OUTCOMES if any(apart[name].sum() for name in PANELS) else OUTCOMES[:2]
    x, y = (
        alt.X("outcome:N", sort=list(columns), axis=alt.Axis(**LABELS, orient="top", labelAngle=0)),
        alt.Y("should:N", sort=list(SAYS.values()), axis=alt.Axis(**LABELS)),
    )
    about = tips(should="Class", outcome="Outcome", text="Number", share="Share of its class")
    rows: list[ChartType] = []
    for description in shown:
        own = description.part.rows(counts).to_dicts()
        panels = [
            cells(
                [_count_cell(row, what) for row in own if row["outcome"] in columns], x, y, about
            ).properties(
                width=WIDE * len(columns),
                height=HIGH * len({row["should_trigger"] for row in own}),
                title=make_subheading(name),
            )
            for what, name in PANELS.items()
        ]
        rows.append(alt.hconcat(*panels, title=make_subheading(description.part.heading)))
    return stack_charts(rows)


def _count_cell(row: Row, what: str) -> Row:
    """A count; `hue` is 1 for all right, 0 for all wrong, null apart."""
    share, right = row[SHARE[what]], row["right"]
    hue = None if share is None or right is None else 0.5 + (share if right else -share) / 2
    return {
        "should": SAYS[row["should_trigger"]],
        "outcome": row["outcome"],
        "by": what,
        "text": "–" if row[what] is None else f"{row[what]:,}",
        "share": "–" if share is None else f"{share:.0%}",
        "hue": hue,
        "fill": shade(hue),
        "stroke": SOFT if hue is None else None,
    }


ROUNDS_WIDTH, HEIGHT, STEP = 680, 220, 130
"""Pixels of the plot, at most, and between two rounds, at most."""
APART = 0.06
"""What the two sides of a round stand apart from its middle, of a round's place."""
ROUNDS = 12
"""Rounds that one panel holds: the last ones."""
SIDES = {"test": ("held-out", WITH_SKILL, APART), "train": ("train", SOFT, -APART)}
"""What each half of the queries is called, its colour, and where it stands."""
FIGURES = [f"{side}_{name}" for side in SIDES for name in ("score", "low", "high")]


def trigger_rounds(data: Any) -> ChartType:
    """The scores of each round's description, on train and on held-out queries.

    A line ends with its interval if that is known. A ring marks the chosen description.

    Args:
        data: the `rounds_table()` of what `sen.triggers.optimise` gave; or a `Workspace` or its
            table `optimizations` (polars or pandas).
    """
    every = _search_rounds(data)
    rounds = every.filter(every["test_score"].is_not_null() | every["train_score"].is_not_null())
    if rounds.is_empty():
        why = "There is no round with a score. `sen.triggers.optimise` makes some."
        return draw_nothing("No round to show", why)
    parts, more = part_by(rounds, SUITE)
    drawn = {part.heading: part.rows(rounds).to_dicts() for part in parts}
    shown = {
        heading: [row for at, row in enumerate(rows, ROUNDS) if at >= len(rows) or row["is_best"]]
        for heading, rows in drawn.items()
    }
    left = every.height - rounds.height
    long = any(len(rows) > ROUNDS for rows in drawn.values())
    notes = [
        "Line through a point: its interval." if rounds["test_low"].count() else "",
        "The score a round was chosen by is optimistic: only fresh runs show what it is worth.",
        f"The last {ROUNDS} rounds and the chosen one are shown." if long else "",
        f"{tie(left, 'round')} without a score." if left else "",
        more,
    ]
    panels = [_draw_rounds(heading, rows) for heading, rows in shown.items()]
    return finish(stack_charts(panels), rounds_answer(list(drawn.values())), notes)


def _search_rounds(data: Any) -> pl.DataFrame:
    """One row a round: SUITE, round, description, FIGURES, is_best."""
    import narwhals as nw
    import polars as pl

    given = data.polars("optimizations") if isinstance(data, Workspace) else data
    frame = nw.from_native(given, eager_only=True).to_polars()
    number = "round" if "round" in frame.columns else "iteration"
    types: dict[str, Any] = dict.fromkeys([*SUITE, "description"], pl.String)
    types |= {number: pl.Int64, **dict.fromkeys(FIGURES, pl.Float64), "is_best": pl.Boolean}
    return (
        cast_columns(frame, types)
        .rename({number: "round"})
        .with_columns(*map(keep_finite, FIGURES), pl.col(*SUITE, "description").fill_null(""))
        .with_columns(pl.col("is_best").fill_null(value=False))
        .sort("round", maintain_order=True)
    )


def rounds_answer(parts: Sequence[Rows]) -> str:
    """Which round is chosen, and what its description scored beside the first."""
    if len(parts) > 1:
        later = sum(_best_round(rows) not in (None, rows[0]) for rows in parts)
        return f"A later description is chosen in {later} of {len(parts)} searches"
    [rows] = parts
    best, first, rounds = _best_round(rows), rows[0], tie(len(rows), "round")
    if best is None:
        return f"No description is chosen in {rounds}"
    side = _chosen_by(best)
    score, before = f"{SIDES[side][0]} score {_say_score(best, side)}", first[f"{side}_score"]
    against = "" if before is None or best is first else f", against {before:.0%} of the first"
    return f"Of {rounds}, round {best['round']} is chosen: {score}{against}"


def _best_round(rows: Rows) -> Row | None:
    return next((row for row in rows if row["is_best"]), None)


def _say_score(row: Row, side: str) -> str:
    """A score with its interval, if there is one."""
    score, low, high = (row[f"{side}_{name}"] for name in ("score", "low", "high"))
    known = low is not None and high is not None
    return f"{score:.0%}" + (f" ({low:.0%}{TIE}to{TIE}{high:.0%})" if known else "")


def _draw_rounds(heading: str, rows: Rows) -> ChartType:
    """The rounds of one search."""
    from .vega import alt

    width = min(ROUNDS_WIDTH, STEP * len(rows))
    points: list[Row] = []
    figures: list[Row] = []
    for place, row in enumerate(rows):
        number = "–" if row["round"] is None else f"{row['round']}"
        figures.append({"line": "round", "text": number, "x": place})
        for side, (name, _, shift) in SIDES.items():
            score = row[f"{side}_score"]
            figure = "–" if score is None else f"{score:.0%}"
            figures.append({"line": name, "text": figure, "x": place})
            points.append(
                {
                    "side": name,
                    "x": place + shift,
                    "score": score,
                    "low": row[f"{side}_low"],
                    "high": row[f"{side}_high"],
                    "round": number,
                    "figure": figure if score is None else _say_score(row, side),
                    "best": row["is_best"] and side == _chosen_by(row),
                    "description": clip(row["description"] or "not stated", TOOLTIP),
                    "letters": len(row["description"]),
                }
            )
    x = place_axis(len(rows))
    title = make_subheading(heading)
    plot = alt.layer(*_draw_curves(points, x), width=width, height=HEIGHT, title=title)
    return with_figures(plot, figures, x, width)


def _chosen_by(row: Row) -> str:
    """The side of a round that the choice rests on."""
    return "test" if row["test_score"] is not None else "train"


def _draw_curves(points: Rows, x: alt.X) -> list[alt.Chart]:
    """Both curves with their intervals, the chosen description in a ring."""
    from .vega import alt

    hue = colour({name: ink for name, ink, _ in SIDES.values()}, "side")
    rate = alt.Scale(domain=[0, 1], nice=False, zero=True)
    axis = alt.Axis(title="score: share right (%)", format=".0%", tickCount=5, grid=True)
    y = alt.Y("score:Q", axis=axis, scale=rate)
    about = tips(
        round="Round",
        side="Queries",
        figure="Score",
        letters=("Characters", ",d"),
        description="Description",
    )
    known = [point for point in points if point["score"] is not None]
    base = chart_of(known).encode(x=x, y=y, color=hue)
    return [
        base.mark_line(strokeWidth=2.5),
        *interval(known, "low", "high", x, hue, wide=4, opacity=0.35),
        *draw_rings([point | {"text": "chosen"} for point in known if point["best"]], x, y),
        base.mark_circle(size=110, opacity=1).encode(tooltip=about),
    ]
