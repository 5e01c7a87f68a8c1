"""Text as it is, bounded."""

from __future__ import annotations

from skill_eval_nb.widgets.panel import Child

from ..saying import body, first, line, plain, soft
from ..sheet import Sheet
from .reading import Reading, read

LINES = 1_000
"""Lines that are shown at most."""
CHARS = 40_000
"""Characters that are shown at most."""


def draw(sheet: Sheet) -> Child:
    """The text of a file."""
    reading = read(sheet.file)
    text, said = bounded(reading)
    return [notes(reading, said), body(text, label=f"text of {line(sheet.file.name)}")]


def notes(reading: Reading, said: str | None) -> Child:
    """What is to be known of a text that is shown."""
    told = [one for one in (reading.note, said) if one]
    return [soft(f"{one[0].upper()}{one[1:]}.") for one in told]


def bounded(reading: Reading) -> tuple[str, str | None]:
    """So much of a text as is shown, and what that is; None where it is all."""
    text = plain(reading.text)
    lines = text.split("\n", LINES)
    if len(lines) > LINES and lines[LINES]:
        shown = "\n".join(lines[:LINES])
        if len(shown) <= CHARS:
            return shown, _of_lines(LINES, reading.lines)
    if len(text) > CHARS:
        many = f"{len(text):,}" if reading.whole else f"more than {len(text):,}"
        head = text[:CHARS]
        at = f", in {reading.lines:,} lines" if reading.lines and reading.lines > 1 else ""
        return head, f"The first {CHARS:,} of {many} characters{at}"
    return text, None if reading.whole else _of_lines(text.count("\n"), reading.lines)


def _of_lines(shown: int, all_: int | None) -> str:
    return f"The first {shown:,} lines of very many" if all_ is None else first(shown, all_, "line")
