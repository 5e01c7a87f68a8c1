"""The set as it is edited: rows with names of their own, and what becomes of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2s

from skill_eval_nb.triggers import Query


@dataclass(frozen=True, slots=True)
class Row:
    """A query in the grid.

    Attributes:
        key: its name, whatever is typed in it.
        query: what it says now.
    """

    key: str
    query: Query


@dataclass(frozen=True, slots=True)
class Grid:
    """All rows, in order.

    Attributes:
        rows: those that are there.
        taken_out: the row that was taken out last, and where it stood; None where none was.
    """

    rows: tuple[Row, ...] = ()
    taken_out: tuple[int, Row] | None = None

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, without rows that say nothing."""
        return tuple(row.query for row in self.rows if row.query.query.strip())

    def row(self, key: str) -> Row:
        """The row of that name.

        Raises:
            LookupError: there is none any more.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise LookupError("There is no such query any more.")

    def changed(self, key: str, query: Query) -> Grid:
        """The same with another query in that row."""
        self.row(key)
        rows = (replace(row, query=query) if row.key == key else row for row in self.rows)
        return replace(self, rows=tuple(rows))

    def without(self, key: str) -> Grid:
        """The same without that row, which can be put back."""
        at = self.rows.index(self.row(key))
        return Grid((*self.rows[:at], *self.rows[at + 1 :]), (at, self.rows[at]))

    def put_back(self) -> Grid:
        """The same with the row again that was taken out last."""
        if self.taken_out is None:
            return self
        at, row = self.taken_out
        return Grid((*self.rows[:at], row, *self.rows[at:]))

    def with_more(self, queries: Iterable[Query]) -> Grid:
        """The same with these queries below, but for those that are there already.

        >>> asked = Query("sum up this log", should_trigger=True)
        >>> len(Grid().with_more([asked, asked]).rows)
        1
        """
        there = {_said(row.query) for row in self.rows}
        more = []
        for query in queries:
            if _said(query) not in there:
                more.append(query)
                there.add(_said(query))
        return self._with(more)

    def with_room(self) -> Grid:
        """The same with an empty row below, unless there is one."""
        if self.rows and not self.rows[-1].query.query.strip():
            return self
        return self._with([Query("", should_trigger=True)])

    def _with(self, queries: Iterable[Query]) -> Grid:
        there = [*self.rows, self.taken_out[1]] if self.taken_out else self.rows
        return replace(self, rows=(*self.rows, *_named(queries, there)))


def grid_of(queries: Iterable[Query]) -> Grid:
    """The grid of a set, every query in it, also those that are there twice."""
    return Grid(tuple(_named(queries, ())))


def tags_of(text: str) -> tuple[str, ...]:
    """Tags as one types them, between commas.

    >>> tags_of(" near miss, , short,short ")
    ('near miss', 'short')
    """
    return tuple(dict.fromkeys(filter(None, (one.strip() for one in text.split(",")))))


def _said(query: Query) -> tuple[str, bool]:
    return re.sub(r"\s+", " ", query.query).strip(), query.should_trigger


def _named(queries: Iterable[Query], there: Iterable[Row]) -> list[Row]:
    """Rows of these queries; the same words have the same name in any session."""
    used = Counter(row.key for row in there)
    rows = []
    for query in queries:
        stem = blake2s(query.query.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        at = next(n for n in range(len(used) + 1) if f"{stem}-{n}" not in used)
        used[f"{stem}-{at}"] += 1
        rows.append(Row(f"{stem}-{at}", query))
    return rows
