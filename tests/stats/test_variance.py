from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.anova import anova_lm

from skill_eval_nb.stats import judge_severity, variance
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import VARIANCES, Row, by_judges, drawn, examples, plain, scores_of


def parts(data: Any, metric: str | None = None) -> dict[str, Row]:
    """The rows of one cell by component."""
    rows = plain(variance(data, metric))
    found = {row["component"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_an_interval_is_that_of_the_chi_square_where_no_eval_carries_the_spread() -> None:
    """And that of fewer degrees of freedom where one does."""
    judge = parts(scores_of(drawn((1, 8, 3, 3), seed=1)))["judge"]  # a single mean square
    ends = 48 * judge["variance"] / scipy_stats.chi2.ppf([0.975, 0.025], 48)
    assert [judge["low"], judge["high"]] == pytest.approx(ends)
    y = drawn((1, 12, 3, 3), seed=3)
    y[0, 0] += 8
    found = parts(scores_of(y))
    above = {name: row["high"] / row["variance"] for name, row in found.items()}
    few, more = (df / scipy_stats.chi2.ppf(0.025, df) for df in (3, 5))
    assert above["eval"] > few
    assert above["run"] < more


def test_what_is_a_rough_guess_or_below_nothing_says_so() -> None:
    few, many, two = (parts(scores_of(drawn((1, evals, 3, 3)))) for evals in (6, 20, 2))
    assert "rests on few evals (6)" in few["eval"]["note"]
    assert "rests on few repeated runs (12)" in few["run"]["note"]
    assert few["judge"]["note"] is many["eval"]["note"] is None
    assert two["eval"]["variance"] is not None
    assert two["eval"]["low"] is two["eval"]["high"] is two["judge"]["share_low"] is None
    assert two["judge"]["high"] > two["judge"]["variance"]
    y = np.tile([1.0, 5.0], (4, 1))[None, :, :, None]  # runs differ, evals do not
    found = parts(scores_of(y))
    assert found["eval"]["variance"] == found["eval"]["share"] == 0
    assert "-4.0, below 0" in found["eval"]["note"]
    assert found["run + judge"]["share"] == 1


def test_a_judge_s_severity_is_no_noise_and_takes_outputs_in_common() -> None:
    y = np.repeat(drawn((1, 5, 3, 1), seed=2)[0], 2, axis=2)
    y[:, :, 1] += 2.0
    found = parts(by_judges(y, ["mild", "harsh"]))
    assert found["judge"]["variance"] == 0
    assert found["judge severity"]["variance"] == pytest.approx(2.0)  # of ±1 around their mean
    assert found["judge severity"]["high"] is None  # one degree of freedom
    blind = parts(by_judges(y, [None, None]))
    assert blind["judge"]["variance"] == pytest.approx(2.0)
    y[::2, :, 0] = y[1::2, :, 1] = np.nan  # who judged what can no longer be told from what it was
    y = np.concatenate([y, y + 1], axis=2)
    apart, alike = (parts(by_judges(y, judges)) for judges in (["a", "b"] * 2, ["a"] * 4))
    assert list(apart) == ["eval", "run", "judge"]
    assert "Different judges scored different outputs" in apart["eval"]["note"]
    assert [row["variance"] for row in alike.values()] == [
        row["variance"] for row in apart.values()
    ]
    assert judge_severity(by_judges(y, ["a", "b"] * 2)).is_empty()


# ── intervals ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("evals", [4, 12])
@pytest.mark.parametrize("ceiling", [False, True])
def test_coverage_where_a_bootstrap_over_evals_has_none(evals: int, ceiling: bool) -> None:
    """400 data sets: 95 % intervals hold the truth in 92-100 % (three standard errors: 3.3).

    Also of scores of 1 to 5 of which most are 4 and 5, whose truth is that of very many.
    """
    sets, values, whole = 400, drawn((400, evals, 3, 2), seed=evals), np.array(VARIANCES)
    if ceiling:
        at_most = lambda scores: np.clip(np.rint(scores + 1), 1, 5)  # noqa: E731
        values, many = at_most(values), at_most(drawn((1, 10_000, 4, 3), seed=1))
        whole = variance(scores_of(many))["variance"].to_numpy()
    found = variance(scores_of(values))
    for name, truth in (("", whole), ("share_", whole / whole.sum())):
        held = found[f"{name}low"].to_numpy() <= np.tile(truth, sets)
        held &= np.tile(truth, sets) <= found[f"{name}high"].fill_null(np.inf).to_numpy()
        assert (held.reshape(sets, 3).mean(axis=0) >= 0.92 - 0.03 * ceiling).all()


# ── mean squares ───────────────────────────────────────────────────────────────────────────────

designs = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=2, max_size=6)
"""For each eval, its runs' numbers of judgings."""


def unbalanced(design: list[list[int]], seed: int) -> np.ndarray:
    """Scores of a design, the rest NaN."""
    values = drawn((1, len(design), 4, 3), seed=seed)
    for at, runs in enumerate(design):
        values[0, at, len(runs) :] = np.nan
        for run, number in enumerate(runs):
            values[0, at, run, number:] = np.nan
    return values


def by_matrices(values: np.ndarray) -> np.ndarray:
    """The components where every level is there: y'Qy = Σ σ² tr(Z'QZ), solved as it stands."""
    evals, runs, _ = (part[~np.isnan(values[0])] for part in np.indices(values.shape[1:]))
    y = values[0][~np.isnan(values[0])]
    of_evals = (evals[:, None] == np.unique(evals)).astype(float)
    keys = evals * 100 + runs
    of_runs = (keys[:, None] == np.unique(keys)).astype(float)
    whole, one = np.eye(len(y)), np.ones((len(y), 1))
    projections = [z @ np.linalg.pinv(z) for z in (one, of_evals, of_runs, whole)]
    forms = [after - before for before, after in pairwise(projections)]
    squares = [y @ form @ y for form in forms]
    contained = [[np.trace(z.T @ form @ z) for z in (of_evals, of_runs, whole)] for form in forms]
    return np.linalg.solve(contained, squares)


@examples
@given(designs, st.integers(0, 1000))
def test_any_design_gives_what_its_matrices_say(design: list[list[int]], seed: int) -> None:
    if all(len(runs) == 1 for runs in design) or all(n == 1 for runs in design for n in runs):
        design = [[2, 1], *design[1:]]
    values = unbalanced(design, seed)
    table = scores_of(values)
    rows = parts(table)
    found = [(row["variance"], "below 0" in (row["note"] or "")) for row in rows.values()]
    turned = table.with_columns(pl.col("score") + 1e6)[::-1]  # large figures drown nothing
    assert [row["variance"] for row in parts(turned).values()] == pytest.approx(
        [size for size, _ in found], rel=1e-5, abs=1e-6
    )
    assert [*rows.values()] == plain(variance(to_pandas(table)))
    for (size, clipped), expected in zip(found, by_matrices(values), strict=True):
        assert size == pytest.approx(max(expected, 0), abs=1e-9)
        assert clipped == (expected < 0) or abs(expected) < 1e-9


# ── judge severity ─────────────────────────────────────────────────────────────────────────────


def incomplete() -> tuple[np.ndarray, list[str | None]]:
    """Three judges of different severity, a third of the scores missing."""
    rng = np.random.default_rng(11)
    y = drawn((1, 6, 3, 1), seed=4)[0] + np.array([0.6, 0.1, -0.4]) + rng.normal(0, 0.2, (6, 3, 3))
    y[rng.random(y.shape) < 0.33] = np.nan
    return y, ["one", "other", None]


def test_is_least_squares_of_outputs_and_judges() -> None:
    """Severity, what judges add to the sum of squares, and what is left, by statsmodels."""
    table = by_judges(*incomplete())
    frame = to_pandas(table).assign(
        output=lambda t: t["eval_id"] + "-" + t["run_number"].astype(str),
        judge=lambda t: t["judge_model"].fillna("unstated"),
    )
    outputs, fit = (
        smf.ols(f"score ~ {terms}", frame).fit() for terms in ("output", "output + C(judge, Sum)")
    )
    effects = fit.params.filter(like="judge").to_list()
    ends = fit.conf_int().filter(like="judge", axis=0).to_numpy()
    found = plain(judge_severity(table))
    assert [row["judge"] for row in found] == ["one", "other", "unstated"]
    assert [row["severity"] for row in found] == pytest.approx([*effects, -sum(effects)])
    for row, (low, high) in zip(found, ends, strict=False):
        assert [row["low"], row["high"]] == pytest.approx([low, high])
    shared = frame[frame.groupby("output")["judge"].transform("size") > 1]
    counted = shared.groupby("judge").size()
    assert [row["n_runs"] for row in found] == counted.to_list()
    components = {name: row["variance"] for name, row in parts(table).items()}
    assert components["judge"] == pytest.approx(fit.mse_resid)
    added = anova_lm(outputs, fit).iloc[1]
    of_judges = pd.get_dummies(frame["judge"]).astype(float)
    apart = of_judges - of_judges.groupby(frame["output"]).transform("mean")
    contained = (apart.to_numpy() ** 2).sum()  # the trace of the judges' part of the matrix
    expected = (added["ss_diff"] - added["df_diff"] * fit.mse_resid) / contained
    assert components["judge severity"] == pytest.approx(expected)
