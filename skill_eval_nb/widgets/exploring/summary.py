"""Every metric of both sides in a small table: the way from one metric to another."""

from __future__ import annotations

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import button, table

from . import figures
from .look import Look
from .words import MISSING, called, iteration_name, metric_of, size

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
    """The means of the last iteration that is looked at."""
    part, rows = look.last(figures.summary)
    if part is None or not look.kinds:
        return None
    if rows is None:
        return h("p", "Counting …", cls="sen-soft")
    known = {(row["metric"], row["configuration"]): row for row in rows}
    names = [name for name in SHOWN if any((name, side) in known for _, side in look.kinds)]
    shown = [_row(look, name, known) for name in names]
    where = f", {iteration_name(part.iteration)}" if look.several else ""
    if not shown:
        return None
    heads = ["Metric", *(called(name, 30) for _, name in look.kinds)]
    return h(
        "div",
        table(heads, shown, caption=f"Means over all runs{where}", numbers=range(1, len(heads))),
        h("p", FLOOR, cls="sen-soft sen-small") if "rubric_normalized" in names else None,
        cls="sen-x-summary",
    )


def _row(look: Look, metric: str, known: dict[tuple[str, str], figures.Row]) -> list[Child]:
    meant = metric_of(metric)
    is_chosen = metric == look.choice.metric
    name = button(
        meant.name,
        ("choose_metric", metric),
        kind="quiet",
        aria_pressed="true" if is_chosen else "false",
    )
    cells: list[Child] = []
    for kind, side in look.kinds:
        row = known.get((metric, side))
        if row is None or row["mean"] is None:
            cells.append(h("span", MISSING, title="no run has it"))
            continue
        cells.append(_mean(kind, size(meant, row["mean"]), row["n"]))
    return [name, *cells]


def _mean(kind: str, shown: str, n: int) -> Node:
    return h(
        "span",
        h("i", cls=f"sen-x-swatch sen-x-{kind}"),
        h("b", shown),
        h("small", f" n {n:,}", cls="sen-soft"),
    )
