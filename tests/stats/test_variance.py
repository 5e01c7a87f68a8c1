from __future__ import annotations

import math
import random
import warnings
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.anova import anova_lm

from skill_eval_nb.stats import judge_severity, variance
from skill_eval_nb.tables.frames import to_pandas
from tests.stats.made import Row, examples, plain, scores_table
from tests.stats.nested import VARIANCES, by_judges, drawn, judgings, scores_of


def parts(data: Any, metric: str | None = None) -> dict[str, Row]:
    """The rows of one cell by component."""
    rows = plain(variance(data, metric))
    found = {row["component"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def reml(table: Any) -> list[float]:
    """Variances of evals, runs and judgings by statsmodels; balanced data only."""
    frame = to_pandas(table).assign(run=lambda t: t["eval_id"] + "-" + t["run_number"].astype(str))
    model = smf.mixedlm(
        "score ~ 1",
        frame,
        groups="eval_id",
        re_formula="1",
        vc_formula={"run": "0 + C(run)"},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(reml=True)
    return [float(fit.cov_re.iloc[0, 0]), float(fit.vcomp[0]), float(fit.scale)]


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_is_reml_on_balanced_data(seed: int) -> None:
    table = scores_of(drawn((1, 8, 3, 3), seed=seed))
    found = parts(table)
    assert not any(row["clipped"] for row in found.values())
    expected = reml(table)
    assert [row["variance"] for row in found.values()] == pytest.approx(expected, rel=2e-3)
    shares = [part / sum(expected) for part in expected]
    assert [row["share"] for row in found.values()] == pytest.approx(shares, rel=2e-3)
    for row in found.values():
        assert (row["n_evals"], row["n_runs"], row["n_judgings"]) == (8, 24, 72)


def test_a_single_mean_square_has_the_chi_square_interval() -> None:
    judge = parts(scores_of(drawn((1, 8, 3, 3), seed=1)))["judge"]
    ends = 48 * judge["variance"] / scipy_stats.chi2.ppf([0.975, 0.025], 48)
    assert [judge["low"], judge["high"]] == pytest.approx(ends)


def test_an_estimate_below_nothing_is_clipped_and_says_so() -> None:
    y = np.tile([1.0, 5.0], (4, 1))[None, :, :, None]  # runs differ, evals do not
    found = parts(scores_of(y))
    assert found["eval"]["clipped"]
    assert found["eval"]["variance"] == found["eval"]["share"] == 0
    assert "-4.0, below 0" in found["eval"]["note"]
    assert found["run + judge"]["share"] == 1


def test_few_evals_are_a_rough_guess_and_two_carry_no_interval() -> None:
    few = parts(scores_of(drawn((1, 6, 3, 3))))
    assert "rests on 6 evals" in few["eval"]["note"]
    assert "12 runs beyond the first of each eval" in few["run"]["note"]
    assert few["judge"]["note"] is None
    assert parts(scores_of(drawn((1, 20, 3, 3))))["eval"]["note"] is None
    two = parts(scores_of(drawn((1, 2, 3, 3))))
    assert two["eval"]["variance"] is not None
    assert two["eval"]["low"] is two["eval"]["high"] is two["judge"]["share_low"] is None
    assert two["judge"]["high"] > two["judge"]["variance"]


def test_judges_are_crossed_with_runs() -> None:
    """The two-way formulas inside evals, by hand."""
    rng = np.random.default_rng(3)
    base = drawn((1, 5, 3, 1), seed=8)[0]
    y = base + np.array([0.5, 0.0, -0.5]) + rng.normal(0, 0.3, (5, 3, 3))
    found = parts(by_judges(y, ["a", "b", "c"]))
    assert list(found) == ["eval", "run", "judge", "judge severity"]
    flat = y.reshape(15, 3)
    rest = flat - flat.mean(1, keepdims=True) - flat.mean(0) + flat.mean()
    residual = (rest**2).sum() / (14 * 2)
    run = 3 * ((y.mean(2) - y.mean((1, 2))[:, None]) ** 2).sum() / (5 * 2)
    evals = 9 * y.mean((1, 2)).var(ddof=1)
    judges = 15 * flat.mean(0).var(ddof=1)
    expected = [(evals - run) / 9, (run - residual) / 3, residual, (judges - residual) / 15]
    assert [row["variance"] for row in found.values()] == pytest.approx(expected)
    shares = [row["share"] for row in found.values()]
    assert sum(shares[:3]) == pytest.approx(1)
    assert shares[3] is None
    assert "beyond its usual severity" in found["judge"]["note"]
    assert "rests on 3 judges" in found["judge severity"]["note"]


def test_a_judge_s_severity_is_no_noise_of_the_judge() -> None:
    y = np.repeat(drawn((1, 5, 3, 1), seed=2)[0], 2, axis=2)
    y[:, :, 1] += 2.0
    found = parts(by_judges(y, ["mild", "harsh"]))
    assert found["judge"]["variance"] == 0
    assert found["judge severity"]["variance"] == pytest.approx(2.0)  # of ±1 around their mean
    assert found["judge severity"]["high"] is None  # one degree of freedom
    blind = parts(by_judges(y, [None, None]))
    assert blind["judge"]["variance"] == pytest.approx(2.0)


def test_judges_of_different_outputs_cannot_be_told_from_what_they_judged() -> None:
    rows = [
        {"eval_id": str(e), "run_number": r, "judging": j, "dimension": "clarity"}
        | {"score": float(1 + (e * 7 + r * 3 + j) % 5), "judge_model": "ab"[e % 2]}
        | {"configuration": "with_skill"}
        for e in range(4)
        for r in range(2)
        for j in range(2)
    ]
    found = parts(scores_table(rows))
    assert list(found) == ["eval", "run", "judge"]
    assert "Different judges scored different outputs" in found["eval"]["note"]
    blind = parts(scores_table(row | {"judge_model": "a"} for row in rows))
    assert [row["variance"] for row in blind.values()] == [
        row["variance"] for row in found.values()
    ]


@examples
@given(judgings)
def test_any_scores_have_sane_answers(rows: list[Row]) -> None:
    table = scores_table(row | {"judging": at} for at, row in enumerate(rows))
    found = plain(variance(table))
    for row in found:
        for name in ("", "share_"):
            low, high = row[f"{name}low"], row[f"{name}high"]
            estimate = row["share" if name else "variance"]
            assert estimate is None or estimate >= 0
            assert low is None or low <= estimate + 1e-6
            assert high is None or high >= estimate - 1e-6 or row["clipped"]
        assert row["share_high"] is None or 0 <= row["share_high"] <= 1
        assert row["clipped"] in (True, False)
    names = ("iteration", "configuration", "dimension")
    known = [row for row in rows if row["score"] is not None and not math.isnan(row["score"])]
    scored = {tuple(row[name] for name in names) for row in known}
    assert {tuple(row[name] for name in names) for row in found} == scored
    order = random.Random(1).sample(range(len(rows)), len(rows))
    assert variance(table[order]).equals(variance(table))
    assert plain(variance(to_pandas(table))) == found


# ── intervals ──────────────────────────────────────────────────────────────────────────────────


def test_a_share_of_two_is_near_the_exact_interval_of_the_intraclass_correlation() -> None:
    """Shrout & Fleiss 1979, ICC(1,1)."""
    evals, runs = 10, 4
    y = drawn((1, evals, runs, 1), (1.6, 1.5, 0))
    between = runs * y[0, :, :, 0].mean(1).var(ddof=1) / y[0, :, :, 0].var(1, ddof=1).mean()
    f = between / scipy_stats.f.ppf([0.975, 0.025], evals - 1, evals * (runs - 1))
    row = parts(scores_of(y))["eval"]
    exact = (f - 1) / (f + runs - 1)
    assert [row["share_low"], row["share_high"]] == pytest.approx(exact, abs=0.03)


def test_where_one_eval_carries_the_spread_there_are_fewer_degrees_of_freedom() -> None:
    y = drawn((1, 12, 3, 3), seed=3)
    y[0, 0] += 8
    found = parts(scores_of(y))
    above = {name: row["high"] / row["variance"] for name, row in found.items()}
    few, more = (df / scipy_stats.chi2.ppf(0.025, df) for df in (3, 5))
    assert above["eval"] > few
    assert above["run"] < more


@cache
def near_the_ceiling() -> np.ndarray:
    """The variances of scores of 1 to 5 of which most are 4 and 5, from very many."""
    many = np.clip(np.rint(drawn((1, 30_000, 4, 3), seed=1) + 1), 1, 5)
    return variance(scores_of(many))["variance"].to_numpy()


@pytest.mark.parametrize("evals", [4, 12])
@pytest.mark.parametrize("ceiling", [False, True])
def test_coverage_where_a_bootstrap_over_evals_has_none(evals: int, ceiling: bool) -> None:
    """600 data sets: 95 % intervals hold the truth in 92-100 % (three standard errors: 2.7)."""
    sets, values = 600, drawn((600, evals, 3, 2), seed=evals)
    whole = np.array(VARIANCES)
    if ceiling:
        values = np.clip(np.rint(values + 1), 1, 5)
        whole = near_the_ceiling()
    found = variance(scores_of(values))
    truth = np.tile(whole, sets)
    held = found["low"].to_numpy() <= truth
    held &= truth <= found["high"].fill_null(np.inf).to_numpy()
    shares = np.tile(whole / whole.sum(), sets)
    held_shares = found["share_low"].to_numpy() <= shares
    held_shares &= shares <= found["share_high"].fill_null(1).to_numpy()
    for kept in (held, held_shares):
        assert (kept.reshape(sets, 3).mean(axis=0) >= 0.92 - 0.03 * ceiling).all()


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
    found = [(row["variance"], row["clipped"]) for row in parts(scores_of(values)).values()]
    for (size, clipped), expected in zip(found, by_matrices(values), strict=True):
        assert size == pytest.approx(max(expected, 0), abs=1e-9)
        assert clipped == (expected < 0) or abs(expected) < 1e-9


def test_large_figures_do_not_drown_small_differences() -> None:
    y = drawn((1, 5, 3, 2), seed=2)
    near, far = (variance(scores_of(y + high))["variance"].to_list() for high in (0, 1e6))
    assert far == pytest.approx(near, rel=1e-6)


@examples
@given(st.floats(-3, 3))
def test_a_harsher_judge_changes_its_severity_and_no_other_part(harsher: float) -> None:
    y, judges = incomplete()
    tables = [by_judges(scores, judges) for scores in (y, y + np.array([0.0, harsher, 0.0]))]
    before, after = (judge_severity(table)["severity"].to_numpy() for table in tables)
    assert after - before == pytest.approx(harsher * np.array([-1, 2, -1]) / 3, abs=1e-8)
    (*same, _), (*moved, _) = (variance(table)["variance"].to_list() for table in tables)
    assert moved == pytest.approx(same, abs=1e-7)


def test_judges_that_share_no_output_have_no_severity() -> None:
    y = np.full((4, 1, 2), np.nan)
    y[:2, :, 0], y[2:, :, 1] = 3.0, 5.0
    assert judge_severity(by_judges(y, ["a", "b"])).is_empty()


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
