"""Tables made by hand or by hypothesis, and what comes back as plain rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import Any

import narwhals as nw
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from skill_eval_nb.tables import Workspace
from tests.tables.made import table_of

Row = dict[str, Any]

examples = settings(max_examples=10)
"""For tests of whole statistics, which take some milliseconds an example."""

KEYS: Row = {"workspace": "w", "skill": "s", "iteration": "none", "eval_id": "1"}
SIDES = ("with_skill", "without_skill")
CONFIGURATIONS = [*SIDES, "old_skill", "with skill (iter5)", "unstated", "ß\n"]
FIGURES = ["pass_rate", "overall_efficiency", "time_seconds", "tokens"]


def runs_table(rows: Iterable[Row]) -> Any:
    """The table `runs`; keys that a row lacks are filled in, run numbers counted."""
    met: Counter[tuple[Any, ...]] = Counter()
    numbered: list[Row] = []
    for row in rows:
        full = {**KEYS, "configuration": "with_skill", "status": "graded", "path": ".", **row}
        key = tuple(full[name] for name in (*KEYS, "configuration"))
        met[key] += 1
        numbered.append({"run_number": met[key], "eval_name": full["eval_id"], **full})
    return table_of("runs", numbered)


def verdicts_table(rows: Iterable[Row]) -> Any:
    """The table `expectations`; keys that a row lacks are filled in."""
    full = [{**KEYS, "layer": "judged", "text": "is right", "run_number": 1, **row} for row in rows]
    return table_of("expectations", [{"eval_name": row["eval_id"], **row} for row in full])


def scores_table(rows: Iterable[Row]) -> Any:
    """The table `rubric_scores`; one judging by default."""
    full = [{"judging": 1, "weight": 1.0, **KEYS, **row} for row in rows]
    return table_of("rubric_scores", [{"eval_name": row["eval_id"], **row} for row in full])


def world(
    runs: Iterable[Row] = (),
    verdicts: Iterable[Row] = (),
    scores: Iterable[Row] = (),
    backend: Any = "polars",
    **others: Iterable[Row],
) -> Workspace:
    """A workspace of these runs, verdicts and scores, and of rows of other tables."""
    tables = {
        "runs": runs_table(runs),
        "expectations": verdicts_table(verdicts),
        "rubric_scores": scores_table(scores),
    }
    for name, rows in others.items():
        tables[name] = table_of(name, [{**KEYS, "path": ".", **row} for row in rows])
    return Workspace.from_tables(tables, backend=backend)


def stating(printed: str, configuration: str, metric: str, statistic: str, **more: Any) -> Row:
    """A row of the table `stated`."""
    about = {"configuration": configuration, "metric": metric, "statistic": statistic}
    return about | {"printed": printed, "value": float(printed), "path": "benchmark.json"} | more


def pair(own: Any, other: Any, times: int = 3, **more: Any) -> list[Row]:
    """Runs of an eval on both sides: of these rates, or all with the same; None errored."""
    both = ([rate] * times if isinstance(rate, float) else rate for rate in (own, other))
    return [
        {"configuration": name, "pass_rate": rate}
        | ({"status": "errored"} if rate is None else {})
        | more
        for name, rates in zip(SIDES, both, strict=True)
        for rate in rates
    ]


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


def sides(passes: Iterable[bool | None], others: Iterable[bool | None], **more: Any) -> list[Row]:
    """Verdicts on an expectation of an eval: a run each with the skill, then without."""
    return [
        {"configuration": name, "run_number": number, "passed": verdict, **more}
        for name, own in zip(SIDES, (passes, others), strict=True)
        for number, verdict in enumerate(own, 1)
    ]


def plain(frame: Any) -> list[Row]:
    """The rows of a frame of either kind, with None for what is missing."""
    return nw.from_native(frame, eager_only=True).to_polars().fill_nan(None).to_dicts()


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
    rates = st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.0, 0.5, 1.0, math.nan])
    of = {name: st.none() | rates for name in figures}
    of |= {"tokens": st.none() | st.integers(0, 100_000)} if "tokens" in of else {}
    keys = {
        "iteration": st.sampled_from(["iteration-9", "iteration-10", "none"]),
        "eval_id": st.sampled_from(["1", "2", "10", "a b", "</script>"]),
        "configuration": st.sampled_from(CONFIGURATIONS),
    }
    return draw(st.lists(st.fixed_dictionaries(keys | of), max_size=40))


@st.composite
def verdict_rows(draw: st.DrawFn) -> list[Row]:
    """Verdicts of a few iterations, evals, expectations and configurations, with gaps."""
    keys = {
        "iteration": st.sampled_from(["iteration-9", "iteration-10"]),
        "eval_id": st.sampled_from(["1", "2", "10"]),
        "configuration": st.sampled_from([*SIDES, "old_skill", "ß\n"]),
        "run_number": st.integers(1, 4),
        "layer": st.sampled_from(["judged", "structural"]),
        "text": st.sampled_from(["is right", "</script>", "a b"]),
    }
    row = st.fixed_dictionaries({**keys, "passed": st.sampled_from([True, False, None])})
    of = lambda row: tuple(row[name] for name in keys)  # noqa: E731
    return draw(st.lists(row, max_size=60, unique_by=of))
