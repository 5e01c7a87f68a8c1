"""Agreement of judges: the table, whose scores are put beside whose, and published coefficients."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import cohens_kappa

from skill_eval_nb.stats import agreement
from skill_eval_nb.stats.agreement import (
    COUNTS,
    DISTRIBUTION,
    HUMAN,
    ITSELF,
    JUDGE,
    KEYS,
    MEASURES,
    ac2,
    alpha,
    icc,
    kappa,
    raters,
    sem,
    shares,
)
from skill_eval_nb.tables.frames import to_pandas
from tests.stats.made import examples, plain, scores_table, workspace

FIGURES = [*COUNTS, *DISTRIBUTION, *MEASURES, "note"]
COEFFICIENTS = ("icc_a1", "icc_ak", "alpha", "ac2", "kappa")
score = st.none() | st.just(math.nan) | st.integers(1, 5).map(float) | st.sampled_from([0.5, 9.0])
judgings = st.lists(
    st.fixed_dictionaries(
        {
            "iteration": st.sampled_from(["iteration-9", "iteration-10"]),
            "eval_id": st.sampled_from("123"),
            "run_number": st.integers(1, 2),
            "judging": st.integers(1, 3),
            "judge_model": st.sampled_from(["a", "b", None]),
            "dimension": st.sampled_from(["clarity", "scope"]),
            "score": score,
        }
    ),
    max_size=40,
)


def table_of(rows) -> pl.DataFrame:
    return scores_table([{"configuration": "with_skill", **row} for row in rows])


def only(found) -> dict:
    [row] = plain(found)
    return row


@examples
@given(judgings)
def test_figures_stay_in_their_bounds_on_any_scores(rows) -> None:
    found = agreement(table_of(rows))
    assert found.columns == [*KEYS, *FIGURES]
    assert not found.select(KEYS).is_duplicated().any()
    for row in found.to_dicts():
        assert sum(row[name] for name in DISTRIBUTION) == row["n_judgings"]
        assert row["n_repeated"] <= row["n_outputs"] <= row["n_judgings"]
        assert (row["exact"] is None) == (row["n_repeated"] == 0)
        if row["exact"] is not None:
            assert 0 <= row["unanimous"] <= row["exact"] <= row["within_one"] <= 1
            assert row["sem"] >= 0
            assert row["ac2"] <= 1  # below, only by -chance / (1 - chance)
        for name in MEASURES:
            assert row[name] is None or math.isfinite(row[name])
        assert all(row[name] is None or row[name] <= 1 + 1e-12 for name in COEFFICIENTS)
        if row["kind"] == ITSELF:
            assert row["judge"] == row["other"]
            assert row["kappa"] is row["difference"] is None
        if row["low"] is not None:
            assert row["low"] < row["difference"] < row["high"]
        undefined = row["alpha"] is None or row["icc_a1"] is None
        assert not undefined or row["note"]


def test_by_hand() -> None:
    rows = [
        *judged("j", 5, 5, 4),
        *judged("j", 3, 3, 3, run_number=2),
        *judged("j", 2, eval_id="2"),
        *judged("j", 7, None, eval_id="3"),
    ]
    row = only(agreement(scores_table(rows)))
    assert (row["n_evals"], row["n_outputs"], row["n_repeated"], row["n_judgings"]) == (3, 4, 2, 8)
    assert [row[name] for name in DISTRIBUTION] == [0, 1, 3, 1, 2, 1]
    assert (row["exact"], row["within_one"], row["unanimous"]) == (pytest.approx(2 / 3), 1, 0.5)
    assert row["sem"] == pytest.approx(math.sqrt((2 / 3) / 4))
    assert "With 2 outputs" in row["note"]
    assert "1 of the scores lie" in row["note"]


def test_the_difference_takes_the_eval_as_its_unit() -> None:
    """Two outputs of one eval, alike, weigh as much as the single one of another."""
    apart = {("1", 1): 1, ("1", 2): 1, ("2", 1): 0, ("3", 1): 2, ("4", 1): 0}
    rows = [
        row
        for (eval_id, run), more in apart.items()
        for row in (
            *judged("a", 3 + more, eval_id=eval_id, run_number=run),
            *judged("b", 3, eval_id=eval_id, run_number=run),
        )
    ]
    [row] = [row for row in plain(agreement(scores_table(rows))) if row["kind"] == JUDGE]
    expected = scipy_stats.ttest_1samp([1, 0, 2, 0], 0)
    low, high = expected.confidence_interval(0.95)
    assert row["difference"] == pytest.approx(0.75)
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    narrower = agreement(scores_table(rows), level=0.8).filter(kind=JUDGE)
    assert narrower["low"].item() > row["low"]


def test_against_a_human() -> None:
    rows = [row for run in range(1, 31) for row in judged("j", 1 + run % 5, run_number=run)]
    human = scores_table(
        row for run in range(1, 31) for row in judged(None, 1 + run % 4, run_number=run)
    )
    for given_human in (human, to_pandas(human)):
        found = agreement(scores_table(rows), given_human)
        row = found.filter(kind=HUMAN).to_dicts()[0]
        assert (row["judge"], row["other"]) == ("j", "human")
        pairs = np.array([(1 + run % 5, 1 + run % 4) for run in range(1, 31)])
        assert row["difference"] == pytest.approx(np.diff(pairs).mean() * -1)
        assert row["exact"] == pytest.approx((pairs[:, 0] == pairs[:, 1]).mean())
        assert row["low"] is None  # a single eval
        assert "two evals" in row["note"]


def test_nearly_all_scores_equal_and_the_note_that_says_what_to_look_at() -> None:
    """The figures of STATISTICS, section 4: two lone 1s among 120 scores, 38 of 40 alike."""
    row = only(agreement(NEARLY_ALL_FIVES))
    rounded = {name: round(row[name], 3) for name in ("unanimous", "alpha", "icc_a1", "ac2")}
    assert rounded == {"unanimous": 0.95, "alpha": -0.008, "icc_a1": -0.013, "ac2": 0.966}
    assert row["note"].startswith("98% of the scores are 5")


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[4, 4]] * 30, "All scores are 4"),
        ([[4], [5]], "No output was scored twice"),
        ([[1, 5], [5, 1]], "too few or too alike"),
        (np.empty((0, 2)), "There are no scores"),
        ([[math.nan, math.nan]], "There are no scores"),
        ([[4, 9]] * 3 + [[3, 3]], "3 of the scores lie outside 1–5"),
        ([[4, 3]] * 30, "The difference has no interval: it is the same on every eval"),
    ],
)
def test_what_is_missing_is_null_and_the_note_says_why(matrix, says) -> None:
    row = only(agreement(matrix))
    assert says in row["note"]
    if "outside" not in says and "difference" not in says:
        assert row["icc_a1"] is None


def test_no_scores_no_rows() -> None:
    for data in (scores_table([]), to_pandas(scores_table([])), workspace()):
        found = agreement(data)
        assert list(found.columns) == [*KEYS, *FIGURES]
        assert len(found) == 0


# ── raters ───────────────────────────────────────────────────────────────────────────────────────


def judged(judge: str | None, *scores: float | None, **keys) -> list[dict]:
    """The judgings of one run by one judge."""
    run = {"configuration": "with_skill", "run_number": 1, "dimension": "clarity"} | keys
    return [
        run | {"judge_model": judge, "judging": at, "score": score}
        for at, score in enumerate(scores, 1)
    ]


def by_kind(*found) -> dict[str, list]:
    kinds: dict[str, list] = {ITSELF: [], JUDGE: [], HUMAN: []}
    for one in found:
        kinds[one.keys[4]].append(one)
    return kinds


def test_two_judges_are_compared_over_every_pair_of_their_judgings() -> None:
    rows = [*judged("b", 1, 2), *judged("a", 4, 5), *judged("a", 3, run_number=2)]
    [pair] = by_kind(*raters(scores_table(rows)))[JUDGE]
    assert pair.keys[5:] == ("a", "b")
    assert pair.matrix.tolist() == [[4, 1], [4, 2], [5, 1], [5, 2]]
    assert set(pair.outputs) == {0}
    assert sorted(pair.scores) == [1, 2, 4, 5]
    assert pair.two


def test_dimensions_iterations_and_workspaces_are_never_mixed() -> None:
    keys = [
        {"dimension": "scope"},
        {"iteration": "iteration-2"},
        {"workspace": "x"},
        {"skill": "t"},
    ]
    rows = [row for one in ({}, *keys) for name in "ab" for row in judged(name, 3, 4, **one)]
    found = raters(scores_table(rows))
    assert len({one.keys for one in found}) == len(found) == 5 * 3
    assert {one.matrix.shape for one in found} == {(1, 2), (4, 2)}


HUMANS = pl.DataFrame(
    {"eval_id": ["1", "2"], "run_number": [1, 1], "dimension": ["clarity"] * 2, "score": [2, 4]}
)


def test_a_human_is_compared_with_every_judging_of_the_same_output() -> None:
    table = scores_table([*judged("j", 5, 4), *judged("j", 3, eval_id="2")])
    for human in (HUMANS, to_pandas(HUMANS)):
        [only] = by_kind(*raters(table, human))[HUMAN]
        assert only.keys[5:] == ("j", "human")
        assert only.matrix.tolist() == [[5, 2], [4, 2], [3, 4]]
        assert only.evals.tolist() == [0, 0, 1]
        assert sorted(only.scores) == [2, 3, 4, 4, 5]
        assert only.stray == 0


@pytest.mark.parametrize(
    ("human", "says"),
    [
        (HUMANS.drop("score"), "`score`"),
        (HUMANS.drop("eval_id", "run_number"), "tell the runs apart"),
        (HUMANS.drop("eval_id"), "Add those of .*eval_id"),
        (HUMANS.with_columns(score=pl.lit(None, pl.Float64)), "holds no score"),
        (
            HUMANS.with_columns(dimension=pl.lit("clarty")),
            "none with .*`clarty`.*one has eval_id `1`, .*`clarity`",
        ),
    ],
)
def test_a_human_table_that_does_not_fit_is_an_error_that_helps(human, says) -> None:
    table = scores_table([*judged("j", 5, 4), *judged("j", 3, eval_id="2")])
    with pytest.raises(ValueError, match=says):
        raters(table, human)


def test_human_scores_of_what_no_judge_scored_are_an_error_that_says_so() -> None:
    with pytest.raises(ValueError, match=r"none with .*`clarity`\. No run was judged\."):
        agreement(scores_table([]), HUMANS)


# ── coefficients ─────────────────────────────────────────────────────────────────────────────────


NA = math.nan
SCALE = (1, 5)

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
"""Shrout and Fleiss 1979, table 2: six targets, four judges."""

FOUR_OBSERVERS = [
    [1, 1, NA, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NA, 5, 5, 5],
    [NA, NA, 1, 1],
    [NA, NA, 3, NA],
]
"""Krippendorff 2011, example C, which Gwet's handbook and irrCAC (`cac.raw4raters`) use too."""

