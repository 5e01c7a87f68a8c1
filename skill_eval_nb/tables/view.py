"""How a workspace shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed

from .overview import SEVERITIES, Overview, counted, overview
from .style import STYLE

if TYPE_CHECKING:
    from .workspace import Workspace

MOST_LINES = 12
"""More workspaces or kinds of problems than these are counted, not listed."""

MOST_NAMES = {"iterations": 3, "configurations": 6}
"""Of more than these only the first and the last are named."""

NUMBERS = ("evals", "times")
"""The columns that are aligned as numbers."""


def html(ws: Workspace) -> str:
    """The notebook view; every text from the files is escaped."""
    facts = overview(ws)
    parts = (_head, _cards, _workspaces, _next, _problems, _tables)
    return framed("sen-ws", "".join(part(facts) for part in parts), STYLE)


def text(ws: Workspace) -> str:
    """The view as plain text."""
    facts = overview(ws)
    lines = [f"Workspace {facts.path}"]
    lines += [
        f"  {line.workspace}: skill {line.skill}, {counted(line.n_evals, 'eval')}, "
        + counted(sum(line.statuses.values()), "run")
        + (f" ({_listed(line.statuses)})" if line.statuses else "")
        for line in facts.lines[:MOST_LINES]
    ]
    if len(facts.lines) > MOST_LINES:
        lines.append(f"  … and {counted(len(facts.lines) - MOST_LINES, 'more workspace')}")
    errors, warnings, infos = (facts.severities[one] for one in SEVERITIES)
    lines.append(
        f"  problems: {counted(errors, 'error')}, {counted(warnings, 'warning')}, "
        f"{infos:,} for information"
    )
    return "\n".join(lines)


def _head(facts: Overview) -> str:
    skills = list(dict.fromkeys(line.skill for line in facts.lines))
    shown = ", ".join(skills[:3]) + (f" and {len(skills) - 3} more" if len(skills) > 3 else "")
    title = f"{'Skill' if len(skills) == 1 else 'Skills'} {shown}" if skills else "Nothing here"
    return f"<h3>{escape(title)}</h3><div class='sen-path'>{escape(facts.path)}</div>"


def _cards(facts: Overview) -> str:
    """The counts, errors first; what there is none of has no card."""
    iterations = {(line.workspace, one) for line in facts.lines for one in line.iterations}
    configurations = {one for line in facts.lines for one in line.configurations}
    counts = [
        *((f"sen-{one}", facts.severities[one], one) for one in ("error", "warning")),
        ("", len(facts.lines) if len(facts.lines) > 1 else 0, "workspace"),
        ("", len(iterations), "iteration"),
        ("", len(configurations), "configuration"),
        ("", sum(line.n_evals for line in facts.lines), "eval"),
    ]
    cards = "".join(
        f"<div class='sen-card {kind}'><b>{number:,}</b>{noun}{'' if number == 1 else 's'}</div>"
        for kind, number, noun in counts
        if number
    )
    return f"<div class='sen-cards'>{cards}{_runs(facts.statuses)}</div>"


def _runs(statuses: dict[str, int]) -> str:
    """The card of the runs, with a bar of how they ended."""
    if not statuses:
        return ""
    every = sum(statuses.values())
    parts = "".join(
        f"<i class='sen-{status}' style='flex-grow:{count}'></i>"
        for status, count in statuses.items()
    )
    legend = " ".join(
        f"<span><i class='sen-{status}'></i>{count:,} {status}</span>"
        for status, count in statuses.items()
    )
    return (
        f"<div class='sen-card sen-runs'><b>{every:,}</b>{'run' if every == 1 else 'runs'}"
        f"<div class='sen-bar'>{parts}</div><div class='sen-legend'>{legend}</div></div>"
    )


def _workspaces(facts: Overview) -> str:
    rows = [
        (
            _cell(line.workspace),
            _cell(line.skill),
            _cell(_names(line.iterations, MOST_NAMES["iterations"])),
            _cell(_names(line.configurations, MOST_NAMES["configurations"])),
            _number(line.n_evals),
            _cell(_listed(line.statuses) or "none yet", "sen-tight"),
        )
        for line in facts.lines[:MOST_LINES]
    ]
    heads = ("workspace", "skill", "iterations", "configurations", "evals", "runs")
    return _table("What is here", heads, rows, len(facts.lines) - MOST_LINES)


def _next(facts: Overview) -> str:
    items = "".join(
        f"<dt><code>{escape(code)}</code></dt><dd>{escape(why)}</dd>"
        for code, why in facts.next_steps
    )
    return f"<h4>Look at next</h4><dl>{items}</dl>" if items else ""


def _problems(facts: Overview) -> str:
    rows = [
        (
            f"<td><span class='sen-pill sen-{kind.severity}'>{kind.severity}</span></td>",
            _cell(kind.code, "sen-tight"),
            _number(kind.count),
            f"<td><span class='sen-path'>{escape(kind.path)}</span><br>{escape(kind.message)}</td>",
        )
        for kind in facts.problems[:MOST_LINES]
    ]
    heads = ("severity", "code", "times", "the first one")
    return _table("Problems", heads, rows, len(facts.problems) - MOST_LINES)


def _tables(facts: Overview) -> str:
    """What can be asked for, and how much there is of it."""
    items = " ".join(
        f"<span><code>ws.{name}</code> {height:,}</span>" for name, height in facts.rows.items()
    )
    return f"<h4>Tables, and their rows</h4><div class='sen-legend'>{items}</div>" if items else ""


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], more: int) -> str:
    if not rows:
        return ""
    head = "".join(
        f"<th scope='col' class='{'sen-n' if one in NUMBERS else ''}'>{one}</th>" for one in heads
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    if more > 0:
        body += f"<tr><td colspan='{len(heads)}'>… and {more:,} more</td></tr>"
    return f"<h4>{caption}</h4><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(content: str, kind: str = "") -> str:
    return f"<td class='{kind}'>{escape(content)}</td>"


def _number(value: int) -> str:
    return f"<td class='sen-n'>{value:,}</td>"


def _names(names: Sequence[str], most: int) -> str:
    """Names in order, or the first and the last of many.

    >>> _names(["a", "b"], 2), _names(["a", "b", "c"], 2)
    ('a, b', 'a … c (3)')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names):,})"


def _listed(statuses: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in statuses.items())
