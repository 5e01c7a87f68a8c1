from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skill_eval_nb.stats import inference
from skill_eval_nb.stats.inference import (
    Cells,
    exact_p,
    exact_tests,
    least_p,
    permute_within_evals,
    run_noise,
    studentised_p,
    tango_interval,
)
from tests.stats.made import doubled_tail, every_deal

Eval = tuple[list[float], list[float]]
sixths = st.integers(0, 6).map(lambda passed: passed / 6)


def evals(values: st.SearchStrategy[float], most: int = 4) -> st.SearchStrategy[list[Eval]]:
    side = st.lists(values, min_size=1, max_size=3)
    return st.lists(st.tuples(side, side), min_size=1, max_size=most)


@pytest.mark.parametrize("few", [inference.FEW, 0], ids=["one by one", "by sum"])
@settings(max_examples=30)
@given(sides=evals(sixths | st.integers(0, 300)))
def test_agrees_with_counting_every_arrangement(few: int, sides: list[Eval]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(inference, "FEW", few)
        assert exact_p(sides) == pytest.approx(doubled_tail(every_deal(sides)), abs=1e-9)


def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
    return a.mean(axis=axis) - b.mean(axis=axis)


def test_a_side_of_few_runs_against_many() -> None:
    """Of all choices of half of so many values there would be 2^31; and of many runs, a sample."""
    random = np.random.default_rng(0)
    one, other = random.random(3), random.random(60)
    found = stats.permutation_test((one, other), difference, n_resamples=np.inf, batch=5000)
    assert exact_p([(one.tolist(), other.tolist())]) == pytest.approx(found.pvalue, abs=1e-3)


@given(evals(sixths))
def test_the_smallest_p_is_that_of_the_farthest_labels(sides: list[Eval]) -> None:
    """All the best runs on the one side, or on the other."""
    ends = []
    for reverse in (True, False):
        dealt = [sorted([*one, *other], reverse=reverse) for one, other in sides]
        many = [len(one) for one, _ in sides]
        ends.append([(each[:k], each[k:]) for each, k in zip(dealt, many, strict=True)])
    assert least_p(sides) == pytest.approx(min(map(exact_p, ends)))
    assert exact_p(sides) >= least_p(sides) - 1e-12


def test_a_studentised_p_is_scipy_s() -> None:
    one, other = [0.9, 0.4, 0.7], [0.1, 0.3, 0.2, 0.6, 0.3]

    def t(a, b, axis):
        error = a.var(axis=axis, ddof=1) / a.shape[axis] + b.var(axis=axis, ddof=1) / b.shape[axis]
        return np.abs(a.mean(axis=axis) - b.mean(axis=axis)) / np.sqrt(error)

    found = stats.permutation_test((one, other), t, alternative="greater", n_resamples=np.inf)
    assert studentised_p([(one, other)]) == pytest.approx(found.pvalue)
    still = ([0.5] * 9, [0.5] * 12)  # which moves nothing, and makes so many that a sample is drawn
    assert studentised_p([(one, other), still]) == pytest.approx(found.pvalue, abs=0.01)


def test_labels_are_dealt_out_for_all_figures_of_a_run_at_once() -> None:
    """A run may lack a figure; what was seen comes first, and every deal is one that there is."""
    evals = np.random.default_rng(1).random((2, 6, 2))
    evals[0, 1:3, 1] = np.nan
    each = [
        [np.nanmean(runs[[*own]], 0) - np.nanmean(np.delete(runs, own, 0), 0) for own in chosen]
        for runs in evals
        for chosen in [[*combinations(range(6), 3)]]
    ]
    every = np.array([(one + other) / 2 for one, other in product(*each)])
    found = permute_within_evals([(runs, 3) for runs in evals])
    assert found[0] == pytest.approx(every[0])
    assert abs(found[:, None] - every).max(axis=2).min(axis=1).max() < 1e-9
    assert len(np.unique(found.round(9), axis=0)) > 0.9 * len(np.unique(every.round(9), axis=0))


# ── contingency ────────────────────────────────────────────────────────────────────────────────

NAMES = ("passed", "scored", "passed_baseline", "scored_baseline")


def tried(*rows: list[tuple[int, int, int, int]]) -> list[tuple[float, float]]:
    """(p, least p) of rows of evals, each (passed, scored) on the one side and on the other."""
    cells = [
        {"row": at, **dict(zip(NAMES, cell, strict=True))}
        for at, own in enumerate(rows)
        for cell in own
    ]
    found = exact_tests(pl.DataFrame(cells)).sort("row")
    return list(found.select("p", "least_p").iter_rows())


def cells(most: int) -> list[tuple[int, int, int, int]]:
    sizes = list(product(range(1, most + 1), repeat=2))
    return [(a, n, b, m) for n, m in sizes for a in range(n + 1) for b in range(m + 1)]


def test_several_evals_as_published() -> None:
    """Penicillin given to rabbits at once or after 1.5 hours (Armitage): R prints 0.03994."""
    doses = [(0, 6, 0, 5), (3, 6, 0, 6), (6, 6, 2, 6), (5, 6, 6, 6), (2, 2, 5, 5)]
    assert tried(doses)[0][0] == pytest.approx(0.03994, abs=5e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(cells(3)), min_size=1, max_size=3))
