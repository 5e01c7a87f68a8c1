"""How a measurement shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, get_args

from skill_eval_nb.look import framed
from skill_eval_nb.running.driving.progress import dollars
from skill_eval_nb.stats.phrases import brief, count

from ..values import Outcome

if TYPE_CHECKING:
    from .measured import Measured

STYLE = "td:nth-child(2), td:nth-child(3) {white-space:nowrap}"
LONGEST = 90
"""Characters of a query that are shown."""
MOST_SAID = 120
"""Characters of what the model did instead that are shown."""
SCORES = {"precision": "precision", "recall": "recall", "f1": "F1", "accuracy": "accuracy"}


def text(found: Measured) -> str:
    """The view as plain text."""
    lines = [f"{_title(found)}: {found.status}", f"  {_counted(found)}", f"  {_cost(found)}"]
    lines += [f"  {line}" for line in _scores(found)]
    lines += [f"  doubt: {one}" for one in _doubts(found)]
    for row in _rates(found):
        lines.append(f"  {row['rated']:>26}  {row['wanted']}  {row['query']}  {row['said']}")
    return "\n".join(line.rstrip() for line in lines)


def html(found: Measured) -> str:
    """The notebook view; every text from files and models is escaped."""
    scores = "".join(f"<div>{escape(line)}</div>" for line in _scores(found))
    doubts = "".join(
        f"<div><span class='sen-pill sen-warning'>doubt</span> {escape(one)}</div>"
        for one in _doubts(found)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(row[name])}</td>" for name in ("query", "wanted", "rated", "said"))
        + "</tr>"
        for row in _rates(found)
    )
    heads = ("query", "should", "triggered", "instead")
    head = "".join(f"<th scope='col'>{one}</th>" for one in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    inside = (
        f"<h3>{escape(_title(found))}</h3>"
        f"<div class='sen-path'>{escape(found.status)}; {escape(_counted(found))}; "
        f"{escape(_cost(found))}</div>"
        f"<div class='sen-path'>{escape(found.description)}</div>{doubts}{scores}{table}"
    )
    return framed("sen-measured", inside, STYLE)


def _title(found: Measured) -> str:
    others = len(found.others)
    beside = f"beside {count(others, 'other skill')}" if others else "with no other skill"
    return f"{found.skill_name} {beside}, measured with {found.model}"


def _counted(found: Measured) -> str:
    number = len(found.queries)
    queries = f"{number:,} quer{'y' if number == 1 else 'ies'}"
    asked = f"{queries}, {count(len(found.attempts), 'attempt')}"
    if found.status == "dry run":
        return asked
    counts = Counter(one.outcome for one in found.attempts)
    told = (f"{counts[one]:,} {one}" for one in get_args(Outcome) if counts[one])
    return f"{asked}: {', '.join(told)}"


def _cost(found: Measured) -> str:
    price = found.price
    if found.status != "dry run":
        cost = "a price is not known" if found.cost_usd is None else dollars(found.cost_usd)
        return f"{cost}; {found.message}"
    attempts, calls = count(price.attempts, "attempt"), count(price.calls, "call")
    told = f"{attempts} to be made, {calls} at most"
    if price.worst_usd is None or price.low_usd is None or price.high_usd is None:
        return f"{told}; a price is not known"
    if not price.worst_usd:
        return f"{told}; it costs nothing"
    span = f"{dollars(price.low_usd)} to {dollars(price.high_usd)}"
    return f"{told}; about {span}, and with a budget {dollars(price.worst_usd)} at worst"


def _scores(found: Measured) -> Iterator[str]:
    if found.status == "dry run":
        return
    for row in found.scores.to_dicts():
        told = [
            f"{called} {row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
            for name, called in SCORES.items()
            if row[name] is not None
        ]
        yield f"by query: {', '.join(told)}" if told else "by query: no score is defined"


def _doubts(found: Measured) -> list[str]:
    return [] if found.status == "dry run" else found.doubts["message"].to_list()


def _rates(found: Measured) -> Iterator[Mapping[str, Any]]:
    if found.status == "dry run":
        return
    for row in found.rates.to_dicts():
        runs = row["n_triggered"] + row["n_not_triggered"]
        rated = "no run tells"
        if row["rate"] is not None:
            rated = f"{row['n_triggered']} of {runs} ({row['low']:.0%} to {row['high']:.0%})"
        yield {
            "query": brief(row["query"], LONGEST),
            "wanted": "should" if row["should_trigger"] else "should not",
            "rated": rated,
            "said": brief(row["instead"] or "", MOST_SAID),
        }
