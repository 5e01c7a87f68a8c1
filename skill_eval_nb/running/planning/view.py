"""How a plan shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed

from .facts import Facts, Line, facts

if TYPE_CHECKING:
    from .planned import Plan

STYLE = """
 p {margin:8px 0 0}
 ol, ul {margin:4px 0 0;padding-left:20px}
"""

WIDTH = 96
"""Characters of a line of text; a notebook and most terminals have as many."""

HEADS = ("", "", "calls", "tokens", "US dollars")


def text(plan: Plan) -> str:
    """The plan as plain text."""
    shown = facts(plan)
    lines = [shown.title, *_wrapped(shown.place, "  "), *_wrapped(shown.size, "  "), ""]
    lines += _settings(shown)
    lines += ["", "  Estimate", *_table(shown.estimate)]
    lines += [line for one in shown.assumptions for line in _wrapped(f"- {one}", "    ", 2)]
    if shown.order:
        lines += ["", "  Order"]
        lines += [f"    {number} {one}" for number, one in _numbered(shown.order)]
    if shown.warnings:
        lines += ["", "  Look at this before starting"]
        lines += [line for one in shown.warnings for line in _wrapped(f"! {one}", "    ", 2)]
    return "\n".join([*lines, "", f"  {shown.next}"])


def html(plan: Plan) -> str:
    """The plan for a notebook; every text from files is escaped."""
    shown = facts(plan)
    cards = "".join(
        f"<div class='sen-card'><b>{escape(figure)}</b>{escape(noun)}</div>"
        for figure, noun in shown.counts
    )
    inside = (
        f"<h3>{escape(shown.title)}</h3>"
        f"<div class='sen-path'>{escape(shown.place)}</div><div class='sen-cards'>{cards}</div>"
        f"<p>{escape(shown.size)}</p>{_warnings(shown)}{_definitions(shown)}{_money(shown)}"
        f"{_list('Order', shown.order)}<p>{escape(shown.next)}</p>"
    )
    return framed("sen-plan", inside, STYLE)


def _settings(shown: Facts) -> list[str]:
    width = max(len(label) for label, _ in shown.settings)
    lines = []
    for label, content in shown.settings:
        first, *more = textwrap.wrap(content, WIDTH - width - 4) or [""]
        lines.append(f"  {label.ljust(width)}  {first}")
        lines += [f"{' ' * (width + 4)}{one}" for one in more]
    return lines


def _table(rows: Sequence[Line]) -> list[str]:
    """The estimate, in columns."""
    if not rows:
        return ["    nothing is missing that costs money"]
    cells = [HEADS, *((row.what, row.number, row.calls, row.tokens, row.usd) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADS))]
    return [
        "    "
        + "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _wrapped(content: str, indent: str, further: int = 0) -> list[str]:
    return textwrap.wrap(
        content, WIDTH, initial_indent=indent, subsequent_indent=indent + " " * further
    )


def _numbered(order: Iterable[str]) -> list[tuple[str, str]]:
    return [
        (" " if one.startswith("…") else str(number), one) for number, one in enumerate(order, 1)
    ]


def _warnings(shown: Facts) -> str:
    rows = "".join(
        f"<tr><td><span class='sen-pill sen-warning'>look</span></td><td>{escape(one)}</td></tr>"
        for one in shown.warnings
    )
    return f"<h4>Look at this before starting</h4><table>{rows}</table>" if rows else ""


def _definitions(shown: Facts) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{escape(label.strip())}</th><td>{escape(content)}</td></tr>"
        for label, content in shown.settings
    )
    return f"<h4>What is run</h4><table>{rows}</table>"


def _money(shown: Facts) -> str:
    if not shown.estimate:
        return "<h4>Estimate</h4><p>Nothing is missing that costs money.</p>"
    head = "".join(
        f"<th scope='col' class='{'sen-n' if column else ''}'>{one}</th>"
        for column, one in enumerate(HEADS)
    )
    rows = "".join(
        f"<tr><td>{escape(row.what)}</td>"
        + "".join(
            f"<td class='sen-n'>{escape(one)}</td>"
            for one in (row.number, row.calls, row.tokens, row.usd)
        )
        + "</tr>"
        for row in shown.estimate
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    rests = "".join(f"<li>{escape(one)}</li>" for one in shown.assumptions)
    return f"<h4>Estimate, low to high</h4>{table}<ul class='sen-path'>{rests}</ul>"


def _list(caption: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    more = items[-1] if items[-1].startswith("…") else ""
    rows = "".join(f"<li>{escape(one)}</li>" for one in items if one != more)
    return f"<h4>{caption}</h4><ol>{rows}</ol>" + (f"<p>{escape(more)}</p>" if more else "")
