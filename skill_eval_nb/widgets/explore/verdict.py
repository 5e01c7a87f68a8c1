"""The verdict in a sentence, how large the difference is and how sure; every iteration in a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.stats.confounds import OFFLINE
from skill_eval_nb.stats.overview import explain_adjustment
from skill_eval_nb.stats.pairing import choose_baseline
from skill_eval_nb.stats.values import better, headline_of, model_name, natural_key
from skill_eval_nb.stats.verdict import TASKS, Row, say_answer, word_of
from skill_eval_nb.text import as_label, count

from ..ui import Child, Node, h
from ..ui.parts import button, note, pill, table, table_row, waiting_note
from ..ui.track import (
    DECIDED,
    MISSING,
    Axis,
    amount,
    axis_of,
    delta_view,
    figure_or_dash,
    of_figures,
    scale,
    track,
)
from .choice import (
    Part,
    count_cells,
    count_headline,
    count_means,
    count_others,
    iteration_name,
    metrics_of,
    select_runs,
    settle_choice,
)
from .evals import mean_of
from .look import Look, swatch

Deltas = Mapping[Part, Sequence[Row] | None]
"""The rows of each iteration; None where they are being counted."""
Found = dict[Part, dict[str, Row] | None]

LOOKS = {"helps": "good", "hurts": "bad", "no worthwhile difference": ""}
"""How a verdict's word stands out."""


def differences(look: Look) -> Found:
    """The difference of each iteration by scope; None where it is being counted."""
    found = look.of_metric(count_headline, count_others)
    return {
        part: None if rows is None else {row["scope"]: row for row in rows}
        for part, rows in found.items()
    }


def verdict(look: Look) -> Node:
    """The card with the answer."""
    found = differences(look)
    if None in found.values() and not any(found.values()):
        content: Child = waiting_note("Counting")
    else:
        content = [_answer_lines(look, found), tracks(look, found)]
    return h("div", content, cls="sen-card sen-x-verdict", key="verdict")


def _answer_lines(look: Look, found: Found) -> list[Child]:
    """The sentence for the last iteration that has one, and what it rests on."""
    every = [(part, rows) for part in look.parts if (rows := found[part])]
    lowest = _say_lowest(look, look.parts[-1]) if look.parts and look.kinds else None
    known = [(part, rows) for part, rows in every if rows["suite"]["n_evals"]]
    if not known:
        why = every[-1][1]["suite"]["reason"] if every else why_none(look)
        return [h("h3", _say_mean(look)), lowest, h("p", why, cls="sen-soft")]
    part, rows = known[-1]
    where = f" in {iteration_name(part.iteration)}" if look.several else ""
    where += f" ({as_label(model_name(dict(look.choice.model)), 60)})" if look.choice.model else ""
    answer = say_answer(rows["suite"], rows["population"], look.meant.title)
    first, *others = answer.claims
    return [
        h("p", h("b", OFFLINE), role="note") if answer.row["stand_in"] else None,
        h(
            "div",
            _difference_large(look, first.row),
            h("h3", f"{first.words}{where}."),
            cls="sen-x-said",
        ),
        h("p", first.reason),
        lowest,
        [h("p", f"{other.words}. {other.reason}", cls="sen-soft") for other in others],
        h("p", answer.lean, cls="sen-x-lean") if answer.lean else None,
        [_next_step(look, part, *step) for step in answer.next_steps],
    ]


def _say_mean(look: Look) -> str:
    """The mean of the last iteration, where there is but one side."""
    part, rows = look.last_figures(count_means)
    mean = next((row["mean"] for row in rows or () if row["metric"] == look.choice.metric), None)
    if part is None or mean is None or len(look.suite.configurations) > 1:
        return "Nothing to compare"
    where = look.iteration_suffix(part)
    return f"Mean {look.meant.name}{where}: {figure_or_dash(look.meant, mean)}"


