from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skill_eval_nb.stats.comparison import compare
from skill_eval_nb.stats.inference.exact import Adjusted, Sides, exact_p
from skill_eval_nb.stats.inference.intervals import tango, typical_values
from skill_eval_nb.stats.verdict import SAYS, verdict


def test_tasks_like_these_are_a_paired_t_and_a_sign_flip() -> None:
    random = np.random.default_rng(0)
    evals = [(random.random(3).tolist(), random.random(3).tolist()) for _ in range(8)]
    differences = [np.mean(one) - np.mean(other) for one, other in evals]
    found = compare(evals, "population")
    assert (found.low, found.high) == pytest.approx(typical_values(differences, 0.95))
    flipped = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert found.p == pytest.approx(flipped.pvalue, abs=0.01)
    assert found.mde == pytest.approx(3.27 * np.std(differences, ddof=1) / np.sqrt(8), rel=1e-3)


@given(
    st.lists(st.integers(-8, 12).map(lambda x: x / 8), min_size=6, max_size=9),
    st.sampled_from([0.8, 0.95]),
)
def test_an_interval_holds_what_a_sign_flip_does_not_rule_out(differences, level) -> None:
    low, high = typical_values(differences, level) or pytest.fail("there is one")
    for end, outwards in ((low, -1), (high, 1)):
        for by, out in ((1e-4, True), (0.0, False), (-1e-4, low == high)):
            shifted = [x - end - outwards * by for x in differences]
            p = exact_p([([x], [0.0]) for x in shifted])
            assert (p <= 1 - level + 1e-9) == out


def test_these_evals_are_not_asked_about_other_evals() -> None:
    """The more the effects differ, the less is known of other evals; of these, as much."""
    even = [([x + 0.2, x + 0.3], [x, x + 0.1]) for x in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]
    uneven = [
        ([x + d for x in one], other) for (one, other), d in zip(even, (0, 1) * 3, strict=True)
    ]
    assert np.ptp([compare(evals).mde for evals in (even, uneven)]) < 1e-9
    few, many = (compare(evals, "population") for evals in (even, uneven))
    assert few.mde is None, "all differ by the same"
    assert many.mde is not None


def test_single_runs_that_pass_or_fail_get_tangos_interval() -> None:
    evals: Sides = [([1], [0])] * 5 + [([0], [1])] + [([1], [1])] * 4
    found = compare(evals, "population")
    assert (found.low, found.high) == tango(5, 1, 10, 0.95)
    assert found.p == pytest.approx(stats.binomtest(5, 6).pvalue)


values = st.lists(st.integers(0, 5).map(lambda x: x / 5), min_size=1, max_size=4)


@given(st.lists(st.tuples(values, values), max_size=8), st.sampled_from(["suite", "population"]))
def test_turning_the_sides_turns_everything(evals, scope) -> None:
    there, back = compare(evals, scope), compare([(b, a) for a, b in evals], scope)
    if there.estimate is None:
        assert not evals
        return
    assert back.estimate == pytest.approx(-there.estimate)
    assert back.p == (None if there.p is None else pytest.approx(there.p, abs=0.01))
    assert back.mde == (None if there.mde is None else pytest.approx(there.mde))
    if there.low is not None and there.high is not None:
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
        assert there.p is not None
        assert (there.low > 0 or there.high < 0) == (there.p <= 0.05 + 1e-9)
        assert there.low < there.estimate + 1e-9
        assert there.high > there.estimate - 1e-9


WEIGHTS = [3.0, 1.0, 1.0, 2.0, 0.5, 1.0, 4.0, 1.0]
FAMILIES = ["a", "a", "b", "c", "d", "e", "b", None]
UNLIKE: Sides = [
    ([0.3 + d + noise, 0.4 + d, 0.35 + d - noise], [0.3, 0.35 + noise, 0.4])
    for d, noise in zip(
        (0.2, 0.15, -0.05, 0.3, 0.02, 0.11, 0.25, 0.07), (0.1, 0.0, 0.05, 0.1) * 2, strict=True
    )
]


