"""Extract the text of PDF and office files, in a separate process.

    python extractor.py KIND FILE MOST_CHARACTERS LIBRARIES...

Such files come from a model, and may be broken or malicious, so the libraries that read them run
separately, with limits; they are imported from the given folders. One line of JSON goes to stdout:
`text`, or `missing` (a library), or `error`. Nothing of our own is imported, so that the process
starts fast.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

UNPACKED = 100 * 2**20
GAP = 20
"""More empty cells or rows in sequence than this are only counted."""


def read_pdf(path: str) -> Iterator[str]:
    """The text of each page."""
    import pypdf

    reader = pypdf.PdfReader(path)
    for number, page in enumerate(reader.pages, 1):
        yield f"[page {number}]\n{page.extract_text()}\n"


def read_xlsx(path: str) -> Iterator[str]:
    """The cells of each sheet, with tabs between them; values, not formulas."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    for sheet in book.worksheets:
        yield f"[sheet {sheet.title}]\n"
        sheet.reset_dimensions()  # otherwise one far-out cell would fill up all rows before it
        empty = 0
        for row in sheet.iter_rows(values_only=True):
            line = "\t".join("" if cell is None else str(cell) for cell in row).rstrip("\t")
            if not line:
                empty += 1
                continue
            yield f"[{empty} empty rows]\n" if empty > GAP else "\n" * empty
            empty = 0
            yield re.sub(rf"\t{{{GAP},}}", lambda run: f"\t[{len(run[0]) - 1} empty cells]\t", line)
            yield "\n"


def read_docx(path: str) -> Iterator[str]:
    """Paragraphs and tables in their order."""
    from docx import Document
    from docx.table import Table

    for part in Document(path).iter_inner_content():
        if isinstance(part, Table):
            for row in part.rows:
                yield "\t".join(cell.text for cell in row.cells) + "\n"
        else:
            yield part.text + "\n"


def read_pptx(path: str) -> Iterator[str]:
    """The texts, tables and notes of each slide."""
    from pptx import Presentation

    for number, slide in enumerate(Presentation(path).slides, 1):
        yield f"[slide {number}]\n"
        shapes: list[Any] = list(slide.shapes)
        for shape in shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text + "\n"
            if shape.has_table:
                for row in shape.table.rows:
                    yield "\t".join(cell.text for cell in row.cells) + "\n"
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield f"[notes] {slide.notes_slide.notes_text_frame.text}\n"


SHEETS, ROWS, COLUMNS, CELL = 12, 100, 30, 300
"""What is shown of a workbook: sheets, rows below the header, columns, characters of a cell."""


def read_grid(path: str) -> Iterator[str]:
    """A workbook as tables, in lines of JSON: the titles, then each sheet's size and its rows.

    A formula is shown where no value was saved for it.
    """
    import openpyxl

    with Path(path).open("rb") as file:  # its name does not say that it is a workbook
        values = openpyxl.load_workbook(file, read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(file, read_only=True)
        titles = [worksheet.title for worksheet in values.worksheets]
        yield json.dumps(titles[:1000]) + "\n"
        for title in titles[:SHEETS]:
            sheet = values[title]
            yield json.dumps({"rows": sheet.max_row, "columns": sheet.max_column}) + "\n"
            bound = {"max_row": ROWS + 2, "max_col": COLUMNS, "values_only": True}
            both = zip(sheet.iter_rows(**bound), formulas[title].iter_rows(**bound), strict=False)
            for row, written in both:
                cells = [_cell_text(*pair) for pair in zip(row, written, strict=False)]
                yield json.dumps(cells) + "\n"


def _cell_text(value: Any, written: Any) -> str:
    found = written if value is None else value
    text = "" if found is None else str(found)
    return text if len(text) <= CELL else f"{text[:CELL]}… ({len(text):,} characters)"


READERS = {
    "pdf": read_pdf,
    "xlsx": read_xlsx,
    "docx": read_docx,
    "pptx": read_pptx,
    "grid": read_grid,
}


def extract_file(kind: str, path: str, most: int) -> dict[str, object]:
    """The text of a file, up to this many characters, and whether there is more."""
    if kind != "pdf":
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > UNPACKED:
            return {"error": f"unpacked it would have {size:,} bytes"}
    pieces: list[str] = []
    length = 0
    for piece in READERS[kind](path):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            return {"text": "".join(pieces)[:most], "more": True}
    return {"text": "".join(pieces), "more": False}


def main() -> None:
    """Read the file named on the command line."""
    kind, path, most, *libraries = sys.argv[1:]
    sys.path += libraries
    warnings.simplefilter("ignore")
    noise = io.StringIO()
    try:
        with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
            answer = extract_file(kind, path, int(most))
    except ModuleNotFoundError as error:
        answer = {"missing": error.name}
    except (Exception, RecursionError) as error:  # noqa: BLE001 -- whatever a library makes of it
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
