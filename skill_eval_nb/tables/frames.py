"""Columns of Python values to data frames of the declared types, in polars or pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .columns import RUN_KEYS, TABLES, Column, RunRef, Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


Backend = Literal["polars", "pandas"]


def schema(columns: Iterable[Column]) -> dict[str, Any]:
    """The polars types of columns."""
    import polars as pl

    types = {
        "text": pl.String,
        "whole": pl.Int64,
        "number": pl.Float64,
        "flag": pl.Boolean,
        "list": pl.List(pl.String),
    }
    return {column.name: types[column.type] for column in columns}


def to_polars(table: Table, values: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """A frame of the declared columns; those that are not given are all null."""
    return frame_of_columns(schema(table.columns), values)


def frame_of_rows(types: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """A frame of rows that have a value for each of the columns, in their order."""
    columns = zip(*rows, strict=True)
    return frame_of_columns(types, dict(zip(types, columns, strict=bool(rows))))


class Rows(dict[str, list[tuple[Any, ...]]]):
    """The rows of all tables while they are read, by the tables' names.

    Those of tables that are about runs stand there without the keys of their run, which may come
    many times, but with the number of it among the `refs`.
    """

    def __init__(self) -> None:
        super().__init__((name, []) for name in TABLES)
        self.refs: list[RunRef] = []

    def begin_run(self, keys: RunRef) -> int:
        """The number with which rows of the run of these keys begin."""
        self.refs.append(keys)
        return len(self.refs) - 1

    def frames(self, names: Iterable[str] = TABLES) -> dict[str, pl.DataFrame]:
        """The tables of these names."""
        import polars as pl

        keys = frame_of_rows(schema(RUN_KEYS), self.refs)
        found = {}
        for name in names:
            columns = TABLES[name].columns
            of_runs = columns[: len(RUN_KEYS)] == RUN_KEYS
            types = schema(columns[len(RUN_KEYS) :] if of_runs else columns)
            frame = frame_of_rows({"run": pl.UInt32, **types} if of_runs else types, self[name])
            found[name] = keys[frame["run"]].hstack(frame[list(types)]) if of_runs else frame
        return found


def frame_of_columns(types: Mapping[str, Any], values: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """A frame of columns of these types; those that are not given are all null.

    Half surrogate pairs, which no UTF-8 text can hold, become `\ufffd`.
    """
    import polars as pl

    nothing = [None] * len(next(iter(values.values()), ()))
    columns = {name: values.get(name, nothing) for name in types}
    try:
        return pl.DataFrame(columns, schema=types)
    except UnicodeEncodeError:
        whole = {name: list(map(_whole, column)) for name, column in columns.items()}
        return pl.DataFrame(whole, schema=types)


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
    known = TABLES[table]
    types = schema(known.columns)
    if isinstance(data, pl.DataFrame) and [*data.schema.items()] == [*types.items()]:
        return data
    frame = nw.from_native(data, eager_only=True).to_polars()
    missing = [name for name in known.names if name not in frame.columns]
    return frame.with_columns(
        *(pl.col(name).cast(types[name]) for name in known.names if name in frame.columns),
        *(pl.lit(None, types[name]).alias(name) for name in missing),
    ).select(known.names)


def _is_workspace(data: Any) -> bool:
    """Whether `data` is a `Workspace`; a frame may have columns of any name."""
    return callable(getattr(type(data), "polars", None))


def iterate_rows(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table of either kind, pandas or polars."""
    import narwhals as nw

    return nw.from_native(table, eager_only=True).iter_rows(named=True)


def like(data: Any, frame: pl.DataFrame) -> Any:
    """`frame` in the kind of `data`: pandas if that is pandas, else polars."""
    import narwhals as nw

    backend = data.backend if _is_workspace(data) else nw.from_native(data).implementation.value
    return to_pandas(frame) if backend == "pandas" else frame
