import importlib.util

import numpy as np
import pytest
from scipy import stats

from tests.calibrate import peers
from tests.calibrate.worlds import PLAIN, draw_evals


@pytest.fixture(scope="module")
def values():
    evals = draw_evals(PLAIN[0], 0.9, 8, 40, np.random.default_rng(1))
    return evals.run(np.random.default_rng(2), 3)


@pytest.fixture
def random():
    return np.random.default_rng(3)


def test_pooled_welch_is_that_of_scipy(values, random):
    found = peers.pooled_welch(values, "pass_rate", random)
    for at, (one, other) in enumerate(values):
        low, high = stats.ttest_ind(
            one.ravel(), other.ravel(), equal_var=False
        ).confidence_interval(0.95)
        assert (found.low[at], found.high[at]) == pytest.approx((low, high))
        assert found.claims[at] == int(low > 0) - int(high < 0)


def test_the_t_gate_is_that_of_scipy(values, random):
    found = peers.t_gate(values, "pass_rate", random)
    for at, sides in enumerate(values.mean(axis=3)):
        low, high = stats.ttest_rel(*sides).confidence_interval(0.95)
        assert (found.low[at], found.high[at]) == pytest.approx((low, high))
        assert found.claims[at] == int(low > 0) - int(high < 0)


def test_the_bootstrap_is_that_of_scipy(values, random):
    found = peers.bootstrap(values, "pass_rate", random)
    one, other = values[0].mean(axis=2)
    low, high = stats.bootstrap(
        (one - other,), np.mean, n_resamples=20_000, method="percentile", random_state=4
    ).confidence_interval
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=0.02)


def test_without_any_spread_an_interval_is_its_estimate(random):
    values = np.ones((1, 2, 4, 3))
    values[:, 1] = 0.5
    for method in (peers.pooled_welch, peers.t_gate, peers.bootstrap):
        found = method(values, "pass_rate", random)
        assert (found.low[0], found.high[0], found.claims[0]) == (0.5, 0.5, 1)


def test_evalstats_is_not_asked_below_its_fewest_evals(values, random):
    assert peers.evalstats(values, "pass_rate", random) is None


@pytest.mark.skipif(
    importlib.util.find_spec("evalstats") is None, reason="left out: evalstats is not installed"
)
@pytest.mark.parametrize("runs", [1, 3])
def test_evalstats_answers_in_the_order_of_the_sides(random, runs):
    evals = draw_evals(PLAIN[0], 3.0, 20, 3, random)
    values = evals.run(random, runs)
    for sides, claim in ((values, 1), (values[:, ::-1], -1)):
        found = peers.evalstats(sides, "pass_rate", random)
        assert found is not None
        assert (found.claims == claim).all()
        assert (np.sign(found.low) == claim).all()
        assert (found.low < found.high).all()


def test_evalstats_is_left_out_where_it_is_not_installed(random, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert peers.evalstats(np.zeros((1, 2, 20, 1)), "pass_rate", random) is None