NEARLY_ALL_FIVES = [[5, 5, 5]] * 38 + [[1, 5, 5], [5, 1, 5]]
"""40 outputs judged three times, all alike on 38: 95 % raw agreement."""

scores = st.integers(1, 5).map(float)
missing = st.just(NA)


def matrices(least: int = 1, most: int = 8, cell: st.SearchStrategy[float] = scores | missing):
    return st.integers(2, 4).flatmap(
        lambda wide: st.lists(
            st.lists(cell, min_size=wide, max_size=wide), min_size=least, max_size=most
        ).map(np.array)
    )


def given_in(row) -> list[float]:
    return [score for score in row if not math.isnan(score)]


def test_icc_of_shrout_and_fleiss() -> None:
    a1, ak = icc(np.array(SHROUT_FLEISS))
    assert (round(a1, 3), round(ak, 3)) == (0.290, 0.620)  # also what psych and irr print


def test_ordinal_alpha_of_krippendorff() -> None:
    assert round(alpha(np.array(FOUR_OBSERVERS)), 3) == 0.815


def test_ac2_as_irrcac_prints_it() -> None:
    """irrCAC, tests of its raw ratings with quadratic weights: 0.914."""
    assert round(ac2(np.array(FOUR_OBSERVERS), SCALE), 3) == 0.914


