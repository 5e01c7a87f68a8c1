"""A value that shows itself: it yields blocks, and each block is a line of text or a piece of HTML.

Values say what they show, and in which order; how it looks, and that every text is escaped, is
said here once. The HTML takes its colours from the page around it, light or dark.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from .text import make_visible

WIDTH = 96
"""Characters of a line of text; a notebook and most terminals have as many."""


class Block(Protocol):
    """A part of what a value shows."""

    def lines(self) -> Iterator[str]:
        """The block as plain text."""
        ...

    def html(self) -> str:
        """The block as HTML, every text escaped."""
        ...


class Shown:
    """A value that shows itself as its blocks: in a notebook as HTML, elsewhere as text."""

    __slots__ = ()

    def _blocks(self) -> Iterator[Block]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(line for block in self._blocks() for line in block.lines())

    def _repr_html_(self) -> str:
        return frame_html("".join(block.html() for block in self._blocks()))

    def _data(self) -> Any:
        """The same for programs: its fields, and its verdict if it has one."""
        fields, verdict = as_plain(self), getattr(self, "verdict", None)
        return fields if verdict is None else {**fields, "verdict": as_plain(verdict)}


def as_plain(value: object) -> Any:
    """A value as JSON has it: the fields of dataclasses, the rows of tables, the items of lists."""
    import msgspec

    def convert_other(other: Any) -> Any:
        if isinstance(other, tuple | list):  # that of a class of ours
            return [as_plain(item) for item in other]
        return as_plain(other.to_dicts()) if hasattr(other, "to_dicts") else str(other)

    return msgspec.to_builtins(value, enc_hook=convert_other, str_keys=True)


def blocks_of(value: Shown) -> Iterator[Block]:
    """What a value shows, for who shows it in another form than text or HTML."""
    return value._blocks()  # noqa: SLF001 -- the other half of `Shown`


@dataclass(frozen=True, slots=True)
class Title:
    r"""What is shown, and softly below it where it lies or how it stands.

    >>> print(*Title("Plan of 3 runs", "ws/iteration-1").lines(), sep="\n")
    Plan of 3 runs
      ws/iteration-1
    """

    text: str
    place: str = ""

    def lines(self) -> Iterator[str]:
        """The title as plain text."""
        yield self.text
        yield from wrap_lines(self.place)

    def html(self) -> str:
        """The title as HTML, every text escaped."""
        place = f"<div class='sen-path'>{escape(self.place)}</div>" if self.place else ""
        return f"<h3>{escape(self.text)}</h3>{place}"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `strong` stands before it in bold, and what is `soft` need not be read first."""

    text: str
    strong: str = ""
    soft: bool = False

    def lines(self) -> Iterator[str]:
        """The text as plain text."""
        yield from wrap_lines(f"{self.strong} {self.text}")

    def html(self) -> str:
        """The text as HTML, every text escaped."""
        strong = f"<b>{escape(self.strong)}</b> " if self.strong else ""
        return f"<p{' class=sen-path' if self.soft else ''}>{strong}{escape(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Mark:
    """A word that stands out, as a cell or before a text: an `error`, `warning` or `info`."""

    kind: str
    word: str
    text: str = ""

    def lines(self) -> Iterator[str]:
        """The mark as plain text."""
        yield from wrap_lines(f"{self.word}: {self.text}", further=2)

    def html(self) -> str:
        """The mark as HTML, every text escaped."""
        return f"<p>{self.pill()} {escape(self.text)}</p>"

    def pill(self) -> str:
        """The word alone, as HTML."""
        return f"<span class='sen-pill sen-{escape(self.kind)}'>{escape(self.word)}</span>"


@dataclass(frozen=True, slots=True)
class Card:
    """A figure and what it counts; `kind` colours its edge."""

    figure: str
    noun: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Cards:
    """Figures beside each other.

    >>> print(*Cards([Card("3", "runs"), Card("1", "eval")]).lines())
      3 runs, 1 eval
    """

    cards: Sequence[Card]

    def lines(self) -> Iterator[str]:
        """The cards as plain text."""
        yield from wrap_lines(", ".join(f"{card.figure} {card.noun}" for card in self.cards))

    def html(self) -> str:
        """The cards as HTML, every text escaped."""
        cards = (
            f"<div class='sen-card sen-{escape(card.kind)}'><b>{escape(card.figure)}</b>"
            f"{escape(card.noun)}</div>"
            for card in self.cards
        )
        return f"<div class='sen-cards'>{''.join(cards)}</div>"


