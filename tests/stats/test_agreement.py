"""Agreement of judges: the table, whose scores are put beside whose, and published coefficients."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import cohens_kappa

from skill_eval_nb.stats import agreement
from skill_eval_nb.stats.agreement import (
    DISTRIBUTION,
    HUMAN,
    ITSELF,
    JUDGE,
    MEASURES,
)
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import only, plain, scores_table


def test_the_difference_takes_the_eval_as_its_unit() -> None:
    """Two outputs of one eval, alike, weigh as much as the single one of another."""
    rows = [
        row
        for eval_id, run, more in ("111", "121", "210", "312", "410")
        for judge, score in (("a", 3 + int(more)), ("b", 3))
        for row in judged(judge, score, eval_id=eval_id, run_number=int(run))
    ]
    [row] = [row for row in plain(agreement(scores_table(rows))) if row["kind"] == JUDGE]
    expected = scipy_stats.ttest_1samp([1, 0, 2, 0], 0).confidence_interval(0.95)
    assert row["difference"] == pytest.approx(0.75)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    narrower = agreement(scores_table(rows), level=0.8).filter(kind=JUDGE)
    assert narrower["low"].item() > row["low"]


def of_matrix(matrix, two: bool = False) -> pl.DataFrame:
    """Outputs of an eval each, a row each: judgings of one judge across, or of `two` judges."""
    return scores_table(
        row
        for at, across in enumerate(matrix)
        for place, score in enumerate(across)
        if not math.isnan(score)
        for row in judged("ab"[place] if two else "a", score, eval_id=str(at), judging=place)
    )


NEARLY_ALL_FIVES = [[5, 5, 5]] * 38 + [[1, 5, 5], [5, 1, 5]]
"""The figures of STATISTICS, section 4: two lone 1s among 120 scores, 38 of 40 alike."""


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[4, 4]] * 30, "All scores are 4"),
        ([[4], [5]], "No output was scored twice"),
        ([[1, 5], [5, 1]], "too few or too alike"),
        ([[4, 9]] * 3 + [[3, 3]], "Scores outside 1–5: 3"),
        (
            [[4, 3]] * 30,
            "The difference has no interval: that takes two evals with different values",
        ),
        (NEARLY_ALL_FIVES, "98% of the scores are 5"),
    ],
)
def test_what_is_missing_is_null_and_the_note_says_why(matrix, says) -> None:
    two = len(matrix[0]) == 2
    row = only(agreement(of_matrix(matrix, two)), kind=JUDGE if two else ITSELF)
    assert says in row["note"]
    assert (row["icc_a1"] is None) == (len(matrix) < 3 or matrix[0] == matrix[-1] == [4, 4])


def judged(judge: str | None, *scores: float | None, **keys) -> list[dict]:
    """The judgings of one run by one judge."""
    run = {"configuration": "with_skill", "run_number": 1, "dimension": "clarity"} | keys
    return [
        {"judge_model": judge, "judging": at, "score": score} | run
        for at, score in enumerate(scores, 1)
    ]


BOTH = scores_table([*judged("j", 5, 4), *judged("j", 3, eval_id="2")])
HUMANS = pl.DataFrame(
    {"eval_id": ["1", "2"], "run_number": [1, 1], "dimension": ["clarity"] * 2, "score": [2, 4]}
)


def test_a_human_is_compared_with_every_judging_of_the_same_output() -> None:
    for human in (HUMANS, to_pandas(HUMANS)):
        row = only(agreement(BOTH, human).filter(kind=HUMAN))
        names = ("judge", "other", "n_evals", "n_judgings")
        assert [row[name] for name in names] == ["j", "human", 2, 5]
        assert (row["difference"], row["within_one"]) == ((2.5 - 1) / 2, 0.5)
        assert "no judged run" not in row["note"]
    of_one = only(agreement(BOTH, HUMANS[:1]).filter(kind=HUMAN))
    assert of_one["low"] is None
    assert "two evals" in of_one["note"]


@pytest.mark.parametrize(
    ("human", "says"),
    [
        (HUMANS.drop("score"), "`score`"),
        (HUMANS.drop("eval_id", "run_number"), "tell the runs apart"),
        (HUMANS.drop("eval_id"), "Add those of .*eval_id"),
        (HUMANS.with_columns(score=pl.lit(None, pl.Float64)), "holds no score"),
        (
            HUMANS.with_columns(dimension=pl.lit("clarty")),
            "none with .*`clarty`.*run has eval_id `1`, .*`clarity`",
        ),
    ],
)
def test_a_human_table_that_does_not_fit_is_an_error_that_helps(human, says) -> None:
    with pytest.raises(ValueError, match=says):
        agreement(BOTH, human)
    with pytest.raises(ValueError, match=r"none with .*`clarity`\. No run was judged\."):
        agreement(scores_table([]), HUMANS)


# ── coefficients ─────────────────────────────────────────────────────────────────────────────────


NA = math.nan

SHROUT_FLEISS = [
    *([9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8]),
    *([7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]),
]
"""Shrout and Fleiss 1979, table 2: six targets, four judges."""

FOUR_OBSERVERS = [
    *([1, 1, NA, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
    *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [NA, 5, 5, 5], [NA, NA, 1, 1], [NA, NA, 3, NA]),
]
"""Krippendorff 2011, example C, which Gwet's handbook and irrCAC (`cac.raw4raters`) use too."""

