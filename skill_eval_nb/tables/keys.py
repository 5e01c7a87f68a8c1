"""The keys of runs, and the columns that they become in the tables of rows of runs.

A column of texts takes 16 bytes a row however often the same text comes, and there may be
millions of rows. So where a key stays the same for long, its column is put together from
blocks of one text, which all tables share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .columns import RUN_KEYS, TABLES
from .frames import columns, schema, series

if TYPE_CHECKING:
    import polars as pl

LONG = 1024
"""A key that stays the same for so many runs on end, on average, is put together from blocks."""

Pieces = Sequence["pl.Series"]
"""The indices of the keys of a table's rows, a few thousand rows a piece."""


class Side(NamedTuple):
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
        self._sides: dict[Side, int] = {}
        self._side: list[int] = []
        self._number: list[int] = []

    def add(self, side: Side, number: int) -> int:
        """Remember a run's keys; gives their index."""
        self._side.append(self._sides.setdefault(side, len(self._sides)))
        self._number.append(number)
        return len(self._number) - 1

    def sides(self) -> list[Side]:
        """The sides of the runs that were remembered."""
        return list(self._sides)

    def filler(self) -> Callable[[Pieces], list[pl.Series]]:
        """A function from the indices of the keys of a table's rows to the columns of the keys."""
        import polars as pl

        types = schema(TABLES["runs"])
        *names, last = (column.name for column in RUN_KEYS)
        side = pl.Series(self._side, dtype=pl.UInt32)
        number = series(last, self._number, types[last])
        texts = columns(list(self._sides), len(names))
        made = [
            _column(series(name, own, types[name]), side)
            for name, own in zip(names, texts, strict=True)
        ]

        def fill(pieces: Pieces) -> list[pl.Series]:
            keys = pl.concat(pieces, rechunk=True)
            sides = side[keys]
            return [*(make(pieces, sides) for make in made), number[keys]]

        return fill


def _column(texts: pl.Series, side: pl.Series) -> Callable[[Pieces, pl.Series], pl.Series]:
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
