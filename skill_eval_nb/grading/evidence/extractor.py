"""Extract the text of PDF and office files, and check large pictures, in a separate process.

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
import struct
import sys
import warnings
import zipfile
import zlib
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


IMAGE_SIDE = 8000
"""Pixels: the API refuses larger pictures."""
_PNG_HEAD = struct.Struct(">16xIIBB")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Values per pixel, by a PNG's colour type."""


def weight(data: bytes, kind: str) -> int:
    """Bytes that a picture unpacks to, by its header; 0 for kinds that are not unpacked here.

    >>> head = bytes(8) + struct.pack(">I4sIIBB", 13, b"IHDR", 100, 10, 8, 6)
    >>> weight(head, "png"), weight(b"GIF89a", "gif")
    (4010, 0)
    """
    if kind != "png" or len(data) < _PNG_HEAD.size or data[12:16] != b"IHDR":
        return 0
    width, height, depth, colours = _PNG_HEAD.unpack_from(data)
    if max(width, height) > IMAGE_SIDE:  # it is refused for its size anyway
        return 0
    return height * (1 + -(-width * depth * _CHANNELS.get(colours, 4) // 8))


def png_size(data: bytes) -> tuple[int, int]:
    """The size of a PNG in pixels, after checking all of it.

    Raises:
        ValueError, struct.error, zlib.error: it is damaged.
    """
    position, size, packed = 8, None, []
    while position < len(data):
        length, name = struct.unpack(">I4s", data[position : position + 8])
        body = data[position + 8 : position + 8 + length]
        (check,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        if zlib.crc32(name + body) != check:
            raise ValueError("a checksum is wrong")
        if name == b"IHDR":
            size = struct.unpack(">II", body[:8])
            if max(size) > IMAGE_SIDE:
                return size
        elif name == b"IDAT":
            packed.append(body)
        elif name == b"IEND":
            if size is None or not packed:
                raise ValueError("it has no content")
            # The seven passes of an interlaced PNG have more rows, each with one extra byte.
            _unpack_png(packed, weight(data, "png") + 8 * (size[0] + size[1]) + 4096)
            return size
        position += 12 + length
    raise ValueError("it is cut off")


def _unpack_png(packed: list[bytes], most: int) -> None:
    """Check that the content is complete, in steps, so that a small file cannot fill memory."""
    unpacking = zlib.decompressobj()
    for part in packed:
        rest = part
        while rest:
            most -= len(unpacking.decompress(rest, 2**20))
            rest = unpacking.unconsumed_tail
            if most < 0:
                raise ValueError("it unpacks to more than its size")
    if not unpacking.eof:
        raise ValueError("it is cut off")


def check_png(path: str) -> Iterator[str]:
    """The size of a picture, after checking it."""
    yield str(png_size(Path(path).read_bytes()))


READERS = {
    "pdf": read_pdf,
    "xlsx": read_xlsx,
    "docx": read_docx,
    "pptx": read_pptx,
    "grid": read_grid,
    "png": check_png,
}


def extract_file(kind: str, path: str, most: int) -> dict[str, object]:
    """The text of a file, up to this many characters, and whether there is more."""
    if kind not in ("pdf", "png"):
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
