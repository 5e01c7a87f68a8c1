"""How a try shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

import narwhals as nw

from skill_eval_nb.look import framed
from skill_eval_nb.stats.phrases import brief, chance, count, figure, signed

if TYPE_CHECKING:
    from .tried import Tried

STYLE = "\n p {margin:8px 0 0}\n ul {margin:4px 0 0;padding-left:20px}\n"

MOST = 8
"""More disagreements than these are counted, not listed."""

NUMBERS = frozenset(
    "runs passed failed scored errored not_scored pass_rate score mean baseline_mean estimate p "
    "evals".split()
)


def text(tried: Tried) -> str:
    """The answer, the table of sides, and what else to know."""
    lines = [f"{tried.status}: {_name(tried)}", f"  {tried.answer}"]
    lines += [f"  {line}" for line in _aligned(_cells(tried.sides))]
    if tried.replaced is not None and tried.delta is not None:
        lines.append(f"  {_better(tried)}")
    if tried.about is not None:
        lines.append(f"  {_judge(tried)}")
    return "\n".join([*lines, *(f"  {one}" for one in tried.notes)])


def html(tried: Tried) -> str:
    """The same for a notebook, with the disagreements; every text from files is escaped."""
    parts = [
        f"<h3>{escape(_name(tried))}</h3>",
        f"<div class='sen-path'>{escape(tried.draft.why)}</div>",
        f"<p><b>{escape(tried.status)}</b> {escape(tried.answer)}</p>",
        _table("How often it holds on each side", _cells(tried.sides)),
    ]
    if tried.replaced is not None and tried.delta is not None:
        parts.append(f"<p>{escape(_better(tried))}</p>")
    parts.append(_suite(tried))
    if tried.about is not None:
        parts.append(f"<p>{escape(_judge(tried))}</p>{_disagreements(tried)}")
    notes = "".join(f"<li>{escape(one)}</li>" for one in tried.notes)
    if notes:
        parts.append(f"<h4>What else to know</h4><ul>{notes}</ul>")
    return framed("sen-tried", "".join(parts), STYLE)


def _name(tried: Tried) -> str:
    """What is tried, in a few words."""
    draft = tried.draft
    what = draft.part.replace("_", " ").removesuffix("s")
    return f"{draft.key}: {draft.kind} {what}" + (f" {brief(draft.target)}" if draft.target else "")


def _better(tried: Tried) -> str:
    if tried.separates_better is None:
        begins = "Beside what it replaces"
    else:
        begins = f"{'Better' if tried.separates_better else 'No better'} than what it replaces"
    return f"{begins}: {tried.why_better}."


def _judge(tried: Tried) -> str:
    about = tried.about
    assert about is not None
    like = "" if about.likeness is None else f", {about.likeness:.0%} alike"
    runs = count(len(tried.disagreements), "run")
    return f"It is not of the judge's opinion in {runs} on ‘{about.text}’ ({about.how}{like})."


def _rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a table, polars or pandas."""
    return nw.from_native(frame, eager_only=True).rows(named=True) if len(frame) else []


def _cells(sides: Any) -> list[list[str]]:
    """The table of sides as texts, its head first; empty where there is none."""
    rows = _rows(sides)
    if not rows:
        return []
    return [list(rows[0]), *([_shown(value) for value in row.values()] for row in rows)]


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return "–"
    return figure(value) if isinstance(value, float) else str(value)


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts in columns, figures at the right."""
    if not cells:
        return []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if name in NUMBERS else cell.ljust(width)
            for name, cell, width in zip(cells[0], row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]


def _suite(tried: Tried) -> str:
    """The suite's differences before and after, where they change."""
    rows = [["iteration", "configuration", "metric", "before", "after"]]
    for row in _rows(tried.suite):
        before, after = (
            f"{signed(row[f'estimate_{when}'])} (p {chance(row[f'p_{when}'])})"
            if _shown(row[f"estimate_{when}"]) != "–" and _shown(row[f"p_{when}"]) != "–"
            else "–"
            for when in ("before", "after")
        )
        metric = row["metric"].replace("_", " ")
        rows.append([row["iteration"], row["configuration"], metric, before, after])
    return _table("The suite's difference, before and after", rows if len(rows) > 1 else [])


def _disagreements(tried: Tried) -> str:
    word = {True: "passed", False: "failed"}
    rows = [["run", "it", "its evidence", "the judge", "the judge's evidence"]]
    for row in _rows(tried.disagreements)[:MOST]:
        run = f"{row['iteration']}, {row['eval_name']}, {row['configuration']} {row['run_number']}"
        verdicts = (word[bool(row["passed"])], word[bool(row["judged_passed"])])
        evidence = (brief(row["evidence"] or "", 160), brief(row["judged_evidence"] or "", 160))
        rows.append([run, verdicts[0], evidence[0], verdicts[1], evidence[1]])
    more = len(tried.disagreements) - MOST
    tail = f"<p>… and {count(more, 'more run')}</p>" if more > 0 else ""
    return _table("Where they differ", rows if len(rows) > 1 else []) + tail


def _table(caption: str, cells: Sequence[Sequence[str]]) -> str:
    if not cells:
        return ""
    kinds = ["sen-n" if name in NUMBERS else "" for name in cells[0]]
    head = "".join(
        f"<th scope='col' class='{kind}'>{escape(one.replace('_', ' '))}</th>"
        for one, kind in zip(cells[0], kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td class='{kind}'>{escape(one)}</td>" for one, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in cells[1:]
    )
    return f"<h4>{caption}</h4><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
