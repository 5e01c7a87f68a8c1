"""How an optimisation shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed
from skill_eval_nb.running.driving.progress import dollars
from skill_eval_nb.stats.phrases import count

if TYPE_CHECKING:
    from .optimised import Optimised, Step

STYLE = "td:not(:last-child) {white-space:nowrap}"
HEADS = ("round", "held-out queries", "train queries", "characters", "description")


def text(found: Optimised) -> str:
    """The view as plain text."""
    lines = [f"{_title(found)}: {found.status}", *(f"  {one}" for one in _told(found))]
    for one in found.steps:
        chosen = " (chosen)" if one.is_best else ""
        lines += [f"  round {one.round}{chosen}: {_scores(one)}", f"    {one.description}"]
    lines += [f"  doubt: {one}" for one in found.doubts]
    return "\n".join([*lines, *(f"  note: {one}" for one in found.notes)])


def html(found: Optimised) -> str:
    """The notebook view; every text from files and models is escaped."""
    told = "".join(f"<div>{escape(one)}</div>" for one in _told(found))
    doubts = "".join(
        f"<div><span class='sen-pill sen-warning'>doubt</span> {escape(one)}</div>"
        for one in found.doubts
    )
    notes = "".join(f"<div class='sen-path'>{escape(one)}</div>" for one in found.notes)
    head = "".join(f"<th scope='col'>{one}</th>" for one in HEADS)
    body = "".join(_row(one) for one in found.steps)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    inside = (
        f"<h3>{escape(_title(found))}</h3>"
        f"<div class='sen-path'>{escape(found.status)}</div>{told}{doubts}{table}{notes}"
    )
    return framed("sen-optimised", inside, STYLE)


def _title(found: Optimised) -> str:
    return (
        f"A description for {found.skill_name}, measured with {found.model}, proposed by "
        f"{found.proposer_model}"
    )


def _told(found: Optimised) -> Iterator[str]:
    yield (
        f"{found.n_train} train and {found.n_test} held-out queries, "
        f"{count(found.runs, 'run')} of each"
    )
    if found.status == "dry run":
        yield f"{found.n_runs} runs at most, {_price(found)}; nobody was asked"
        return
    yield found.why
    if found.best is not None:
        yield (
            f"Score of the chosen one on fresh runs of the held-out queries: {found.best}, of "
            f"{found.best.n_queries} of {found.n_test} queries and "
            f"{count(found.best.n_runs, 'run')}"
        )
    elif found.status != "broken":
        yield "The chosen one was not measured on fresh runs: no score of it can be trusted."
    if found.status != "broken":
        if found.selected is not None and len(found.steps) > 1:
            yield f"The score that it was chosen by, which flatters it: {found.selected}"
        yield f"The search ended: {found.ended}"
    yield "a price is not known" if found.cost_usd is None else f"{dollars(found.cost_usd)} spent"


def _price(found: Optimised) -> str:
    low, high, worst = found.estimate
    if low is None or high is None or worst is None:
        return "a price is not known"
    return f"likely {dollars(low)} to {dollars(high)}, {dollars(worst)} at worst"


def _scores(one: Step) -> str:
    return f"{one.test or 'no run tells'} on held-out, {one.train or 'no run tells'} on train"


def _row(one: Step) -> str:
    number = f"{one.round} (chosen)" if one.is_best else f"{one.round}"
    cells = (
        number,
        f"{one.test or '–'}",
        f"{one.train or '–'}",
        f"{len(one.description):,}",
        one.description,
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
