"""Scores of known make: judgings in runs in evals, and judges across runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tests.stats.made import KEYS, scores_table

Array = np.ndarray[Any, Any]
VARIANCES = (0.64, 0.25, 0.16)
"""Of evals, runs and judgings, where a test names no others."""


def drawn(shape: tuple[int, int, int, int], variances: Any = VARIANCES, seed: int = 0) -> Array:
    """Scores with these variances: data sets × evals × runs × judgings."""
    rng = np.random.default_rng(seed)
    sets, evals, runs, judgings = shape
    of_evals, of_runs, of_judgings = np.sqrt(variances)
    return (
        3
        + of_evals * rng.normal(size=(sets, evals, 1, 1))
        + of_runs * rng.normal(size=(sets, evals, runs, 1))
        + of_judgings * rng.normal(size=(sets, evals, runs, judgings))
    )


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
