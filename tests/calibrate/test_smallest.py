import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from tests.calibrate import smallest
from tests.calibrate.worlds import PLAIN, draw_evals


@pytest.mark.parametrize(
    ("n", "runs", "expected"),
    [(3, 3, 0.93), (5, 3, 0.48), (8, 3, 0.33), (12, 3, 0.25), (20, 3, 0.19), (20, 10, 0.15)],
)
def test_the_reference_points(n, runs, expected):
    """STATISTICS.md: SD of true effects .2, run SD .25."""
    se = np.sqrt((0.2**2 + 2 * 0.25**2 / runs) / n)
    assert float(smallest.standard_errors(np.array(n - 1)) * se) == pytest.approx(
        expected, abs=0.005
    )


@pytest.mark.parametrize("n", [4, 9, 33])
def test_statsmodels_finds_the_same_power(n):
    effect = float(smallest.standard_errors(np.array(n - 1))) / np.sqrt(n)
    assert TTestPower().power(effect, n, 0.05) == pytest.approx(0.8, abs=2e-4)


@pytest.mark.parametrize("world", PLAIN, ids=["pass_rate", "rubric"])
def test_the_variances_over_all_evals_are_those_of_many(world):
    evals = draw_evals(world, 0.9, 20, 3000, np.random.default_rng(1))
    one, other = np.moveaxis(world.metric.mean(evals.place), 1, 0)
    noise = world.metric.variance(evals.place, evals.checks[:, None, :]).sum(axis=1).mean()
    n, runs = 8, 3
    se = np.sqrt(((one - other).var() + noise / runs) / n)
    expected = se * float(smallest.standard_errors(np.array(n - 1)))
    assert smallest.tasks_like_these(world, 0.9, n, runs) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("world", PLAIN, ids=["pass_rate", "rubric"])
def test_the_effect_is_the_smallest_detectable(world):
    evals = draw_evals(world, 0.0, 8, 30, np.random.default_rng(2))
    moved = evals.moved(smallest.effect_on_these(evals, 3))
    assert moved.truth() == pytest.approx(smallest.these_evals(moved, 3), abs=1e-3)
    effect = smallest.effect_on_tasks(world, 8, 3)
    assert world.truth(effect) == pytest.approx(smallest.tasks_like_these(world, effect, 8, 3))


def test_known_variances_of_these_evals():
    """One check of chance one half, no run's own deviation: 1/4 for each cell of one run."""
    from tests.calibrate.metrics import PassRate
    from tests.calibrate.worlds import Evals

    evals = Evals(PassRate(run=0.0), np.zeros((1, 2, 4)), np.ones((1, 4)))
    se = np.sqrt(8 * (0.25 / 3) / 4**2)
    found = smallest.these_evals(evals, 3)[0]
    assert found == pytest.approx(se * float(smallest.standard_errors(np.array(16.0))))