Cell = str | int | Mark | tuple[str, str] | None
"""A text, a figure, a mark, a soft text above another one, or nothing that is known."""


@dataclass(frozen=True, slots=True)
class Table:
    r"""Rows under heads; the columns named in `right` are figures, `more` rows are left out.

    >>> print(*Table(("eval", "runs"), [("a", 12)], right=["runs"]).lines(), sep="\n")
      eval  runs
      a       12
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    right: Iterable[str] = ()
    more: int = 0

    def lines(self) -> Iterator[str]:
        """The table as plain text; nothing if it has no rows."""
        if not self.rows:
            return
        yield from heading_lines(self.caption)
        heads = [list(self.heads)] if any(self.heads) else []
        cells = heads + [[_plain_cell(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        before = sum(widths[:-1]) + 2 * len(widths)
        for row in cells:  # what is last may go over several lines
            last, *rest = textwrap.wrap(row[-1], max(WIDTH - before, 24)) or [""]
            parts = zip([*row[:-1], last], widths, self._figures(), strict=True)
            yield "  " + "  ".join(c.rjust(w) if f else c.ljust(w) for c, w, f in parts).rstrip()
            yield from (" " * before + line for line in rest)
        if self.more > 0:
            yield f"  … and {self.more:,} more"

    def html(self) -> str:
        """The table as HTML, every text escaped; nothing if it has no rows."""
        if not self.rows:
            return ""
        head = self._row(self.heads, "th scope='col'") if any(self.heads) else ""
        body = "".join(self._row(row, "td") for row in self.rows)
        if self.more > 0:
            body += f"<tr><td colspan='{len(self.heads)}'>… and {self.more:,} more</td></tr>"
        return f"{caption(self.caption)}<table><thead>{head}</thead><tbody>{body}</tbody></table>"

    def _figures(self) -> list[bool]:
        return [head in tuple(self.right) for head in self.heads]

    def _row(self, cells: Sequence[Cell], tag: str) -> str:
        kinds = (" class='sen-n'" if figure else "" for figure in self._figures())
        parts = zip(cells, kinds, strict=True)
        return f"<tr>{''.join(f'<{tag}{kind}>{_as_html(c)}</{tag[:2]}>' for c, kind in parts)}</tr>"


def _plain_cell(cell: Cell) -> str:
    match cell:
        case None:
            return "–"
        case Mark():
            return cell.word
        case (above, below):
            return f"{above}: {below}"
        case int():
            return f"{cell:,}"
    return cell


def _as_html(cell: Cell) -> str:
    match cell:
        case Mark():
            return cell.pill()
        case (above, below):
            return f"<span class='sen-path'>{escape(above)}</span><br>{escape(below)}"
        case _:
            return escape(_plain_cell(cell))


@dataclass(frozen=True, slots=True)
class Pairs:
    r"""What something is, by its label.

    >>> print(*Pairs([("skill", "tdd"), ("evals", "3 of 5")]).lines(), sep="\n")
      skill  tdd
      evals  3 of 5
    """

    rows: Sequence[tuple[str, str]]
    caption: str = ""
    code: bool = False

    def lines(self) -> Iterator[str]:
        """The pairs as plain text."""
        yield from heading_lines(self.caption if self.rows else "")
        width = max((len(label) for label, _ in self.rows), default=0)
        for label, content in self.rows:
            first, *rest = wrap_lines(content, width + 4) or [""]
            yield f"  {label.ljust(width)}  {first.lstrip()}".rstrip()
            yield from rest

    def html(self) -> str:
        """The pairs as HTML, every text escaped."""
        label = "<dt><code>{}</code></dt>" if self.code else "<dt>{}</dt>"
        rows = (f"{label.format(escape(a))}<dd>{escape(b)}</dd>" for a, b in self.rows)
        return f"{caption(self.caption)}<dl>{''.join(rows)}</dl>" if self.rows else ""


@dataclass(frozen=True, slots=True)
class Items:
    r"""The lines of a list, numbered or not.

    >>> print(*Items(["first", "second"], "Order", numbered=True, more=3).lines(), sep="\n")
    <BLANKLINE>
      Order
        1 first
        2 second
        … and 3 more
    """

    items: Sequence[str]
    caption: str = ""
    numbered: bool = False
    soft: bool = False
    more: int = 0

    def lines(self) -> Iterator[str]:
        """The list as plain text."""
        yield from heading_lines(self.caption if self.items else "")
        for number, item in enumerate(self.items, 1):
            yield from wrap_lines(f"{number if self.numbered else '-'} {item}", 4, 2)
        if self.more > 0:
            yield f"    … and {self.more:,} more"

    def html(self) -> str:
        """The list as HTML, every text escaped."""
        if not self.items:
            return ""
        tag, kind = "ol" if self.numbered else "ul", " class=sen-path" if self.soft else ""
        items = "".join(f"<li>{escape(item)}</li>" for item in self.items)
        more = f"<p>… and {self.more:,} more</p>" if self.more > 0 else ""
        return f"{caption(self.caption)}<{tag}{kind}>{items}</{tag}>{more}"


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff; nothing if it is empty."""

    text: str

    def lines(self) -> Iterator[str]:
        """The diff as plain text."""
        if self.text:
            yield self.text.rstrip("\n")

    def html(self) -> str:
        """The diff as HTML, every text escaped."""
        return f"<pre>{''.join(map(self._line, self.text.splitlines()))}</pre>" if self.text else ""

    @staticmethod
    def _line(line: str) -> str:
        kinds = {"+": "sen-new", "-": "sen-old", "@": "sen-path"}
        kind = "sen-path" if line.startswith(("+++ ", "--- ")) else kinds.get(line[:1], "")
        return f"<span class='{kind}'>{escape(line)}</span>\n"


