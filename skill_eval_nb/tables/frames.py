"""Columns of Python values to data frames of the declared types, in polars or pandas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .columns import RUN_KEYS, TABLES, Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


Backend = Literal["polars", "pandas"]

MANY = 1000
"""In a column longer than this it pays to look for values that repeat."""


def schema(table: Table) -> dict[str, Any]:
    """The polars types of a table's columns."""
    import polars as pl

    types = {
        "text": pl.String,
        "whole": pl.Int64,
        "number": pl.Float64,
        "flag": pl.Boolean,
        "list": pl.List(pl.String),
    }
    return {column.name: types[column.type] for column in table.columns}


def to_polars(table: Table, values: dict[str, list[Any]]) -> pl.DataFrame:
    """A frame of the declared columns; those that are not given are all null."""
    import polars as pl

    length = len(next(iter(values.values()), []))
    types = schema(table)
    return pl.DataFrame(
        [series(name, values.get(name, [None] * length), types[name]) for name in table.names]
    )


def columns(rows: Sequence[tuple[Any, ...]], width: int) -> Sequence[Sequence[Any]]:
    """Rows of `width` values each, turned into columns."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def series(name: str, values: Sequence[Any], type_: Any) -> pl.Series:
    """A column; half surrogate pairs, which no UTF-8 text can hold, become `\ufffd`.

    Texts that come again and again are kept once.
    """
    import polars as pl

    if len(values) > MANY:
        if not any(values) and values.count(None) == len(values):
            return pl.Series(name, [None], type_).new_from_index(0, len(values))
        if type_ == pl.String and _repeats(values):
            place = {value: index for index, value in enumerate(dict.fromkeys(values))}
            places = pl.Series(map(place.__getitem__, values), dtype=pl.UInt32)
            return series(name, list(place), type_).gather(places)
    try:
        return pl.Series(name, values, type_)
    except UnicodeEncodeError:
        return pl.Series(name, [_whole(value) for value in values], type_)


def _repeats(values: Sequence[Any]) -> bool:
    """Whether a sample has few different values, of which some are too long to stand in a row.

    Up to 12 bytes polars keeps in the row itself; only longer ones are worth keeping once.
    """
    sample = set(values[:: len(values) // 256])
    return len(sample) < 64 and max(len(text or "") for text in sample) > 12


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return [_whole(element) for element in value] if isinstance(value, list) else value


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A pandas copy: nullable `Int64` and `boolean`, text as pandas' own text type.

    Raises:
        ModuleNotFoundError: pandas or pyarrow is missing; the message says how to have it.
    """
    try:
        import pandas as pd
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"tables in pandas need {error.name}: `pip install pandas pyarrow`, then restart the "
            "kernel; in polars they are there without",
            name=error.name,
        ) from None

    kinds = {
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    return frame.to_arrow().to_pandas(types_mapper=kinds.get)


def frame_of(data: Any, table: str) -> pl.DataFrame:
    """The polars frame behind `data`: a `Workspace`, or the table itself in polars or pandas.

    Raises:
        TypeError: for anything else.
    """
    import narwhals as nw
    import polars as pl

    if _is_workspace(data):
        return data.polars(table)
    frame = nw.from_native(data, eager_only=True).to_polars()
    known = TABLES[table]
    types = schema(known)
    missing = [name for name in known.names if name not in frame.columns]
    return frame.with_columns(
        *(pl.col(name).cast(types[name]) for name in known.names if name in frame.columns),
        *(pl.lit(None, types[name]).alias(name) for name in missing),
    ).select(known.names)


def _is_workspace(data: Any) -> bool:
    """Whether `data` is a `Workspace`; a frame may have columns of any name."""
    return callable(getattr(type(data), "polars", None))


def like(data: Any, frame: pl.DataFrame) -> Any:
    """`frame` in the kind of `data`: pandas where that is pandas, else polars."""
    import narwhals as nw

    backend = data.backend if _is_workspace(data) else nw.from_native(data).implementation.value
    return to_pandas(frame) if backend == "pandas" else frame


LONG = 1024
"""A key that stays the same for so many runs on end, on average, is put together from blocks."""

Pieces = Sequence["pl.Series"]
"""The indices of the keys of a table's rows, a few thousand rows a piece."""


class SideKeys(NamedTuple):
    """The keys of a run but its number, as the tables have them."""

    workspace: str
    skill: str
    iteration: str
    eval_id: str
    eval_name: str
    configuration: str


class Keys:
    """The keys of runs by their index: the side, of which there are few, and the number."""

    def __init__(self) -> None:
        self._sides: dict[SideKeys, int] = {}
        self._side: list[int] = []
        self._number: list[int] = []

    def add(self, side: SideKeys, number: int) -> int:
        """Remember a run's keys; gives their index."""
        self._side.append(self._sides.setdefault(side, len(self._sides)))
        self._number.append(number)
        return len(self._number) - 1

    def runs(self) -> dict[SideKeys, set[int]]:
        """The numbers of the runs that were remembered, by their sides."""
        found: dict[SideKeys, set[int]] = {side: set() for side in self._sides}
        numbers = list(found.values())
        for side, number in zip(self._side, self._number, strict=True):
            numbers[side].add(number)
        return found

    def filler(self) -> Callable[[Pieces], list[pl.Series]]:
        """A function from the indices of the keys of a table's rows to the columns of the keys."""
        import polars as pl

        types = schema(TABLES["runs"])
        *names, last = (column.name for column in RUN_KEYS)
        side = pl.Series(self._side, dtype=pl.UInt32)
        number = series(last, self._number, types[last])
        texts = columns(list(self._sides), len(names))
        fillers = [
            _key_column(series(name, own, types[name]), side)
            for name, own in zip(names, texts, strict=True)
        ]

        def fill(pieces: Pieces) -> list[pl.Series]:
            keys = pl.concat(pieces, rechunk=True)
            sides = side[keys]
            return [*(make(pieces, sides) for make in fillers), number[keys]]

        return fill


def _key_column(texts: pl.Series, side: pl.Series) -> Callable[[Pieces, pl.Series], pl.Series]:
    """A function from keys and sides of a table's rows to the column of a key.

    `texts` has the key for each side, `side` the side of each run.
    """
    import polars as pl

    stretch = texts.rle_id()[side].rle_id()
    if not len(side) or (stretch[-1] + 1) * LONG > len(side):
        return lambda _, sides: texts[sides]
    blocks: dict[int, pl.Series] = {}

    def piece(keys: pl.Series) -> pl.Series:
        met = stretch[keys]
        if met.min() != met.max():
            return texts[side[keys]]
        block = blocks.get(met[0])
        if block is None or len(block) < len(keys):
            block = blocks[met[0]] = texts[side[keys[:1]]].new_from_index(0, len(keys))
        return block.head(len(keys))

    return lambda pieces, _: pl.concat([piece(keys) for keys in pieces])


PIECE = 4000
"""So many rows, at least, become columns at once; in small pieces texts take more room."""


class Rows:
    """The rows of all tables while they are read.

    Rows of run-level tables begin with the index of their run's `keys` in place of these, which
    are filled in at the end.
    """

    def __init__(self) -> None:
        self.keys = Keys()
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self._columns: dict[str, list[list[Any]]] = {}
        self._packed: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}

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

        names, types = _packed_columns(table)
        self._packed[table].append(
            pl.DataFrame(
                [series(name, data, types[name]) for name, data in zip(names, values, strict=True)]
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

        fill = self.keys.filler()
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


def _packed_columns(table: str) -> tuple[list[str], dict[str, Any]]:
    """The columns that the tuples of a table hold, and their types."""
    import polars as pl

    types = schema(TABLES[table])
    if not is_run_level(table):
        return list(types), types
    names = ["key", *list(types)[len(RUN_KEYS) :]]
    return names, {"key": pl.UInt32, **types}
