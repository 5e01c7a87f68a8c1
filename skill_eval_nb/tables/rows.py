"""Collect rows as plain tuples, and turn them into frames of the declared columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .columns import RUN_KEYS, TABLES
from .frames import columns, schema, series
from .keys import Keys, Side

if TYPE_CHECKING:
    import polars as pl


PIECE = 4000
"""So many rows, at least, become columns at once; in small pieces texts take more room."""


class Rows:
    """The rows of all tables while they are read.

    Rows of run-level tables begin with the index of their run's keys (see `key`) in place of
    these, which are filled in at the end.
    """

    def __init__(self) -> None:
        self._keys = Keys()
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self._columns: dict[str, list[list[Any]]] = {}
        self._packed: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}

    def key(self, side: Side, number: int) -> int:
        """Remember a run's keys; gives the index that its rows begin with."""
        return self._keys.add(side, number)

    def sides(self) -> list[Side]:
        """The sides of the runs whose keys are remembered."""
        return self._keys.sides()

    def __getitem__(self, table: str) -> list[tuple[Any, ...]]:
        return self._rows[table]

    def add(self, table: str, row: tuple[Any, ...]) -> None:
        """Add a row of a table of many rows."""
        rows = self._rows[table]
        rows.append(row)
        if len(rows) == PIECE:
            self._pack(table, columns(rows, len(row)))
            rows.clear()

    def add_columns(self, table: str, values: list[list[Any]]) -> None:
        """Add many rows of a table at once, given as columns."""
        if not values[0]:
            return
        waiting = self._columns.setdefault(table, values)
        if waiting is not values:
            for column, more in zip(waiting, values, strict=True):
                column.extend(more)
        if len(waiting[0]) >= PIECE:
            self._pack(table, self._columns.pop(table))

    def _pack(self, table: str, values: Sequence[Sequence[Any]]) -> None:
        """Turn values into a piece of a table, where they take less room."""
        import polars as pl

        names, types = _layout(table)
        self._packed[table].append(
            pl.DataFrame(
                [series(name, one, types[name]) for name, one in zip(names, values, strict=True)]
            )
        )

    def _pieces(self, table: str) -> list[pl.DataFrame]:
        """What was collected of a table, which is given away."""
        if table in self._columns:
            self._pack(table, self._columns.pop(table))
        rows = self._rows.pop(table)
        if rows:
            self._pack(table, columns(rows, len(rows[0])))
        return self._packed.pop(table)

    def frames(self, tables: list[str]) -> dict[str, pl.DataFrame]:
        """The tables as frames, in the order they were collected."""
        import polars as pl

        fill = self._keys.filler()
        frames = {}
        for table in tables:
            pieces = self._pieces(table)
            frame = pl.concat(pieces) if pieces else pl.DataFrame(schema=schema(TABLES[table]))
            if pieces and is_run_level(table):
                keys, *others = frame.get_columns()
                frame = pl.DataFrame(fill(keys.get_chunks()) + others)
            frames[table] = frame
        return frames


def is_run_level(table: str) -> bool:
    """Whether a table's rows belong to a run."""
    return TABLES[table].columns[: len(RUN_KEYS)] == RUN_KEYS


def _layout(table: str) -> tuple[list[str], dict[str, Any]]:
    """The columns that the tuples of a table hold, and their types."""
    import polars as pl

    types = schema(TABLES[table])
    if not is_run_level(table):
        return list(types), types
    names = ["key", *list(types)[len(RUN_KEYS) :]]
    return names, {"key": pl.UInt32, **types}
