"""How a workspace shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .overview import SEVERITIES, Line, Overview, overview

if TYPE_CHECKING:
    from .workspace import Workspace

MOST_LINES = 12
"""More workspaces or kinds of problems than these are counted, not listed."""

_STYLE = """
.sen-ws{font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;
 color:var(--jp-ui-font-color1,#222);line-height:1.45;max-width:960px}
.sen-ws h3{margin:0 0 2px;font-size:17px;font-weight:600}
.sen-ws .sen-path{color:var(--jp-ui-font-color2,#666);margin-bottom:10px;overflow-wrap:anywhere}
.sen-ws .sen-cards{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 12px}
.sen-ws .sen-card{border:1px solid var(--jp-border-color2,#ddd);border-radius:6px;padding:6px 12px;min-width:72px}
.sen-ws .sen-card b{display:block;font-size:18px;font-weight:600}
.sen-ws .sen-card span{color:var(--jp-ui-font-color2,#666)}
.sen-ws table{border-collapse:collapse;margin:0 0 12px;font-size:13px}
.sen-ws caption{text-align:left;font-weight:600;padding:0 0 4px}
.sen-ws th,.sen-ws td{text-align:left;padding:3px 14px 3px 0;vertical-align:top;white-space:normal;
 border-bottom:1px solid var(--jp-border-color2,#e4e4e4);overflow-wrap:break-word;background:none}
.sen-ws th{font-weight:500;color:var(--jp-ui-font-color2,#666)}
.sen-ws td.sen-n{text-align:right;white-space:nowrap}
.sen-ws .sen-error{color:#c0392b;font-weight:600}.sen-ws .sen-warning{color:#b9770e;font-weight:600}
.sen-ws code{font-family:var(--jp-code-font-family,monospace);font-size:12px;background:none}
.sen-ws ul{margin:2px 0 0;padding-left:18px}
"""


def html(ws: Workspace) -> str:
    """The notebook view; every text from the files is escaped."""
    facts = overview(ws)
    return (
        f"<style>{_STYLE}</style><div class='sen-ws'>{_head(facts)}{_cards(facts)}"
        f"{_workspaces(facts)}{_problems(facts)}{_next(facts)}</div>"
    )


def text(ws: Workspace) -> str:
    """The view as plain text."""
    facts = overview(ws)
    lines = [f"Workspace {facts.path}"]
    lines += [
        f"  {line.workspace}: skill {line.skill}, {_plural(line.n_evals, 'eval')}, "
        f"{_plural(sum(line.statuses.values()), 'run')} ({_statuses(line) or 'none'})"
        for line in facts.lines[:MOST_LINES]
    ]
    if len(facts.lines) > MOST_LINES:
        lines.append(f"  … and {len(facts.lines) - MOST_LINES} more workspaces")
    counted = ", ".join(_plural(facts.severities[one], one) for one in SEVERITIES if one != "info")
    lines.append(f"  problems: {counted}, {facts.severities['info']} for information")
    return "\n".join(lines)


def _head(facts: Overview) -> str:
    skills = sorted({line.skill for line in facts.lines})
    shown = ", ".join(skills[:3]) + (f" and {len(skills) - 3} more" if len(skills) > 3 else "")
    title = (
        f"{'Skill' if len(skills) == 1 else 'Skills'} {shown}"
        if skills
        else "Nothing evaluated yet"
    )
    return f"<h3>{escape(title)}</h3><div class='sen-path'>{escape(facts.path)}</div>"


def _cards(facts: Overview) -> str:
    iterations = {(line.workspace, one) for line in facts.lines for one in line.iterations}
    configurations = {one for line in facts.lines for one in line.configurations}
    runs: dict[str, int] = {}
    for line in facts.lines:
        for status, count in line.statuses.items():
            runs[status] = runs.get(status, 0) + count
    cards = [
        (len(facts.lines), "workspaces") if len(facts.lines) > 1 else None,
        (len(iterations), "iterations"),
        (len(configurations), "configurations"),
        (sum(line.n_evals for line in facts.lines), "evals"),
        *((count, f"{status} runs") for status, count in runs.items()),
        *(
            (facts.severities[one], f"{one}s")
            for one in ("error", "warning")
            if facts.severities[one]
        ),
    ]
    inner = "".join(
        f"<div class='sen-card'><b>{card[0]:,}</b><span>{escape(card[1])}</span></div>"
        for card in cards
        if card is not None
    )
    return f"<div class='sen-cards'>{inner}</div>"


def _workspaces(facts: Overview) -> str:
    rows = [
        (
            _cell(line.workspace),
            _cell(line.skill),
            _cell(_names(line.iterations)),
            _cell(_names(line.configurations)),
            _number(line.n_evals),
            _cell(_statuses(line) or "none"),
        )
        for line in facts.lines[:MOST_LINES]
    ]
    heads = ("workspace", "skill", "iterations", "configurations", "evals", "runs")
    return _table("What is here", heads, rows, len(facts.lines) - MOST_LINES)


def _problems(facts: Overview) -> str:
    rows = [
        (
            f"<td class='sen-{kind.severity}'>{kind.severity}</td>",
            _cell(kind.code),
            _number(kind.count),
            _cell(f"{kind.path}: {kind.message}"),
        )
        for kind in facts.problems[:MOST_LINES]
    ]
    heads = ("severity", "code", "how often", "the first one")
    return _table("Problems", heads, rows, len(facts.problems) - MOST_LINES)


def _next(facts: Overview) -> str:
    items = "".join(
        f"<li><code>{escape(code)}</code> – {escape(why)}</li>" for code, why in facts.next_steps
    )
    return f"<div><b>Look at next</b><ul>{items}</ul></div>" if items else ""


def _table(caption: str, heads: tuple[str, ...], rows: list[tuple[str, ...]], more: int) -> str:
    if not rows:
        return ""
    head = "".join(f"<th scope='col'>{one}</th>" for one in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    if more > 0:
        body += f"<tr><td colspan='{len(heads)}'>… and {more} more</td></tr>"
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _number(value: int) -> str:
    return f"<td class='sen-n'>{value:,}</td>"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (f" … {len(names)} in all" if len(names) > 4 else "")


def _statuses(line: Line) -> str:
    return ", ".join(f"{count} {status}" for status, count in line.statuses.items())


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