@given(matrices())
def test_alpha_by_its_coincidences(matrix) -> None:
    units = [given_in(row) for row in matrix if len(given_in(row)) > 1]
    counts = Counter(itertools.chain(*units))

    def apart(one: float, other: float) -> float:
        low, high = sorted((one, other))
        between = sum(n for value, n in counts.items() if low <= value <= high)
        return (between - (counts[one] + counts[other]) / 2) ** 2

    n = counts.total()
    observed = sum(
        apart(a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)
    )
    expected = sum(counts[a] * counts[b] * apart(a, b) for a in counts for b in counts)
    if not expected:
        assert alpha(matrix) is None
    else:
        assert alpha(matrix) == pytest.approx(1 - (n - 1) * observed / expected)


@given(matrices(cell=st.sampled_from([1.0, 2.0, 5.0, 5.0, 3.5, 7.0, NA])))
def test_ac2_by_its_table_of_weights(matrix) -> None:
    units = [unit for row in matrix if (unit := given_in(row))]
    known = sorted({1.0, 2.0, 3.0, 4.0, 5.0}.union(*units))
    weight = {(a, b): 1 - ((a - b) / (known[-1] - known[0])) ** 2 for a in known for b in known}
    twice = [unit for unit in units if len(unit) > 1]
    if not twice:
        assert ac2(matrix, SCALE) is None
        return
    agreed = np.mean(
        [np.mean([weight[pair] for pair in itertools.permutations(unit, 2)]) for unit in twice]
    )
    common = [np.mean([unit.count(value) / len(unit) for unit in units]) for value in known]
    q = len(known)
    chance = sum(weight.values()) / (q * (q - 1)) * sum(one * (1 - one) for one in common)
    assert ac2(matrix, SCALE) == pytest.approx((agreed - chance) / (1 - chance))


