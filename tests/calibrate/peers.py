"""What others do with the same runs: each takes data sets by side × eval × run."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from scipy import special

from .answers import Answers, from_interval
from .metrics import Array

DRAWS = 2000
"""Resamplings of a bootstrap."""
FEWEST = 15
"""Evals below which `evalstats` refuses to answer."""
AT_MOST = 1000
"""Data sets that `evalstats` is asked about: it takes ten milliseconds for each."""


def pooled_welch(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """Welch's t interval over runs, as if those of one eval were as different as any two."""
    runs = values.reshape(*values.shape[:2], -1)
    parts = runs.var(axis=2, ddof=1) / runs.shape[2]
    together = parts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = together**2 / (parts**2 / (runs.shape[2] - 1)).sum(axis=1)
    one, other = runs.mean(axis=2).T
    return _around(one - other, np.sqrt(together), df)


def t_gate(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """The paired t interval over evals; a difference is claimed wherever it excludes 0."""
    differences = _differences(values)
    n = differences.shape[1]
    se = differences.std(axis=1, ddof=1) / np.sqrt(n)
    return _around(differences.mean(axis=1), se, np.full(len(values), n - 1.0))


def bootstrap(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """The percentile bootstrap over evals."""
    differences = _differences(values)
    n = differences.shape[1]
    low, high = np.empty((2, len(values)))
    for at in range(0, len(values), 100):
        drawn = random.multinomial(n, np.full(n, 1 / n), DRAWS) / n
        means = differences[at : at + 100] @ drawn.T
        low[at : at + 100], high[at : at + 100] = np.quantile(means, (0.025, 0.975), axis=1)
    return from_interval(low, high)


def evalstats(values: Array, metric: str, random: np.random.Generator) -> Answers | None:
    """`evalstats.compare` as it comes, told the scale; None where it is not there or refuses."""
    if importlib.util.find_spec("evalstats") is None or values.shape[2] < FEWEST:
        return None
    import evalstats as package
    import pandas as pd

    scale = (1.0, 5.0) if metric.startswith("rubric:") else (0.0, 1.0)
    side, eval_, run = (place.ravel() for place in np.indices(values.shape[1:]))
    keys = {"prompt": np.array(["with", "without"])[side], "item": eval_}
    if values.shape[3] > 1:
        keys["run"] = run
    rows: list[tuple[float, float, int]] = []
    for one in values[:AT_MOST]:
        data = pd.DataFrame({**keys, "score": one.ravel()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says which interval it chose, each time
            loaded = package.load_from(data)
            result = package.compare(loaded, factors="prompt", score_range=scale)
        (pair,) = result.to_dict()["pairwise"]
        sign = 1 if pair["a"] == "with" else -1
        low, high = sorted((sign * pair["ci_low"], sign * pair["ci_high"]))
        rows.append((low, high, sign * int(pair["significant"]) * int(np.sign(pair["diff"]))))
    return Answers(*np.array(rows).T)


def _differences(values: Array) -> Array:
    """Each eval's difference of means: data set × eval."""
    one, other = np.moveaxis(values.mean(axis=3), 1, 0)
    return one - other


def _around(estimate: Array, se: Array, df: Array) -> Answers:
    """A t interval; where no spread was seen it is the estimate alone, as t tests have it."""
    with np.errstate(invalid="ignore"):
        reach = np.where(se > 0, se * special.stdtrit(df, 0.975), 0.0)
    return from_interval(estimate - reach, estimate + reach)
