from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from skill_eval_nb.stats import judge_severity, variance
from skill_eval_nb.tables.frames import to_pandas
from tests.stats.made import plain
from tests.stats.nested import by_judges, drawn


def incomplete() -> tuple[np.ndarray, list[str | None]]:
    """Three judges of different severity, a third of the scores missing."""
    rng = np.random.default_rng(11)
    y = drawn((1, 6, 3, 1), seed=4)[0] + np.array([0.6, 0.1, -0.4]) + rng.normal(0, 0.2, (6, 3, 3))
    y[rng.random(y.shape) < 0.33] = np.nan
    return y, ["one", "other", None]


def test_is_least_squares_of_outputs_and_judges() -> None:
    table = by_judges(*incomplete())
    frame = to_pandas(table).assign(
        output=lambda t: t["eval_id"] + "-" + t["run_number"].astype(str),
        judge=lambda t: t["judge_model"].fillna("unstated"),
    )
    fit = smf.ols("score ~ C(output) + C(judge, Sum)", frame).fit()
    effects = fit.params.filter(like="judge").to_list()
    ends = fit.conf_int().filter(like="judge", axis=0).to_numpy()
    found = plain(judge_severity(table))
    assert [row["judge"] for row in found] == ["one", "other", "unstated"]
    assert [row["severity"] for row in found] == pytest.approx([*effects, -sum(effects)])
    for row, (low, high) in zip(found, ends, strict=False):
        assert [row["low"], row["high"]] == pytest.approx([low, high])
    residual = {row["component"]: row["variance"] for row in plain(variance(table))}["judge"]
    assert residual == pytest.approx(fit.mse_resid)


def test_counts_the_outputs_that_a_judge_shares() -> None:
    y, judges = incomplete()
    scored = ~np.isnan(y.reshape(-1, 3))
    shared = scored[scored.sum(1) > 1].sum(0)
    assert [row["n_runs"] for row in plain(judge_severity(by_judges(y, judges)))] == shared.tolist()


def test_a_judge_that_scored_an_output_twice_counts_once() -> None:
    y = drawn((1, 4, 2, 2), seed=1)[0]
    once, twice = by_judges(y, ["a", "b"]), by_judges(y.repeat(2, axis=2), ["a", "a", "b", "b"])
    assert plain(judge_severity(once)) == plain(judge_severity(twice))


def test_one_judge_has_nobody_to_be_compared_with() -> None:
    y = drawn((1, 4, 2, 2))[0]
    for judges in (["a", "a"], [None, None]):
        found = judge_severity(by_judges(y, judges))
        assert len(found) == 0
        assert list(found.columns)[-5:] == ["judge", "severity", "low", "high", "n_runs"]
    assert isinstance(judge_severity(to_pandas(by_judges(y, ["a", "b"]))), pd.DataFrame)


def test_judges_that_agree_but_for_a_step_show_no_noise_and_no_interval() -> None:
    y = drawn((1, 4, 2, 1))[0] + np.array([1.0, 0.0])
    found = plain(judge_severity(by_judges(y, ["mild", "harsh"])))
    assert [round(row["severity"], 9) for row in found] == [-0.5, 0.5]
    assert all(row["low"] is row["high"] is None for row in found)
