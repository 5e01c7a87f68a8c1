"""Columns of Python values to data frames of the declared types, in polars or pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .columns import TABLES, Table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Backend = Literal["polars", "pandas"]


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


def to_polars(table: Table, columns: dict[str, list[Any]]) -> pl.DataFrame:
    """A frame of the declared columns; those that are not given are all null."""
    import polars as pl

    length = len(next(iter(columns.values()), []))
    return pl.DataFrame(
        {name: columns.get(name, [None] * length) for name in table.names}, schema=schema(table)
    )


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

    if hasattr(data, "polars"):
        return data.polars(table)
    frame = nw.from_native(data, eager_only=True).to_polars()
    known = TABLES[table]
    types = schema(known)
    missing = [name for name in known.names if name not in frame.columns]
    return frame.with_columns(
        *(pl.col(name).cast(types[name]) for name in known.names if name in frame.columns),
        *(pl.lit(None, types[name]).alias(name) for name in missing),
    ).select(known.names)


def like(data: Any, frame: pl.DataFrame) -> Any:
    """`frame` in the kind of `data`: pandas where that is pandas, else polars."""
    import narwhals as nw

    backend = getattr(data, "backend", None) or nw.from_native(data).implementation.value
    return to_pandas(frame) if backend == "pandas" else frame
