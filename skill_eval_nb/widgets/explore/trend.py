"""Every iteration in a row: its means, what the skill changed, and a baseline for those without."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from skill_eval_nb.text import as_label, count

from ..ui import Child, Node, h
from ..ui.parts import button, soft, table, table_row
from ..ui.track import Axis, delta_view, of_figures, scale
from . import figures
from .choice import Part, iteration_name, settle_choice
from .evals import mean_of
from .look import Look
from .verdict import Found, differences, word

MOST = 10
"""Iterations that have a row, the last ones."""
Means = Mapping[tuple[str, str], Mapping[str, Any]]
"""By iteration and configuration the row of `summarize` for the metric."""


def trend(look: Look) -> Child:
    """The iterations of the skill, those looked at marked; nothing where there is one."""
    names = tuple(look.suite.iterations)
    if len(names) < 2 or look.suite.turned or not look.kinds:
        return None
    # any of them may have the baseline that the chosen ones lack
    every = replace(look, choice=settle_choice(look.suite, replace(look.choice, iterations=names)))
    found, summaries = differences(every), every.figures(figures.summary)
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
    last = every.parts[-MOST:]
    rows = [_iteration_row(every, part, means, axis, found, chosen) for part in last]
    left = len(every.parts) - len(last)
    more = soft(f"{count(left, 'earlier iteration')}: choose them above.") if left else None
    caption = f"{look.meant.title}, iteration by iteration"
    shown = table(heads, rows, caption=caption, cls="sen-x-trend")
    return h("div", _say_unpaired(every, found), shown, more, key="trend")


def _iteration_row(
    look: Look, part: Part, means: Means, axis: Axis, found: Found, chosen: Collection[str]
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


def _difference_cells(look: Look, part: Part, found: Mapping[str, Any] | None) -> list[Child]:
    """What the skill changes; where there is no baseline, that of another one is offered."""
    row = (found or {}).get("suite")
    lent = look.borrowed.get(part.iteration)
    if row and row["estimate"] is not None:
        of = lent and h("small", f"against {as_label(lent)}’s ", cls="sen-soft")
        undo = button("Undo", ("borrow", part.iteration, "", ""), kind="quiet") if lent else None
        return [[delta_view(look.meant, row), of and h("div", of, undo)], word(row)]
    lender = look.find_lender(part.iteration)
    if lender is None:
        return [soft("…" if found is None else "no difference"), None]
    words, act = f"use {as_label(lender)}’s baseline", ("borrow", part.iteration, lender)
    return [button(words, (*act, look.choice.baseline), kind="quiet"), None]


def _say_unpaired(look: Look, found: Found) -> Child:
    """How many iterations cannot be compared."""
    alone = [part for part in found if look.find_lender(part.iteration)]
    if not alone or not look.compares:
        return None
    has = "has" if len(alone) == 1 else "have"
    of, base = count(len(found), "iteration"), as_label(look.choice.baseline, 40)
    return h("p", f"{len(alone):,} of {of} {has} no run of {base}, and no difference by itself.")
