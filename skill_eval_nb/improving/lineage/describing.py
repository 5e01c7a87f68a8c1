"""The versions of a description as iterations, where passes over the test cases were of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skill_eval_nb.stats.names import natural
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.workspace import NO_ITERATION

if TYPE_CHECKING:
    import polars as pl

DESCRIPTION = re.compile(r"description-\d+")
"""What the tables call the versions that a benchmark of `test-cases` tells of."""
NEAR = 0.001
"""Pass rates that differ by less are the same: benchmarks round them."""


def by_version(ws: Workspace) -> Workspace:
    """The workspace with each version of the description as an iteration of its own.

    Runs of the `test-cases` dialect lie in no iteration: `run-1`, `run-2`, … are passes over
    all test cases. They are the versions that the benchmark tells of where there are as many,
    and each pass has the mean pass rate that is stated for the version in its place. Any other
    workspace is given back as it is.

    >>> import skill_eval_nb as sen
    >>> ws = by_version(sen.load("data/test-cases-workspace"))
    >>> sorted(ws.runs["iteration"].unique())
    ['description-1', 'description-2', 'description-3']
    """
    passes = _passes(ws)
    if not passes:
        return ws
    tables = {name: _named(ws.polars(name), passes) for name in TABLES}
    return Workspace.from_tables(tables, ws.path, ws.backend)


def _passes(ws: Workspace) -> dict[int, str]:
    """Which pass was of which version; empty where that is not clear."""
    import polars as pl

    runs, stated = ws.polars("runs"), ws.polars("stated")
    means = stated.filter(
        pl.col("iteration").str.contains(f"^{DESCRIPTION.pattern}$"),
        metric="pass_rate",
        statistic="mean",
    )
    versions = sorted(means["iteration"].unique(), key=natural)
    passes = sorted(runs["run_number"].unique())
    alone = runs["iteration"].unique().to_list() == [NO_ITERATION]
    if not alone or len(versions) < 2 or len(passes) != len(versions):
        return {}
    pairs = dict(zip(passes, versions, strict=True))
    same = all(
        _near(runs.filter(run_number=one)["pass_rate"].mean(), means.filter(iteration=name))
        for one, name in pairs.items()
    )
    return pairs if same else {}


def _near(mean: object, stated: pl.DataFrame) -> bool:
    values = stated["value"].to_list()
    return isinstance(mean, float) and all(
        value is not None and abs(mean - value) < NEAR for value in values
    )


def _named(frame: pl.DataFrame, passes: dict[int, str]) -> pl.DataFrame:
    """A run-level table with the version as iteration, of which it is the only run."""
    import polars as pl

    if "run_number" not in frame.columns:
        return frame
    named = pl.col("run_number").replace_strict(
        passes, default=NO_ITERATION, return_dtype=pl.String
    )
    alone = pl.when(pl.col("run_number").is_in(list(passes))).then(1).otherwise("run_number")
    return frame.with_columns(
        named.alias("iteration"), alone.cast(frame.schema["run_number"]).alias("run_number")
    )
