"""How a change shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from skill_eval_nb.look import framed
from skill_eval_nb.stats.phrases import count

if TYPE_CHECKING:
    from .change import Change

STYLE = """
 p {margin:8px 0 0}
 pre {margin:10px 0 0;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.4}
 .sen-new {background:rgba(0,114,178,.22)}
 .sen-old {background:rgba(230,159,0,.26)}
 .sen-where {opacity:.65}
"""

CLASSES = {"+": "sen-new", "-": "sen-old", "@": "sen-where"}
"""Of the lines of a diff, by their first character."""


def text(change: Change) -> str:
    """A change as plain text, the diff at its end."""
    told = [f"  {line}" for line in (*notes(change), *results(change))]
    return "\n".join([headline(change), *told, change.diff]).rstrip("\n")


def html(change: Change) -> str:
    """A change for a notebook; every text from files is escaped."""
    told = (headline(change), *notes(change), *results(change))
    rows = "".join(f"<p>{escape(line)}</p>" for line in told)
    head, body = change.diff.split("\n")[:2], change.diff.split("\n")[2:-1]
    lines = "".join(f"<span class='sen-where'>{escape(line)}</span>\n" for line in head if line)
    lines += "".join(map(_line, body))
    inside = (
        f"<h3>{escape(change.path.name)}</h3>"
        f"<div class='sen-path'>{escape(str(change.path))}</div>{rows}"
        f"{f'<pre>{lines}</pre>' if lines else ''}"
    )
    return framed("sen-change", inside, STYLE)


def headline(change: Change) -> str:
    """How many drafts are in it and how many lines it changes, in a sentence."""
    lines = change.diff.split("\n")[2:]
    new, old = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    drafts = len(change.applied) + len(change.refused)
    state = "written" if change.written is not None else "not written yet"
    return (
        f"{len(change.applied)} of {count(drafts, 'draft')} in {change.path.name}: "
        f"{count(new, 'line')} new, {count(old, 'line')} gone; {state}"
    )


def notes(change: Change) -> Iterator[str]:
    """What is to be known of a change besides its diff, a line each."""
    for key, why in change.refused.items():
        yield f"{key} is refused: {why}"
    for one in change.problems:
        yield f"{one.severity} at {one.where or '$'}: {one.message}"


def results(change: Change) -> Iterator[str]:
    """What was written, a line each; nothing before it was."""
    written = change.written
    if written is None:
        return
    if written.kept is not None:
        yield f"the old file is {written.kept}"
    if written.iteration is not None:
        yield f"{written.iteration} is ready for the next runs"
    if written.why:
        yield f"no iteration was prepared: {written.why}"


def _line(line: str) -> str:
    style = CLASSES.get(line[:1], "")
    return f"<span class='{style}'>{escape(line)}</span>\n" if style else f"{escape(line)}\n"
