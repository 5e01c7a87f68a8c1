"""How a lineage shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed
from skill_eval_nb.stats.phrases import brief, count, figure

if TYPE_CHECKING:
    from .values import Lineage, Version

STYLE = ".sen-best td {font-weight:600} td:not(:last-child) {white-space:nowrap}"
HEADS = ("version", "runs of", "parent", "mean", "result", "what changed, and what it rests on")
WIDTH = 96
"""Characters of a line of text."""


def text(lineage: Lineage) -> str:
    """The versions as plain text."""
    lines = [_title(lineage)]
    for one in lineage.versions:
        parent = "" if one.parent is None else f", from {one.parent} ({one.parent_from})"
        lines.append(f"  {one.version}  {_where(one)}: {_figure(one.mean)}, {_result(one)}{parent}")
        lines += _wrapped(f"compared: {one.compared}" if one.compared else "")
        lines += _wrapped(one.reason)
        lines += _wrapped(f"changed: {one.what_changed}" if one.what_changed else "")
        lines += _wrapped(_said(one))
    return "\n".join([*lines, *(f"  ! {note}" for note in lineage.notes)])


def html(lineage: Lineage) -> str:
    """The same for a notebook; every text from files is escaped."""
    head = "".join(f"<th scope='col'>{one}</th>" for one in HEADS)
    rows = "".join(map(_row, lineage.versions))
    notes = "".join(f"<li>{escape(note)}</li>" for note in lineage.notes)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    inside = f"<h3>{escape(_title(lineage))}</h3>{table}{f'<ul>{notes}</ul>' if notes else ''}"
    return framed("sen-lineage", inside, STYLE)


def _title(lineage: Lineage) -> str:
    if not lineage.versions:
        return "No versions: the workspace has no runs with a skill"
    versions = count(len(lineage.versions), "version")
    metric = lineage.metric.replace("_", " ")
    best = lineage.current_best
    which = "none is proven to be the best" if best is None else f"the best is {best}"
    return f"{versions} of {brief(lineage.skill)} by {metric}; {which}"


def _row(one: Version) -> str:
    parent = "" if one.parent is None else f"{one.parent} ({one.parent_from})"
    parts = (one.what_changed, one.compared, one.reason, _said(one))
    cells = [one.version, _where(one), parent, _figure(one.mean), _result(one)]
    told = "<br>".join(escape(part) for part in parts if part)
    kind = " class='sen-best'" if one.is_current_best else ""
    return f"<tr{kind}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}<td>{told}</td></tr>"


def _where(one: Version) -> str:
    return f"{brief(one.iteration)}, {brief(one.configuration)}"


def _figure(value: float | None) -> str:
    return "no figure" if value is None else figure(value)


def _result(one: Version) -> str:
    result = one.grading_result or "not compared"
    return f"{result}, the best" if one.is_current_best else result


def _said(one: Version) -> str:
    """What a history.json says of it."""
    if one.stated_result is None and one.stated_pass_rate is None:
        return ""
    rate = "" if one.stated_pass_rate is None else f" with a pass rate of {one.stated_pass_rate:g}"
    return f"history.json says: {one.stated_result or 'no result'}{rate}"


def _wrapped(line: str) -> list[str]:
    indent = "      "
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
