"""Notebooks: their text, their code, and what it put out."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

from skill_eval_nb.widgets.panel import Child, h
from skill_eval_nb.widgets.panel.blobs import Bytes

from ..found import OutputFile
from ..saying import body, first, line, soft
from ..sheet import NotDrawn, Sheet
from .code import source
from .markdown import rendered
from .reading import Reading, lines_in, whole_text
from .texts import bounded, notes

CELLS = 100
"""Cells that are shown at most."""
CHARS = 60_000
"""Characters of all cells that are shown at most."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def draw(sheet: Sheet) -> Child:
    """The cells of a notebook."""
    reading = whole_text(sheet.file)
    notebook = _parsed(reading.text)
    language = _language(notebook.get("metadata"))
    drawn = Cells(sheet, language)
    shown = []
    for number, cell in enumerate(notebook["cells"][:CELLS]):
        if drawn.left <= 0:
            break
        shown.append(h("div", list(drawn.cell(number, cell)), cls="sen-cell"))
    all_cells = len(notebook["cells"])
    said = first(len(shown), all_cells, "cell") if len(shown) < all_cells else None
    return [notes(reading, said), h("div", shown, cls="sen-notebook")]


def _parsed(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is no notebook: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise NotDrawn("it is no notebook: it has no list of cells")
    return raw


def _language(metadata: Any) -> str:
    told = metadata if isinstance(metadata, dict) else {}
    info = told.get("language_info")
    found = info.get("name") if isinstance(info, dict) else None
    return found if isinstance(found, str) else "python"


class Cells:
    """Cells on their way to be seen, and the room that is left for them."""

    def __init__(self, sheet: Sheet, language: str) -> None:
        self.left = CHARS
        self._sheet = sheet
        self._language = language

    def cell(self, number: int, cell: Any) -> Iterator[Child]:
        """One cell."""
        if not isinstance(cell, dict):
            yield soft(f"Cell {number + 1} is damaged.")
            return
        written = self._bounded(_text(cell.get("source")))
        kind = cell.get("cell_type")
        if kind == "markdown":
            yield rendered(written)
        elif kind == "code":
            yield source(written, self._language, label=f"cell {number + 1}")
        else:
            yield body(written, label=f"cell {number + 1}")
        outputs = cell.get("outputs")
        for place, output in enumerate(outputs if isinstance(outputs, list) else []):
            if isinstance(output, dict):
                yield self._output(number, place, output)

    def _bounded(self, text: str) -> str:
        room, self.left = self.left, self.left - len(text)
        shown, said = bounded(Reading(text[: max(room, 0)], len(text) <= room, lines_in(text)))
        return shown if said is None else f"{shown}\n[… {said}]"

    def _output(self, number: int, place: int, output: dict[str, Any]) -> Child:
        label = f"output of cell {number + 1}"
        if output.get("output_type") == "error":
            trace = output.get("traceback")
            told = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
            said = told or f"{output.get('ename')}: {output.get('evalue')}"
            return body(self._bounded(_COLOURS.sub("", said)), label=label)
        if "text" in output:
            return body(self._bounded(_COLOURS.sub("", _text(output["text"]))), label=label)
        data = output.get("data")
        if not isinstance(data, dict):
            return None
        return self._picture(number, place, data) or self._words(data, label)

    def _picture(self, number: int, place: int, data: dict[str, Any]) -> Child:
        form = next((one for one in PICTURES if one in data), None)
        if form is None:
            return None
        coded = _text(data[form])
        file = self._sheet.file
        blob = self._sheet.offer(
            f"cell {number} {place}",
            lambda: _bytes(file, number, place, form),
            loads=len(coded),
        )
        words = line(_text(data.get("text/plain"))[:100]) or f"picture of cell {number + 1}"
        return h("img", blob=blob, alt=words)

    def _words(self, data: dict[str, Any], label: str) -> Child:
        if "text/markdown" in data:
            return rendered(self._bounded(_text(data["text/markdown"])))
        if "text/plain" in data:
            others = [str(kind) for kind in data if kind != "text/plain"]
            also = soft(f"Also as {line(', '.join(others))[:200]}, which is not drawn.")
            text = body(self._bounded(_text(data["text/plain"])), label=label)
            return [text, also if others else None]
        kind, value = next(iter(data.items()), ("nothing", ""))
        shown = value if isinstance(value, str | list) else json.dumps(value)[:CHARS]
        text = body(self._bounded(_text(shown)), label=label)
        return [soft(f"As it is written ({line(kind)[:80]}):"), text]


def _bytes(file: OutputFile, number: int, place: int, form: str) -> Bytes:
    """A picture, read again from its notebook: it is not kept."""
    text = _text(_parsed(whole_text(file).text)["cells"][number]["outputs"][place]["data"][form])
    if form == "image/svg+xml":
        return text.encode("utf-8", "replace"), form
    try:
        return base64.b64decode(text), form
    except binascii.Error as error:
        raise OSError(0, f"its picture is damaged: {error}") from None


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
