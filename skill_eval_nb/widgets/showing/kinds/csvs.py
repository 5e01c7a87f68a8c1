"""CSV and TSV as a table."""

from __future__ import annotations

import csv
import io
from itertools import islice

from skill_eval_nb.widgets.panel import Child

from ..saying import line
from ..sheet import NotDrawn, Sheet
from .grid import COLUMNS, ROWS, bounds, grid
from .reading import Reading, read
from .texts import notes

_DELIMITERS = ",;\t|"
_LOOKED_AT = 20_000
_MOST_FIELD = 2**24


def draw(sheet: Sheet) -> Child:
    """The first rows of a file."""
    reading = read(sheet.file)
    delimiter = "\t" if sheet.file.suffix == "tsv" else delimiter_of(reading.text)
    csv.field_size_limit(_MOST_FIELD)
    rows = csv.reader(io.StringIO(reading.text, newline=""), delimiter=delimiter)
    try:
        shown = list(islice((row for row in rows if row), ROWS + 1))
        rest = sum(1 for row in rows if row) if reading.whole else None
    except csv.Error as error:
        raise NotDrawn(f"it is no table: {error}") from None
    if not shown:
        raise NotDrawn("there are no rows in it")
    wide = max(map(len, shown))
    total = None if rest is None else len(shown) - 1 + rest
    return [
        notes(reading, _lines(reading)),
        bounds(len(shown) - 1, total, wide),
        grid([row[:COLUMNS] for row in shown], label=f"rows of {line(sheet.file.name)}"),
    ]


def _lines(reading: Reading) -> str | None:
    many = "very many" if reading.lines is None else f"{reading.lines:,}"
    return None if reading.whole else f"The file has {many} lines"


def delimiter_of(text: str) -> str:
    r"""What stands between the columns: the mark that the lines agree on.

    >>> delimiter_of("a;b\n1,5;2\n"), delimiter_of("a,b\n"), delimiter_of("a\n")
    (';', ',', ',')
    """
    lines = [one for one in text[:_LOOKED_AT].splitlines()[:20] if one]
    best = ","
    most = 0
    for mark in _DELIMITERS:
        counts = [one.count(mark) for one in lines]
        same = min(counts, default=0) if len(set(counts[:5])) <= 1 else 0
        if same > most:
            best, most = mark, same
    return best
