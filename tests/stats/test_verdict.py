import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skill_eval_nb.stats.comparison import compare
from skill_eval_nb.stats.inference import Adjusted, Sides, exact_p, tango_interval, typical_values
from skill_eval_nb.stats.verdict import (
    SAYS,
    beyond_comes_first,
    decide_verdict,
    sentence,
    word_of,
)
from tests.stats.made import doubled_tail, every_deal, every_flip


def test_tasks_like_these_are_a_paired_t_and_a_sign_flip() -> None:
    """And the margin is the farther end of two one-sided tests."""
    random = np.random.default_rng(0)
    evals: Sides = [(one, other) for one, other in random.random((13, 2, 3)).tolist()]
    differences = [np.mean(one) - np.mean(other) for one, other in evals]
    found = compare(evals[:8], "population")
    assert (found.low, found.high) == pytest.approx(typical_values(differences[:8], 0.95))
    flipped = stats.permutation_test(
        (differences[:8],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert found.p == pytest.approx(flipped.pvalue, abs=0.01)
    spread = np.std(differences[:8], ddof=1)
    assert found.mde == pytest.approx(3.27 * spread / np.sqrt(8), rel=1e-3)
    margin = compare(evals, "population").margin
    assert margin is not None
    for sign, alternative in ((1, "less"), (-1, "greater")):
        shifted = np.array(differences) - sign * margin
        p = stats.ttest_1samp(shifted, 0, alternative=alternative).pvalue
        assert p < 0.05 or p == pytest.approx(0.05)
    assert compare(evals, "population", reach=margin).margin is None
    single: Sides = [([1], [0])] * 5 + [([0], [1])] + [([1], [1])] * 4  # which pass or fail
    found = compare(single, "population")
    assert (found.low, found.high) == tango_interval(5, 1, 10, 0.95)
    assert found.p == pytest.approx(stats.binomtest(5, 6).pvalue)


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


def told(evals, metric="pass_rate", scope="suite", worth=0.05, level=0.95, adjusted=None):
    return decide_verdict(compare(evals, scope, level), metric, worth, adjusted)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(values, values), max_size=9),
    st.sampled_from(["pass_rate", "tokens", "total", "rubric:x"]),
    st.sampled_from(["suite", "population"]),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_nothing_is_claimed_where_it_must_not_be(evals, metric, scope, level) -> None:
    """The rules of the verdict, told anew from the data alone."""
    word, reason = told(evals, metric, scope, level=level)
    assert word in SAYS
    assert reason.endswith(".")
    means = [([sum(a) / len(a)], [sum(b) / len(b)]) for a, b in evals]
    found, moved = compare(evals, scope, level), sum(abs(a - b) > 1e-9 for (a,), (b,) in means)
    if word in ("helps", "hurts"):
        assert exact_p(means if scope == "population" else evals) <= 1 - level + 1e-9
        for side in (0, 1) if scope == "suite" else ():
            assert 2 * sum(len(both[side]) >= 2 for both in evals) >= len(evals)
    if word == "no worthwhile difference":
        assert (found.low or -1) + 1e-9 >= -0.05
        assert (found.high or 1) - 1e-9 <= 0.05
    if not evals or (scope == "population" and 2 / 2**moved > 1 - level + 1e-9):
        assert (word, found.low) == ("too few evals", None)
    if scope == "suite" and len(evals) == 1 and 1 in map(len, evals[0]):
        assert word == "too few runs"


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
    means = np.array(UNLIKE).mean(2)
    found = compare(UNLIKE, weights=WEIGHTS)
    assert found.estimate == pytest.approx(weights @ (means[:, 0] - means[:, 1]))
    assert found.baseline == pytest.approx(weights @ means[:, 1])
    se = np.sqrt((weights**2 @ np.array(UNLIKE).var(2, ddof=1) / 3).sum())
    assert found.mde is not None
    assert 2.9 < found.mde / se < 3.1  # by t of some 20 degrees of freedom
    few = compare(UNLIKE[:3], weights=WEIGHTS[:3])
    assert few.p == pytest.approx(doubled_tail(every_deal(UNLIKE[:3], WEIGHTS[:3])))


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
        return doubled_tail(
            every_flip([shares[places] @ (np.array(differences)[places] - theta) for places in own])
        )

    assert found.p == pytest.approx(flipped(0.0))
    assert found.estimate == pytest.approx(shares @ differences / shares.sum())
    if found.low is None or found.high is None:
        return
    for end, outwards in ((found.low, -1), (found.high, 1)):
        if abs(end) > 1e-4:
            assert flipped(end + outwards * 1e-3) <= 0.05
        assert (found.low > 0 or found.high < 0) == (found.p is not None and found.p <= 0.05)


# ── verdict ────────────────────────────────────────────────────────────────────────────────────

BETTER = [([0.9, 1.0, 0.8], [0.6, 0.5, 0.6])] * 4


WORSE = [(other, one) for one, other in BETTER]
SAME = [([0.50, 0.52, 0.51], [0.51, 0.50, 0.52])] * 4
STILL = [([1.0] * 3, [1.0] * 3)] * 4
BETTER_ONCE = [([1.0, 1.0, 0.9], [0.0, 0.1, 0.0])]
MIXED = [([0, 0], [1, 1]), ([0], [1, 1]), ([1], [0]), ([0, 0], [1])]
OFF = Adjusted(0.2, 0.01, 0.01)


@pytest.mark.parametrize(
    ("evals", "how", "word", "says"),
    [
        (BETTER, {}, "helps", "exact p < 0.0001."),
        (WORSE, {}, "hurts", ""),
        (BETTER, {"metric": "time_seconds"}, "hurts", ""),
        (WORSE, {"metric": "time_seconds"}, "helps", ""),
        (BETTER, {"metric": "output_chars"}, None, "; neither more nor less of it is better."),
        (BETTER, {"metric": "output_chars"}, None, "+0.333 characters ("),
        (BETTER, {"metric": "cost_usd"}, "hurts", "+0.333 US$ ("),
        (BETTER, {"worth": 0.5}, "helps", ", which is less than 50 pp."),
        (BETTER, {"worth": 1 / 3}, "helps", "+33.3 pp"),
        (BETTER_ONCE, {"level": 0.9}, "helps", "exact p = 0.1."),
        (BETTER, {"adjusted": OFF}, "unclear", "exact p < 0.0001 (0.2 adjusted)"),
        (SAME, {}, "no worthwhile difference", "the 90 % interval lies within ±5 pp."),
        (SAME, {"worth": compare(SAME).margin}, "no worthwhile difference", "±0.713 pp."),
        (
            SAME,
            {"adjusted": OFF},
            "no worthwhile difference",
            "the adjusted interval lies within ±5",
        ),
        (SAME, {"worth": 0.001}, "unclear", "beyond 0.713 pp can be ruled out (90 % interval)."),
        (MIXED, {}, "unclear", "(all runs of an eval came out the same) on these 4 evals"),
        (STILL, {}, "too few runs", "(all runs of an eval came out the same) on these 4 evals"),
        (STILL, {}, "too few runs", "exact p = 1: no eval differs between the sides."),
        (
            [([1.0], [0.0])] * 9,
            {},
            "too few runs",
            "on these 9 evals, each run once per side.",
        ),
        (
            [*BETTER_ONCE, ([1.0] * 2, [1.0] * 2)],
            {},
            "too few runs",
            "that 5 and 5 runs with these values could give",
        ),
        (
            BETTER_ONCE,
            {},
            "too few runs",
            "that 3 runs per side with these values could give comes by luck in 10 % of cases.",
        ),
    ],
)
def test_each_verdict_and_its_reason(evals, how, word, says) -> None:
    found, reason = told(evals, **how)
    assert found == word
    assert says in reason
    assert ("less than" in reason) == ("less than" in says)


def test_what_is_good_only_for_what_it_brings_is_said_as_more_or_less() -> None:
    words = [word_of(word, metric) for metric in ("steps", "tokens") for word in ("helps", "hurts")]
    assert words == [
        "takes fewer steps",
        "takes more steps",
        "uses fewer tokens",
        "uses more tokens",
    ]
    assert (
        sentence("unclear", "steps", "tdd", "it")
        == "It is unclear whether tdd takes more steps on it"
    )


def test_tasks_like_these_come_first_only_where_they_can_tell_more() -> None:
    few = {"verdict": "too few runs"}
    others = ["helps", "unclear", "too few evals"]
    assert [beyond_comes_first(few, {"verdict": one}) for one in others] == [True, True, False]


@pytest.mark.parametrize(
    ("differences", "level", "word", "says"),
    [
        ([0.74] * 5, 0.95, "too few evals", "+74 pp on 5 evals: 5 of 5 evals differ between"),
        ([0.74] * 5 + [0.0], 0.95, "too few evals", "5 of 6 evals differ between the sides, and"),
        ([0.74] * 5 + [0.0] * 20, 0.95, "too few evals", "+14.8 pp on 25 evals: 5 of 25"),
        ([0.74] * 5 + [0.5], 0.95, "helps", "+70 pp"),
        ([0.74] * 5 + [0.5] + [0.0] * 20, 0.95, "helps", "+16.2 pp"),
        ([0.7, 0.74, 0.78, 0.72, 0.76], 0.9, "helps", "+74 pp"),
        ([0.74] * 7, 0.99, "too few evals", "tasks like these takes 8 (p"),
        ([0.74] * 8 + [0.0], 0.99, "helps", "+65.8 pp"),
        ([0.0] * 9, 0.95, "too few evals", "0 pp on 9 evals: 0 of 9 evals differ"),
    ],
)
def test_tasks_like_these_take_as_many_evals_that_moved_as_the_level_asks_for(
    differences, level, word, says
) -> None:
    """Below that there is no interval, and the figure is still said."""
    evals: Sides = [([0.2 + d], [0.2]) for d in differences]
    found, reason = told(evals, scope="population", level=level)
    result = compare(evals, "population", level)
    assert found == word
    assert says in reason
    assert (result.low is None) == (result.high is None) == (word == "too few evals")
