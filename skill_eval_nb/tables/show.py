"""A workspace at a glance; a table as a notebook reads it, whole texts and all rows wanted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skill_eval_nb.text import count, some, visible
from skill_eval_nb.view import Block, Card, Cards, Mark, Pairs, Table, Text, Title, frame_html
from skill_eval_nb.workspace import NO_ITERATION, UNSTATED, natural

if TYPE_CHECKING:
    import polars as pl


LONG = 48
"""Characters above which a text has room for several words in a line."""
NAME, WORDS = 24, 16
"""Characters of a text that is never broken: without blanks (`with_skill`), and of few words."""

STYLE = """
 max-width:none;
 td {white-space:pre-wrap}
 td.sen-long {min-width:20em}
 td.sen-text {min-width:11em}
 td.sen-name {white-space:nowrap}
 ul {margin:0;padding-left:1.2em}
"""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What `show` gives: it shows itself in a notebook, and as text elsewhere."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return frame_html(self.html, STYLE)

    def __repr__(self) -> str:
        return self.text


def show(what: Any, rows: int | None = 20, *, empty: str = "There is nothing to show.") -> Excerpt:
    """Show a table with its full texts, or files as links.

    A null is a dash, a flag is yes or no, a number has four digits, and a list of texts is
    joined by `; `. Below the rows it says how many there are in all.

    Args:
        what: a table in polars or pandas; or a path or a sequence, whose paths become links that
            a notebook in the working folder can open.
        rows: how many to show; None for all.
        empty: what to say if there are no rows.

    Raises:
        TypeError: if it is neither a table nor a sequence.

    >>> show((), empty="Every query is sound.")
    Every query is sound.
    >>> import polars as pl
    >>> print(show(pl.DataFrame({"eval": ["a", "b"], "pass_rate": [0.5, None]}), rows=1))
    eval: a, pass_rate: 0.5
    1 of 2 rows; rows=None shows all of them.
    """
    if isinstance(what, str | Path):
        what = [what]
    if isinstance(what, Sequence):
        heads, table = [], [[value] for value in what]
    else:
        import narwhals as nw

        frame = nw.from_native(what, eager_only=True)
        heads, table = frame.columns, [list(row) for row in frame.to_polars().iter_rows()]
    if not table:
        return Excerpt(escape(visible(empty)), visible(empty))
    shown = table if rows is None else table[:rows]
    lines = [_row_as_line(heads, row) for row in shown]
    html = _html_table(heads, shown) if heads else _html_list(row[0] for row in shown)
    if len(shown) < len(table):
        more = f"{len(shown):,} of {len(table):,} rows; rows=None shows all of them."
        lines.append(more)
        html += f"<div class='sen-path'>{more}</div>"
    return Excerpt(html, "\n".join(lines))


def _row_as_line(heads: Sequence[str], row: Sequence[Any]) -> str:
    texts = [visible(_text(value)) for value in row]
    if not heads:
        return texts[0]
    return ", ".join(f"{head}: {text}" for head, text in zip(heads, texts, strict=True))


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    numbers = [all(_is_number(row[at]) for row in rows) for at in range(len(heads))]
    head = "".join(
        f"<th scope='col' class='{'sen-n' if number else ''}'>{_breakable(name)}</th>"
        for name, number in zip(heads, numbers, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, numbers))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _breakable(name: str) -> str:
    """A column's name, which may be broken after each underscore."""
    return escape(name).replace("_", "_<wbr>")


def _cell(value: Any, number: bool) -> str:
    text = visible(_text(value))
    name = "sen-name" if len(text) <= (WORDS if re.search(r"\s", text) else NAME) else "sen-text"
    kind = "sen-n" if number else "sen-long" if len(text) > LONG else name
    return f"<td class='{kind}'>{escape(text)}</td>"


def _html_list(values: Iterable[Any]) -> str:
    return f"<ul>{''.join(f'<li>{_link_as_html(value)}</li>' for value in values)}</ul>"


