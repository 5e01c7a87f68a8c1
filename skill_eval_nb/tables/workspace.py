"""`Workspace`: what `load` returns. Its tables, in polars or pandas, and how it shows itself."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .columns import TABLES, find
from .frames import Backend, to_pandas, to_polars

if TYPE_CHECKING:
    import polars as pl

Reader = Callable[[bool], dict[str, "pl.DataFrame"]]
"""Reads the tables: the figures alone (`runs`), or with True every table with every text."""


class Workspace:
    """One or more evaluation workspaces as tidy tables.

    The tables are attributes: `ws.runs`, `ws.expectations`, `ws.rubric_scores`,
    `ws.problems`, …; `ws.table("runs")` is the same. `sen.describe("runs")` says what the
    columns mean. Figures are read first, and texts when a table that holds them is asked for.
    """

    def __init__(self, reader: Reader, path: str = "", backend: Backend = "polars") -> None:
        self._reader = reader
        self._frames: dict[str, pl.DataFrame] = {}
        self.path = path
        self.backend: Backend = backend

    @classmethod
    def from_tables(
        cls, tables: Mapping[str, Any], path: str = "", backend: Backend = "polars"
    ) -> Workspace:
        """A workspace over given polars tables; those not given are empty.

        >>> ws = Workspace.from_tables({})
        >>> ws.runs.height, "pass_rate" in ws.runs.columns
        (0, True)
        """
        frames = {
            name: tables[name] if name in tables else to_polars(table, {})
            for name, table in TABLES.items()
        }
        return cls(lambda texts: frames, path, backend)

    def polars(self, name: str) -> pl.DataFrame:
        """A table as a polars frame, whatever the backend.

        Raises:
            KeyError: for a name that is no table; the message names the nearest one.
        """
        find(name)
        if name not in self._frames:
            self._frames |= self._reader(name != "runs")
        return self._frames[name]

    def table(self, name: str) -> Any:
        """A table in the workspace's backend."""
        frame = self.polars(name)
        return to_pandas(frame) if self.backend == "pandas" else frame

    def tables(self) -> dict[str, Any]:
        """Every table by name, read in one pass."""
        self.polars("problems")
        return {name: self.table(name) for name in TABLES}

    def select(self, **keys: str) -> Workspace:
        """The part of it with these keys, as a workspace of its own.

        `ws.select(workspace="tdd-workspace", iteration="iteration-2")` keeps the rows with
        these values in every table that has the columns.

        >>> Workspace.from_tables({}).select(iteration="iteration-2").runs.height
        0
        """
        import polars as pl

        def reader(texts: bool) -> dict[str, pl.DataFrame]:
            names = TABLES if texts else ("runs",)
            return {
                name: frame.filter(
                    *(
                        pl.col(key) == value
                        for key, value in keys.items()
                        if key in frame.columns and name != "problems"
                    )
                )
                for name in names
                for frame in (self.polars(name),)
            }

        return Workspace(reader, self.path, self.backend)

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)

    def __getattr__(self, name: str) -> Any:
        if name in TABLES:
            return self.table(name)
        near = difflib.get_close_matches(name, [*TABLES, *dir(type(self))], n=1)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        raise AttributeError(f"A Workspace has no `{name}`.{hint}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *TABLES]
