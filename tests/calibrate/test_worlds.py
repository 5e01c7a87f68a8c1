import numpy as np
import pytest
from scipy import integrate, stats

from tests.calibrate.scenarios import even
from tests.calibrate.worlds import CEILING, CHECKS, PLAIN, draw_evals

WORLDS = pytest.mark.parametrize(
    "world", [*PLAIN, *CEILING], ids=lambda world: f"{world.name}-{world.metric.name}"
)


@WORLDS
def test_the_truth_over_all_evals_is_the_integral(world):
    sd = np.hypot(world.difficulty, world.uneven)

    def over_all(level):
        def part(z):
            return float(world.metric.mean(np.array(level + sd * z))) * stats.norm.pdf(z)

        return integrate.quad(part, -10, 10, epsabs=1e-9)[0]

    assert world.truth(0.8) == pytest.approx(
        over_all(world.level + 0.8) - over_all(world.level), abs=1e-7
    )


@WORLDS
def test_the_truth_over_all_evals_is_what_many_evals_show(world):
    evals = draw_evals(world, 0.8, 20, 5000, np.random.default_rng(2))
    true = evals.truth()
    assert true.mean() == pytest.approx(world.truth(0.8), abs=4 * true.std() / np.sqrt(len(true)))


@WORLDS
def test_the_truth_of_these_evals_is_what_many_runs_show(world):
    evals = draw_evals(world, 0.8, 5, 8, np.random.default_rng(4))
    one, other = evals.run(np.random.default_rng(5), 20_000).mean(axis=(2, 3)).T
    noise = np.sqrt(
        world.metric.variance(evals.place, evals.checks[:, None, :]).mean() * 2 / 100_000
    )
    assert one - other == pytest.approx(evals.truth(), abs=5 * noise)


@WORLDS
def test_without_an_effect_nothing_is_true(world):
    assert world.truth(0.0) == pytest.approx(0, abs=1e-15)
    assert world.effect_for(0.0) == pytest.approx(0, abs=1e-12)
    evals = draw_evals(even(world), 0.0, 8, 50, np.random.default_rng(6))
    assert not evals.truth().any()
    assert draw_evals(world, 0.0, 8, 50, np.random.default_rng(6)).truth().all()


@WORLDS
def test_the_effect_for_a_truth(world):
    assert world.truth(world.effect_for(0.04)) == pytest.approx(0.04)


def test_an_effect_moves_the_side_with_the_skill_alone():
    evals = draw_evals(PLAIN[0], 0.0, 3, 2, np.random.default_rng(7))
    moved = evals.moved(np.array([1.0, 2.0]))
    assert (moved.place - evals.place)[:, 0] == pytest.approx(np.array([[1.0] * 3, [2.0] * 3]))
    assert (moved.place[:, 1] == evals.place[:, 1]).all()
    assert set(np.unique(evals.checks)) <= set(CHECKS)


def test_the_plain_world_is_as_the_page_describes_it():
    for world, figures in zip(
        PLAIN, [(0.55, 0.21, 0.25, 0.19), (3.2, 0.75, 0.68, 0.48)], strict=True
    ):
        evals = draw_evals(world, 0.0, 20, 5000, np.random.default_rng(8))
        one, other = np.moveaxis(world.metric.mean(evals.place), 1, 0)
        noise = np.sqrt(world.metric.variance(evals.place, evals.checks[:, None, :]).mean())
        found = (other.mean(), other.std(), noise, (one - other).std())
        assert found == pytest.approx(figures, abs=0.011)


def test_the_easy_evals_are_as_the_page_describes_them():
    for world, mean, still in zip(CEILING, (0.91, 4.56), (0.35, 0.5), strict=True):
        evals = draw_evals(world, 0.0, 20, 5000, np.random.default_rng(9))
        assert world.metric.mean(evals.place).mean() == pytest.approx(mean, abs=0.01)
        runs = evals.run(np.random.default_rng(10), 3)
        assert (np.ptp(runs, axis=3) == 0).mean() == pytest.approx(still, abs=0.06)
