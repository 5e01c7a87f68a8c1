"""A report as one HTML file: no script, no outside link, light and dark, ready to print."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import count
from typing import TYPE_CHECKING

from .compose import reported, whole
from .content import Bullets, Cell, Paragraph, Part, Picture, Section, Table, Verdict
from .style import stylesheet
from .svg import inline_svg

if TYPE_CHECKING:
    from ..tables import Workspace

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


PICTURED = 12
"""Benchmarks that a page shows the charts of: each takes some 100 kB and half a second."""

SHORT = 20
"""Characters that are never broken into two lines."""


def html(ws: Workspace) -> str:
    """report.html: what `markdown` says, with the charts as SVG in the page.

    It fetches nothing and runs nothing; every text from a file is escaped.
    """
    return render(whole(ws, reported(ws)))


def render(content: Section) -> str:
    """The page of a section and all inside it."""
    if sum(bool(inner.sections) for inner in content.sections) > PICTURED:
        content = _with_few_pictures(content)
    body = "\n".join(_section(content, 1, count(1)))
    return _PAGE.format(title=escape(content.heading), style=stylesheet(), body=body)


def _section(section: Section, level: int, numbers: Iterator[int]) -> Iterator[str]:
    """The lines of a section; the first level stands in `main` by itself."""
    number = next(numbers)
    yield f'<section id="s{number}">' if level > 1 else '<header id="s1">'
    yield f"<h{level}>{escape(section.heading)}</h{level}>"
    yield from (_part(part, f"s{number}p{place}") for place, part in enumerate(section.parts))
    if level == 1:
        yield from _contents(section)
        yield "</header>"
    for inner in section.sections:
        yield from _section(inner, min(level + 1, 6), numbers)
    if level > 1:
        yield "</section>"


def _with_few_pictures(whole: Section) -> Section:
    """A page of many benchmarks, with no pictures but those that stand before them all."""
    said = Paragraph(
        f"On a page of more than {PICTURED} benchmarks the charts of each are left out. "
        "A report of a single one has its charts."
    )
    return Section(whole.heading, (*whole.parts, said), tuple(map(_plain, whole.sections)))


def _plain(of: Section) -> Section:
    parts = tuple(part for part in of.parts if not isinstance(part, Picture))
    return Section(of.heading, parts, tuple(map(_plain, of.sections)))


def _contents(whole: Section) -> Iterator[str]:
    """Links to the parts of a page that holds several benchmarks."""
    if not any(inner.sections for inner in whole.sections):
        return
    yield '<nav aria-label="Contents"><ul>'
    number = 2
    for inner in whole.sections:
        yield f'<li><a href="#s{number}">{escape(inner.heading)}</a></li>'
        number += 1 + len(inner.sections)
    yield "</ul></nav>"


def _part(part: Part, name: str) -> str:
    match part:
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Verdict(says, because):
            return f'<p class="verdict"><strong>{escape(says)}</strong> {escape(because)}</p>'
        case Bullets(items):
            return "<ul>" + "".join(f"\n<li>{escape(item)}</li>" for item in items) + "\n</ul>"
        case Table():
            return _table(part)
        case Picture():
            return f"<figure>\n{inline_svg(part.draw(), part.alt, name)}\n</figure>"


def _table(table: Table) -> str:
    classes = [_class(place, table) for place in range(len(table.header))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>'
        for kind, cell in zip(classes, table.header, strict=True)
    )
    rows = "\n".join(f"<tr>{_row(row, classes)}</tr>" for row in table.rows)
    caption = escape(table.caption)
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">'
        f"<table>\n<caption>{caption}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _row(row: tuple[Cell, ...], classes: list[str]) -> str:
    first, *rest = (f"{kind}>{_cell(cell)}" for kind, cell in zip(classes, row, strict=True))
    return f'<th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in rest)


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return escape(cell.shown) + ("" if cell.n is None else f" <small>n = {cell.n:,}</small>")


def _class(place: int, table: Table) -> str:
    """The class of a column: figures, or texts that are too short to be broken."""
    if place >= table.labels:
        return ' class="figure"'
    texts = (_cell(row[place]) for row in table.rows)
    return ' class="short"' if all(len(text) <= SHORT for text in texts) else ""
