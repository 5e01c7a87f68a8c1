import numpy as np
import pytest

from skill_eval_nb import stats
from tests.calibrate import ours
from tests.calibrate.worlds import PLAIN, draw_evals


@pytest.mark.parametrize("world", PLAIN, ids=["pass_rate", "rubric"])
@pytest.mark.parametrize("scope", ["suite", "population"])
def test_each_data_set_gets_its_own_answer(world, scope, monkeypatch):
    """More than ten, so that the order of their names is put to the test; in several tables."""
    monkeypatch.setattr(ours, "CHUNK", 13 * 2 * 7 * 2)
    metric = world.metric.name
    random = np.random.default_rng(1)
    values = draw_evals(world, 1.0, 7, 30, random).run(random, 2)
    together = ours.ours(values, metric, scope)
    for at in (0, 1, 2, 10, 12, 13, 29):
        alone = stats.deltas(ours.table(values[at : at + 1], metric), metric, scope=scope)
        row = alone.row(0, named=True)
        assert together.low[at] == row["low"]
        assert together.high[at] == row["high"]
        assert together.detectable is not None
        assert together.detectable[at] == pytest.approx(row["mde"] or np.nan, nan_ok=True)
        assert together.claims[at] == {"helps": 1, "hurts": -1}.get(row["verdict"], 0)
        one, other = values[at].mean(axis=(1, 2))
        assert row["estimate"] == pytest.approx(one - other)


def test_no_interval_is_nan():
    values = np.full((3, 2, 4, 1), 0.5)
    found = ours.these_evals(values, "pass_rate")
    assert np.isnan(found.low).all()
    assert not found.claims.any()
