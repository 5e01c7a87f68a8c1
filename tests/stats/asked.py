"""Attempts made by hand or by hypothesis: queries of known labels, runs of known outcomes."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

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