def _say_lowest(look: Look, part: Part) -> Child:
    """The worst eval of the side that is compared, and its worst run, each with the way there."""
    side, sign = look.kinds[0][1], {"more": 1, "less": -1}.get(better(look.choice.metric) or "", 0)
    cells = look.figures(count_cells, [part])[part] or {}
    own = {key: cell for (key, of), cell in cells.items() if of == side}
    means = {sign * cell.mean for cell in own.values()}
    if len(means) < 2 or not sign:
        return None
    eval_id, name = min(own, key=lambda key: (sign * own[key].mean, *map(natural_key, key)))
    cell, act = own[eval_id, name], ("pick", "runs", part.iteration, eval_id, name, side)
    words = [f"Worst eval of {as_label(side, 40)}: ", button(as_label(name), act, kind="quiet")]
    words.append(f", {look.meant.name} {figure_or_dash(look.meant, cell.mean)}")
    rows = look.counted.runs(look.choice, select_runs(*act[1:])).filter(status="graded")
    counted = rows.drop_nulls(["passed", "failed"]).sort("pass_rate").head(1)
    for run in counted.iter_rows(named=True) if look.choice.metric == "pass_rate" else ():
        way = button(f"run {run['run_number']}", (*act, run["run_number"]), kind="quiet")
        scored = run["passed"] + run["failed"]
        words += ["; ", way, f" passed {run['passed']:,} of {scored:,} checks"]
    return h("p", words, ".")


def _next_step(look: Look, part: Part, words: str, row: Row) -> Node:
    """What would decide it; of more runs the way to them, too."""
    is_runs = row["scope"] == "suite" and row["next_runs"]
    way = look.run_more(part.iteration, row["next_runs"]) if is_runs else None
    return h("p", words, " ", way, cls="sen-x-next")


def adjustment_note(look: Look) -> Child:
    """How the figures of the page allow for each other, where there are several."""
    metrics = metrics_of(look.suite)
    if len(metrics) < 2 or not look.compares:
        return None
    meant = metric_of(headline_of(metrics))
    return h("p", explain_adjustment(meant.name), cls="sen-soft sen-small sen-x-adjusted")


def _difference_large(look: Look, found: Row) -> Child:
    """The difference, large; it has the colour of the better side where that is decided."""
    if found["estimate"] is None:
        return None
    hue = found["verdict"] if found["verdict"] in DECIDED else "open"
    return h("b", amount(look.meant, found["estimate"]), cls=f"sen-x-answer sen-x-{hue}")


def verdict_pill(found: Row) -> Node:
    """The verdict, or what stands in its place."""
    none = "no better direction" if better(found["metric"]) is None else "no verdict"
    of, words = found["verdict"], word_of(found["verdict"], found["metric"])
    more = of == "hurts" and words != of  # neither good nor bad by itself
    return pill(words or none, "odd" if more else LOOKS.get(of or "", "odd"))


def why_none(look: Look) -> str:
    """Why two sides cannot be compared, and what to do."""
    if not look.compares:
        why = choose_baseline(look.suite.configurations)[1] or "only one side was run here"
        return f"{as_label(why[0].upper() + why[1:], 300)}. Choose or run a baseline."
    own, other = (as_label(name, 40) for name in look.choice.sides)
    return f"No eval here has runs of both {own} and {other}."


def tracks(look: Look, found: Found) -> Child:
    """The differences of each iteration, of both scopes, on one axis."""
    known = [difference for rows in found.values() for difference in (rows or {}).values()]
    if not known:
        return None
    axis = axis_of(known, look.meant, whole=True)
    rows: list[Node] = []
    for part in look.parts:
        rows += _track_rows(look, part, found[part], axis)
        rows += look.runs_below(("verdict", part.iteration), 4)
    sides = [as_label(name, 60) for name in look.choice.sides]
    title = look.meant.difference_axis
    return table(
        ["Of", scale(axis, look.meant, title, difference=True), "Delta", "Verdict"],
        rows,
        caption=f"{' minus '.join(sides)}: {title}",
        cls="sen-x-tracks",
    )