def test_several_evals_are_all_ways_to_deal_out_the_sides(evals) -> None:
    """The p of what is as rare as what was seen, or rarer: as many passes on the one side."""
    passes = [([1] * a + [0] * (n - a), [1] * b + [0] * (m - b)) for a, n, b, m in evals]
    chosen = product(*(combinations([*one, *other], len(one)) for one, other in passes))
    dealt = [sum(map(sum, sides)) for sides in chosen]
    ways = [dealt.count(one) for one in dealt]
    expected = np.mean(np.array(ways) <= ways[0])
    assert tried(evals)[0][0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "sizes", [[(3, 3)], [(2, 4)], [(4, 2)], [(2, 3), (3, 2)], [(2, 2), (3, 3)]]
)
def test_the_least_p_is_the_smallest_that_any_verdicts_give(sizes) -> None:
    every = product(*(product(range(n + 1), range(m + 1)) for n, m in sizes))
    rows = [
        [(a, n, b, m) for (a, b), (n, m) in zip(passes, sizes, strict=True)] for passes in every
    ]
    found = tried(*rows)
    least = min(p for p, _ in found)
    assert [reachable for _, reachable in found] == [pytest.approx(least)] * len(found)


def test_many_runs_and_many_evals() -> None:
    [(p, _)] = tried([(15_000, 30_000, 15_200, 30_000)])
    expected = stats.fisher_exact([[15_000, 15_000], [15_200, 14_800]]).pvalue
    assert p == pytest.approx(expected, abs=1e-9)
    for better, worse, equal in ((5_100, 4_900, 0), (9, 3, 1), (1, 1, 0)):
        evals = [(1, 1, 0, 1)] * better + [(0, 1, 1, 1)] * worse + [(1, 1, 1, 1)] * equal
        expected = stats.binomtest(better, better + worse).pvalue
        assert tried(evals)[0][0] == pytest.approx(expected, abs=1e-9)


# ── intervals ──────────────────────────────────────────────────────────────────────────────────


def _cells(side: list[list[float]]) -> Cells:
    variances = [float(np.var(runs, ddof=1)) if len(runs) > 1 else 0.0 for runs in side]
    return Cells(np.array(variances), np.array([len(runs) for runs in side]))


def test_one_eval_is_welchs_interval_and_a_single_run_is_lent_the_noise_of_others() -> None:
    one, other = [0.9, 0.7, 1.0, 0.8], [0.2, 0.6, 0.5]
    noise = run_noise(_cells([one]), _cells([other]))
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.9)
    found = noise.interval(np.mean(one) - np.mean(other), 0.9)
    assert found == pytest.approx((expected.low, expected.high))
    lent = run_noise(_cells([[1.0, 2.0], [3.0]]), _cells([[0.0, 1.0], [5.0, 6.0]]))
    assert lent.se**2 == pytest.approx((0.5 / 2 + 0.5 / 1 + 0.5 / 2 + 0.5 / 2) / 2**2)
    assert run_noise(_cells([[1, 1]] * 3), _cells([[0, 0]] * 3)) is None  # none was seen


def test_tangos_interval_as_published() -> None:
    """Fagerland, Lydersen and Laake 2014 (Statistics in Medicine 33), airway data: 1, 1, 7, 12."""
    assert tango_interval(1, 7, 21, 0.95) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (8, 0), (0, 8), (3, 0)])
def test_tangos_interval_at_the_edge_is_never_a_point(better: int, worse: int) -> None:
    low, high = tango_interval(better, worse, 8, 0.95)
    assert -1 <= low < (better - worse) / 8 + 1e-12
    assert (better - worse) / 8 - 1e-12 < high <= 1
    assert high - low > 0.3
    assert tango_interval(worse, better, 8, 0.95) == pytest.approx((-high, -low))


# ── power ──────────────────────────────────────────────────────────────────────────────────────