def test_weights_weigh_the_estimate_its_noise_and_the_labels_dealt_out() -> None:
    weights = np.array(WEIGHTS) / sum(WEIGHTS)
    means = np.array([[np.mean(side) for side in sides] for sides in UNLIKE])
    found = compare(UNLIKE, weights=WEIGHTS)
    assert found.estimate == pytest.approx(weights @ (means[:, 0] - means[:, 1]))
    assert found.baseline == pytest.approx(weights @ means[:, 1])
    each = [[np.var(side, ddof=1) / 3 for side in sides] for sides in UNLIKE]
    se = np.sqrt((weights**2 @ np.array(each)).sum())
    assert found.mde is not None
    assert 2.9 < found.mde / se < 3.1  # by t of some 20 degrees of freedom
    few: Sides = UNLIKE[:3]
    own, p = np.array(WEIGHTS[:3]), compare(few, weights=WEIGHTS[:3]).p
    sums = [
        sum(
            weight * (np.mean(pool[list(k)]) - np.mean(np.delete(pool, list(k))))
            for weight, pool, k in zip(own, map(np.concatenate, few), chosen, strict=True)
        )
        for chosen in product(combinations(range(6), 3), repeat=3)
    ]
    assert p == pytest.approx(2 * np.mean(np.array(sums) >= sums[0] - 1e-9))


@given(
    st.lists(st.integers(-6, 9).map(lambda x: x / 8), min_size=8, max_size=8),
    st.permutations(FAMILIES),
    st.sampled_from([None, WEIGHTS]),
)
def test_families_are_flipped_as_one(differences, families, weights) -> None:
    """p, and the interval of all differences that are not ruled out, arrangement by arrangement."""
    evals: Sides = [([0.5 + d], [0.5]) for d in differences]
    found = compare(evals, "population", families=families, weights=weights)
    shares = np.array(weights or [1.0] * 8)
    own = [[at for at, one in enumerate(families) if one == name] for name in "abcde"]
    own.append([families.index(None)])
    assert found.families == 6

    def flipped(theta: float) -> float:
        sums = [sum(shares[at] * (differences[at] - theta) for at in places) for places in own]
        dealt = np.array(list(product((1, -1), repeat=6))) @ np.array(sums)
        tails = (dealt >= dealt[0] - 1e-9).mean(), (dealt <= dealt[0] + 1e-9).mean()
        return min(1.0, 2 * min(tails))

    assert found.p == pytest.approx(flipped(0.0))
    assert found.estimate == pytest.approx(shares @ differences / shares.sum())
    if found.low is None or found.high is None:
        return
    for end, outwards in ((found.low, -1), (found.high, 1)):
        if abs(end) > 1e-4:
            assert flipped(end + outwards * 1e-3) <= 0.05
        assert (found.low > 0 or found.high < 0) == (found.p is not None and found.p <= 0.05)


def test_the_margin_is_the_farther_end_of_two_one_sided_tests() -> None:
    random = np.random.default_rng(0)
    evals = [(random.random(3).tolist(), random.random(3).tolist()) for _ in range(13)]
    differences = [np.mean(one) - np.mean(other) for one, other in evals]
    found = compare(evals, "population")
    assert found.margin is not None
    for sign, alternative in ((1, "less"), (-1, "greater")):
        shifted = np.array(differences) - sign * found.margin
        p = stats.ttest_1samp(shifted, 0, alternative=alternative).pvalue
        assert p < 0.05 or p == pytest.approx(0.05)
    assert compare(evals, "population", reach=found.margin).margin is None


# ── verdict ────────────────────────────────────────────────────────────────────────────────────

BETTER = [([0.9, 1.0, 0.8], [0.6, 0.5, 0.6])] * 4