def frame_html(inside: str, own: str = "") -> str:
    """HTML, every text in it escaped, with the style sheet of what shows itself.

    Args:
        inside: the HTML.
        own: rules that nothing else has.
    """
    sheet = f"{STYLE.removesuffix('}')}{own}}}"
    return f"<style>{sheet}</style><div class='sen-shown {NO_FORMULAS}'>{inside}</div>"


def reasons_table(pairs: Iterable[tuple[str, str]], caption: str, most: int = 30) -> Table:
    """Every reason once: what became of it, how often, and why."""
    met = Counter(pairs).most_common()
    rows = [(what, times, reason) for (what, reason), times in met[:most]]
    return Table(("what", "times", "reason"), rows, caption, ["times"], len(met) - most)


def wrap_lines(text: str, indent: int = 2, further: int = 0) -> list[str]:
    """A text in lines that fit, indented."""
    first, then = " " * indent, " " * (indent + further)
    words = " ".join(text.split())
    return textwrap.wrap(
        words, WIDTH, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
    )


def heading_lines(text: str) -> list[str]:
    """The head of a part, as lines."""
    return ["", f"  {text}"] if text else []


def caption(text: str) -> str:
    """The head of a part, as HTML."""
    return f"<h4>{escape(text)}</h4>" if text else ""


NO_FORMULAS = "mathjax_ignore tex2jax_ignore"
"""Classes that keep a page from taking what stands between two dollars for a formula."""

# The class stands twice: JupyterLab has rules of its own for tables in outputs.
STYLE = """.sen-shown.sen-shown {
 font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.45;
 max-width:960px;overflow-x:auto;padding:2px 0 6px;
 h3 {margin:0;overflow-wrap:anywhere;font-size:18px;font-weight:600;line-height:1.3}
 h4 {margin:16px 0 4px;font-size:13px;font-weight:600}
 p {margin:8px 0 0}
 ol, ul {margin:4px 0 0;padding-left:20px}
 .sen-path {opacity:.65;overflow-wrap:anywhere}
 .sen-cards {display:flex;flex-wrap:wrap;gap:8px;margin:10px 0 0}
 .sen-card {border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:6px 14px 7px;
  min-width:64px}
 .sen-card b {display:block;font-size:20px;font-weight:600;line-height:1.25;
  font-variant-numeric:tabular-nums}
 .sen-card.sen-error {border-left:4px solid #d0342c}
 .sen-card.sen-warning {border-left:4px solid #e0a11b}
 table {border-collapse:collapse;margin:0;font-size:13px;table-layout:auto}
 tbody tr:nth-child(n) {background:none}
 th, td {text-align:left;vertical-align:top;padding:4px 18px 4px 0;line-height:1.4;
  white-space:normal;border:0;border-bottom:1px solid rgba(128,128,128,.25);
  overflow-wrap:break-word}
 th {font-weight:400;opacity:.65;white-space:nowrap}
 .sen-n.sen-n {text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
 .sen-pill {display:inline-block;border-radius:9px;padding:0 8px;white-space:nowrap}
 .sen-pill.sen-error {background:#c62f28;color:#fff}
 .sen-pill.sen-warning {background:#f2c14e;color:#2b2100}
 .sen-pill.sen-info {border:1px solid rgba(128,128,128,.5)}
 code {font-family:var(--jp-code-font-family,monospace);font-size:12px}
 dl {display:grid;grid-template-columns:max-content auto;gap:3px 18px;margin:4px 0 0}
 dt {opacity:.65;width:auto;float:none}
 dt, dd {margin:0;font-weight:400}
 pre {margin:10px 0 0;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.4}
 .sen-new {background:rgba(0,114,178,.22)}
 .sen-old {background:rgba(230,159,0,.26)}
}"""


