"""How an aggregate shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed

from ..values import Suggestion

if TYPE_CHECKING:
    from .collected import Aggregate

WIDTH = 96
MOST = 50
"""So many suggestions are shown; the table has them all."""
STYLE = "\n p {margin:8px 0 0}\n"
HEADS = ("runs", "about", "why the evals should change", "what to do")


def text(found: Aggregate) -> str:
    """The aggregate as plain text."""
    if not found.suggestions:
        return " ".join([_none(found), *_merging(found)])
    lines = [_title(found), f"  {_how(found)}", *(f"  {one}" for one in _merging(found))]
    for one in found.suggestions[:MOST]:
        lines += ["", *_wrapped(f"{one.frequency} × {_about(one)}", "  ", 4)]
        lines += _wrapped(one.reason, "    ")
        lines += _wrapped(f"→ {one.action}", "    ", 2) if one.action else []
    return "\n".join([*lines, *_more(found)])


def html(found: Aggregate) -> str:
    """The aggregate for a notebook; every text from files is escaped."""
    if not found.suggestions:
        said = " ".join([_none(found), *_merging(found)])
        return framed("sen-suggestions", f"<p>{escape(said)}</p>", STYLE)
    head = "".join(
        f"<th scope='col'{' class=sen-n' if one == 'runs' else ''}>{one}</th>" for one in HEADS
    )
    rows = "".join(
        f"<tr><td class='sen-n'>{one.frequency:,}</td><td>{escape(_about(one))}</td>"
        f"<td>{escape(one.reason)}</td><td>{escape(one.action or '')}</td></tr>"
        for one in found.suggestions[:MOST]
    )
    notes = "".join(f"<p>{escape(one)}</p>" for one in (*_merging(found), *_more(found)))
    inside = (
        f"<h3>{escape(_title(found))}</h3>"
        f"<div class='sen-path'>{escape(_how(found))}</div>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"
    )
    return framed("sen-suggestions", inside, STYLE)


def _title(found: Aggregate) -> str:
    number = len(found.suggestions)
    where = ", ".join(one for one in (found.skill_name, found.iteration) if one)
    return (
        f"{number:,} suggestion{'' if number == 1 else 's'} from {_runs(found)}"
        f"{f' ({where})' if where else ''}"
    )


def _none(found: Aggregate) -> str:
    if not found.total_runs:
        return "No suggestions: no run was graded."
    return f"No suggestions: the graders of {_runs(found)} made none."


def _runs(found: Aggregate) -> str:
    return f"{found.total_runs:,} graded run{'' if found.total_runs == 1 else 's'}"


def _how(found: Aggregate) -> str:
    said = sum(len(one.sources) for one in found.suggestions)
    return (
        f"said {said:,} times; wordings at most {found.threshold:g} apart (0-1) are taken for "
        "the same"
    )


def _merging(found: Aggregate) -> list[str]:
    """What is to be known of a model that was to merge further."""
    one = found.merging
    if one is None:
        return []
    if not one.asked:
        return [
            f"{one.model} was not asked to merge further; at most that costs {_usd(one.worst_usd)}."
        ]
    notes = [
        f"{one.model} looked for more that is the same, for {_usd(one.cost_usd)}."
        if one.answered
        else f"{one.model} merged nothing."
    ]
    if one.failed:
        notes.append(f"Not everything was looked at: {'; '.join(one.failed)}.")
    return notes


def _usd(usd: float | None) -> str:
    return "a price that is not known" if usd is None else f"${usd:.4f}"


def _about(one: Suggestion) -> str:
    if one.assertion is not None:
        return one.assertion
    named = next((source.expectation for source in one.sources if source.expectation), None)
    return "a missing expectation" if named is None else f"{named} (no expectation of the eval)"


def _more(found: Aggregate) -> list[str]:
    more = len(found.suggestions) - MOST
    return [f"… and {more:,} more; table() has them all."] if more > 0 else []


def _wrapped(content: str, indent: str, further: int = 0) -> list[str]:
    return textwrap.wrap(
        " ".join(content.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + " " * further,
    )