def _verdict(evals, metric="pass_rate", scope="suite", worth=0.05, level=0.95, adjusted=None):
    these = compare(evals, "suite", level)
    return verdict(compare(evals, scope, level), metric, worth, adjusted, these)


def test_helps_and_hurts_go_by_what_is_better() -> None:
    worse = [(other, one) for one, other in BETTER]
    assert _verdict(BETTER)[0] == "helps"
    assert _verdict(worse)[0] == "hurts"
    assert _verdict(BETTER, "time_seconds")[0] == "hurts"
    assert _verdict(worse, "time_seconds")[0] == "helps"
    word, reason = _verdict(BETTER, "output_chars")
    assert word is None
    assert reason.endswith("exact p < 0.0001; neither more nor less of it is better.")


def test_a_claim_of_less_than_is_worth_having_says_so() -> None:
    assert _verdict(BETTER, worth=0.5)[1].endswith(", which is less than 50 pp.")
    assert "less than" not in _verdict(BETTER, worth=0.05)[1]


def test_it_is_the_adjusted_p_that_decides() -> None:
    word, reason = _verdict(BETTER, adjusted=Adjusted(0.2, 0.01, 0.01))
    assert word == "unclear"
    assert "exact p < 0.0001 (0.2 adjusted)" in reason


def test_no_worthwhile_difference_needs_an_interval_inside() -> None:
    same = [([0.50, 0.52, 0.51], [0.51, 0.50, 0.52])] * 4
    word, reason = _verdict(same)
    assert word == "no worthwhile difference"
    assert reason.endswith("the 90 % interval lies within ±5 pp.")
    word, reason = _verdict(same, worth=0.001)
    assert word == "unclear"
    assert "Any difference beyond 0.713 pp can be ruled out (90 % interval)." in reason
    still = [([1.0] * 3, [1.0] * 3)] * 4
    word, reason = _verdict(still)
    assert word == "too few runs"
    assert "no run noise was seen in 4 × 3 runs a side" in reason
    assert "0 of which differ between the sides, the smallest p is 1" in reason


def test_too_few_runs_say_what_is_lacking() -> None:
    word, reason = _verdict([([1.0], [0.0])] * 9)
    assert word == "too few runs"
    assert "without two runs of an eval" in reason
    word, reason = _verdict([([1.0, 1.0, 0.9], [0.0, 0.1, 0.0])])
    assert word == "too few runs"
    assert "with 3 runs a side the smallest p is 0.1" in reason


fifths = st.integers(0, 5).map(lambda passed: passed / 5)
sides = st.lists(fifths, min_size=1, max_size=4)
metrics = st.sampled_from(["pass_rate", "tokens", "total", "rubric:x"])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(sides, sides), max_size=9),
    metrics,
    st.sampled_from(["suite", "population"]),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_nothing_is_claimed_where_it_must_not_be(evals, metric, scope, level) -> None:
    """The rules of the verdict, told anew from the data alone."""
    word, reason = _verdict(evals, metric, scope, level=level)
    assert word in (*SAYS, None)
    assert reason.endswith(".")
    n, runs = len(evals), [(len(one), len(other)) for one, other in evals]
    if word in ("helps", "hurts") and scope == "population":
        assert n >= 6
        means = [([sum(a) / len(a)], [sum(b) / len(b)]) for a, b in evals]
        assert exact_p(means) <= 1 - level + 1e-9
    if word in ("helps", "hurts") and scope == "suite":
        for side in (0, 1):
            assert 2 * sum(count[side] >= 2 for count in runs) >= n
        assert exact_p(evals) <= 1 - level + 1e-9
    if word == "no worthwhile difference":
        found = compare(evals, scope, level)
        assert (found.low or -1) + 1e-9 >= -0.05
        assert (found.high or 1) - 1e-9 <= 0.05
    if n == 0 or (scope == "population" and n < 6):
        assert word == "too few evals"
    if scope == "suite" and n and all(1 in count for count in runs) and n < 2:
        assert word == "too few runs"