@given(matrices(least=2, cell=scores))
def test_icc_of_whole_matrices_by_their_mean_squares(matrix) -> None:
    """The formulas of Shrout and Fleiss 1979, p. 423."""
    n, k = matrix.shape
    effects = [matrix.mean(1, keepdims=True), matrix.mean(0, keepdims=True)]
    rest = matrix - sum(effects) + matrix.mean()
    ms_rows = k * effects[0].var(ddof=1)
    ms_columns = n * effects[1].var(ddof=1)
    ms_rest = (rest**2).sum() / ((n - 1) * (k - 1))
    single = ms_rows + (k - 1) * ms_rest + k * (ms_columns - ms_rest) / n
    mean = ms_rows + (ms_columns - ms_rest) / n
    for found, whole in zip(icc(matrix), (single, mean), strict=True):
        part = ms_rows - ms_rest
        if found is None:
            assert whole < 1e-9 or abs(part) >= whole * (1 - 1e-9)
        else:
            assert found == pytest.approx(part / whole)


@settings(max_examples=30)
@given(matrices(least=2))
def test_icc_with_missing_cells_by_the_expected_quadratic_forms(matrix) -> None:
    """Henderson's method I from the full matrices: E[y'Qy] = trace(QV)."""
    at = np.argwhere(~np.isnan(matrix))
    y = matrix[~np.isnan(matrix)]
    a1, ak = icc(matrix)
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
    found = kappa(np.array(pairs))
    if found is None:
        assert len(set(itertools.chain(*pairs))) == 1
    else:
        assert found == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False))


@given(matrices())
def test_sem_is_the_pooled_deviation_within_outputs(matrix) -> None:
    rows = [row for row in map(given_in, matrix) if len(row) > 1]
    if not rows:
        assert sem(matrix) is None
    else:
        free = sum(len(row) - 1 for row in rows)
        pooled = sum(np.var(row, ddof=1) * (len(row) - 1) for row in rows) / free
        assert sem(matrix) == pytest.approx(math.sqrt(pooled))


@given(matrices())
def test_shares_by_counting_pairs(matrix) -> None:
    rows = [list(itertools.combinations(given_in(row), 2)) for row in matrix]
    rows = [pairs for pairs in rows if pairs]
    if not rows:
        assert shares(matrix) is None
        return
    exact = [np.mean([a == b for a, b in pairs]) for pairs in rows]
    near = [np.mean([abs(a - b) <= 1 for a, b in pairs]) for pairs in rows]
    alike = np.mean([share == 1 for share in exact])
    assert shares(matrix) == pytest.approx((np.mean(exact), np.mean(near), alike))