scores = st.integers(1, 5).map(float)


def matrices(*cells: st.SearchStrategy[float], least: int = 1):
    rows = st.tuples(st.integers(2, 4), st.sampled_from(cells)).map(
        lambda told: st.lists(told[1], min_size=told[0], max_size=told[0])
    )
    return rows.flatmap(lambda row: st.lists(row, min_size=least, max_size=8)).map(np.array)


@pytest.mark.parametrize(
    ("matrix", "printed"),
    [
        (SHROUT_FLEISS, {"icc_a1": 0.290, "icc_ak": 0.620}),  # also what psych and irr print
        (FOUR_OBSERVERS, {"alpha": 0.815, "ac2": 0.914}),  # irrCAC, raw with quadratic weights
        (NEARLY_ALL_FIVES, {"alpha": -0.008, "icc_a1": -0.013, "ac2": 0.966}),
    ],
)
def test_coefficients_as_published(matrix, printed) -> None:
    row = only(agreement(of_matrix(matrix)))
    assert {name: round(row[name], 3) for name in printed} == printed


@given(matrices(scores | st.just(NA), st.sampled_from([1.0, 2.0, 5.0, 5.0, 3.5, 7.0, NA])))
def test_each_coefficient_by_its_definition(matrix) -> None:
    units = [unit for row in matrix if (unit := [x for x in row if not math.isnan(x)])]
    twice = [unit for unit in units if len(unit) > 1]
    [row] = plain(agreement(of_matrix(matrix))) or [dict.fromkeys(MEASURES)]
    if not twice:
        assert {row[name] for name in MEASURES} == {None}
        return
    pairs = [list(itertools.permutations(unit, 2)) for unit in twice]
    exact, near = ([np.mean([abs(a - b) <= by for a, b in own]) for own in pairs] for by in (0, 1))
    assert sum(row[name] for name in DISTRIBUTION) == row["n_judgings"] == sum(map(len, units))
    assert (row["n_outputs"], row["n_repeated"]) == (len(units), len(twice))
    found = (row["exact"], row["within_one"])
    assert found == pytest.approx((np.mean(exact), np.mean(near)))
    within = sum(np.var(unit) * len(unit) for unit in twice)
    assert row["sem"] == pytest.approx(math.sqrt(within / sum(len(unit) - 1 for unit in twice)))
    assert row["ac2"] == pytest.approx(gwet(units, pairs))


def gwet(units, pairs) -> float:
    """AC2 by its table of weights."""
    known = sorted({1.0, 2.0, 3.0, 4.0, 5.0}.union(*units))
    weight = {(a, b): 1 - ((a - b) / (known[-1] - known[0])) ** 2 for a in known for b in known}
    agreed = np.mean([np.mean([weight[pair] for pair in own]) for own in pairs])
    common = [np.mean([unit.count(value) / len(unit) for unit in units]) for value in known]
    q = len(known)
    chance = sum(weight.values()) / (q * (q - 1)) * sum(one * (1 - one) for one in common)
    return (agreed - chance) / (1 - chance)


@settings(max_examples=30)
@given(matrices(scores | st.just(NA), scores, least=2))
def test_icc_by_the_expected_quadratic_forms(matrix) -> None:
    """Henderson's method I from the full matrices: E[y'Qy] = trace(QV)."""
    matrix = np.array([sorted(row, key=math.isnan) for row in matrix])  # judgings move up
    at = np.argwhere(~np.isnan(matrix))
    y = matrix[~np.isnan(matrix)]
    [row] = plain(agreement(of_matrix(matrix))) or [dict.fromkeys(MEASURES)]
    a1, ak = row["icc_a1"], row["icc_ak"]
    if len(y) < 2:
        assert a1 is ak is None
        return
    ones = np.ones((len(y), 1))
    z = [(at[:, [axis]] == np.unique(at[:, axis])).astype(float) for axis in (0, 1)]

    def onto(x):
        return x @ np.linalg.inv(x.T @ x) @ x.T

    mean = onto(ones)
    forms = [onto(z[0]) - mean, onto(z[1]) - mean, np.eye(len(y)) - mean]
    parts = [z[0] @ z[0].T, z[1] @ z[1].T, np.eye(len(y))]
    expected = np.array([[np.trace(form @ part) for part in parts] for form in forms])
    if np.linalg.matrix_rank(expected, tol=1e-9) < 3:
        assert a1 is ak is None
        return
    output, judging, rest = np.linalg.solve(expected, [y @ form @ y for form in forms])
    k = len(z[0].T) / (1 / z[0].sum(0)).sum()
    for found, whole in ((a1, output + judging + rest), (ak, output + (judging + rest) / k)):
        if found is not None:
            assert found == pytest.approx(output / whole, abs=1e-9)
        else:
            assert whole < 1e-9 or abs(output) >= whole * (1 - 1e-6)


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=20))
def test_kappa_as_statsmodels_has_it(pairs) -> None:
    table = np.zeros((5, 5))
    for one, other in pairs:
        table[int(one) - 1, int(other) - 1] += 1
    found = only(agreement(of_matrix(pairs, two=True)), kind=JUDGE)["kappa"]
    if found is None:
        assert len(set(itertools.chain(*pairs))) == 1
    else:
        assert found == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False))
