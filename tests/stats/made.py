"""Tables made by hand or by hypothesis, labels dealt out one by one, answers as plain rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, product
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from skill_eval_nb.tables import Workspace
from tests.tables.made import table_of

Row = dict[str, Any]
Array = np.ndarray[Any, Any]

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


# ── judgings in runs in evals ──────────────────────────────────────────────────────────────────

VARIANCES = (0.64, 0.25, 0.16)
"""Of evals, runs and judgings, where a test names no others."""


def drawn(shape: tuple[int, int, int, int], variances: Any = VARIANCES, seed: int = 0) -> Array:
    """Scores with these variances: data sets × evals × runs × judgings."""
    rng = np.random.default_rng(seed)
    sizes = [(*shape[:at], *(1,) * (4 - at)) for at in (2, 3, 4)]
    parts = zip(np.sqrt(variances), sizes, strict=True)
    return 3 + sum(spread * rng.normal(size=size) for spread, size in parts)


def scores_of(values: Array, configuration: str = "with_skill") -> pl.DataFrame:
    """The table of rubric scores with these (NaN left out), a workspace a data set."""
    at = np.argwhere(~np.isnan(values))
    which, of_eval, run, judging = at.T
    return pl.DataFrame(
        {
            "workspace": which.astype(str),
            "skill": "s",
            "iteration": "none",
            "eval_id": of_eval.astype(str),
            "eval_name": of_eval.astype(str),
            "configuration": configuration,
            "run_number": run + 1,
            "judging": judging + 1,
            "dimension": "clarity",
            "score": values[tuple(at.T)],
        }
    )


def by_judges(values: Array, judges: list[str | None]) -> pl.DataFrame:
    """The table of rubric scores of evals × runs × judges, NaN left out."""
    return scores_table(
        KEYS
        | {"eval_id": str(of_eval), "run_number": run, "judging": judge, "dimension": "clarity"}
        | {"judge_model": judges[judge], "score": float(score), "configuration": "with_skill"}
        for (of_eval, run, judge), score in np.ndenumerate(values)
        if not np.isnan(score)
    )


# ── labels dealt out in every way ──────────────────────────────────────────────────────────────

Eval = tuple[Sequence[float], Sequence[float]]
"""The figures of an eval on both sides."""


def every_deal(sides: Sequence[Eval], weights: Sequence[float] | None = None) -> Array:
    """The weighed sum of the sides' differences for each way to deal out labels inside evals.

    What was seen comes first.
    """

    by = weights or [1.0] * len(sides)

    def differences(one: Sequence[float], other: Sequence[float]) -> list[float]:
        pool = np.array([*one, *other], dtype=float)
        chosen = map(list, combinations(range(len(pool)), len(one)))
        return [pool[own].mean() - np.delete(pool, own).mean() for own in chosen]

    each = [np.multiply(differences(*own), weight) for own, weight in zip(sides, by, strict=True)]
    return reduce(np.add.outer, each, np.zeros(1)).ravel()


def every_flip(differences: Sequence[float]) -> Array:
    """Their sum under every sign of each; what was seen comes first."""
    return every_deal([([one], [0.0]) for one in differences])


def doubled_tail(sums: Array) -> float:
    """The two-sided p: twice the share at least as far as what was seen, which is the first."""
    tails = (sums >= sums[0] - 1e-9).mean(), (sums <= sums[0] + 1e-9).mean()
    return min(1.0, 2 * float(min(tails)))


# ── attempts of trigger queries ────────────────────────────────────────────────────────────────

OUTCOMES = ("triggered", "not triggered", "errored", "not run")
LETTERS = {"t": OUTCOMES[0], "n": OUTCOMES[1], "e": OUTCOMES[2], "-": OUTCOMES[3]}
COLUMNS = {
    "query": pl.String,
    "should_trigger": pl.Boolean,
    "tags": pl.List(pl.String),
    "split": pl.String,
    "run": pl.Int64,
    "outcome": pl.String,
    "reason": pl.String,
    "instead": pl.String,
    "opened": pl.List(pl.String),
}


def attempts(*queries: tuple, **more: Any) -> pl.DataFrame:
    """A table of attempts: of each query whether it should trigger, its runs as `tne-`, and more.

    The queries are called q1, q2, … unless `more` of a query says otherwise.
    """
    rows = []
    for at, (should, runs, *own) in enumerate(queries, 1):
        known = {"query": f"q{at}", "should_trigger": should, "tags": [], "opened": []}
        known |= more | (own[0] if own else {})
        rows += [known | {"run": n, "outcome": LETTERS[one]} for n, one in enumerate(runs, 1)]
    return pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in rows], COLUMNS)


labelled = st.tuples(st.sampled_from([True, False, None]), st.text("tne-", min_size=1, max_size=6))
queries = st.lists(labelled, min_size=1, max_size=12)
"""What `attempts` takes."""


def rate_of(runs: str) -> float | None:
    """Triggered of what was scored, counted by hand."""
    scored = runs.count("t") + runs.count("n")
    return runs.count("t") / scored if scored else None
