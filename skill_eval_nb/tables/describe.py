"""`describe`: what the columns of a table mean, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .columns import TABLES, find

if TYPE_CHECKING:
    import polars as pl

_TYPES = {
    "text": "text",
    "whole": "whole number",
    "number": "number",
    "flag": "true or false",
    "list": "list of texts",
}


def describe(table: str | None = None) -> pl.DataFrame:
    """What is in a table: a row a column, with type, unit, meaning and when it is null.

    Without a name: the tables, and what a row of each is.

    >>> describe("runs").columns
    ['column', 'type', 'unit', 'meaning', 'null_when']
    >>> describe().filter(describe()["table"] == "runs")["one_row_is"].item()
    'a run'

    Raises:
        KeyError: for a name that is no table; the message names the nearest one.
    """
    import polars as pl

    if table is None:
        return pl.DataFrame(
            [(one.name, one.row, len(one.columns)) for one in TABLES.values()],
            schema=["table", "one_row_is", "columns"],
            orient="row",
        )
    return pl.DataFrame(
        [
            (column.name, _TYPES[column.type], column.unit, column.meaning, column.null)
            for column in find(table).columns
        ],
        schema=["column", "type", "unit", "meaning", "null_when"],
        orient="row",
    )
