"""`Workspace`: what `load` returns. Its tables, in polars or pandas, and how it shows itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.view import Block, Shown
from skill_eval_nb.workspace import PathLike, Problems, Sides, find

from .assemble import assemble, single_layers
from .columns import MODELS, RUN_KEYS, TABLES, did_you_mean, table_named
from .frames import Backend, frame_of, to_pandas, to_polars

if TYPE_CHECKING:
    import polars as pl


Name = str | int | None
Reader = Callable[[bool], dict[str, "pl.DataFrame"]]
"""Reads the tables: the figures alone (`runs`), or with True every table with every text."""


class Workspace(Shown):
    """One or more evaluation workspaces as tidy tables.

    The tables are attributes: `ws.runs`, `ws.expectations`, `ws.rubric_scores`,
    `ws.problems`, …; `ws.table("runs")` is the same. `sen.describe("runs")` says what the
    columns mean. Figures are read first, and texts when a table that holds them is asked for.
    """

    def __init__(
        self,
        reader: Reader,
        path: str = "",
        backend: Backend = "polars",
        again: Callable[[], Workspace] | None = None,
    ) -> None:
        self._reader = reader
        self._again = again
        self._frames: dict[str, pl.DataFrame] = {}
        self.path = path
        self.backend: Backend = backend

    @classmethod
    def from_tables(
        cls, tables: Mapping[str, Any], path: str = "", backend: Backend = "polars"
    ) -> Workspace:
        """A workspace over given tables, polars or pandas; those not given are empty.

        Columns that are not given are null, columns that no table has are left out.

        Raises:
            KeyError: for a name that is no table; the message names the nearest one.

        >>> ws = Workspace.from_tables({})
        >>> ws.runs.height, "pass_rate" in ws.runs.columns
        (0, True)
        """
        given = {table_named(name).name: frame_of(table, name) for name, table in tables.items()}
        empty = {name: to_polars(table, {}) for name, table in TABLES.items() if name not in given}
        return cls(lambda _: {**given, **empty}, path, backend)

    def polars(self, name: str) -> pl.DataFrame:
        """A table as a polars frame, whatever the backend.

        Raises:
            KeyError: for a name that is no table; the message names the nearest one.
        """
        table_named(name)
        if name not in self._frames:
            self._frames |= self._reader(name != "runs")
        return self._frames[name]

    def table(self, name: str) -> Any:
        """A table in the workspace's backend."""
        frame = self.polars(name)
        return to_pandas(frame) if self.backend == "pandas" else frame

    def show(self, name: str = "runs") -> Any:
        """A table to be sorted, filtered and searched by a click, in a notebook without a network.

        It is an `itables.widget.ITable`: text from files is escaped, no row is left out, and a
        saved notebook holds all of it. `ws.table(name)` is the plain frame.

        Raises:
            KeyError: for a name that is no table; the message names the nearest one.
        """
        from itables.widget import ITable

        frame = self.polars(name)
        return ITable(frame, caption=name, column_filters="footer", maxBytes=0, showIndex=False)

    def tables(self) -> dict[str, Any]:
        """Every table by name, read in one pass."""
        self.polars("problems")
        return {name: self.table(name) for name in TABLES}

    def again(self) -> Workspace:
        """The same, read anew: the same paths and the same selection of them.

        One that was made of tables is what it was.
        """
        return self._again() if self._again is not None else self

    def select(self, **keys: Name | Sequence[Name]) -> Workspace:
        """The part of it with these keys, as a workspace of its own.

        `ws.select(workspace="tdd-workspace", iteration=["iteration-1", "iteration-2"])` keeps,
        in every table that has these columns, the rows with this value, or with one of these.
        Problems are kept where they are of the workspace or of none.

        `executor_model` and `harness` select runs, and what the other tables have of these;
        None is for runs that do not state it.

        Raises:
            KeyError: for a key that no run has; the message names the nearest one.

        >>> Workspace.from_tables({}).select(iteration="iteration-2").runs.height
        0
        """
        import polars as pl

        known = {column.name: column.type for column in RUN_KEYS}

        def several(value: Name | Sequence[Name]) -> Sequence[Name]:
            return [value] if value is None or isinstance(value, str | int) else value

        for key in keys:
            if key not in known and key not in MODELS:
                raise KeyError(f"Runs have no key `{key}`.{did_you_mean(key, [*known, *MODELS])}")
        wanted = {
            key: [str(name) if known[key] == "text" else name for name in several(value)]
            for key, value in keys.items()
            if key in known
        }
        models = {key: several(value) for key, value in keys.items() if key in MODELS}

        def others() -> pl.DataFrame:
            """The runs of other models."""
            own = pl.all_horizontal(
                pl.col(key).is_in([name for name in names if name is not None])
                | (pl.col(key).is_null() if None in names else False)
                for key, names in models.items()
            ).fill_null(value=False)
            return self.polars("runs").filter(~own).select(list(known))

        def part(name: str) -> pl.DataFrame:
            types = {column.name: column.type for column in TABLES[name].columns}
            frame = self.polars(name)
            for key, values in wanted.items():
                if types.get(key) == known[key]:  # descriptions have an `iteration`, too: a number
                    mine = frame[key].is_in(values)
                    frame = frame.filter(
                        mine | frame[key].is_null() if name == "problems" else mine
                    )
            if models and known.items() <= types.items():
                frame = frame.join(
                    others(), on=list(known), how="anti", nulls_equal=True, maintain_order="left"
                )
            return frame

        return Workspace(
            lambda texts: {name: part(name) for name in (TABLES if texts else ("runs",))},
            self.path,
            self.backend,
            (lambda: self.again().select(**keys)) if self._again is not None else None,
        )

    def _blocks(self) -> Iterator[Block]:
        from .show import overview

        return overview(self.path, {name: self.polars(name) for name in TABLES})

    def __getattr__(self, name: str) -> Any:
        if name in TABLES:
            return self.table(name)
        hint = did_you_mean(name, [*TABLES, *dir(type(self))])
        raise AttributeError(f"A Workspace has no `{name}`.{hint}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *TABLES]


def load(
    path: PathLike | Iterable[PathLike],
    backend: Backend = "polars",
    *,
    configuration: Sides = None,
) -> Workspace:
    """Load evaluation workspaces, whoever's tool wrote them.

    Read are skill-creator's workspaces and their dialects, and the results of
    `claude plugin eval`, Harbor, Vally, inspect_ai, waza and promptfoo, and of whatever is
    registered under `skill_eval_nb.tools` (see `documents.tools.Tool`).

    Args:
        path: a folder (a workspace, an iteration, or any folder above them), a
            benchmark.json, evals.json or a tool's file, a list of these, or a glob.
        backend: `"polars"` or `"pandas"`, the kind of every table.
        configuration: the configuration of a tool's results that state none: one for all,
            or a mapping from names (or patterns) of files and folders, such as
            `{"baseline.json": "without_skill", "results.json": "with_skill"}`.

    Returns:
        A `Workspace`. Its folders are listed now, its files are read when a table is
        asked for. Whatever could not be used as it was is a row of `.problems`.

    Raises:
        FileNotFoundError: where the path does not exist (or a glob matches nothing).
        NothingToLoad: where there is no evaluation document.
        ValueError: for an unknown backend.
    """
    if backend not in ("polars", "pandas"):
        raise ValueError(f"unknown backend {backend!r}: there are 'polars' and 'pandas'")
    paths = path if isinstance(path, str | os.PathLike) else list(path)
    found = find(paths, configuration=configuration)
    met = tuple(found.problems)

    def read(texts: bool) -> dict[str, pl.DataFrame]:
        frames = assemble(found.layout, found.base, texts, Problems(met))
        if texts:
            layers = single_layers(frames["runs"], frames["evals"])
            frames["problems"] = frames["problems"].vstack(layers)
        return frames

    return Workspace(
        read, found.base, backend, lambda: load(paths, backend, configuration=configuration)
    )
