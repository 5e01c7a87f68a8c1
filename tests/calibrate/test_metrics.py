import numpy as np
import pytest
from scipy import integrate, special, stats

from tests.calibrate.metrics import PassRate, Rubric, over_normal

PLACES = np.array([-4.0, -1.0, 0.3, 2.7, 5.0])


@pytest.mark.parametrize("sd", [0.0, 0.5, 1.1, 2.0])
def test_quadrature_gives_the_integral(sd):
    for place, found in zip(PLACES, over_normal(special.expit, PLACES, sd), strict=True):
        exact, _ = integrate.quad(
            lambda z, place=place: special.expit(place + sd * z) * stats.norm.pdf(z), -12, 12
        )
        assert found == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "places"),
    [
        (PassRate(run=1.1), [-2.0, 0.3, 3.0]),
        (PassRate(run=0.0), [0.0, 1.0]),
        (Rubric(run=0.5, judge=0.4), [0.8, 3.2, 4.9, 6.0]),
    ],
)
def test_runs_have_the_mean_and_the_variance_that_are_calculated(metric, places):
    random = np.random.default_rng(3)
    checks = np.full((len(places), 1), 5)
    place = np.repeat(np.array(places)[:, None], 200_000, axis=1)
    drawn = metric.draw(random, place, checks)
    mean = metric.mean(np.array(places))
    variance = metric.variance(np.array(places), checks[:, 0])
    assert drawn.mean(axis=1) == pytest.approx(mean, abs=4 * np.sqrt(variance.max() / 200_000))
    assert drawn.var(axis=1) == pytest.approx(variance, rel=0.03, abs=1e-4)


def test_scores_are_whole_and_on_the_scale():
    place = np.linspace(-5, 10, 1000)
    drawn = Rubric(run=0.5, judge=0.4).draw(np.random.default_rng(1), place, place)
    assert set(drawn) == {1, 2, 3, 4, 5}
