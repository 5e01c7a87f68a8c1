"""`load`: a path, or several, to a `Workspace`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from skill_eval_nb.workspace import PathLike, Problems, find

from .assemble import assemble
from .frames import Backend
from .layers import single_layers
from .workspace import Workspace

if TYPE_CHECKING:
    import polars as pl


def load(path: PathLike | Iterable[PathLike], backend: Backend = "polars") -> Workspace:
    """Load evaluation workspaces, whoever's tool wrote them.

    Args:
        path: a folder (a workspace, an iteration, or any folder above them), a
            benchmark.json or evals.json, a list of these, or a glob.
        backend: `"polars"` or `"pandas"`, the kind of every table.

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
    found = find(paths)
    met = tuple(found.problems)

    def read(texts: bool) -> dict[str, pl.DataFrame]:
        frames = assemble(found.layout, found.base, texts, Problems(met))
        if texts:
            layers = single_layers(frames["runs"], frames["evals"])
            frames["problems"] = frames["problems"].vstack(layers)
        return frames

    return Workspace(read, found.base, backend, lambda: load(paths, backend))