def _track_rows(look: Look, part: Part, found: dict[str, Row] | None, axis: Axis) -> list[Node]:
    where = as_label(iteration_name(part.iteration))
    act = ("pick", "iteration", part.iteration)
    head = h("div", h("b", where))
    if look.links:
        head = button(where, act, kind="quiet", aria_label=f"{where}: show its runs")
    chosen = "sen-chosen" if look.is_at(("verdict", part.iteration)) else None
    if not found:
        none = h("span", "no difference", cls="sen-soft")
        return [table_row([head, None, none, None], key=f"{part.iteration}-none", cls=chosen)]
    rows: list[Node] = []
    for scope, difference in found.items():
        cells = [track(axis, difference, look.meant), delta_view(look.meant, difference)]
        about = h("span", _scope_label(scope, difference, head), cls="sen-x-scope")
        key = f"{part.iteration}-{scope}"
        rows.append(table_row([about, *cells, verdict_pill(difference)], key=key, cls=chosen))
    return rows


def _scope_label(scope: str, found: Row, head: Node) -> list[Child]:
    """What a row is about, and what it rests on."""
    if scope == "population":
        return [TASKS]
    runs = f"{found['n_runs']:,} + {count(found['n_runs_baseline'], 'run')}"
    return [head, "these evals", h("small", f" n {count(found['n_evals'], 'eval')}, {runs}")]


SHOWN = (
    "pass_rate",
    "structural_pass_rate",
    "rubric_normalized",
    "overall_efficiency",
    "time_seconds",
    "tokens",
    "tool_calls",
    "errors",
    "cost_usd",
)
"""Metrics of runs that are shown, in order; the dimensions have a view of their own."""
FLOOR = "The normalized rubric score is the weighted mean / 5: its lowest value is 20%, not 0."


def summary(look: Look) -> Child:
    """The means of the last iteration that is looked at, and what the skill changes of each."""
    part, rows = look.last_figures(count_means)
    if part is None or not look.kinds:
        return None
    if rows is None:
        return waiting_note("Counting")
    known = {(row["metric"], row["configuration"]): row for row in rows}
    names = [name for name in SHOWN if any((name, side) in known for _, side in look.kinds)]
    deltas = {
        row["metric"]: row
        for count in (count_headline, count_others)
        for row in (look.figures(count, [part])[part] or () if look.compares else ())
        if row["scope"] == "suite"
    }
    if not names:
        return None
    heads = ["Metric", *(as_label(name, 30) for _, name in look.kinds)]
    numbers = range(1, len(heads))
    heads += ["Difference", "These evals"] if look.compares else []
    caption = f"Means over all runs{look.iteration_suffix(part)}"
    caption += "; differences eval by eval" * look.compares
    shown = [_metric_row(look, name, known, deltas.get(name)) for name in names]
    return h(
        "div",
        table(heads, shown, caption=caption, numbers=numbers),
        adjustment_note(look),
        note(FLOOR) if "rubric_normalized" in names else None,
        cls="sen-x-summary",
    )


def _metric_row(
    look: Look, metric: str, means: Mapping[tuple[str, str], Row], found: Row | None
) -> list[Child]:
    meant = metric_of(metric)
    pressed = metric == look.choice.metric
    name = button(meant.name, ("choose_metric", metric), kind="quiet", aria_pressed=pressed)
    cells: list[Child] = [name]
    for kind, side in look.kinds:
        row = means.get((metric, side))
        if row is None or row["mean"] is None:
            cells.append(h("span", MISSING, title="no run has it"))
            continue
        n = h("small", f" n {row['n']:,}", cls="sen-soft")
        cells.append(h("span", swatch(kind), h("b", figure_or_dash(meant, row["mean"])), n))
    if look.compares:
        known = found and found["estimate"] is not None
        cells += [delta_view(meant, found), verdict_pill(found) if found and known else None]
    return cells


MOST = 10
"""Iterations that have a row, the last ones."""
Means = Mapping[tuple[str, str], Mapping[str, Any]]
"""By iteration and configuration the row of `summarize` for the metric."""


