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
MOST_RUNS = 3
"""Runs above which `evalstats` is not asked: the same, in as long as all of the others take."""
FEWEST = 15
"""Evals below which `evalstats` refuses to answer."""
AT_MOST = 500
"""Data sets that `evalstats` is asked about: it takes up to a tenth of a second for each."""


def pooled_welch(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """Welch's t interval over runs, as if those of one eval were as different as any two."""
    runs = values.reshape(*values.shape[:2], -1)
    number = (~np.isnan(runs)).sum(axis=2)
    parts = np.nanvar(runs, axis=2, ddof=1) / number
    together = parts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = together**2 / (parts**2 / (number - 1)).sum(axis=1)
    one, other = np.nanmean(runs, axis=2).T
    return _around(one - other, np.sqrt(together), df)


def t_gate(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """The paired t interval over evals; a difference is claimed wherever it excludes 0."""
    differences = _differences(values)
    n = (~np.isnan(differences)).sum(axis=1)
    se = np.nanstd(differences, axis=1, ddof=1) / np.sqrt(n)
    return _around(np.nanmean(differences, axis=1), se, n - 1.0)


def bootstrap(values: Array, metric: str, random: np.random.Generator) -> Answers:
    """The percentile bootstrap over evals."""
    differences = _differences(values)
    n = differences.shape[1]
    low, high = np.empty((2, len(values)))
    for at in range(0, len(values), 100):
        drawn = random.multinomial(n, np.full(n, 1 / n), DRAWS) / n
        part = differences[at : at + 100]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.nan_to_num(part) @ drawn.T / (~np.isnan(part) @ drawn.T)
        means = np.nan_to_num(means)  # a draw of evals alone that lack a side
        low[at : at + 100], high[at : at + 100] = np.quantile(means, (0.025, 0.975), axis=1)
    return from_interval(low, high)


def evalstats(values: Array, metric: str, random: np.random.Generator) -> Answers | None:
    """`evalstats.compare` as it comes, told the scale; None where it is not there or refuses."""
    if importlib.util.find_spec("evalstats") is None or values.shape[2] < FEWEST:
        return None
    if np.isnan(values).any() or values.shape[3] > MOST_RUNS:
        return None
    import evalstats as package
    import pandas as pd

    scale = (1.0, 5.0) if metric.startswith("rubric:") else (0.0, 1.0)
    side, eval_, run = (place.ravel() for place in np.indices(values.shape[1:]))
    keys = {"prompt": np.array(["with", "without"])[side], "item": eval_}
    if values.shape[3] > 1:
        keys["run"] = run
    rows: list[tuple[float, float, int]] = []
    for value in values[:AT_MOST]:
        data = pd.DataFrame({**keys, "score": value.ravel()})
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an eval that lacks a side
        one, other = np.moveaxis(np.nanmean(values, axis=3), 1, 0)
    return one - other


def _around(estimate: Array, se: Array, df: Array) -> Answers:
    """A t interval; where no spread was seen it is the estimate alone, as t tests have it."""
    with np.errstate(invalid="ignore"):
        reach = np.where(se > 0, se * special.stdtrit(df, 0.975), 0.0)
    return from_interval(estimate - reach, estimate + reach)
