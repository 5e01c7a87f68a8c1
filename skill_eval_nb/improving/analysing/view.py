"""How analyses show themselves: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed
from skill_eval_nb.stats.phrases import brief, count

if TYPE_CHECKING:
    from .analysed import Analysed, Explained

STYLE = "ul {margin:2px 0;padding-left:20px}"
MOST = 20
"""More analyses or reasons than these are counted, not listed."""
WIDTH = 96
"""Characters of a line of text."""
PARTS = {"winner_strengths": "the winner did well", "loser_weaknesses": "the loser did badly"}


def text(found: Analysed) -> str:
    """The view as plain text."""
    lines = [_title(found), f"  {_counted(found)}"]
    for one in found.explained[:MOST]:
        lines.append(f"  {_about(one)}")
        for name, called in PARTS.items():
            lines += [line for said in _said(one, name) for line in _wrapped(f"{called}: {said}")]
        lines += [line for said in _changes(one) for line in _wrapped(said)]
    lines += [f"  {what}: {times} × {reason}" for what, reason, times in _reasons(found)]
    return "\n".join([*lines, *(f"  ! {note}" for note in found.notes)])


def html(found: Analysed) -> str:
    """The notebook view; every text from files and models is escaped."""
    parts = "".join(map(_part, found.explained[:MOST]))
    reasons = _list("", [f"{what}: {times} × {reason}" for what, reason, times in _reasons(found)])
    notes = "".join(f"<div class='sen-path'>{escape(one)}</div>" for one in found.notes)
    inside = (
        f"<h3>{escape(_title(found))}</h3>"
        f"<div class='sen-path'>{escape(_counted(found))}</div>{parts}"
        f"{f'<h4>Not analysed</h4>{reasons}' if _reasons(found) else ''}{notes}"
    )
    return framed("sen-analysed", inside, STYLE)


def _part(one: Explained) -> str:
    lists = {called: _said(one, name) for name, called in PARTS.items()}
    lists["what to change"] = _changes(one)
    told = "".join(_list(called, said) for called, said in lists.items() if said)
    return f"<h4>{escape(_about(one))}</h4>{told}"


def _list(called: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<div>{escape(called)}<ul>{items}</ul></div>"


def _title(found: Analysed) -> str:
    by = f" by {found.model}" if found.model else ""
    return f"{count(len(found.explained), 'comparison')} analysed{by}: {found.status}"


def _about(one: Explained) -> str:
    return f"eval {brief(one.eval_id)}: {brief(one.winner, 80)} won against {brief(one.loser, 80)}"


def _said(one: Explained, name: str) -> list[str]:
    return list(getattr(one.document, name))


def _changes(one: Explained) -> list[str]:
    return [
        f"[{made.priority}, {made.category}] {made.suggestion} ({made.expected_impact})"
        for made in one.document.improvement_suggestions
    ]


def _counted(found: Analysed) -> str:
    unknown = "a price is not known"
    if found.status == "dry run":
        worst = unknown if found.worst_usd is None else f"${found.worst_usd:.4f} at most"
        return f"{found.n_before} are there, {found.n_missing} to be made, {worst}"
    cost = unknown if found.cost_usd is None else f"${found.cost_usd:.4f}"
    return f"{found.n_before} of them from before, {found.n_missing} missing; {cost}"


def _reasons(found: Analysed) -> list[tuple[str, str, int]]:
    """Every reason once, with how often it was met."""
    told = Counter(("failed", one.reason) for one in found.failed)
    told += Counter(("left out", one.reason) for one in found.left_out)
    return [(what, reason, times) for (what, reason), times in told.most_common(MOST)]


def _wrapped(line: str) -> list[str]:
    indent = "    "
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