# ── a table, or files, as a notebook reads them ──────────────────────────────────────────────

LONG = 48
"""Characters above which a text has room for several words in a line."""
NAME, WORDS = 24, 16
"""Characters of a text that is never broken: without blanks (`with_skill`), and of few words."""

TABLE_STYLE = """
 max-width:none;
 td {white-space:pre-wrap}
 td.sen-long {min-width:20em}
 td.sen-text {min-width:11em}
 td.sen-name {white-space:nowrap}
 ul {margin:0;padding-left:1.2em}
"""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What `show_table` gives: it shows itself in a notebook, and as text elsewhere."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return frame_html(self.html, TABLE_STYLE)

    def __repr__(self) -> str:
        return self.text


def show_table(what: Any, rows: int | None, empty: str) -> Excerpt:
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

    >>> show_table((), 20, "Every query is sound.")
    Every query is sound.
    >>> import polars as pl
    >>> print(show_table(pl.DataFrame({"eval": ["a", "b"], "pass_rate": [0.5, None]}), 1, "None."))
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
        return Excerpt(escape(make_visible(empty)), make_visible(empty))
    shown = table if rows is None else table[:rows]
    lines = [_row_as_line(heads, row) for row in shown]
    html = _html_table(heads, shown) if heads else _html_list(row[0] for row in shown)
    if len(shown) < len(table):
        more = f"{len(shown):,} of {len(table):,} rows; rows=None shows all of them."
        lines.append(more)
        html += f"<div class='sen-path'>{more}</div>"
    return Excerpt(html, "\n".join(lines))


def _row_as_line(heads: Sequence[str], row: Sequence[Any]) -> str:
    texts = [make_visible(_as_text(value)) for value in row]
    if not heads:
        return texts[0]
    return ", ".join(f"{head}: {text}" for head, text in zip(heads, texts, strict=True))


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    numbers = [all(_is_number(row[at]) for row in rows) for at in range(len(heads))]
    head = "".join(
        f"<th scope='col' class='{'sen-n' if number else ''}'>{_break_name(name)}</th>"
        for name, number in zip(heads, numbers, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_table_cell, row, numbers))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _break_name(name: str) -> str:
    """A column's name, which may be broken after each underscore."""
    return escape(name).replace("_", "_<wbr>")


def _table_cell(value: Any, number: bool) -> str:
    text = make_visible(_as_text(value))
    name = "sen-name" if len(text) <= (WORDS if re.search(r"\s", text) else NAME) else "sen-text"
    kind = "sen-n" if number else "sen-long" if len(text) > LONG else name
    return f"<td class='{kind}'>{escape(text)}</td>"


def _html_list(values: Iterable[Any]) -> str:
    return f"<ul>{''.join(f'<li>{_link_as_html(value)}</li>' for value in values)}</ul>"


def _link_as_html(value: Any) -> str:
    text = escape(make_visible(_as_text(value)))
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


def _as_text(value: Any) -> str:
    """A value as people read it.

    >>> [_as_text(value) for value in (None, True, 12345, 0.123456, 1e9, ["a", "b"])]
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
        return "; ".join(map(_as_text, value))
    return str(value)
