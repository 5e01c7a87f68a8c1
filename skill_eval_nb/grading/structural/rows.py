"""`row_count` and `csv_valid`: tables as text."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from skill_eval_nb.disk import LARGEST

from .content import Content
from .presence import compare
from .verdict import Verdict, counted, failed, listed, passed, quoted, shown, unscored

ENDINGS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson")
"""Files that are taken for tables where nothing names one."""

_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its header, how many rows lie below it, and what is wrong with it, if anything."""

    name: str
    header: tuple[str, ...]
    n_rows: int
    fault: str | None

    @property
    def told(self) -> str:
        """How many rows it has."""
        below = " below the header" if self.header else ""
        return f"{shown(self.name)} has {counted(self.n_rows, 'row')}{below}"


def read_table(name: str, content: Content) -> Table:
    """Read a table: CSV with a header, its fields between commas, semicolons, tabs or bars.

    Blank lines are no rows. Of a file of JSON lines each line is a row.
    """
    if content.binary:
        return Table(name, (), 0, "it is a binary file")
    csv.field_size_limit(LARGEST)  # of the process: what others allow would fail a table
    text = content.text
    if name.lower().endswith((".jsonl", ".ndjson")):
        return Table(name, (), sum(1 for line in text.split("\n") if line.strip()), None)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_delimiter(name, text), strict=True
    )
    header: tuple[str, ...] = ()
    n_rows, fault = 0, None
    try:
        for row in reader:
            if not row:
                continue
            if not header:
                header = tuple(row)
                continue
            n_rows += 1
            if len(row) != len(header) and fault is None:
                has = counted(len(row), "field")
                fault = f"line {reader.line_num} has {has}, the header {len(header)}"
    except csv.Error as error:
        fault = fault or f"line {reader.line_num}: {error}"
    if not header:
        fault = "it is empty" if fault is None else fault
    elif fault is None and not all(field.strip() for field in header):
        fault = f"a field of the header has no name: {', '.join(map(quoted, header[:8]))}"
    return Table(name, header, n_rows, fault)


def _delimiter(name: str, text: str) -> str:
    """What stands between the fields: what the first line has most of."""
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    first = next((line for line in text.split("\n") if line.strip()), "")
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([first], delimiter=mark))))


def row_count(tables: list[Table], wanted: int | None, operator: str | None) -> Verdict:
    """The verdict on `row_count`: every table has as many rows below its header as are wanted."""
    compared = [compare(one.n_rows, wanted, operator, "rows") for one in tables]
    if not compared or compared[0].passed is None:
        return compared[0] if compared else unscored("there is no table to count")
    broken = [one for one in tables if one.fault == "it is a binary file"]
    if broken:
        return unscored(f"rows of {listed([one.name for one in broken])} cannot be counted: binary")
    enough = all(one.passed for one in compared)
    told = "; ".join(one.told for one in tables[:5])
    faults = "".join(f"; {shown(one.name)}: {one.fault}" for one in tables[:5] if one.fault)
    return Verdict(enough, f"{told}; wanted {compared[0].evidence}{faults}")


def csv_valid(tables: list[Table]) -> Verdict:
    """The verdict on `csv_valid`: each has a header, and every row as many fields as that."""
    faults = [f"{shown(one.name)}: {one.fault}" for one in tables if one.fault]
    if faults:
        return failed("; ".join(faults[:5]))
    fields = ", ".join(shown(field, 40) for field in tables[0].header[:8])
    told = "; ".join(one.told for one in tables[:5])
    return passed(f"{told}; every row has as many fields as the header ({fields})")
