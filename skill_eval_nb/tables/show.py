"""`show`: a table as a notebook reads it, whole texts and as many rows as asked for; or files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skill_eval_nb.text import visible
from skill_eval_nb.view import framed

LONG = 48
"""Characters above which a text has room for several words in a line."""

STYLE = """
 max-width:none;
 td {white-space:pre-wrap}
 td.sen-long {min-width:20em}
 ul {margin:0;padding-left:1.2em}
"""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What `show` gives: it shows itself in a notebook, and as text elsewhere."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return framed(self.html, STYLE)

    def __repr__(self) -> str:
        return self.text


def show(what: Any, rows: int | None = 20, *, empty: str = "There is nothing to show.") -> Excerpt:
    """Show a table with its texts whole, or files as links.

    A null is a dash, a flag yes or no, a number has four digits; a list of texts is joined by
    `; `. Below the first rows it says how many there are.

    Args:
        what: a table in polars or pandas; else a path or a sequence, of which paths become links
            that a notebook in the working folder can open.
        rows: so many are shown; all of them where None.
        empty: what to say where there is none.

    Raises:
        TypeError: for what is neither a table nor a sequence.

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
    lines = [_line(heads, row) for row in shown]
    html = _html_table(heads, shown) if heads else _html_list(row[0] for row in shown)
    if len(shown) < len(table):
        more = f"{len(shown):,} of {len(table):,} rows; rows=None shows all of them."
        lines.append(more)
        html += f"<div class='sen-path'>{more}</div>"
    return Excerpt(html, "\n".join(lines))


def _line(heads: Sequence[str], row: Sequence[Any]) -> str:
    texts = [visible(_text(value)) for value in row]
    if not heads:
        return texts[0]
    return ", ".join(f"{head}: {text}" for head, text in zip(heads, texts, strict=True))


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    numbers = [all(_is_number(row[at]) for row in rows) for at in range(len(heads))]
    head = "".join(
        f"<th scope='col' class='{'sen-n' if number else ''}'>{escape(name)}</th>"
        for name, number in zip(heads, numbers, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, numbers))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any, number: bool) -> str:
    text = visible(_text(value))
    kind = "sen-n" if number else "sen-long" if len(text) > LONG else ""
    return f"<td class='{kind}'>{escape(text)}</td>"


def _html_list(values: Iterable[Any]) -> str:
    return f"<ul>{''.join(f'<li>{_linked(value)}</li>' for value in values)}</ul>"


def _linked(value: Any) -> str:
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
