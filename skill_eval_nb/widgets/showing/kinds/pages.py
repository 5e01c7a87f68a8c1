"""HTML in a frame that runs nothing and fetches nothing, and how it is written."""

from __future__ import annotations

from skill_eval_nb.widgets.panel import Child, h

from ..saying import line, soft
from ..sheet import Sheet
from .code import source
from .reading import whole_text
from .texts import bounded, notes


def draw(sheet: Sheet) -> Child:
    """A page, as the browser draws it without scripts and without a network."""
    file = sheet.file
    reading = whole_text(file)
    text, said = bounded(reading)
    title = f"{line(file.name)}, as a page"
    data = reading.text.encode("utf-8", "replace")
    frame = sheet.offer("as a page", lambda: (data, "text/html"), loads=len(data))
    return [
        notes(reading, None),
        h("iframe", blob=frame, title=title),
        soft("Without its scripts, and without anything that it would fetch."),
        h(
            "details",
            h("summary", "As it is written", cls="sen-soft sen-small"),
            None if said is None else soft(said, "."),
            source(text, "html", label=f"source of {line(file.name)}"),
        ),
    ]