def trend(look: Look) -> Child:
    """The iterations of the skill, those looked at marked; nothing where there is one."""
    names = tuple(look.suite.iterations)
    if len(names) < 2 or look.suite.turned or not look.kinds:
        return None
    # one of them may have the baseline that the chosen ones lack
    last = replace(look.choice, iterations=names[-MOST:])
    every = replace(look, choice=settle_choice(look.suite, last))
    found = every.of_metric(count_headline, count_others)
    summaries = every.figures(count_means)
    means = {
        (part.iteration, row["configuration"]): row
        for part, rows in summaries.items()
        for row in rows or ()
        if row["metric"] == look.choice.metric and row["mean"] is not None
    }
    values = [row["mean"] for row in means.values()]
    axis = of_figures(look.meant, min(values, default=None), max(values, default=None))
    heads: list[Child] = ["Iteration", scale(axis, look.meant, look.meant.axis), "Mean"]
    heads += ["Difference", "These evals"] if every.compares else []
    chosen = look.choice.iterations
    rows = [_iteration_row(every, part, means, axis, found, chosen) for part in every.parts]
    left = len(names) - len(rows)
    more = note(f"{count(left, 'earlier iteration')}: choose them above.") if left else None
    caption = f"{look.meant.title}, iteration by iteration"
    shown = table(heads, rows, caption=caption, cls="sen-x-trend")
    return h("div", shown, more, key="trend")


def _iteration_row(
    look: Look, part: Part, means: Means, axis: Axis, found: Deltas, chosen: Collection[str]
) -> Node:
    name, choose = as_label(iteration_name(part.iteration)), ("choose_iterations", part.iteration)
    marks: list[Node] = []
    shown: list[Node] = []
    for kind, side in look.kinds:
        if row := means.get((part.iteration, side)):
            place, spoken = {"left": axis.at(row["mean"])}, f"{name}, {as_label(side, 40)}"
            marks.append(h("i", cls=f"sen-x-mark sen-x-{kind}", style=place))
            shown.append(mean_of(kind, look.meant, row["mean"], row["n"], spoken, choose))
    rules = [h("i", cls="sen-x-rule", style={"left": axis.at(value)}) for value in axis.marks]
    cells = [button(name, choose, kind="quiet"), h("div", rules, marks, cls="sen-x-lane")]
    cells.append(h("div", shown, cls="sen-x-means"))
    if look.compares:
        cells += _difference_cells(look, part, found[part])
    is_chosen = part.iteration in chosen
    return table_row(cells, cls="sen-chosen" if is_chosen else None, key=part.iteration)


def _difference_cells(look: Look, part: Part, found: Sequence[Row] | None) -> list[Child]:
    """What the skill changes; where there is no baseline, that of another one is offered."""
    row = next(iter(found or ()), None)  # about these evals
    key = (look.choice.workspace or "", look.choice.skill or "", part.iteration)
    lent, _ = look.borrowed.get(key, (None, None))
    if row and row["estimate"] is not None:
        of = lent and h("small", f"against {as_label(lent)}’s ", cls="sen-soft")
        undo = button("Undo", ("borrow", part.iteration, "", ""), kind="quiet") if lent else None
        return [[delta_view(look.meant, row), of and h("div", of, undo)], verdict_pill(row)]
    lender = _find_lender(look, part.iteration)
    if lender is None:
        return [note("…" if found is None else "no difference"), None]
    words, act = f"use {as_label(lender)}’s baseline", ("borrow", part.iteration, lender)
    return [button(words, (*act, look.choice.baseline), kind="quiet"), None]


def _find_lender(look: Look, iteration: str) -> str | None:
    """The iteration whose baseline one without could have: the last before it, else any."""
    own, base = look.choice.sides[0], look.choice.baseline
    sides = look.suite.iterations
    if base is None or base in sides[iteration] or own not in sides[iteration]:
        return None
    before = list(sides)[: list(sides).index(iteration)]
    return next((name for name in [*reversed(before), *sides] if base in sides[name]), None)
