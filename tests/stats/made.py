"""Tables made by hand or by hypothesis, and what comes back as plain rows."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.frames import to_pandas
from tests.tables.made import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]

examples = settings(max_examples=10)
"""For tests of whole statistics, which take some milliseconds an example."""

KEYS: Row = {"workspace": "w", "skill": "s", "iteration": "none", "eval_id": "1"}
SIDES = ("with_skill", "without_skill")
CONFIGURATIONS = [*SIDES, "old_skill", "with skill (iter5)", "unstated", "ß\n"]
FIGURES = ["pass_rate", "overall_efficiency", "time_seconds", "tokens"]


def runs_table(rows: Iterable[Row]) -> pl.DataFrame:
    """The table `runs`; keys that a row lacks are filled in, run numbers counted."""
    return table_of("runs", [{"status": "graded", "path": ".", **row} for row in _numbered(rows)])


def two_sides(own: Any, other: Any, evals: int = 8, k: int = 3, **pairs: Any) -> list[Row]:
    """Runs of the evals 0, 1, … on both sides.

    Args:
        own: the rate of the skill's side: a figure, a function of eval and run (which gives None
            for a run that errored), or None for no runs.
        other: that of the baseline.
        evals: how many.
        k: runs of an eval on a side.
        pairs: other columns, each for both sides.
    """
    rows: list[Row] = []
    sides = [*zip((0, 1), SIDES, (own, other), strict=True)]
    for at, (which, side, rate) in product(range(evals), sides):
        more = {name: pair[which] for name, pair in pairs.items()}
        for run in range(k if rate is not None else 0):
            value = rate(at, run) if callable(rate) else rate
            row = {"eval_id": str(at), "configuration": side, "pass_rate": value, **more}
            rows.append(row | ({"status": "errored"} if value is None else {}))
    return rows


def scores_table(rows: Iterable[Row]) -> pl.DataFrame:
    """The table `rubric_scores`; one judging by default."""
    return table_of("rubric_scores", [{"judging": 1, "weight": 1.0, **KEYS, **row} for row in rows])


def stated_table(rows: Iterable[Row]) -> pl.DataFrame:
    """The table `stated`; `printed` gives the value where there is none."""
    known = {**KEYS, "path": "benchmark.json"}
    return table_of("stated", [known | {"value": float(row["printed"])} | row for row in rows])


def workspace(
    runs: Iterable[Row] = (),
    scores: Iterable[Row] = (),
    stated: Iterable[Row] = (),
    backend: Any = "polars",
) -> Workspace:
    """A workspace over these tables."""
    tables = {"runs": runs_table(runs), "rubric_scores": scores_table(scores)}
    return Workspace.from_tables(tables | {"stated": stated_table(stated)}, backend=backend)


def kinds(runs: Iterable[Row]) -> dict[str, Any]:
    """The same runs in every kind that the statistics take."""
    rows = list(runs)
    frame = runs_table(rows)
    return {
        "polars table": frame,
        "pandas table": to_pandas(frame),
        "polars workspace": workspace(rows),
        "pandas workspace": workspace(rows, backend="pandas"),
    }


def plain(frame: Any) -> list[Row]:
    """The rows of a frame of either kind, with None for what is missing."""
    columns = {name: list(frame[name]) for name in frame.columns}
    return [
        {name: _plain(values[at]) for name, values in columns.items()} for at in range(len(frame))
    ]


def only(frame: Any, **keys: Any) -> Row:
    """The only row of a frame, or the only one with these values."""
    [row] = [row for row in plain(frame) if all(row[name] == keys[name] for name in keys)]
    return row


def near(found: Iterable[float | None], expected: Iterable[float | None]) -> bool:
    """Whether the figures are the same but for rounding, None and NaN being one."""
    pair = [[math.nan if x is None else float(x) for x in figures] for figures in (found, expected)]
    return pair[0] == pytest.approx(pair[1], rel=1e-9, abs=1e-9, nan_ok=True)


@st.composite
def run_rows(draw: st.DrawFn, figures: Iterable[str] = FIGURES) -> list[Row]:
    """Runs of a few iterations, evals and configurations, with gaps and odd names."""
    figures = list(figures)
    run = st.fixed_dictionaries(
        {
            "iteration": st.sampled_from(["iteration-9", "iteration-10", "none"]),
            "eval_id": st.sampled_from(["1", "2", "10", "a b", "</script>"]),
            "configuration": st.sampled_from(CONFIGURATIONS),
            **{name: _figure(name) for name in figures},
        }
    )
    return draw(st.lists(run, max_size=40))


def _figure(name: str) -> st.SearchStrategy[Any]:
    if name == "tokens":
        return st.none() | st.integers(0, 100_000)
    rates = st.floats(0, 1, allow_subnormal=False)
    return st.none() | st.just(math.nan) | st.sampled_from([0.0, 0.5, 1.0]) | rates


def _numbered(rows: Iterable[Row]) -> list[Row]:
    met: Counter[tuple[Any, ...]] = Counter()
    numbered: list[Row] = []
    for row in rows:
        full = {**KEYS, "configuration": "with_skill", **row}
        key = tuple(full[name] for name in (*KEYS, "configuration"))
        met[key] += 1
        numbered.append({"run_number": met[key], "eval_name": full["eval_id"], **full})
    return numbered


def _plain(value: Any) -> Any:
    if isinstance(value, pl.Series | np.ndarray):
        return list(value)
    missing = value is None or value is pd.NA or value != value  # noqa: PLR0124
    return None if missing else value