def _link_as_html(value: Any) -> str:
    text = escape(visible(_text(value)))
    if not isinstance(value, Path):
        return text
    try:
        target = Path(os.path.relpath(value)).as_posix()
    except ValueError:  # on another drive
        return text
    link = escape(quote(os.fsencode(target)))
    return f"<a href='{link}' target='_blank' rel='noopener'>{text}</a>"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _text(value: Any) -> str:
    """A value as people read it.

    >>> [_text(value) for value in (None, True, 12345, 0.123456, 1e9, ["a", "b"])]
    ['–', 'yes', '12,345', '0.1235', '1,000,000,000', 'a; b']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return "; ".join(map(_text, value))
    return str(value)


STATUSES = ("graded", "gated", "executed", "errored", "ungraded")
SEVERITIES = ("error", "warning", "info")
MOST_LINES = 12
"""More workspaces or kinds of problems than these are counted, not listed."""
MOST_ITERATIONS, MOST_CONFIGURATIONS = 3, 6
"""Of more than these only the first and the last are named."""


def show_overview(path: str, table: Mapping[str, pl.DataFrame]) -> Iterator[Block]:
    """What is shown of a workspace: errors first, then what is there, and what to do with it."""
    lines, runs = _workspace_lines(table), table["runs"]
    skills = list(dict.fromkeys(line["skill"] for line in lines))
    title = f"{'Skill' if len(skills) == 1 else 'Skills'} {some(skills)}"
    yield Title(title if skills else "Nothing here", path)
    severities = dict(table["problems"]["severity"].value_counts().iter_rows())
    counts = [
        (severities.get("error", 0), "error"),
        (severities.get("warning", 0), "warning"),
        (len(lines) if len(lines) > 1 else 0, "workspace"),
        (sum(len(line["iterations"]) for line in lines), "iteration"),
        (len({name for line in lines for name in line["configurations"]}), "configuration"),
        (sum(line["evals"] for line in lines), "eval"),
    ]
    cards = [
        Card(f"{number:,}", count(number, noun).partition(" ")[2], noun)
        for number, noun in counts
        if number
    ]
    if n := runs.height:
        noun = count(n, "run").partition(" ")[2]
        cards.append(Card(f"{n:,}", f"{noun} ({_list_statuses(runs)})"))
    if cards:
        yield Cards(cards)
    heads = ("workspace", "skill", "iterations", "configurations", "evals", "runs")
    rows = [
        (
            line["workspace"],
            line["skill"],
            _names(line["iterations"], MOST_ITERATIONS),
            _names(line["configurations"], MOST_CONFIGURATIONS),
            line["evals"],
            line["runs"] or "none yet",
        )
        for line in lines[:MOST_LINES]
    ]
    yield Table(heads, rows, "What is here", ["evals"], len(lines) - MOST_LINES)
    yield Pairs(list(_next_steps(table)), "Look at next", code=True)
    kinds = _kinds(table["problems"])
    yield Table(
        ("severity", "code", "times", "the first one"),
        kinds[:MOST_LINES],
        "Problems",
        ["times"],
        len(kinds) - MOST_LINES,
    )
    if heights := [f"ws.{name} {frame.height:,}" for name, frame in table.items() if frame.height]:
        yield Text(", ".join(heights), "Tables and their rows:", soft=True)


def _workspace_lines(table: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """A line a workspace that some table speaks of, the one with most graded runs first."""
    skills = {
        workspace: skill
        for frame in table.values()
        if "skill" in frame.columns
        for workspace, skill in frame.select("workspace", "skill")
        .unique(maintain_order=True)
        .rows()
    }
    runs, evals = table["runs"], table["evals"]
    lines: list[dict[str, Any]] = []
    for name in sorted(skills, key=natural):
        mine, defined = (frame.filter(frame["workspace"] == name) for frame in (runs, evals))
        lines.append(
            {
                "workspace": name,
                "skill": skills[name],
                "iterations": sorted(set(mine["iteration"]) - {NO_ITERATION}, key=natural),
                "configurations": mine["configuration"].unique(maintain_order=True).to_list(),
                "evals": len({*mine["eval_id"], *defined["eval_id"]}),
                "runs": _list_statuses(mine),
                "weight": (-mine["status"].is_in(STATUSES[:2]).sum(), -mine.height),
            }
        )
    # otherwise they stay in the order of their names
    return sorted(lines, key=lambda line: line["weight"])


def _list_statuses(runs: pl.DataFrame) -> str:
    counts = dict(runs["status"].value_counts().iter_rows())
    return ", ".join(f"{counts[one]:,} {one}" for one in STATUSES if one in counts)


def _kinds(problems: pl.DataFrame) -> list[tuple[Mark, str, int, tuple[str, str]]]:
    """The kinds of problems, errors first: severity, code, how often, and the first one."""
    groups = problems.group_by("severity", "code", maintain_order=True)
    kinds = [
        (str(severity), str(code), group.height, (group["path"][0], group["message"][0]))
        for (severity, code), group in groups
    ]
    kinds.sort(key=lambda kind: (SEVERITIES.index(kind[0]), -kind[2], kind[1]))
    return [(Mark(kind[0], kind[0]), *kind[1:]) for kind in kinds]


def _next_steps(table: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, str]]:
    """Code to run next, and why; errors first."""
    runs, problems = table["runs"], table["problems"]
    if errors := problems.filter(problems["severity"] == "error").height:
        yield "ws.problems", f"{count(errors, 'thing')} on disk could not be used"
    waiting = runs.filter(runs["status"].is_in(["executed", "errored", "ungraded"])).height
    if waiting:
        has, enter = ("has", "it enters") if waiting == 1 else ("have", "they enter")
        yield "ws.runs", f"{count(waiting, 'run')} {has} no grading: {enter} no rate"
    sides = set(runs["configuration"]) - {UNSTATED}
    if len(sides) > 1:
        yield "sen.charts.forest(ws)", "what the skill changes, and how sure that is"
    elif runs.height:
        all_of = f"every run is of {sides.pop()}" if sides else "no run names its configuration"
        yield "ws.runs", f"{all_of}: without a baseline nothing can be compared"
    for name, code, why in _STEPS:
        if table[name].height:
            yield code, why
    if not runs.height and table["evals"].height:
        yield "ws.evals", "there are evals here, and no runs yet"


_STEPS = (
    ("rubric_scores", "sen.charts.variance_components(ws)", "which dimensions vary, and why"),
    ("expectations", "sen.charts.discrimination(ws)", "which expectations tell something"),
    ("stated", "sen.stats.audit(ws)", "whether benchmark.json says what its runs give"),
)
"""A table, what to look at if it has rows, and why."""


def _names(names: Sequence[str], most: int) -> str:
    """Names in order, or the first and the last of many.

    >>> _names(["a", "b"], 2), _names(["a", "b", "c"], 2)
    ('a, b', 'a … c (3)')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names):,})"
