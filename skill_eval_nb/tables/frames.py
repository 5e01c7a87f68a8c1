"""Columns of Python values to data frames of the declared types, in polars or pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from .columns import TABLES, Table

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
    return len(sample) < 64 and max(len(one or "") for one in sample) > 12


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return [_whole(one) for one in value] if isinstance(value, list) else value


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A pandas copy: nullable `Int64` and `boolean`, text as pandas' own text type."""
    import pandas as pd
    import pyarrow as pa

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
