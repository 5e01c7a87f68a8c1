"""Collect rows as plain tuples, and turn them into frames of the declared columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .columns import RUN_KEYS, TABLES
from .frames import columns, schema, series

if TYPE_CHECKING:
    import polars as pl


class RunKey(NamedTuple):
    """The keys of a run, in the order of the tables."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    eval_name: str
    configuration: str
    run_number: int


class Rows:
    """The rows of all tables while they are read.

    Rows of run-level tables begin with the index of their `RunKey` (see `key`) in place of
    its fields, which are filled in at the end.
    """

    def __init__(self) -> None:
        self._keys: list[RunKey] = []
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self._packed: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}

    def key(self, key: RunKey) -> int:
        """Remember a run's keys; gives the index that its rows begin with."""
        self._keys.append(key)
        return len(self._keys) - 1

    def __getitem__(self, table: str) -> list[tuple[Any, ...]]:
        return self._rows[table]

    def statuses(self) -> Iterator[tuple[RunKey, str, str]]:
        """The keys, the status and the path of each run."""
        for frame in self._packed["runs"]:
            for key, status, path in frame.select("key", "status", "path").iter_rows():
                yield self._keys[key], status, path
        for row in self._rows["runs"]:
            yield self._keys[row[0]], row[1], row[-1]

    def add_columns(self, table: str, values: list[list[Any]]) -> None:
        """Add many rows of a table at once, given as columns."""
        if values[0]:
            self._pack_columns(table, values)

    def _pack(self, table: str) -> None:
        """Pack the tuples of a table into a frame, so that memory stays low."""
        rows = self._rows[table]
        self._pack_columns(table, columns(rows, len(_layout(table)[0])))
        rows.clear()

    def _pack_columns(self, table: str, values: Sequence[Sequence[Any]]) -> None:
        import polars as pl

        names, types = _layout(table)
        self._packed[table].append(
            pl.DataFrame(
                [series(name, one, types[name]) for name, one in zip(names, values, strict=True)]
            )
        )

    def frames(self, tables: list[str]) -> dict[str, pl.DataFrame]:
        """The tables as frames, in the order they were collected."""
        import polars as pl

        shared, keys = self._key_frame()
        frames = {}
        for table in tables:
            self._pack(table)
            frame = pl.concat(self._packed.pop(table))
            if is_run_level(table):
                parts = [keys[frame["key"]], frame.drop("key")]
                frame = pl.concat(parts, how="horizontal").with_columns(shared)
            frames[table] = frame.select(TABLES[table].names)
        return frames

    def _key_frame(self) -> tuple[list[pl.Expr], pl.DataFrame]:
        """The keys by their index; those that are the same everywhere are constants.

        A constant takes no room, where a column of texts takes 16 bytes a row.
        """
        import polars as pl

        types = schema(TABLES["runs"])
        keys = pl.DataFrame(
            [
                series(column.name, values, types[column.name])
                for column, values in zip(RUN_KEYS, columns(self._keys, len(RUN_KEYS)), strict=True)
            ]
        )
        same = [name for name in keys.columns if keys.height and keys[name].n_unique() == 1]
        shared = [
            pl.lit(keys[name][0], types[name]).alias(name) for name in same[: len(RUN_KEYS) - 1]
        ]
        return shared, keys.drop(same[: len(RUN_KEYS) - 1])


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
