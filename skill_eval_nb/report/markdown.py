"""A report as Markdown (CommonMark with GitHub's tables); pictures are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .compose import reported, whole
from .content import Bullets, Cell, Paragraph, Part, Picture, Section, Table, Verdict

if TYPE_CHECKING:
    from ..tables import Workspace

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKS = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_OPENS_BLOCK = re.compile(r"^(#|[-+=](?=\s|[-+=]|$)|\d+(?=[.)](?:\s|$)))|#$")


def markdown(ws: Workspace) -> str:
    """benchmark.md: the table that people know, then what stands behind it.

    Every text from a file is escaped, so it can neither break a table nor be taken for HTML.

    >>> from skill_eval_nb.tables import Workspace
    >>> print(markdown(Workspace.from_tables({})))
    # Nothing to report
    <BLANKLINE>
    No run, no benchmark.json and no eval was found.
    <BLANKLINE>
    """
    return render(whole(ws, reported(ws)))


def render(content: Section) -> str:
    """The Markdown of a section and all inside it, ending in one line end."""
    return "\n\n".join(_blocks(content, 1)) + "\n"


def escape(text: str) -> str:
    r"""Any text so that Markdown shows it as it is, on one line.

    HTML is escaped as entities, since not every reader of Markdown knows ``\<``.

    >>> print(escape("# a|b <i> `c` with_skill *d*"))
    \# a\|b &lt;i&gt; \`c\` with_skill \*d\*
    """
    marked = _MARKS.sub(r"\\\g<0>", " ".join(text.split()))
    opened = _OPENS_BLOCK.sub(
        lambda found: found[0] + "\\" if found[0].isdigit() else "\\" + found[0], marked
    )
    return opened.translate(_ENTITIES)


def _blocks(section: Section, level: int) -> list[str]:
    """The blocks of a section; none where it has nothing that Markdown shows."""
    below = [text for part in section.parts if (text := _part(part))]
    for inner in section.sections:
        below += _blocks(inner, min(level + 1, 6))
    return [f"{'#' * level} {escape(section.heading)}", *below] if below or level == 1 else []


def _part(part: Part) -> str:
    match part:
        case Paragraph(text):
            return escape(text)
        case Verdict(says, because):
            return f"**{escape(says)}** {escape(because)}"
        case Bullets(items):
            return "\n".join(f"- {escape(item)}" for item in items)
        case Table():
            return f"{escape(part.caption)}:\n\n{_table(part)}"
        case Picture():
            return ""


def _table(table: Table) -> str:
    rows = [[_cell(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    ruler = [
        "-" * width if index < table.labels else "-" * (width - 1) + ":"
        for index, width in enumerate(widths)
    ]
    return "\n".join(
        "| "
        + " | ".join(
            cell.ljust(width) if index < table.labels else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in (rows[0], ruler, *rows[1:])
    )


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return escape(cell.shown) + ("" if cell.n is None else f" (n = {cell.n:,})")
